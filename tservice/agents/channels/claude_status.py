"""Status that Claude Code writes to C{sessions/<pid>.json} of its folder.

The file is written at each change and removed when the program exits. This module does no I/O.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from attrs import frozen

from tservice.agents.activity.activity_machine import AgentState
from tservice.core.values.text import cut_with_note, replace_harmful_characters

WORD_CHARS = 60


class ReportedState(StrEnum):
    """Values of C{status} that are understood."""

    IDLE = "idle"
    SHELL = "shell"
    """No turn runs, but a command in the background."""
    BUSY = "busy"
    WAITING = "waiting"


PICKER = "dialog open"
"""Value of C{waitingFor} for a page that a person opened outside of a turn."""

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
    """Content of a status file.

    @ivar waiting_for: what the agent waits for; C{""} if it does not wait.
    @ivar since: Unix milliseconds of the last change of the status.
    """

    state: ReportedState
    waiting_for: str
    since: int

    @property
    def doing(self) -> AgentState | None:
        """State of the agent; C{None} for a page outside of a turn."""
        return None if self.waiting_for == PICKER else _DOING[self.state]

    @property
    def words(self) -> str:
        """Text of one line about the status."""
        return f"{self.state} ({self.waiting_for})" if self.waiting_for else str(self.state)

    def agrees_with(self, screen: str) -> bool | None:
        """Return true if a screen shows this status; C{None} if the screen is not understood.

        @param screen: C{state} of L{tservice.terminal.screen_status.ScreenReading}.
        """
        return None if screen == "unknown" else screen in _SCREENS[self.state]


def parse_status(content: bytes, pid: int) -> ReportedStatus | None:
    """Return the status in a file; C{None} if it is not understood or another process' file."""
    try:
        found: Any = json.loads(content)
        state = ReportedState(found["status"])
        since = found["statusUpdatedAt"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if found.get("pid") != pid or type(since) is not int:
        return None
    said = found.get("waitingFor")
    words = said if isinstance(said, str) and state is ReportedState.WAITING else ""
    return ReportedStatus(
        state=state,
        waiting_for=cut_with_note(replace_harmful_characters(words), WORD_CHARS),
        since=since,
    )
