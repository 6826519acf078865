"""Session records as rows of the database and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from enum import Enum
from typing import Any

import attrs

from tservice.core.users.osuser import OsUserId
from tservice.sessions.record.display import restored_models
from tservice.sessions.record.model import (
    AutoClear,
    AutoCompact,
    AutoResume,
    Colour,
    Container,
    CustomModel,
    Exit,
    Location,
    NameSource,
    Nice,
    Phase,
    Remote,
    Session,
    Status,
    Tokens,
)

COLUMNS = tuple(attribute.name for attribute in attrs.fields(Session))


def _record(kind: Callable[..., Any]) -> Callable[[str], Any]:
    return lambda text: kind(**json.loads(text))


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "name_source": NameSource,
    "phase": Phase,
    "status": Status,
    "colour": Colour,
    "location": Location,
    "pinned": bool,
    "limit_paused": bool,
    "flicker_filter": bool,
    "hooks_available": bool,
    "statusline_telemetry": bool,
    "auto_compact": _record(AutoCompact),
    "auto_clear": _record(AutoClear),
    "auto_resume": _record(AutoResume),
    "nice": _record(Nice),
    "tokens": _record(Tokens),
    "custom_model": _record(CustomModel),
    "pane_exit": _record(Exit),
    "remote": _record(Remote),
    "container": _record(Container),
    "os_user": _record(OsUserId),
    "models": lambda text: restored_models(json.loads(text)),
    "params": json.loads,
    "env_overrides": json.loads,
    "conversation_ids": lambda text: tuple(json.loads(text)),
}


def to_row(session: Session) -> tuple[Any, ...]:
    """The values of L{COLUMNS}."""
    return tuple(_encode(getattr(session, name)) for name in COLUMNS)


def from_row(row: sqlite3.Row) -> Session:
    """The record that L{to_row} made."""
    return Session(**{name: _decode(name, row[name]) for name in COLUMNS})


def _encode(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bool):
        return int(value)
    if attrs.has(type(value)):
        return json.dumps(attrs.asdict(value))
    if isinstance(value, tuple | dict):
        return json.dumps(value)
    return value


def _decode(name: str, value: Any) -> Any:
    if value is None or name not in _DECODERS:
        return value
    return _DECODERS[name](value)
