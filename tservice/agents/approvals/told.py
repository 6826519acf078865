"""What hooks told of dialogs that were not answered yet (protocol-approvals).

Agents that work side by side ask at the same time: their hooks come together, and their dialogs one
after the other.  A hook's word belongs to the dialog that shows its command.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from tservice.agents.approvals.model import Item
from tservice.agents.approvals.same import Named, named, shows
from tservice.terminal.dialogs import Dialog

REMEMBERED = 16
"""Hooks of one session that are remembered; beyond that the oldest is forgotten."""

HookData = Mapping[str, Any]


class ToldDialogs:
    """The hooks that named a tool, by session, oldest first."""

    def __init__(self) -> None:
        self._told: dict[str, deque[HookData]] = {}

    def add(self, session_id: str, data: HookData) -> None:
        """A hook asked for leave to use a tool."""
        self.done(session_id, named(data))
        self._told.setdefault(session_id, deque(maxlen=REMEMBERED)).append(data)

    def done(self, session_id: str, tool: Named) -> None:
        """That tool was answered for, or ran."""
        kept = [data for data in self._told.pop(session_id, ()) if named(data)[:2] != tool[:2]]
        if kept:
            self._told[session_id] = deque(kept, maxlen=REMEMBERED)

    def forget(self, session_id: str) -> None:
        """The turn is over, and all that it asked."""
        self._told.pop(session_id, None)

    def waits(self, session_id: str, tool: Named) -> bool:
        """Whether that tool was asked for and is not done."""
        return any(named(data) == tool for data in self._told.get(session_id, ()))

    def shown(self, session_id: str, dialog: Dialog) -> HookData | None:
        """The hook whose command the dialog shows; the longest of several."""
        found = [
            (len(summary), data)
            for data in self._told.get(session_id, ())
            if (summary := named(data)[1]) is not None and shows(dialog.context, summary)
        ]
        return max(found, key=lambda pair: pair[0])[1] if found else None

    def of(self, session_id: str, dialog: Dialog, before: Item | None) -> HookData:
        """The hook that spoke of a dialog which was only seen; empty where nobody can tell.

        @param before: the item whose place the dialog's takes.
        """
        shown = self.shown(session_id, dialog)
        if shown is not None:
            return shown
        past = None if before is None else before.tool
        left = [data for data in self._told.get(session_id, ()) if named(data) != past]
        # A dialog that is wholly there would show a command.
        able = [data for data in left if named(data)[1] is None or not dialog.whole]
        return able[0] if len(able) == 1 else {}
