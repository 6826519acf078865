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
class SocketBounds:
    """Limits on the messages that a client may send on a WebSocket.

    @ivar message: bytes of a message, at most L{MAX_MESSAGE}.
    @ivar too_big: the close code for a longer one.
    @ivar compressed: true if it may compress its messages; a few bytes can then expand a
        thousandfold.
    """

    message: int = MAX_MESSAGE
    too_big: int = TOO_BIG
    compressed: bool = True


ANY_MESSAGE = SocketBounds()
"""Default limits for WebSockets."""


@frozen
class BodyBounds:
    """Limits on a body.

    @ivar size: bytes.
    @ivar values: values and names; a list or an object counts as two.
    """

    size: int
    values: int

    def __add__(self, other: BodyBounds) -> BodyBounds:
        return BodyBounds(self.size + other.size, self.values + other.values)

    def __mul__(self, times: int) -> BodyBounds:
        return BodyBounds(self.size * times, self.values * times)

    def __or__(self, other: BodyBounds) -> BodyBounds:
        """Return the larger limits of the two."""
        return BodyBounds(max(self.size, other.size), max(self.values, other.values))


OPEN = BodyBounds(JSON_BODY_LIMIT, MAX_VALUES)
"""Limits for arbitrary JSON."""

OPEN_TEXT = BodyBounds(JSON_BODY_LIMIT, 1)
"""Limits for a text of any length."""

NOTHING = BodyBounds(LEAST_BODY_LIMIT, SPARE_VALUES)
"""Limits for an operation without body."""


@lru_cache(maxsize=256)
def bounds_of(model: type[BaseModel] | None) -> BodyBounds:
    """Return the tightest limits that refuse no body which C{model} accepts.

    Parts without limits in the model get those of L{OPEN}.
    """
    if model is None:
        return NOTHING
    schema = model.model_json_schema(mode="validation")
    found = _Reader(schema.get("$defs", {})).read(schema)
    size = min(JSON_BODY_LIMIT, max(LEAST_BODY_LIMIT, found.size))
    return BodyBounds(size, min(MAX_VALUES, found.values + SPARE_VALUES))


class _Reader:
    """Computes limits from a JSON schema that pydantic generated."""

    def __init__(self, named: Mapping[str, Any], above: frozenset[str] = frozenset()) -> None:
        self._named, self._above = named, above

    def read(self, schema: Any) -> BodyBounds:
        """Return the limits of C{schema}; L{OPEN} for parts without limits."""
        if not isinstance(schema, dict):
            return OPEN
        if "$ref" in schema:
            return self._read_named(schema["$ref"].rpartition("/")[2])
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self._widest(schema[several])
        if "enum" in schema or "const" in schema:
            words = [schema.get("const"), *schema.get("enum", ())]
            return _text(max(len(str(word)) for word in words))
        match schema.get("type"):
            case "string":
                return _text(schema["maxLength"]) if "maxLength" in schema else OPEN_TEXT
            case "integer" | "number" | "boolean" | "null":
                return BodyBounds(_WORD, 1)
            case "array" if "maxItems" in schema:
                return BodyBounds(_WORD, 2) + self._each(schema) * int(schema["maxItems"])
            case "object" if "properties" in schema or "maxProperties" in schema:
                return self._object(schema)
        return OPEN

    def _read_named(self, name: str) -> BodyBounds:
        if name in self._above:
            return OPEN
        return _Reader(self._named, self._above | {name}).read(self._named.get(name))

    def _widest(self, schemas: list[Any]) -> BodyBounds:
        widest = BodyBounds(0, 0)
        for schema in schemas:
            widest |= self.read(schema)
        return widest

    def _each(self, schema: Mapping[str, Any]) -> BodyBounds:
        return self._widest([*schema.get("prefixItems", ()), schema.get("items", {})])

    def _object(self, schema: Mapping[str, Any]) -> BodyBounds:
        total = BodyBounds(_WORD, 2)
        for name, field in schema.get("properties", {}).items():
            total += _text(len(name)) + self.read(field)
        if "maxProperties" in schema:
            name = self.read({"type": "string", **schema.get("propertyNames", {})})
            total += (name + self.read(schema.get("additionalProperties"))) * schema[
                "maxProperties"
            ]
        return total


def _text(length: int) -> BodyBounds:
    return BodyBounds(length * LONGEST_CHARACTER + _WORD, 1)
