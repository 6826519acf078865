"""Size limits of bodies, derived from the limits of their models (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from attrs import frozen
from pydantic import BaseModel

JSON_BODY_LIMIT = 1024 * 1024
"""Limit in bytes on a JSON body whose model sets no length (protocol-errors)."""

LEAST_BODY_LIMIT = 4096
"""Bytes that every route accepts, and the limit on routes that anybody may call."""

MAX_VALUES = 10_000
"""Limit on the values and names in a body whose model sets none."""

SPARE_VALUES = 64
"""Values accepted beyond the model's capacity, so that a few faults can be found and named."""

LONGEST_CHARACTER = 12
"""Longest encoding of a character in bytes: an escaped pair of surrogates."""

MAX_MESSAGE = 1024 * 1024
"""Limit in bytes on a client's WebSocket message (protocol-websocket)."""

TOO_BIG = 1009
"""Close code for a longer message."""

_WORD = 32
"""Bytes of a number, of C{true}, C{false} or C{null}, with the surrounding punctuation."""


@frozen(kw_only=True)
class SocketLimits:
    """Limits on the messages that a client may send on a WebSocket.

    @ivar message: bytes of a message, at most L{MAX_MESSAGE}.
    @ivar too_big: the close code for a longer one.
    @ivar compressed: true if it may compress its messages; a few bytes can then expand a
        thousandfold.
    """

    message: int = MAX_MESSAGE
    too_big: int = TOO_BIG
    compressed: bool = True


ANY_MESSAGE = SocketLimits()
"""Default limits for WebSockets."""


@frozen
class BodyLimits:
    """Limits on a body.

    @ivar size: bytes.
    @ivar values: values and names; a list or an object counts as two.
    """

    size: int
    values: int

    def __add__(self, other: BodyLimits) -> BodyLimits:
        return BodyLimits(self.size + other.size, self.values + other.values)

    def __mul__(self, times: int) -> BodyLimits:
        return BodyLimits(self.size * times, self.values * times)

    def __or__(self, other: BodyLimits) -> BodyLimits:
        """Return the larger limits of the two."""
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

    Parts without limits in the model get those of L{ANY_JSON}.
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
        """Return the limits of C{schema}; L{ANY_JSON} for parts without limits."""
        if not isinstance(schema, dict):
            return ANY_JSON
        if "$ref" in schema:
            return self._read_named(schema["$ref"].rpartition("/")[2])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._combine_limits(schema[several])
        if "enum" in schema or "const" in schema:
            words = [schema.get("const"), *schema.get("enum", ())]
            return _text_limits(max(len(str(word)) for word in words))
        match schema.get("type"):
            case "string":
                return _text_limits(schema["maxLength"]) if "maxLength" in schema else ANY_TEXT
            case "integer" | "number" | "boolean" | "null":
                return BodyLimits(_WORD, 1)
            case "array" if "maxItems" in schema:
                return BodyLimits(_WORD, 2) + self._array_limits(schema) * int(schema["maxItems"])
            case "object" if "properties" in schema or "maxProperties" in schema:
                return self._object_limits(schema)
        return ANY_JSON

    def _read_named(self, name: str) -> BodyLimits:
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
            total += _text_limits(len(name)) + self.find_limits(field)
        if "maxProperties" in schema:
            name = self.find_limits({"type": "string", **schema.get("propertyNames", {})})
            total += (name + self.find_limits(schema.get("additionalProperties"))) * schema[
                "maxProperties"
            ]
        return total


def _text_limits(length: int) -> BodyLimits:
    return BodyLimits(length * LONGEST_CHARACTER + _WORD, 1)
