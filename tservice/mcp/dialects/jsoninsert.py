"""JSON, with comments or without, added to as text: every byte that was there stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from tservice.mcp.dialects.faults import DialectError
from tservice.mcp.dialects.jsontext import BLANKS, COMMENT, STRING

_TOKENS = re.compile(
    rf"(?P<string>{STRING})|(?P<comment>{COMMENT})|(?P<mark>[{{}}\[\]:,])|[^\s{{}}\[\]:,\"/]+",
    re.DOTALL,
)


@frozen(kw_only=True)
class Member:
    """One member of an object.

    @ivar start: the offset of its key.
    @ivar value: of its value.
    """

    key: str
    start: int
    value: int


@frozen(kw_only=True)
class Object:
    """An object in the text.

    @ivar open: the offset of its opening brace.
    @ivar close: of its closing one.
    @ivar last: the end of the last token before that, comments aside.
    @ivar comma: a comma follows the last member.
    """

    open: int
    close: int
    members: tuple[Member, ...]
    last: int
    comma: bool


def insert(text: str, key: str, entries: Mapping[str, Any]) -> str:
    """C{text} with C{entries} at the end of the object that C{key} names; all else stays.

    @param text: an object, valid for its syntax.
    @raise DialectError: C{key} is there more than once, or names no object.
    """
    root = scan(text, _root(text))
    unit = (_lead(text, root.members[0].start) if root.members else None) or "  "
    found = find(text, key)
    if found is None:
        return _put(text, root, {key: dict(entries)}, unit)
    return _put(text, scan(text, found.value), entries, unit)


def find(text: str, key: str) -> Member | None:
    """The root's member of that name.

    @raise DialectError: there is more than one, or it is no object.
    """
    found = [member for member in scan(text, _root(text)).members if member.key == key]
    if len(found) > 1:
        raise DialectError(f"{key} is there more than once")
    if found and text[found[0].value] != "{":
        raise DialectError(f"{key} is not an object")
    return found[0] if found else None


def scan(text: str, start: int) -> Object:
    """The object whose brace is at C{start}, with its own members and nothing of theirs."""
    members: list[Member] = []
    key, first, value, last, count = "", 0, 0, start + 1, 0
    for depth, token in _walk(text, start):
        if depth == 0 or (depth == 1 and token.group() == ","):
            if count:
                members.append(Member(key=key, start=first, value=value))
            if depth == 0:
                comma = bool(members) and not count
                return Object(
                    open=start, close=token.start(), members=tuple(members), last=last, comma=comma
                )
            count = 0
        else:
            # Key, colon, value: of the value only the beginning matters.
            count += 1
            if count == 1:
                key, first = str(json.loads(token.group())), token.start()
            elif count == 3:
                value = token.start()
        last = token.end()
    raise DialectError("not valid JSON")


def _walk(text: str, start: int) -> Iterator[tuple[int, re.Match[str]]]:
    """The tokens behind the brace at C{start}, comments aside, up to the one that closes it.

    Each with how deep it stands: 1 for what is directly inside, 0 for the last.
    """
    depth = 1
    for token in _TOKENS.finditer(text, start + 1):
        if token.lastgroup == "comment":
            continue
        word = token.group()
        depth -= word in ("}", "]")
        yield depth, token
        if depth == 0:
            return
        depth += word in ("{", "[")


def _put(text: str, place: Object, entries: Mapping[str, Any], unit: str) -> str:
    """C{text} with C{entries} as the last members of the object at C{place}."""
    comma = "," if place.members and not place.comma else ""
    inside = text[place.open : place.close]
    if place.members and "\n" not in inside:
        shown = ", ".join(f"{_shown(name)}: {_shown(value)}" for name, value in entries.items())
        return f"{text[: place.last]}{comma} {shown}{text[place.last :]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    margin = _margin(text, place.open)
    lead = newline + ((place.members and _lead(text, place.members[-1].start)) or margin + unit)
    shown = ",".join(
        f"{lead}{_shown(name)}: " + _shown(value, indent=unit).replace("\n", lead)
        for name, value in entries.items()
    )
    # After the comments of what was the last member, which stay with it.
    end = place.open + len(inside.rstrip(BLANKS))
    tail = "" if "\n" in text[end : place.close] else newline + margin
    return f"{text[: place.last]}{comma}{text[place.last : end]}{shown}{tail}{text[end:]}"


def _shown(value: Any, indent: str | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _margin(text: str, offset: int) -> str:
    """The blanks at the beginning of the line of C{offset}."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _lead(text: str, offset: int) -> str | None:
    """The blanks before C{offset}; C{None} unless they begin its line."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line if line.strip(" \t") == "" and "\n" in text[:offset] else None


def _root(text: str) -> int:
    """Where the root begins, past comments."""
    for token in _TOKENS.finditer(text):
        if token.lastgroup != "comment":
            return token.start()
    raise DialectError("not valid JSON")
