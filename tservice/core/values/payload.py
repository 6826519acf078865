"""Base class of JSON data in responses and events (protocol-requests)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Payload(BaseModel):
    """Data of a response or an event: camelCase on the wire, without additional fields.

    A field that is C{None} is sent as C{null}, unless its default is L{omit_if_none}.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
    )


def omit_if_none(**more: Any) -> Any:
    """Return the default of a field that is omitted while it is C{None}."""
    return Field(default=None, exclude_if=_is_none, json_schema_extra=_forbid_null, **more)


def omit_if_false() -> Any:
    """Return the default of a flag that is omitted while it is false."""
    return Field(default=False, exclude_if=_is_false)


def _is_none(value: object) -> bool:
    return value is None


def _is_false(value: object) -> bool:
    return value is False


def _forbid_null(schema: dict[str, Any]) -> None:
    """Declare in the JSON schema that the field may be missing but is never C{null}."""
    schema.pop("default", None)
    others = [each for each in schema.pop("anyOf", ()) if each != {"type": "null"}]
    if len(others) == 1:
        schema.update(others[0])
    elif others:
        schema["anyOf"] = others
