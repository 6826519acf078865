"""Typed input: raw bytes in pieces, and text that is safe to paste."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import evolve

from tservice.mux.interface import InputMark

PIECE = 1000
"""Maximum bytes of one C{send-keys -H}; each takes three characters of its command line."""

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def split_input(data: bytes, mark: InputMark | None) -> Iterator[tuple[bytes, InputMark | None]]:
    """Split C{data} into pieces of one command each, with the mark that goes with each piece.

    Bytes that C{mark} counts as done are skipped. There is at least one piece, so that the mark of
    an empty write is set too.
    """
    start = min(mark.done, len(data)) if mark is not None else 0
    while True:
        piece = data[start : start + PIECE]
        start += len(piece)
        yield piece, (None if mark is None else evolve(mark, done=start))
        if start >= len(data):
            return


def sanitize_paste(text: str) -> bytes:
    """Return C{text} in a form that is safe to paste: no control character except TAB and LF.

    CR LF and CR become LF. C1 controls are removed too: U+009B begins a sequence like ESC [ does. A
    lone surrogate, which UTF-8 cannot encode, becomes U+FFFD.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    clean = _UNSAFE.sub("", text)
    return clean.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
