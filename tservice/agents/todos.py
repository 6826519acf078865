"""To-do list of an agent: its limits, and the parsing of a complete list (protocol-session).

This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tservice.sessions.interfaces import TodoItem, TodoStatus
from tservice.terminal.model_name import sanitize_text

TODOS = 50
"""Maximum number of to-dos of a session; the newest are kept."""
CHARS = 200
"""Maximum characters of a to-do."""
_READ = 20 * CHARS
"""Maximum characters of a to-do's text that are parsed."""

_DROPPED = "cancelled"
"""Status of an entry that the agent has cancelled; Claude Code removes such entries."""


def parse_todos(given: object, named: str) -> tuple[TodoItem, ...] | None:
    """Return the to-do list that an agent passed to its tool; C{None} if the value is not a list.

    @param given: the value, which is untrusted; invalid and cancelled entries are skipped.
    @param named: the field of an entry that contains its text.
    """
    if not isinstance(given, list):
        return None
    found = (_parse_todo(each, named) for each in given[-TODOS:])
    return tuple(todo for todo in found if todo is not None)


def encode_todos(todos: Iterable[TodoItem]) -> tuple[tuple[str, str], ...]:
    """Return a list as it is stored in a transcript's tally: text and status of each entry."""
    return tuple((todo.text, str(todo.status)) for todo in todos)


def decode_todos(found: Iterable[tuple[str, str]]) -> tuple[TodoItem, ...]:
    """Return a list from its stored form (the inverse of L{encode_todos})."""
    return tuple(
        TodoItem(text=text, status=parse_status(status) or TodoStatus.PENDING)
        for text, status in found
    )


def find_current_todo(todos: tuple[TodoItem, ...]) -> str | None:
    """Return the text of the entry in progress, the last one if there are several; C{None} without
    one.
    """
    doing = [todo for todo in todos if todo.status is TodoStatus.IN_PROGRESS]
    return (doing[-1].doing or doing[-1].text) if doing else None


def clean_text(value: object) -> str | None:
    """Return the text as one line; C{None} if it is empty."""
    return sanitize_text(value[:_READ], CHARS) if isinstance(value, str) else None


def parse_status(value: object) -> TodoStatus | None:
    """Return the status of an entry; C{None} if it is unknown."""
    return next((status for status in TodoStatus if status == value), None)


def _parse_todo(entry: object, named: str) -> TodoItem | None:
    found: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
    text, far = clean_text(found.get(named)), found.get("status")
    if text is None or far == _DROPPED:
        return None
    status = parse_status(far) or TodoStatus.PENDING
    return TodoItem(text=text, doing=clean_text(found.get("activeForm")), status=status)
