"""Preparation of typed input: raw bytes in pieces, and text that is safe to paste."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tservice.mux.interface import InputMark

PIECE = 1000
"""Maximum bytes in one C{send-keys -H} command. Each byte takes three characters."""

_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def split_input(data: bytes, mark: InputMark | None) -> Iterator[tuple[bytes, InputMark | None]]:
    """Split C{data} into pieces for one command each, with the mark to store with each piece.

    Bytes that C{mark} counts as done are skipped. At least one piece is returned, so that the mark
    of an empty write is set too.
    """
    start = min(mark.done, len(data)) if mark is not None else 0
    while True:
        piece = data[start : start + PIECE]
        start += len(piece)
        yield piece, None if mark is None else InputMark(id=mark.id, step=mark.step, done=start)
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
