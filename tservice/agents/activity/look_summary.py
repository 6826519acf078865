"""Summary of successive captures of one agent's screen.

This module does no I/O.
"""

from __future__ import annotations

from attrs import evolve, frozen

from tservice.agents.activity.activity_machine import AgentState
from tservice.agents.activity.poll_schedule import (
    CALM,
    SLACK,
    STREAK,
    can_screen_show_idle,
    shows_turn_end,
)
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading


@frozen(kw_only=True)
class CaptureSummary:
    """Summary of the screen captures in one run of an agent.

    @ivar hooks: the agent reports by hooks.
    @ivar titled: the pane's title has shown a running turn in this run.
    @ivar at_work: since a hook reported the start of the turn, a capture showed work or a question.
    @ivar streak: number of consecutive captures that showed an idle agent although a turn had
        begun.
    @ivar calm_since: time in the clock's seconds since which every capture has shown no work, after
        work had been visible in the turn; C{None} otherwise.
    """

    rules: ScreenRules
    hooks: bool
    titled: bool = False
    at_work: bool = False
    streak: int = 0
    calm_since: float | None = None

    @property
    def can_show_idle(self) -> bool:
        """True if the screen can show that the agent is idle while output flows."""
        return can_screen_show_idle(self.rules, self.titled)

    def after_capture(
        self, reading: ScreenReading, title: str, doing: AgentState, now: float
    ) -> CaptureSummary:
        """Return the summary with one more capture.

        @param now: time of the capture, in the clock's seconds.
        """
        pattern = self.rules.working_title
        seen = evolve(
            self,
            titled=self.titled or (pattern is not None and pattern.search(title) is not None),
            at_work=self.at_work or reading.working or reading.dialog is not None,
        )
        counts = reading.state == "idle" and doing is AgentState.WORKING and seen.can_show_idle
        ended = (
            seen.hooks
            and seen.at_work
            and doing in (AgentState.WORKING, AgentState.BLOCKED)
            and shows_turn_end(reading, seen.rules, title)
        )
        since = now if seen.calm_since is None else seen.calm_since
        return evolve(
            seen,
            streak=seen.streak + 1 if counts else 0,
            calm_since=since if ended else None,
        )

    def after_failed_capture(self) -> CaptureSummary:
        """Return the summary after a failed capture, which interrupts all sequences of captures."""
        return evolve(self, streak=0, calm_since=None)

    def start_turn(self) -> CaptureSummary:
        """Return the summary after a hook reported a turn that no capture has shown yet."""
        return evolve(self, at_work=False)

    def proves_idle_like_silence(self, now: float) -> bool:
        """Return true if the latest captures prove an idle agent as well as silence does."""
        calm = self.calm_since is not None and now >= self.calm_since + CALM - SLACK
        return calm or self.streak >= STREAK
