"""Requests as the document of the API describes them, made up with dice.

Every operation of the document is thrown, also those that come later; what is thrown is of the
right shape more often than not, for what is refused at its door shows little.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from attrs import frozen

METHODS = ("get", "post", "put", "patch", "delete")
SOMETIMES = 0.35
"""How often something that may be left out is there."""
SOON = 1500
"""Milliseconds that anything may be waited for."""

BOUNDS = ("timeout", "waitTimeout")
"""Never left out: a wait is as long as its route allows otherwise."""

Schema = Any
Word = Callable[[str], str]
"""The text for a field or parameter of some name."""


@frozen(kw_only=True)
class DiceThrow:
    """One request.

    @ivar name: of its operation: the method and the path with its parameters' names.
    @ivar scopes: which a token needs for it; C{None}: no token can ask it.
    """

    name: str
    method: str
    path: str
    body: Any
    public: bool
    scopes: frozenset[str] | None

    @property
    def said(self) -> str:
        """All that it says, lower case: an answer may say it again."""
        return f"{self.path} {json.dumps(self.body)}".lower()


class RequestDice:
    """Throws requests.

    @param document: OpenAPI, as the service tells it.
    @param left_out: operations, by name, that are not thrown.
    """

    def __init__(
        self, document: Mapping[str, Any], source: random.Random, left_out: re.Pattern[str]
    ) -> None:
        self._document = document
        self._source = source
        self._operations = [
            (f"{method.upper()} {path}", found[method])
            for path, found in document["paths"].items()
            for method in METHODS
            if method in found and not left_out.search(f"{method.upper()} {path}")
        ]

    @property
    def count(self) -> int:
        """How many operations there are to be thrown."""
        return len(self._operations)

    def throw(self, word: Word) -> DiceThrow:
        """Any of them, with the words of whoever asks."""
        name, operation = self._source.choice(self._operations)
        method, path = name.split()
        query = []
        for parameter in map(self._found, operation.get("parameters", ())):
            field = parameter["name"]
            if parameter["in"] == "path":
                path = path.replace(f"{{{field}}}", quote(word(f"{path} {field}"), safe=""))
            elif parameter["in"] == "query" and self._wanted(field, parameter.get("required")):
                query.append(f"{field}={quote(self._in_query(parameter['schema'], field, word))}")
        return DiceThrow(
            name=name,
            method=method,
            path="?".join([path, "&".join(query)] if query else [path]),
            body=self._body(operation, word),
            public=not operation.get("security"),
            scopes=_scopes(operation),
        )

    # -- inside

    def _wanted(self, field: str, required: object) -> bool:
        return bool(required) or field in BOUNDS or self._source.random() < SOMETIMES

    def _found(self, schema: Schema) -> Schema:
        """What a reference leads to."""
        while isinstance(schema, dict) and "$ref" in schema:
            found: Any = self._document
            for step in schema["$ref"].split("/")[1:]:
                found = found[step]
            schema = found
        return schema

    def _body(self, operation: Mapping[str, Any], word: Word) -> Any:
        content = operation.get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        return None if schema is None else self._value(schema, "body", word)

    def _in_query(self, schema: Schema, field: str, word: Word) -> str:
        value = self._value(schema, field, word)
        if isinstance(value, list):
            value = value[0] if value else ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def _value(self, schema: Schema, field: str, word: Word) -> Any:
        schema = self._found(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._source.choice(schema["enum"])
        for several in ("oneOf", "anyOf"):
            if several in schema:
                return self._value(self._source.choice(schema[several]), field, word)
        if "properties" in schema:
            return self._object(schema, word)
        return self._plain(self._kind(schema, field), schema, field, word)

    def _kind(self, schema: Schema, field: str) -> str:
        found = schema.get("type", "string")
        # A bound that is null is one that was left out.
        never = "null" if field in BOUNDS else None
        kinds: list[str] = (
            [found] if isinstance(found, str) else [kind for kind in found if kind != never]
        )
        return self._source.choice(kinds)

    def _object(self, schema: Schema, word: Word) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        return {
            name: self._value(of, name, word)
            for name, of in schema["properties"].items()
            if self._wanted(name, name in required)
        }

    def _plain(self, kind: str, schema: Schema, field: str, word: Word) -> Any:
        if kind in ("integer", "number"):
            least = schema.get("minimum", 0)
            return min(schema.get("maximum", least + SOON), least + self._source.randint(0, SOON))
        if kind == "array":
            least = schema.get("minItems", 0)
            count = self._source.randint(least, least + 2)
            return [self._value(schema.get("items", {}), field, word) for _ in range(count)]
        if kind == "string":
            return word(field)[: schema.get("maxLength", 200)]
        return {"boolean": self._source.random() < 0.5, "object": {}}.get(kind)


def _scopes(operation: Mapping[str, Any]) -> frozenset[str] | None:
    ways = [frozenset(way["token"]) for way in operation.get("security", ()) if "token" in way]
    return ways[0] if ways else None
