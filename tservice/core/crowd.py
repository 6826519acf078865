"""JSON of strangers that is all tiny values: counted before it is parsed.

A parser of C holds the interpreter for as long as it takes, in a thread too: 8 MiB of names cost a
second, in which nobody else is answered.
"""

from __future__ import annotations

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
