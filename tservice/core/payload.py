"""The base of what goes out as JSON (protocol-requests)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Payload(BaseModel):
    """The data of an answer or of an event: camelCase on the wire, and nothing but its fields.

    A field that may be C{None} is there as C{null}, unless it is L{absent}.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
    )


def absent(**more: Any) -> Any:
    """The default of a field that is left out while it is C{None}."""
    return Field(default=None, exclude_if=_is_none, json_schema_extra=_never_null, **more)


def absent_if_false() -> Any:
    """The default of a flag that is left out while it is not raised."""
    return Field(default=False, exclude_if=_is_false)


def _is_none(value: object) -> bool:
    return value is None


def _is_false(value: object) -> bool:
    return value is False


def _never_null(schema: dict[str, Any]) -> None:
    """It may be missing, and is never C{null}."""
    schema.pop("default", None)
    others = [each for each in schema.pop("anyOf", ()) if each != {"type": "null"}]
    if len(others) == 1:
        schema.update(others[0])
    elif others:
        schema["anyOf"] = others
