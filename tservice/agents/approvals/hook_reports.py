"""Hooks about dialogs that are not answered yet (protocol-approvals).

Tools that run in parallel ask for permission at the same time. Their hooks come together, but their
dialogs appear one after the other. A hook belongs to the dialog that shows its command.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from tservice.agents.approvals.dialog_comparison import Named, get_tool_identity, shows_summary
from tservice.agents.approvals.model import ApprovalItem
from tservice.terminal.dialogs.dialogs import AgentDialog

REMEMBERED = 16
"""Maximum number of hooks that are kept for each session; the oldest is dropped first."""

HookData = Mapping[str, Any]


class DialogHookReports:
    """Hooks that asked for permission to use a tool and have no answer yet.

    They are kept by session, oldest first.
    """

    def __init__(self) -> None:
        self._told: dict[str, deque[HookData]] = {}

    def add_report(self, session_id: str, data: HookData) -> None:
        """Add a hook that asked for permission to use a tool."""
        self.remove_reports(session_id, get_tool_identity(data))
        self._told.setdefault(session_id, deque(maxlen=REMEMBERED)).append(data)

    def remove_reports(self, session_id: str, tool: Named) -> None:
        """Remove the hooks of a tool that has run or whose dialog was answered."""
        kept = [
            data
            for data in self._told.pop(session_id, ())
            if get_tool_identity(data)[:2] != tool[:2]
        ]
        if kept:
            self._told[session_id] = deque(kept, maxlen=REMEMBERED)

    def forget_session(self, session_id: str) -> None:
        """Remove all hooks of a session, because the turn is over."""
        self._told.pop(session_id, None)

    def has_unfinished_report(self, session_id: str, tool: Named) -> bool:
        """Return true if a hook asked for permission for the tool, which has not finished yet."""
        return any(get_tool_identity(data) == tool for data in self._told.get(session_id, ()))

    def find_visible_report(self, session_id: str, dialog: AgentDialog) -> HookData | None:
        """Return the hook whose command the dialog shows; if several match, the longest command
        wins.
        """
        found = [
            (len(summary), data)
            for data in self._told.get(session_id, ())
            if (summary := get_tool_identity(data)[1]) is not None
            and shows_summary(dialog.context, summary)
        ]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def find_report(
        self, session_id: str, dialog: AgentDialog, before: ApprovalItem | None
    ) -> HookData:
        """Return the data of the hook that belongs to a dialog on the screen.

        The result is empty if there is no such hook, or if several are possible.

        @param before: the item that the new dialog's item replaces; C{None} if there is none.
        """
        shown = self.find_visible_report(session_id, dialog)
        if shown is not None:
            return shown
        past = None if before is None else before.tool_identity
        left = [data for data in self._told.get(session_id, ()) if get_tool_identity(data) != past]
        # A completely visible dialog would show a command.
        able = [data for data in left if get_tool_identity(data)[1] is None or not dialog.whole]
        return able[0] if len(able) == 1 else {}
