"""The types of the browser UI, from the OpenAPI document and the schemas of the events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

Schema = Mapping[str, Any]

HEAD = """\
/** Requests, responses and payloads of events.  Generated from docs/openapi.json. */
"""
_REF = "#/components/schemas/"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
_NAME = re.compile(r"[A-Za-z_]\w*")
_MARKUP = re.compile(r"[CL]\{([^{}]*)\}")
_QUERY = "Query"
"""How models end that are no JSON."""


class Types:
    """The schemas of a document as interfaces.

    A schema is called as in the document, without C{Answer} at its end where no other has that
    name; what is but a choice of texts is written out where it is used.
    """

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self._names = _short_names(name for name in schemas if _is_record(name, schemas[name]))

    def text(self) -> str:
        """Every interface, in the order of their names."""
        names = sorted((short, name) for name, short in self._names.items())
        return "\n".join(self._interface(short, self._schemas[name]) for short, name in names)

    def of(self, schema: Schema) -> str:
        """Return the type that C{schema} describes."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(_REF)
            return self._names.get(name) or self.of(self._schemas[name])
        if "const" in schema:
            return json.dumps(schema["const"])
        if "enum" in schema:
            return " | ".join(map(json.dumps, schema["enum"]))
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices:
            return " | ".join(dict.fromkeys(map(self.of, choices)))
        return self._of_type(schema)

    def _of_type(self, schema: Schema) -> str:
        kind = schema.get("type")
        if kind == "array":
            inner = self.of(schema.get("items", {}))
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        if kind == "object":
            return self._of_object(schema)
        return "null" if kind == "null" else _PLAIN.get(str(kind), "unknown")

    def _of_object(self, schema: Schema) -> str:
        if schema.get("properties"):
            return self._inline(schema)
        values = schema.get("additionalProperties", True)
        inner = self.of(values) if isinstance(values, Mapping) else "unknown"
        return "Record<string, never>" if values is False else f"Record<string, {inner}>"

    def _interface(self, name: str, schema: Schema) -> str:
        comment = _comment(schema)
        if not schema.get("properties"):
            return f"{comment}export type {name} = {self._of_object(schema)};\n"
        fields = "".join(f"  {field};\n" for field in self._fields(schema))
        return f"{comment}export interface {name} {{\n{fields}}}\n"

    def _inline(self, schema: Schema) -> str:
        fields = self._fields(schema)
        return f"{{ {'; '.join(fields)} }}" if fields else "Record<string, never>"

    def _fields(self, schema: Schema) -> list[str]:
        required = schema.get("required", ())
        return [
            f"{_key(name)}{'' if name in required else '?'}: {self.of(field)}"
            for name, field in schema.get("properties", {}).items()
        ]


def web_types(document: Schema, events: Mapping[str, Schema]) -> str:
    """Return the whole file.

    @param document: of every operation.
    @param events: the schema of each event's payload, which may refer to those of the document.
    """
    types = Types(document["components"]["schemas"])
    told = "".join(f"  {json.dumps(name)}: {types.of(each)};\n" for name, each in events.items())
    told_text = f"{_TOLD}{told}}}\n{_UNION}"
    return "\n".join(
        (HEAD, types.text(), told_text, _error_codes(types), operations(document, types))
    )


def web_summaries(document: Schema) -> str:
    """Return the file with the summaries of the operations that change something."""
    found = {
        f"{method.upper()} {path}": operation["summary"]
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in _CHANGING
    }
    lines = "".join(
        f"  {json.dumps(name)}: {json.dumps(text)},\n" for name, text in sorted(found.items())
    )
    return f"{_SUMMARIES}{lines}}};\n"


def operations(document: Schema, types: Types) -> str:
    """Return the interface of the operations that take and answer with JSON, by path and method."""
    found = {
        path: [(method, each) for method, each in sorted(methods.items()) if _is_json(each)]
        for path, methods in document["paths"].items()
    }
    text = "".join(
        f"  {json.dumps(path)}: {{\n"
        + "".join(f"    {method}: {_operation(each, types)};\n" for method, each in methods)
        + "  };\n"
        for path, methods in sorted(found.items())
        if methods
    )
    return f"{_OPERATIONS}{text}}}\n"


_CHANGING = frozenset({"post", "put", "patch", "delete"})
_SUMMARIES = """\
/** What each operation does that changes something.  Generated from docs/openapi.json. */
export const SUMMARIES: Readonly<Record<string, string>> = {
"""
_TOLD = """\
/** Payloads of the events (protocol-events). */
export interface Told {
"""
_UNION = """
export type EventName = keyof Told;

/** An event of the stream. */
export type ServerEvent = { [Name in EventName]: { name: Name; data: Told[Name] } }[EventName];
"""


_OPERATIONS = """\
/** What each operation takes and answers with, by path and method. */
export interface Operations {
"""


def _answer(operation: Schema) -> Schema | None:
    """Return the schema of C{data} in the envelope; C{None} for an answer without an envelope."""
    content = operation["responses"].get("200", {}).get("content", {})
    envelope = content.get("application/json", {}).get("schema", {}).get("properties", {})
    return envelope.get("data") if "success" in envelope else None


def _is_json(operation: Schema) -> bool:
    body = operation.get("requestBody")
    return bool(_answer(operation)) and (body is None or "application/json" in body["content"])


def _operation(operation: Schema, types: Types) -> str:
    query = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    parts = [f"answer: {types.of(_answer(operation) or {})}"]
    if query:
        fields = "; ".join(
            f"{_key(each['name'])}{'' if each['required'] else '?'}: {types.of(each['schema'])}"
            for each in query
        )
        needed = any(each["required"] for each in query)
        parts.append(f"query{'' if needed else '?'}: {{ {fields} }}")
    body = operation.get("requestBody")
    if body:
        schema = body["content"]["application/json"]["schema"]
        parts.append(f"body{'' if body.get('required') else '?'}: {types.of(schema)}")
    return f"{{ {'; '.join(parts)} }}"


def _error_codes(types: Types) -> str:
    codes = f'{types.of({"$ref": f"{_REF}Error"})}["errorCode"]'
    return f"/** Codes of refusals (protocol-errors). */\nexport type ErrorCode = {codes};\n"


def _is_record(name: str, schema: Schema) -> bool:
    return schema.get("type") == "object" and not name.endswith(_QUERY)


def _short_names(names: Iterable[str]) -> dict[str, str]:
    """Names without C{Answer}, and without the module that sets apart what is called alike."""
    plain = {name: name.rpartition("__")[2] for name in names}
    found: dict[str, str] = {}
    for name, word in plain.items():
        short = word.removesuffix("Answer")
        found[name] = word if short in plain.values() else short
    if len(set(found.values())) != len(found):
        raise ValueError(f"two models have one name: {sorted(found.values())}")
    return found


def _comment(schema: Schema) -> str:
    words = " ".join(str(schema.get("description", "")).split("@ivar")[0].split())
    text = _MARKUP.sub(r"`\1`", words)
    return f"/** {text} */\n" if text else ""


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name)
