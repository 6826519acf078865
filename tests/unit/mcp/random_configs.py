"""Random configuration files, as people and programs write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from hypothesis import strategies as st

from tservice.mcp.dialects.catalogue import ConfigDialect
from tservice.mcp.model import McpServer, McpTransportKind

WORDS = st.sampled_from(
    ["a", "b-1", "two words", "ü", "x.y", 'q"uote', "back\\slash", "//no", "/*no*/", "{", "]", ",}"]
)
NAMES = st.one_of(st.sampled_from(["files", "web", "git", "db", "mcp"]), WORDS)
TEXTS = st.one_of(WORDS, st.text(max_size=8).filter(lambda text: text.isprintable()))
PAIRS = st.dictionaries(WORDS, TEXTS, max_size=2)
SCALARS = st.one_of(st.booleans(), st.integers(-9, 99), TEXTS)
SMALL = st.dictionaries(NAMES, SCALARS, max_size=2)
VALUES = st.one_of(
    SCALARS,
    st.lists(SCALARS, max_size=3),
    st.dictionaries(NAMES, st.one_of(SCALARS, SMALL), max_size=3),
)
ODD = st.one_of(SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(WORDS, SCALARS, max_size=2))
"""What is no server, but has a server's place."""

COMMANDS = st.builds(
    McpServer,
    kind=st.just(McpTransportKind.STDIO),
    command=TEXTS.filter(bool),
    args=st.lists(TEXTS, max_size=3).map(tuple),
    env=PAIRS,
    cwd=st.one_of(st.none(), st.just("/srv")),
)
ADDRESSES = st.builds(
    McpServer,
    kind=st.sampled_from([McpTransportKind.HTTP, McpTransportKind.SSE]),
    url=st.sampled_from(["http://127.0.0.1:1/mcp", "https://x.example/sse?a=1"]),
    headers=PAIRS,
)
SERVERS = st.one_of(COMMANDS, ADDRESSES)
OFFERS = st.dictionaries(NAMES, SERVERS, max_size=4)


def random_documents(dialect: ConfigDialect) -> st.SearchStrategy[dict[str, Any]]:
    """What may be in a file: keys of others', and perhaps the table, with servers and oddities."""
    entries = SERVERS.filter(dialect.can_express).map(dialect.encode)
    # In some files the table comes first, or stands between others.
    table = st.fixed_dictionaries(
        {}, optional={dialect.key: st.dictionaries(NAMES, st.one_of(entries, ODD), max_size=4)}
    )
    foreign = st.dictionaries(NAMES.filter(lambda name: name != dialect.key), VALUES, max_size=4)
    return st.tuples(foreign, table, foreign).map(lambda parts: parts[0] | parts[1] | parts[2])


class JsonWriter:
    """Writes JSON in any layout that its readers take."""

    def __init__(self, random: Random, *, comments: bool, trailing: bool) -> None:
        self._random = random
        self._comments = comments
        self._trailing = trailing
        self._newline = random.choice(["\n", "\r\n"])
        self._compact = random.random() < 0.2
        self._neat = random.random() < 0.4

    def document(self, data: Mapping[str, Any]) -> str:
        """The whole text."""
        if self._neat:
            indent = self._random.choice([" ", "  ", "    ", "\t"])
            return json.dumps(data, indent=indent).replace("\n", self._newline) + self._newline
        return self._gap() + self._value(data) + self._gap()

    def _value(self, value: object) -> str:
        if isinstance(value, dict):
            members = [
                f"{self._string(name)}{self._gap()}:{self._gap()}{self._value(inner)}"
                for name, inner in value.items()
            ]
            return self._around("{", members, "}")
        if isinstance(value, list):
            return self._around("[", [self._value(inner) for inner in value], "]")
        return self._string(value) if isinstance(value, str) else json.dumps(value)

    def _around(self, begin: str, members: list[str], end: str) -> str:
        inside = ",".join(f"{self._gap()}{member}{self._gap()}" for member in members)
        if members and self._trailing and self._random.random() < 0.4:
            inside += "," + self._gap()
        return begin + (inside or self._gap()) + end

    def _string(self, value: str) -> str:
        return json.dumps(value, ensure_ascii=self._random.random() < 0.5)

    def _gap(self) -> str:
        if self._compact:
            return ""
        choices = ["", "", " ", "  ", "\t", self._newline, self._newline + "  "]
        if self._comments:
            choices += ['/* , } ] " */', f"// {{ \" , it's{self._newline}", "/**/"]
        return "".join(self._random.choice(choices) for _ in range(self._random.randrange(3)))


class TomlWriter:
    """Writes TOML in any of the ways in which a table of tables can stand."""

    def __init__(self, random: Random, key: str) -> None:
        self._random = random
        self._key = key
        self._newline = random.choice(["\n", "\r\n"])

    def document(self, data: Mapping[str, Any]) -> str:
        """The whole text: its plain values first, as TOML wants it."""
        lines: list[str] = []
        tables = {name: value for name, value in data.items() if self._apart(name, value)}
        for name, value in data.items():
            if name not in tables:
                lines += [
                    *self._noise(),
                    f"{self._name(name)} = {self._value(value)}{self._note()}",
                ]
        for name, value in tables.items():
            lines += self._table(self._name(name), value, bare=name != self._key)
        return self._newline.join(lines) + self._random.choice(["", self._newline])

    def _apart(self, name: str, value: object) -> bool:
        return isinstance(value, dict) and (name != self._key or self._random.random() < 0.7)

    def _table(self, path: str, value: Mapping[str, Any], *, bare: bool) -> list[str]:
        """A table under a header, its own tables inside it or under headers of their own."""
        apart = {
            name: inner
            for name, inner in value.items()
            if isinstance(inner, dict) and self._random.random() < 0.6
        }
        lines = [*self._noise()]
        if bare or len(apart) < len(value) or not value:
            lines.append(f"[{path}]{self._note()}")
        for name, inner in value.items():
            if name not in apart:
                lines.append(f"{self._name(name)} = {self._value(inner)}{self._note()}")
        for name, inner in apart.items():
            lines += self._table(f"{path}.{self._name(name)}", inner, bare=True)
        return lines

    def _value(self, value: object) -> str:
        if isinstance(value, dict):
            inside = ", ".join(f"{self._name(k)} = {self._value(v)}" for k, v in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        if isinstance(value, list):
            return f"[{', '.join(self._value(inner) for inner in value)}]"
        return json.dumps(value, ensure_ascii=False)

    def _name(self, name: str) -> str:
        plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
        return (
            name if plain and self._random.random() < 0.8 else json.dumps(name, ensure_ascii=False)
        )

    def _note(self) -> str:
        return self._random.choice(["", "", '  # it\'s [not] = a "table"'])

    def _noise(self) -> list[str]:
        return self._random.choice([[], [], [""], ["# [mcp_servers.files]"], ["", "# x", ""]])


def render_document(dialect: ConfigDialect, data: Mapping[str, Any], random: Random) -> str:
    """C{data} as text that the dialect's CLI reads."""
    if dialect.syntax is None:
        return TomlWriter(random, dialect.key).document(data)
    syntax = dialect.syntax
    writer = JsonWriter(random, comments=syntax.comments, trailing=syntax.trailing)
    return writer.document(data)
