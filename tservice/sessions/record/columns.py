"""Conversion between session records and database rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import attrs

from tservice.sessions.record.display import models_after_restart
from tservice.sessions.record.model import Session

COLUMNS = tuple(
    attribute.name for attribute in attrs.fields(Session) if "live" not in attribute.metadata
)

_Decoder = Callable[[Any], Any]


def _make_decoder(hint: Any) -> _Decoder | None:
    """Return the function that converts a database value to the type C{hint}; C{None} if no
    conversion is needed.
    """
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    kind = kinds[0] if get_origin(hint) is UnionType else hint
    if get_origin(kind) is tuple:
        return lambda text: tuple(json.loads(text))
    if get_origin(kind) is not None:
        return json.loads
    if attrs.has(kind):
        return lambda text: kind(**json.loads(text))
    return kind if issubclass(kind, Enum | bool) else None


def _make_decoders() -> dict[str, _Decoder]:
    found = {name: _make_decoder(hint) for name, hint in get_type_hints(Session).items()}
    named = {name: decoder for name, decoder in found.items() if decoder is not None}
    return named | {"models": lambda text: models_after_restart(json.loads(text))}


_DECODERS = _make_decoders()


def make_session_row(session: Session) -> tuple[Any, ...]:
    """Return the record's values in the order of L{COLUMNS}."""
    return tuple(_encode_value(getattr(session, name)) for name in COLUMNS)


def parse_session_row(row: sqlite3.Row) -> Session:
    """Return the session record of a database row that L{make_session_row} made."""
    return Session(**{name: _decode_value(name, row[name]) for name in COLUMNS})


def _encode_value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bool):
        return int(value)
    if attrs.has(type(value)):
        return json.dumps(attrs.asdict(value))
    if isinstance(value, tuple | dict):
        return json.dumps(value)
    return value


def _decode_value(name: str, value: Any) -> Any:
    if value is None or name not in _DECODERS:
        return value
    return _DECODERS[name](value)
