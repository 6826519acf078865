"""Size limits of bodies, computed from the limits of their models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from attrs import frozen
from pydantic import BaseModel

JSON_BODY_LIMIT = 1024 * 1024
"""Limit in bytes on a JSON body whose model sets no length (protocol-errors)."""

LEAST_BODY_LIMIT = 4096
"""Number of bytes that every route accepts; also the limit on routes without authentication."""

MAX_VALUES = 10_000
"""Limit on the values and names in a body whose model sets no limit."""

SPARE_VALUES = 64
"""Number of values accepted beyond the model's maximum, so that a few errors can be reported by
name.
"""

LONGEST_CHARACTER = 12
"""Longest encoding of a character in bytes: an escaped pair of surrogates."""

MAX_MESSAGE = 1024 * 1024
"""Limit in bytes on a client's WebSocket message (protocol-websocket)."""

TOO_BIG = 1009
"""WebSocket close code for a message that exceeds the limit."""

_WORD = 32
"""Maximum bytes of a number, C{true}, C{false} or C{null}, with the surrounding punctuation."""


@frozen(kw_only=True)
class SocketLimits:
    """Limits on the messages that a client may send on a WebSocket.

    @ivar message: maximum size of a message in bytes, at most L{MAX_MESSAGE}.
    @ivar too_big: the close code for a longer message.
    @ivar compressed: true if the client may compress messages, which can expand a thousandfold.
    """

    message: int = MAX_MESSAGE
    too_big: int = TOO_BIG
    compressed: bool = True


ANY_MESSAGE = SocketLimits()
"""Default limits for WebSockets."""


@frozen
class BodyLimits:
    """Limits on a body.

    @ivar size: maximum size in bytes.
    @ivar values: maximum number of values and names; a list or an object counts as two.
    """

    size: int
    values: int

    def __add__(self, other: BodyLimits) -> BodyLimits:
        return BodyLimits(self.size + other.size, self.values + other.values)

    def __mul__(self, times: int) -> BodyLimits:
        return BodyLimits(self.size * times, self.values * times)

    def __or__(self, other: BodyLimits) -> BodyLimits:
        """Return limits that allow everything that either of the two allows."""
        return BodyLimits(max(self.size, other.size), max(self.values, other.values))


ANY_JSON = BodyLimits(JSON_BODY_LIMIT, MAX_VALUES)
"""Limits for arbitrary JSON."""

ANY_TEXT = BodyLimits(JSON_BODY_LIMIT, 1)
"""Limits for a text of any length."""

EMPTY_BODY = BodyLimits(LEAST_BODY_LIMIT, SPARE_VALUES)
"""Limits for an operation without body."""


@lru_cache(maxsize=256)
def find_body_limits(model: type[BaseModel] | None) -> BodyLimits:
    """Return the tightest limits that refuse no body which C{model} accepts.

    Parts of the model without limits count as L{ANY_JSON}.
    """
    if model is None:
        return EMPTY_BODY
    schema = model.model_json_schema(mode="validation")
    found = _SchemaLimits(schema.get("$defs", {})).find_limits(schema)
    size = min(JSON_BODY_LIMIT, max(LEAST_BODY_LIMIT, found.size))
    return BodyLimits(size, min(MAX_VALUES, found.values + SPARE_VALUES))


class _SchemaLimits:
    """Computes limits from a JSON schema that pydantic generated."""

    def __init__(self, named: Mapping[str, Any], above: frozenset[str] = frozenset()) -> None:
        self._named, self._above = named, above

    def find_limits(self, schema: Any) -> BodyLimits:
        """Return the limits of a JSON schema; parts without limits count as L{ANY_JSON}."""
        if not isinstance(schema, dict):
            return ANY_JSON
        if "$ref" in schema:
            return self._find_named_schema_limits(schema["$ref"].rpartition("/")[2])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._combine_limits(schema[several])
        if "enum" in schema or "const" in schema:
            words = [schema.get("const"), *schema.get("enum", ())]
            return _get_text_limits(max(len(str(word)) for word in words))
        match schema.get("type"):
            case "string":
                return _get_text_limits(schema["maxLength"]) if "maxLength" in schema else ANY_TEXT
            case "integer" | "number" | "boolean" | "null":
                return BodyLimits(_WORD, 1)
            case "array" if "maxItems" in schema:
                return BodyLimits(_WORD, 2) + self._array_limits(schema) * int(schema["maxItems"])
            case "object" if "properties" in schema or "maxProperties" in schema:
                return self._object_limits(schema)
        return ANY_JSON

    def _find_named_schema_limits(self, name: str) -> BodyLimits:
        if name in self._above:
            return ANY_JSON
        return _SchemaLimits(self._named, self._above | {name}).find_limits(self._named.get(name))

    def _combine_limits(self, schemas: list[Any]) -> BodyLimits:
        widest = BodyLimits(0, 0)
        for schema in schemas:
            widest |= self.find_limits(schema)
        return widest

    def _array_limits(self, schema: Mapping[str, Any]) -> BodyLimits:
        return self._combine_limits([*schema.get("prefixItems", ()), schema.get("items", {})])

    def _object_limits(self, schema: Mapping[str, Any]) -> BodyLimits:
        total = BodyLimits(_WORD, 2)
        for name, field in schema.get("properties", {}).items():
            total += _get_text_limits(len(name)) + self.find_limits(field)
        if "maxProperties" in schema:
            name = self.find_limits({"type": "string", **schema.get("propertyNames", {})})
            total += (name + self.find_limits(schema.get("additionalProperties"))) * schema[
                "maxProperties"
            ]
        return total


def _get_text_limits(length: int) -> BodyLimits:
    return BodyLimits(length * LONGEST_CHARACTER + _WORD, 1)
