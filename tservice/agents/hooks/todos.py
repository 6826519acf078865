"""An agent's to-do list, from what its hooks tell of its tools (protocol-hooks).  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from tservice.sessions.interfaces import Todo, TodoStatus
from tservice.terminal.model import sanitised

TODOS = 50
"""To-dos of a session that are kept; of more, the newest."""
CHARS = 200
"""Characters of one."""

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
        if tool == "TodoWrite" and isinstance(given.get("todos"), list):
            listed = [todo for todo in map(_listed, given["todos"][-TODOS:]) if todo is not None]
            self._known = {str(at): todo for at, todo in enumerate(listed)}
        elif tool == "TaskCreate":
            self._add(_map(answered.get("task")).get("id"), given)
        elif tool == "TaskUpdate" and answered.get("success") is True:
            self._change(given.get("taskId"), given)

    def _add(self, name: object, given: Mapping[str, Any]) -> None:
        text = _words(given.get("subject"))
        if isinstance(name, str) and text is not None:
            self._known[name[:CHARS]] = Todo(text=text, doing=_words(given.get("activeForm")))
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
            text=_words(given.get("subject")) or before.text,
            doing=_words(given.get("activeForm")) or before.doing,
            status=_status(given.get("status")) or before.status,
        )


def current_of(todos: tuple[Todo, ...]) -> str | None:
    """What is being done, of several the last."""
    doing = [todo for todo in todos if todo.status is TodoStatus.IN_PROGRESS]
    return (doing[-1].doing or doing[-1].text) if doing else None


def _listed(each: object) -> Todo | None:
    found = _map(each)
    text = _words(found.get("content"))
    if text is None:
        return None
    status = _status(found.get("status")) or TodoStatus.PENDING
    return Todo(text=text, doing=_words(found.get("activeForm")), status=status)


def _words(value: object) -> str | None:
    return sanitised(value, CHARS) if isinstance(value, str) else None


def _status(value: object) -> TodoStatus | None:
    return next((status for status in TodoStatus if status == value), None)


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
