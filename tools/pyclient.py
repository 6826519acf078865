"""The typed part of the Python client, from the OpenAPI document.

What a program may send and gets is written as C{TypedDict}, each operation that a token may call
and that answers an envelope as a method.
"""

from __future__ import annotations

import json
import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

HEAD = """\
\"\"\"{about}  Generated from C{{docs/openapi.json}}.\"\"\"

from __future__ import annotations

"""
_REF = "#/components/schemas/"
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_MARKUP = re.compile(r"[\"\\]")


class Records:
    """The schemas of a document as Python types.

    @ivar names: what each record is called: its model's last word, with the feature before it
        where two are called alike.
    """

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas
        self.names = {name: _short(name) for name in schemas}
        if len(set(self.names.values())) != len(schemas):
            raise ValueError(f"two models have one name: {sorted(self.names.values())}")

    def of(self, schema: Schema) -> str:
        """Return the type that C{schema} describes.

        @raise KeyError: it refers to nothing.
        """
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(_REF)
            inner = self._schemas[name]
            return self.names[name] if is_record(inner) else self.of(inner)
        if "const" in schema:
            return f"Literal[{_constant(schema['const'])}]"
        if "enum" in schema:
            return f"Literal[{', '.join(map(_constant, schema['enum']))}]"
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices:
            return " | ".join(dict.fromkeys(map(self.of, choices)))
        if schema.get("type") == "array":
            return f"list[{self.of(schema.get('items', {}))}]"
        if schema.get("type") == "object":
            values = schema.get("additionalProperties")
            return f"dict[str, {self.of(values) if isinstance(values, Mapping) else 'Any'}]"
        return _PLAIN.get(str(schema.get("type")), "Any")

    def reached(self, schemas: Iterable[Schema]) -> list[str]:
        """Return the names of all records that these lead to."""
        found: set[str] = set()
        ahead = [name for schema in schemas for name in _references(schema)]
        while ahead:
            name = ahead.pop()
            if name not in found:
                found.add(name)
                ahead += _references(self._schemas[name])
        return sorted(name for name in found if is_record(self._schemas[name]))

    def text(self, name: str) -> str:
        """One record."""
        schema = self._schemas[name]
        required = schema.get("required", ())
        if any(map(keyword.iskeyword, schema["properties"])):
            return self._called(name, schema)
        lines = [f"class {self.names[name]}(TypedDict):\n{_docstring(schema, name)}\n"]
        for field, inner in schema["properties"].items():
            kind = self.of(inner)
            lines.append(f"    {field}: {kind if field in required else f'NotRequired[{kind}]'}")
        return "\n".join(lines) + "\n"

    def _called(self, name: str, schema: Schema) -> str:
        """One with a field that no class can have; types are quoted: they may come later."""
        required = schema.get("required", ())
        fields = {
            field: kind if field in required else f"NotRequired[{kind}]"
            for field, kind in (
                (field, self.of(inner)) for field, inner in schema["properties"].items()
            )
        }
        own = self.names[name]
        return f'{own} = TypedDict("{own}", {fields!r})\n{_docstring(schema, name).strip()}\n'


class Operations:
    """The operations of a document as methods, in one class a tag."""

    def __init__(self, document: Schema) -> None:
        self.records = Records(document["components"]["schemas"])
        self.tags: dict[str, list[tuple[str, str, Schema]]] = {}
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if _for_programs(path, operation):
                    entry = (method.upper(), path.removeprefix("/api"), operation)
                    self.tags.setdefault(operation["tags"][0], []).append(entry)

    def reached(self, tag: str) -> list[str]:
        """Return the names of all records that a tag's operations send and answer."""
        found = [operation for _, _, operation in self.tags[tag]]
        return self.records.reached([*map(_body, found), *map(_answer, found)])

    def text(self, tag: str) -> str:
        """Return the class of a tag."""
        methods = "\n".join(self._method(*entry) for entry in self.tags[tag])
        return f'class {_class(tag)}(Calling):\n    """{tag}."""\n\n{methods}'

    def _method(self, method: str, path: str, operation: Schema) -> str:
        given = operation.get("parameters", [])
        queries = [each for each in given if each["in"] == "query"]
        body = operation.get("requestBody")
        words = [f"{each['name']}: str" for each in given if each["in"] == "path"]
        sent = []
        if body is not None:
            kind = self.records.of(_body(operation))
            words.append(f"body: {kind}" if body["required"] else f"body: {kind} | None = None")
            sent.append("body=body")
        if queries:
            words += ["*", *map(self._parameter, sorted(queries, key=lambda q: not q["required"]))]
            pairs = ", ".join(f"{each['name']!r}: {_word(each['name'])}" for each in queries)
            sent.append(f"query={{{pairs}}}")
        if any(each["name"] == "timeout" and _is_number(each) for each in queries):
            sent.append("wait_ms=get_hold_milliseconds(timeout)")
        elif body is not None and "waitTimeout" in self._fields(operation):
            held = 'get_hold_milliseconds(body.get("waitTimeout"))'
            sent.append(f'wait_ms={held} if body.get("wait") else 0')
        target = re.sub(r"\{(\w+)\}", r"{quote_segment(\1)}", path)
        asked = ", ".join([repr(method), f"{'f' if '{' in path else ''}{target!r}", *sent])
        return (
            f"    async def {snake(operation['operationId'])}({', '.join(['self', *words])})"
            f" -> {self.records.of(_answer(operation))}:\n"
            f'        """{operation["summary"].rstrip(".")}."""\n'
            f"        found: {self.records.of(_answer(operation))} = await self.call({asked})\n"
            "        return found\n"
        )

    def _parameter(self, each: Schema) -> str:
        kind, name = self.records.of(each["schema"]), _word(each["name"])
        return f"{name}: {kind}" if each["required"] else f"{name}: {_optional(kind)} = None"

    def _fields(self, operation: Schema) -> Mapping[str, Schema]:
        schema = _body(operation)
        name = schema.get("$ref", "").removeprefix(_REF)
        found: Mapping[str, Schema] = self.records._schemas[name]["properties"] if name else {}
        return found


