"""An agent's to-do list: its bounds, and how a whole one is read (protocol-session).  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tservice.sessions.interfaces import Todo, TodoStatus
from tservice.terminal.model import sanitised

TODOS = 50
"""To-dos of a session that are kept; of more, the newest."""
CHARS = 200
"""Characters of one."""
_READ = 20 * CHARS
"""Characters of one that are looked at."""

_DROPPED = "cancelled"
"""What the agent itself crossed out; Claude Code takes such a one away."""


def listed(given: object, named: str) -> tuple[Todo, ...] | None:
    """The list that an agent was given; C{None} for anything that is no list.

    @param given: untrusted; entries that are none are passed over, as are those crossed out.
    @param named: the field of an entry that holds its words.
    """
    if not isinstance(given, list):
        return None
    found = (_todo(each, named) for each in given[-TODOS:])
    return tuple(todo for todo in found if todo is not None)


def kept(todos: Iterable[Todo]) -> tuple[tuple[str, str], ...]:
    """A list as a transcript's tally keeps it: the words and how far each is."""
    return tuple((todo.text, str(todo.status)) for todo in todos)


def told(found: Iterable[tuple[str, str]]) -> tuple[Todo, ...]:
    """The opposite of L{kept}."""
    return tuple(
        Todo(text=text, status=status_of(status) or TodoStatus.PENDING) for text, status in found
    )


def current_of(todos: tuple[Todo, ...]) -> str | None:
    """What is being done, of several the last."""
    doing = [todo for todo in todos if todo.status is TodoStatus.IN_PROGRESS]
    return (doing[-1].doing or doing[-1].text) if doing else None


def words(value: object) -> str | None:
    """One line of it; C{None} where it holds none."""
    return sanitised(value[:_READ], CHARS) if isinstance(value, str) else None


def status_of(value: object) -> TodoStatus | None:
    """How far one is; C{None} where that is not known."""
    return next((status for status in TodoStatus if status == value), None)


def _todo(entry: object, named: str) -> Todo | None:
    found: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
    text, far = words(found.get(named)), found.get("status")
    if text is None or far == _DROPPED:
        return None
    status = status_of(far) or TodoStatus.PENDING
    return Todo(text=text, doing=words(found.get("activeForm")), status=status)
