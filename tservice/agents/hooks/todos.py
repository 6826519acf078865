"""An agent's to-do list, from what its hooks tell of its tools (protocol-hooks).  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from tservice.agents.todos import CHARS, TODOS, listed, status_of, words
from tservice.sessions.interfaces import Todo

_REMOVED = "deleted"


class Todos:
    """The list of one agent.

    C{TodoWrite} tells the whole of it, C{TaskCreate} and C{TaskUpdate} one at a time, by its id.
    """

    def __init__(self) -> None:
        self._known: dict[str, Todo] = {}

    @property
    def all(self) -> tuple[Todo, ...]:
        """In the order in which they came up."""
        return tuple(self._known.values())

    def heard(self, tool: str, given: object, answered: object) -> None:
        """A tool ran.

        @param given: its input, C{answered} what it returned; untrusted, as all of it.
        """
        given, answered = _map(given), _map(answered)
        if tool == "TodoWrite":
            whole = listed(given.get("todos"), "content")
            if whole is not None:
                self._known = {str(at): todo for at, todo in enumerate(whole)}
        elif tool == "TaskCreate":
            self._add(_map(answered.get("task")).get("id"), given)
        elif tool == "TaskUpdate" and answered.get("success") is True:
            self._change(given.get("taskId"), given)

    def _add(self, name: object, given: Mapping[str, Any]) -> None:
        text = words(given.get("subject"))
        if isinstance(name, str) and text is not None:
            self._known[name[:CHARS]] = Todo(text=text, doing=words(given.get("activeForm")))
            for old in list(self._known)[:-TODOS]:
                del self._known[old]

    def _change(self, name: object, given: Mapping[str, Any]) -> None:
        if not isinstance(name, str) or name not in self._known:
            return
        if given.get("status") == _REMOVED:
            del self._known[name]
            return
        before = self._known[name]
        self._known[name] = evolve(
            before,
            text=words(given.get("subject")) or before.text,
            doing=words(given.get("activeForm")) or before.doing,
            status=status_of(given.get("status")) or before.status,
        )


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
