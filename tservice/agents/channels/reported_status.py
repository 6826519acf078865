"""Status that an agent reports beside its screen. This module does no I/O."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from tservice.agents.activity.activity_machine import AgentState


class ReportedState(StrEnum):
    """States that an agent reports."""

    IDLE = "idle"
    SHELL = "shell"
    """No turn runs, but a command in the background."""
    BUSY = "busy"
    WAITING = "waiting"


PICKER = "dialog open"
"""Value of C{waiting_for} for a page that a person opened outside of a turn."""

_DOING = {
    ReportedState.IDLE: AgentState.IDLE,
    ReportedState.SHELL: AgentState.IDLE,
    ReportedState.BUSY: AgentState.WORKING,
    ReportedState.WAITING: AgentState.BLOCKED,
}
_SCREENS = {
    ReportedState.IDLE: frozenset({"idle"}),
    # Its spinner may count the command in the background.
    ReportedState.SHELL: frozenset({"idle", "working"}),
    ReportedState.BUSY: frozenset({"working"}),
    ReportedState.WAITING: frozenset({"dialog"}),
}


@frozen(kw_only=True)
class ReportedStatus:
    """Status that an agent reported.

    @ivar source: name of the channel, for people.
    @ivar waiting_for: what the agent waits for; C{""} if it does not wait.
    @ivar knows_pages: the agent also reports the pages that a person opens.
    @ivar since: Unix milliseconds of the last change of the status.
    """

    source: str
    state: ReportedState
    waiting_for: str
    since: int
    knows_pages: bool = True

    @property
    def doing(self) -> AgentState | None:
        """State of the agent; C{None} for a page outside of a turn."""
        return None if self.waiting_for == PICKER else _DOING[self.state]

    @property
    def words(self) -> str:
        """Text of one line about the status."""
        waits = f" ({self.waiting_for})" if self.waiting_for else ""
        return f"{self.source}: {self.state}{waits}"

    def agrees_with(self, screen: str) -> bool | None:
        """Return true if a screen shows this status; C{None} if the screen is not understood.

        @param screen: C{state} of L{tservice.terminal.screen_status.ScreenReading}.
        """
        if screen == "unknown" or (screen == "dialog" and not self.knows_pages):
            return None
        return screen in _SCREENS[self.state]
