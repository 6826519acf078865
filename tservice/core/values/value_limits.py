"""Complexity limits for untrusted JSON and TOML, checked before parsing.

The JSON parser is written in C and holds the interpreter lock while it runs, also in a thread.  A
document of 8 MiB of names takes a second, in which no other request is answered.
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from typing import Any

TOML_KEYS = 20_000
"""Maximum number of keys in a TOML document, counted by the characters that follow keys."""
TOML_PARTS = 32
"""Limit on the parts of a dotted key.  The parser's work for each key is proportional to the parts
of its table's name.  A small file with many of both would occupy a thread for days.
"""

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DOTTED = re.compile(rf"(?<![\w-])(?:{_PART}){{{TOML_PARTS}}}")

_NO_SIGNS = bytes(set(range(256)) - set(b",:[{"))


def exceeds_value_limit(text: str | bytes, most: int) -> bool:
    """Return whether a JSON text holds more than C{most} values and names.

    They are counted by L{count_values}.
    """
    if len(text) < most:
        # Each value takes a character, and a key of a terminal waits for this.
        return False
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return count_values(raw, most) > most


def count_values(raw: bytes, enough: int) -> int:
    """Return the number of values and names in the JSON text C{raw}, without parsing it.

    Each value but the first follows one of four characters.  Counting these costs a hundredth of
    parsing, so a request with too many tiny values is refused before it is parsed.

    @param enough: the number at which counting may stop.
    """
    signs = len(raw.translate(None, _NO_SIGNS))
    if signs < enough:
        return signs + 1
    # Strings are not counted, because a text may be full of commas.
    # Replacing two characters by two costs half as much as removing them.
    bare = raw.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in raw else raw
    quotes = bare.count(b'"')
    if quotes > 2 * enough:
        return quotes // 2
    outside = b"".join(bare.split(b'"')[::2])
    return len(outside.translate(None, _NO_SIGNS)) + 1


def count_parsed_values(data: Any, enough: int) -> int:
    """Return the number of values in parsed JSON data; counting stops at C{enough}."""
    level, found = [data], 1
    while level and found <= enough:
        lists = [each for each in level if isinstance(each, list | tuple)]
        objects = [each for each in level if isinstance(each, dict)]
        # An empty one is counted twice, because its bracket is not followed by a value.
        found += sum(max(1, len(each)) for each in lists)
        found += sum(max(1, 2 * len(each)) for each in objects)
        level = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, objects))]
    return found


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    @raise ValueError: C{text} is not TOML, or would take too long to parse.
    """
    if text.count("=") > TOML_KEYS or _DOTTED.search(text):
        raise ValueError("takes too long to parse")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
