"""Detection of the end of a submission that no capture of the screen showed running
(protocol-status, protocol-signals).

A turn may begin and end between two captures, and a command such as C{/clear} starts no turn.
Waiting clients get a result in both cases. But an idle screen after an Enter does not prove the
end: the screen of a slow agent does not change before its turn becomes visible. This module does no
I/O.
"""

from __future__ import annotations

from attrs import evolve, frozen

from tservice.agents.activity.poll_schedule import SLACK, STREAK, PollSchedule, never_shows_work
from tservice.agents.interfaces import AgentScreen
from tservice.terminal.composers.composer import ComposerRule, read_composer_text
from tservice.terminal.composers.composer_regions import contains_draft
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules

UNANSWERED = 10.0
"""Seconds after its Enter at which an unanswered prompt is over, if the agent stores a
conversation. Slowed fifty times, Codex showed nothing for 2.8 s (tests/agents/FACTS.rst).
"""


@frozen(kw_only=True)
class PendingSubmission:
    """Submission without any visible effect so far.

    @ivar at: time of the Enter, in the clock's seconds.
    @ivar since: time of the Enter, in Unix milliseconds.
    @ivar expects_answer: the agent's conversation will contain an answer to the submission.
    @ivar has_answer: the agent's conversation contains that answer.
    @ivar rests: number of consecutive captures since the Enter that showed an idle agent.
    @ivar is_adopted: Enter was pressed before this service started, so hooks may have been missed.
    """

    at: float
    since: int
    expects_answer: bool = False
    has_answer: bool = False
    rests: int = 0
    is_adopted: bool = False

    @property
    def answer_deadline(self) -> float | None:
        """Time until which the answer is awaited, in the clock's seconds, or C{None}."""
        return self.at + UNANSWERED if self.expects_answer and not self.has_answer else None

    def after_capture(self, at_rest: bool) -> PendingSubmission:
        """Return a copy updated for one more screen capture.

        An idle capture increments C{rests}; any other capture resets it.

        @param at_rest: the capture showed an idle agent.
        """
        return evolve(self, rests=self.rests + 1 if at_rest else 0)


def is_submission(
    prompt: bool, last: AgentScreen | None, rules: ScreenRules, *, printed: bool
) -> bool:
    """Return true if pressing Enter submits something to the agent.

    @param prompt: the input is known to be a prompt. Otherwise a user pressed Enter, perhaps in a
        dialog or without effect.
    @param last: the last capture; C{None} if there is none.
    @param printed: something was printed since C{last}, such as the echo of typed text.
    """
    if prompt:
        return True
    if last is None or last.reading.dialog is not None:
        return False
    return printed or has_draft(last.frame, rules)


def is_submission_over(
    submission: PendingSubmission,
    look: AgentScreen,
    rules: ScreenRules,
    rhythm: PollSchedule,
    now: float,
) -> bool:
    """Return true if a capture that was requested after the submission shows its end.

    This requires output after the Enter, and the answer if one is expected. Then the agent must be
    idle in the same way as after a visible turn.

    @param now: the present time, in the clock's seconds.
    """
    if rhythm.last < submission.at or look.reading.dialog is not None or look.reading.working:
        return False
    if submission.answer_deadline is not None and now < submission.answer_deadline - SLACK:
        return False
    rested = rhythm.is_silent(now) or submission.rests >= STREAK
    if look.reading.state == "idle":
        return rested and not has_draft(look.frame, rules)
    return never_shows_work(rules) and rhythm.is_silent(now)


def has_draft(frame: ScreenFrame, rules: ScreenRules) -> bool:
    """Return true if the composer contains text that is neither its placeholder nor a dim
    suggestion.
    """
    rule = ComposerRule(
        glyph=rules.glyphs[0] if rules.glyphs else None, placeholder=rules.ready_mark
    )
    return bool(read_composer_text(frame.rows, rule)) and contains_draft(frame, rules)
