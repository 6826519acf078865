"""Events as tests make and read them."""

from __future__ import annotations

import json
from typing import Any

from tservice.core.kernel.events import Event, EventName
from tservice.http.envelope import dump_json

_PLAIN: dict[object, Any] = {str: "", int: 0, bool: False, list[str]: [], dict[str, Any]: {}}


def make_event(
    name: str, *, session_id: str | None = None, owner: str | None = None, **fields: Any
) -> Event:
    """An event that tells C{fields}, and of what it has to tell beside them something plain."""
    declared: EventName = EventName(name)  # type: ignore[call-arg]
    plain = {
        each: _PLAIN.get(field.annotation)
        for each, field in declared.payload.model_fields.items()
        if field.is_required() and each not in fields and field.alias not in fields
    }
    payload = declared.payload(**plain, **fields)
    return Event(name=declared, payload=payload, session_id=session_id, owner=owner)


def to_wire(told: object) -> Any:
    """The data of an event or of an answer as clients get it."""
    return json.loads(dump_json(told.payload if isinstance(told, Event) else told))
