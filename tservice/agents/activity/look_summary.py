"""Combined result of the looks at one agent. Pure."""

from __future__ import annotations

from attrs import evolve, frozen

from tservice.agents.activity.activity_machine import AgentState
from tservice.agents.activity.poll_schedule import (
    CALM,
    SLACK,
    STREAK,
    can_show_rest,
    shows_turn_end,
)
from tservice.terminal.screen_rules import ScreenRules
from tservice.terminal.screen_status import ScreenReading


@frozen(kw_only=True)
class LookSummary:
    """Summary of the looks of one run.

    @ivar hooks: the agent reports by hooks.
    @ivar titled: the title was seen to show work.
    @ivar at_work: a look showed the turn working, or asking, since a hook reported its start.
    @ivar streak: consecutive looks that showed an idle agent although a turn had begun.
    @ivar calm_since: the time since which every look showed the end of a turn that had been seen
        working, in the clock's seconds.
    """

    rules: ScreenRules
    hooks: bool
    titled: bool = False
    at_work: bool = False
    streak: int = 0
    calm_since: float | None = None

    @property
    def shows_rest(self) -> bool:
        """True if the screen can show that the agent rests while output runs."""
        return can_show_rest(self.rules, self.titled)

    def add_look(
        self, reading: ScreenReading, title: str, doing: AgentState, now: float
    ) -> LookSummary:
        """Return the summary with one more look, at C{now} seconds."""
        pattern = self.rules.working_title
        seen = evolve(
            self,
            titled=self.titled or (pattern is not None and pattern.search(title) is not None),
            at_work=self.at_work or reading.working or reading.dialog is not None,
        )
        counts = reading.state == "idle" and doing is AgentState.WORKING and seen.shows_rest
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

    def add_failed_look(self) -> LookSummary:
        """Return the summary after a failed look, which interrupts all sequences of looks."""
        return evolve(self, streak=0, calm_since=None)

    def start_turn(self) -> LookSummary:
        """Return the summary after a hook reported a turn, which no look has confirmed yet."""
        return evolve(self, at_work=False)

    def counts_as_silence(self, now: float) -> bool:
        """Return true if the latest looks count as silence."""
        calm = self.calm_since is not None and now >= self.calm_since + CALM - SLACK
        return calm or self.streak >= STREAK
