"""JSON and TOML of strangers that a parser would not get through: counted before it is parsed.

A parser of JSON is in C, and holds the interpreter for as long as it takes, in a thread too: 8 MiB
of names cost a second, in which nobody else is answered.
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from typing import Any

TOML_KEYS = 20_000
"""Keys of a document, by the signs behind them."""
TOML_PARTS = 32
"""Parts of a dotted key: what the parser does for each key goes by the parts of its table's name,
and a small file of many of both would keep a thread for days."""

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_DOTTED = re.compile(rf"(?<![\w-])(?:{_PART}){{{TOML_PARTS}}}")

_NO_SIGNS = bytes(set(range(256)) - set(b",:[{"))


def is_crowd(text: str | bytes, most: int) -> bool:
    """Whether JSON holds more than C{most} values and names, as L{count_values} has it."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return count_values(raw, most) > most


def count_values(raw: bytes, enough: int) -> int:
    """How many values and names C{raw} holds, before it is parsed.

    Each but the first is behind one of four signs.  To find these costs a hundredth of parsing
    them: nobody who sends a crowd of tiny values gets it parsed.

    @param enough: beyond it the count need not be right.
    @return: at least as many as a parser would come across, and never more than there are,
        containers counted twice.
    """
    signs = len(raw.translate(None, _NO_SIGNS))
    if signs < enough:
        return signs + 1
    # Counted without the strings, for a text may be full of commas.
    # To put two signs for two is half the work of taking them out.
    bare = raw.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in raw else raw
    quotes = bare.count(b'"')
    if quotes > 2 * enough:
        return quotes // 2
    outside = b"".join(bare.split(b'"')[::2])
    return len(outside.translate(None, _NO_SIGNS)) + 1


def count_parsed(data: Any, enough: int) -> int:
    """The same of what was parsed already: exactly so many, unless they are more than C{enough}."""
    level, found = [data], 1
    while level and found <= enough:
        lists = [each for each in level if isinstance(each, list | tuple)]
        objects = [each for each in level if isinstance(each, dict)]
        # An empty one is counted twice, as its sign is there without a value behind it.
        found += sum(max(1, len(each)) for each in lists)
        found += sum(max(1, 2 * len(each)) for each in objects)
        level = [*chain.from_iterable(lists), *chain.from_iterable(map(dict.values, objects))]
    return found


def parse_toml(text: str) -> dict[str, Any]:
    """The document that C{text} is.

    @raise ValueError: it is none, or would take too long to parse.
    """
    if text.count("=") > TOML_KEYS or _DOTTED.search(text):
        raise ValueError("takes too long to parse")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
