"""Wire form of a session (protocol-session): its record without the hidden fields."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, cast, get_args, get_origin, get_type_hints

import attrs
from pydantic import Field, create_model

from tservice.core.kernel.event_payloads import SessionPayload
from tservice.core.values.payload import Payload, omit_if_false, omit_if_none
from tservice.sessions.record.model import ModelSource, Session


@cache
def make_answer_model(
    record: type[attrs.AttrsInstance], base: type[Payload] = Payload
) -> type[Payload]:
    """Return the response model of C{record}: C{base} and every field that is not hidden.

    The model is named after the record. A field that is C{None} is left out, unless the record says
    that C{null} is a value.
    """
    hints = get_type_hints(record)
    fields = {
        each.name: _make_field(hints[each.name], each.metadata)
        for each in attrs.fields(record)
        if "hidden" not in each.metadata and each.name not in base.model_fields
    }
    doc = base.__doc__ if base is not Payload else record.__doc__
    name = f"{record.__name__}Answer"
    return create_model(name, __base__=base, __doc__=doc, **cast(Any, fields))


def make_part_response(record: attrs.AttrsInstance) -> Payload:
    """Return the wire form of a record that is part of a session."""
    return make_answer_model(type(record)).model_validate(record, from_attributes=True)


def make_session_answer(session: Session) -> SessionAnswer:
    """Return the wire form of a session, without the values of C{env_overrides}."""
    return SessionAnswer.model_validate(session, from_attributes=True)


def _make_field(hint: Any, metadata: Any) -> tuple[Any, Any]:
    alias = {"alias": metadata["named"]} if "named" in metadata else {}
    kept, empty = _strip_optional(hint)
    kind = _answer_type(kept)
    if not empty:
        return kind, Field(**alias)
    return kind | None, Field(**alias) if "null" in metadata else omit_if_none(**alias)


def _answer_type(hint: Any) -> Any:
    """Return the response type for a field type that is a record or a tuple of records."""
    if get_origin(hint) is tuple and attrs.has(get_args(hint)[0]):
        return tuple[make_answer_model(get_args(hint)[0]), ...]  # type: ignore[misc]
    return make_answer_model(hint) if attrs.has(hint) else hint


def _strip_optional(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    (kept,) = (each for each in get_args(hint) if each is not type(None))
    return kept, True


class _SessionAnswerBase(SessionPayload):
    """Session (protocol-session)."""

    display_model: str | None
    display_model_source: ModelSource | None = omit_if_none()
    respawn_blocked: bool = omit_if_false()


if TYPE_CHECKING:
    # A type checker cannot see the other fields, which come from the record.
    SessionAnswer = _SessionAnswerBase
else:
    SessionAnswer = make_answer_model(Session, _SessionAnswerBase)
