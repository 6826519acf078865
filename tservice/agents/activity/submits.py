"""Detection of the end of a submission that no look saw running (protocol-status,
protocol-signals). Pure.

A turn may begin and end between two looks, and a command such as C{/clear} is no turn. Waiting
clients get a result in both cases. But a resting screen after an Enter does not prove an end: the
screen of a slow agent does not change before its turn becomes visible.
"""

from __future__ import annotations

from attrs import evolve, frozen

from tservice.agents.activity.pace import SLACK, STREAK, Rhythm, is_blind
from tservice.agents.interfaces import Look
from tservice.terminal.composer import ComposerRule, read_composer_text
from tservice.terminal.composer_regions import contains_draft
from tservice.terminal.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules

UNANSWERED = 10.0
"""Seconds after its Enter at which a prompt without an answer is over, if its agent stores a
conversation. Slowed fifty times, Codex showed nothing for 2.8 s (tests/agents/FACTS.rst).
"""


@frozen(kw_only=True)
class PendingSubmit:
    """Enter without any visible effect so far.

    @ivar at: when it was pressed, in the clock's seconds; C{since}: the same in Unix milliseconds.
    @ivar answerable: the agent's conversation will contain an answer to it; C{answered}: it does.
    @ivar rests: consecutive looks since then that showed an agent at rest.
    @ivar taken_up: it was pressed before this service started, and hooks may have been missed.
    """

    at: float
    since: int
    answerable: bool = False
    answered: bool = False
    rests: int = 0
    taken_up: bool = False

    @property
    def answer_by(self) -> float | None:
        """Time until which its answer is awaited, in the clock's seconds; C{None} if it is not
        awaited.
        """
        return self.at + UNANSWERED if self.answerable and not self.answered else None

    def looked(self, at_rest: bool) -> PendingSubmit:
        """Return the submission after a look."""
        return evolve(self, rests=self.rests + 1 if at_rest else 0)


def submits(prompt: bool, last: Look | None, rules: ScreenRules, *, printed: bool) -> bool:
    """Return true if an Enter submits something to the agent.

    @param prompt: it is known to submit. Otherwise a user pressed a key, perhaps at a dialog or
        without effect.
    @param printed: something was printed since the C{last} look: the echo of typed text.
    """
    if prompt:
        return True
    if last is None or last.reading.dialog is not None:
        return False
    return printed or has_draft(last.frame, rules)


def is_over(
    submission: PendingSubmit, look: Look, rules: ScreenRules, rhythm: Rhythm, now: float
) -> bool:
    """Return true if a look that was begun after the submission shows its end.

    This requires output after the Enter, the answer if one is expected, and then the same rest that
    ends a visible turn.
    """
    if rhythm.last < submission.at or look.reading.dialog is not None or look.reading.working:
        return False
    if submission.answer_by is not None and now < submission.answer_by - SLACK:
        return False
    rested = rhythm.silent(now) or submission.rests >= STREAK
    if look.reading.state == "idle":
        return rested and not has_draft(look.frame, rules)
    return is_blind(rules) and rhythm.silent(now)


def has_draft(frame: ScreenFrame, rules: ScreenRules) -> bool:
    """Return true if the composer contains text that is neither its placeholder nor a dim
    suggestion.
    """
    rule = ComposerRule(
        glyph=rules.glyphs[0] if rules.glyphs else None, placeholder=rules.ready_mark
    )
    return bool(read_composer_text(frame.rows, rule)) and contains_draft(frame, rules)
