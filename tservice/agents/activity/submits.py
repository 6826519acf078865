"""Whether what was submitted is over although nobody saw it run (protocol-status,
protocol-signals).  Pure.

A turn may begin and end between two looks, and a command such as C{/clear} is none at all; whoever
waits for either is answered all the same.  But a screen that rests behind an Enter is no proof of
an end: that of a slow agent stands still before its turn is to be seen.
"""

from __future__ import annotations

from attrs import evolve, frozen

from tservice.agents.activity.pace import SLACK, STREAK, Rhythm, is_blind
from tservice.agents.interfaces import Look
from tservice.terminal.composer import ComposerRule, composer_text
from tservice.terminal.regions import holds_draft
from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame

UNANSWERED = 10.0
"""Seconds behind its Enter after which a prompt without an answer is over, where its agent keeps a
conversation.  Slowed fifty times, Codex showed nothing for 2.8 s (tests/agents/FACTS.rst)."""


@frozen(kw_only=True)
class PendingSubmit:
    """An Enter of which nothing was seen yet.

    @ivar at: when it was pressed, in the clock's seconds; C{since}: the same in Unix milliseconds.
    @ivar answerable: the agent's conversation will hold an answer to it; C{answered}: it does.
    @ivar rests: looks in a row since then that showed an agent at rest.
    @ivar taken_up: it was pressed before this service began, and hooks may have been missed.
    """

    at: float
    since: int
    answerable: bool = False
    answered: bool = False
    rests: int = 0
    taken_up: bool = False

    @property
    def answer_by(self) -> float | None:
        """Until when its answer is waited for, in the clock's seconds; C{None}: it is not."""
        return self.at + UNANSWERED if self.answerable and not self.answered else None

    def looked(self, at_rest: bool) -> PendingSubmit:
        """The screen was looked at."""
        return evolve(self, rests=self.rests + 1 if at_rest else 0)


def submits(prompt: bool, last: Look | None, rules: ScreenRules, *, printed: bool) -> bool:
    """Whether an Enter submits something to the agent.

    @param prompt: it is known to; else somebody pressed a key, perhaps at a dialog or for nothing.
    @param printed: something was printed since the C{last} look: the echo of what was typed.
    """
    if prompt:
        return True
    if last is None or last.reading.dialog is not None:
        return False
    return printed or has_draft(last.frame, rules)


def is_over(
    submission: PendingSubmit, look: Look, rules: ScreenRules, rhythm: Rhythm, now: float
) -> bool:
    """Whether what was submitted is over, by a look that was begun after it.

    It needs something printed behind the Enter, the answer where there will be one, and then the
    same rest that ends a turn that was seen.
    """
    if rhythm.last < submission.at or look.reading.dialog is not None or look.reading.working:
        return False
    if submission.answer_by is not None and now < submission.answer_by - SLACK:
        return False
    rested = rhythm.silent(now) or submission.rests >= STREAK
    if look.reading.state == "idle":
        return rested and not has_draft(look.frame, rules)
    return is_blind(rules) and rhythm.silent(now)


def has_draft(frame: Frame, rules: ScreenRules) -> bool:
    """Whether text stands in the composer: neither what marks an empty one nor a dim suggestion."""
    rule = ComposerRule(
        glyph=rules.glyphs[0] if rules.glyphs else None, placeholder=rules.ready_mark
    )
    return bool(composer_text(frame.rows, rule)) and holds_draft(frame, rules)