def files(document: Schema) -> dict[str, str]:
    """Return the text of each file of L{tservice.client.typed}, by its name.

    A record stands with the first tag that needs it, so that the files import in one direction.

    @param document: of every operation.
    """
    table = Operations(document)
    places: dict[str, str] = {}
    found = {}
    for tag in sorted(table.tags):
        for name in table.reached(tag):
            places.setdefault(name, tag)
        found[f"{_file(tag)}.py"] = _of_tag(table, tag, places)
    found["operations.py"] = _whole(sorted(table.tags))
    return found


def _of_tag(table: Operations, tag: str, places: Mapping[str, str]) -> str:
    names = table.reached(tag)
    own = [name for name in names if places[name] == tag]
    text = "\n\n".join([*map(table.records.text, own), table.text(tag)])
    wanted: dict[str, list[str]] = {}
    for name in names:
        known = table.records.names[name]
        if name not in own and re.search(rf"\b{known}\b", text):
            wanted.setdefault(_file(places[name]), []).append(known)
    base = [name for name in ("Calling", "get_hold_milliseconds", "quote_segment") if name in text]
    others = [f"from tservice.client.calling import {', '.join(base)}\n"] + [
        f"from tservice.client.typed.{file} import {', '.join(sorted(used))}\n"
        for file, used in wanted.items()
    ]
    about = f"{tag}: operations, requests and responses."
    return HEAD.format(about=about) + f"{_typing(text)}\n{''.join(sorted(others))}\n\n{text}"


def _whole(tags: Sequence[str]) -> str:
    lines = [f"from tservice.client.typed.{_file(tag)} import {_class(tag)}\n" for tag in tags]
    return (
        HEAD.format(about="Client with every operation that a token may call.")
        + "".join(sorted(lines))
        + f"\n\nclass Operations({', '.join(map(_class, tags))}):\n"
        + '    """Client of the API, with one method for each operation."""\n'
    )


def _constant(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def snake(name: str) -> str:
    """Return a name as Python spells it.

    >>> snake("getSessionsIdGitStatus")
    'get_sessions_id_git_status'
    """
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: f"_{found[1].lower()}", name)


def is_record(schema: Schema) -> bool:
    """Whether it is an object with known fields, not a choice of texts."""
    return bool(schema.get("properties"))


def _for_programs(path: str, operation: Schema) -> bool:
    tokens = any("token" in way for way in operation["security"])
    return tokens and path.startswith("/api/") and _envelope(operation) is not None


def _envelope(operation: Schema) -> Schema | None:
    content = operation["responses"].get("200", {}).get("content", {})
    schema: Schema = content.get("application/json", {}).get("schema", {})
    return schema if "success" in schema.get("properties", {}) else None


def _answer(operation: Schema) -> Schema:
    envelope = _envelope(operation)
    found: Schema = (envelope or {})["properties"]["data"]
    return found


def _body(operation: Schema) -> Schema:
    content = operation.get("requestBody", {}).get("content", {})
    found: Schema = content.get("application/json", {}).get("schema", {})
    return found


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"].removeprefix(_REF)
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)


def _short(name: str) -> str:
    """Without the module that sets apart what is called alike, but for the feature's name."""
    words = name.split("__")
    plain = words[-1][:1].upper() + words[-1][1:]
    inside = [word for word in words[2:-1] if word not in ("routes", "model")]
    where = words[1:2] + inside if len(words) > 1 else []
    return "".join(word.capitalize() for word in where) + plain


def _typing(text: str) -> str:
    words = ("Any", "Literal", "NotRequired", "TypedDict")
    found = [name for name in words if re.search(rf"\b{name}\b", text)]
    return f"from typing import {', '.join(found)}\n" if found else ""


def _docstring(schema: Schema, name: str) -> str:
    """Return the docstring of a record, indented and wrapped."""
    words = " ".join(str(schema.get("description") or name).split("@ivar")[0].split())
    lines = textwrap.wrap(_MARKUP.sub("", words), 90)
    end = "\n    " if len(lines) > 1 else ""
    return textwrap.indent('"""' + "\n".join(lines) + end.strip(" ") + '"""', "    ")


def _class(tag: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in tag.split())


def _file(tag: str) -> str:
    return "_".join(tag.lower().split())


def _is_number(parameter: Schema) -> bool:
    return "integer" in parameter["schema"].values()


def _optional(kind: str) -> str:
    return kind if "None" in kind.split(" | ") else f"{kind} | None"


def _word(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name
