"""To-do list of an agent, derived from the hooks of its tools (protocol-hooks).

This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from tservice.agents.todos import CHARS, TODOS, clean_text, parse_status, parse_todos
from tservice.sessions.interfaces import TodoItem

_REMOVED = "deleted"


class TodoTracker:
    """To-do list of one agent.

    C{TodoWrite} sends the whole list. C{TaskCreate} and C{TaskUpdate} send one entry, identified by
    an id.
    """

    def __init__(self) -> None:
        self._known: dict[str, TodoItem] = {}

    @property
    def entries(self) -> tuple[TodoItem, ...]:
        """Entries in the order of their creation."""
        return tuple(self._known.values())

    def update_from_tool(self, tool: str, given: object, answered: object) -> None:
        """Update the list after a tool has run.

        @param given: the input of the tool; untrusted.
        @param answered: the result of the tool; untrusted.
        """
        given, answered = _get_mapping_or_empty(given), _get_mapping_or_empty(answered)
        if tool == "TodoWrite":
            whole = parse_todos(given.get("todos"), "content")
            if whole is not None:
                self._known = {str(at): todo for at, todo in enumerate(whole)}
        elif tool == "TaskCreate":
            self._add_entry(_get_mapping_or_empty(answered.get("task")).get("id"), given)
        elif tool == "TaskUpdate" and answered.get("success") is True:
            self._change_entry(given.get("taskId"), given)

    def _add_entry(self, name: object, given: Mapping[str, Any]) -> None:
        text = clean_text(given.get("subject"))
        if isinstance(name, str) and text is not None:
            self._known[name[:CHARS]] = TodoItem(
                text=text, doing=clean_text(given.get("activeForm"))
            )
            for old in list(self._known)[:-TODOS]:
                del self._known[old]

    def _change_entry(self, name: object, given: Mapping[str, Any]) -> None:
        if not isinstance(name, str) or name not in self._known:
            return
        if given.get("status") == _REMOVED:
            del self._known[name]
            return
        before = self._known[name]
        self._known[name] = evolve(
            before,
            text=clean_text(given.get("subject")) or before.text,
            doing=clean_text(given.get("activeForm")) or before.doing,
            status=parse_status(given.get("status")) or before.status,
        )


def _get_mapping_or_empty(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
