"""Insertion of entries into the text of a JSON document, with or without comments. All existing
bytes are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from tservice.mcp.dialects.errors import DialectError
from tservice.mcp.dialects.json_parsing import BLANKS, COMMENT, STRING

_TOKENS = re.compile(
    rf"(?P<string>{STRING})|(?P<comment>{COMMENT})|(?P<mark>[{{}}\[\]:,])|[^\s{{}}\[\]:,\"/]+",
    re.DOTALL,
)


@frozen(kw_only=True)
class JsonMember:
    """Member of a JSON object, by its position in the text.

    @ivar start: offset of the key.
    @ivar value: offset of the value.
    """

    key: str
    start: int
    value: int


@frozen(kw_only=True)
class JsonObject:
    """JSON object, by its position in the text.

    @ivar open: offset of the opening brace.
    @ivar close: offset of the closing brace.
    @ivar last: end of the last token before the closing brace, not counting comments.
    @ivar comma: true if a comma follows the last member.
    """

    open: int
    close: int
    members: tuple[JsonMember, ...]
    last: int
    comma: bool


def insert_entries(text: str, key: str, entries: Mapping[str, Any]) -> str:
    """Return C{text} with C{entries} at the end of the object under C{key}. All other text is kept.

    @param text: a JSON object that was parsed without an error.
    @raise DialectError: C{key} occurs more than once, or its value is not an object.
    """
    root = scan_object(text, _find_root(text))
    unit = (_get_leading_blanks(text, root.members[0].start) if root.members else None) or "  "
    found = find_object(text, key)
    if found is None:
        return _insert_members(text, root, {key: dict(entries)}, unit)
    return _insert_members(text, scan_object(text, found.value), entries, unit)


def find_object(text: str, key: str) -> JsonMember | None:
    """Return the member C{key} of the root object, or C{None} if there is none.

    @raise DialectError: there is more than one, or its value is not an object.
    """
    found = [member for member in scan_object(text, _find_root(text)).members if member.key == key]
    if len(found) > 1:
        raise DialectError(f"{key} occurs more than once")
    if found and text[found[0].value] != "{":
        raise DialectError(f"{key} is not an object")
    return found[0] if found else None


def scan_object(text: str, start: int) -> JsonObject:
    """Scan the object whose opening brace is at offset C{start}, and return it with its direct
    members.
    """
    members: list[JsonMember] = []
    key, first, value, last, count = "", 0, 0, start + 1, 0
    for depth, token in _iterate_tokens(text, start):
        if depth == 0 or (depth == 1 and token.group() == ","):
            if count:
                members.append(JsonMember(key=key, start=first, value=value))
            if depth == 0:
                comma = bool(members) and not count
                return JsonObject(
                    open=start, close=token.start(), members=tuple(members), last=last, comma=comma
                )
            count = 0
        else:
            # Key, colon, value: only the beginning of the value matters.
            count += 1
            if count == 1:
                key, first = str(json.loads(token.group())), token.start()
            elif count == 3:
                value = token.start()
        last = token.end()
    raise DialectError("not valid JSON")


def _iterate_tokens(text: str, start: int) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the tokens after the opening brace at C{start} up to the closing brace, without
    comments.

    Each token comes with its depth: 1 for direct contents of the object, 0 for the closing brace.
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


def _insert_members(text: str, place: JsonObject, entries: Mapping[str, Any], unit: str) -> str:
    """Return C{text} with C{entries} inserted as the last members of an object.

    @param place: object to extend.
    @param unit: text of one level of indentation.
    """
    comma = "," if place.members and not place.comma else ""
    inside = text[place.open : place.close]
    if place.members and "\n" not in inside:
        shown = ", ".join(f"{_to_json(name)}: {_to_json(value)}" for name, value in entries.items())
        return f"{text[: place.last]}{comma} {shown}{text[place.last :]}"
    newline = "\r\n" if "\r\n" in text else "\n"
    margin = _get_line_indent(text, place.open)
    lead = newline + (
        (place.members and _get_leading_blanks(text, place.members[-1].start)) or margin + unit
    )
    shown = ",".join(
        f"{lead}{_to_json(name)}: " + _to_json(value, indent=unit).replace("\n", lead)
        for name, value in entries.items()
    )
    # After the comments of the former last member, which stay with it.
    end = place.open + len(inside.rstrip(BLANKS))
    tail = "" if "\n" in text[end : place.close] else newline + margin
    return f"{text[: place.last]}{comma}{text[place.last : end]}{shown}{tail}{text[end:]}"


def _to_json(value: Any, indent: str | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _get_line_indent(text: str, offset: int) -> str:
    """Return the blanks at the beginning of the line that contains C{offset}."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _get_leading_blanks(text: str, offset: int) -> str | None:
    """Return the blanks between the beginning of the line and C{offset}.

    @return: C{None} if anything else precedes C{offset} on its line.
    """
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line if line.strip(" \t") == "" and "\n" in text[:offset] else None


def _find_root(text: str) -> int:
    """Return the offset of the root object, which may follow comments."""
    for token in _TOKENS.finditer(text):
        if token.lastgroup != "comment":
            return token.start()
    raise DialectError("not valid JSON")
