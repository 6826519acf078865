"""Hyperlinks (OSC 8) of a screen, for multiplexers that do not store them.

The links are reconstructed from the output of the pane. A wrong link is worse than none. So a row
gets links only if its whole text equals a printed line, and every printed line with this text had
the same links. Text gets no links if it was assembled from pieces, printed too long ago, or printed
again without a link.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from attrs import frozen

from tservice.terminal.frames.ansi import strip_escapes
from tservice.terminal.frames.sgr import END_LINK

OPENING = b"\x1b]8;"
"""Bytes with which every link begins."""

LOOK_BACK = 512 * 1024
"""Bytes of output before a capture that are searched for the links of a snapshot."""

READ = 2000
"""Maximum number of lines with links or cursor movements that are parsed; older ones are ignored.
"""

LINE = 16 * 1024
"""Maximum bytes of a line that is parsed, both as printed and as shown: a few printed bytes can
move the caret by a thousand columns.
"""

EFFORT = 512 * 1024
"""Maximum total cost of parsing. The cost of a line is its bytes, the bytes of its text, and
L{PART} for each of its pieces and rows. Lines beyond the maximum, the oldest ones, are ignored.
"""

PART = 32

STYLED = 8 * LINE
"""Maximum bytes of a captured row or line, including its styles, that is examined."""

ADDRESS = 2048
"""Maximum bytes of a link's address."""

ADDED = 128 * 1024
"""Maximum bytes of links that are added to a snapshot; the newest rows come first."""

_SEQUENCE = re.compile(rb"\x1b\]8;[^;\x07\x1b]*;([^\x07\x1b]*)(?:\x07|\x1b\\)")
_WEB = re.compile(rb"(?:https?|file)://[\x21-\x7e]{1,%d}" % (ADDRESS - 8), re.IGNORECASE)
_FORWARD = re.compile(rb"\x1b\[([0-9]{0,3})C")
_MOVE = re.compile(rb"\x1b(?:\[[0-?]*[ABD-HLMST`adefrsu]|[78cDEM])")
_BREAK = re.compile(rb"[\r\n\v\f\b]+|" + _MOVE.pattern)
_STYLE = re.compile(rb"(\x1b(?:\[[0-9;:]*m|\([0B]))")


@frozen
class ScreenLink:
    """Link to C{address} on the bytes C{start} to C{stop} of a text."""

    start: int
    stop: int
    address: bytes


Links = tuple[ScreenLink, ...]


class LinkIndex:
    """Index of links by the text of the row that contains them."""

    def __init__(self, printed: bytes, cols: int, *, whole: bool) -> None:
        """@param printed: the output up to the capture.
        @param cols: the width of the pane, at which longer lines were broken into rows.
        @param whole: C{printed} begins at the start of a line.
        """
        self._links: dict[bytes, Links] = {}
        self._left = ADDED
        lines = _BREAK.split(_STYLE.sub(b"", printed))
        if not whole:
            del lines[0]
        # A plain line only proves that its text has no link: checking that takes a twentieth of the
        # time.
        odd = [n for n, line in enumerate(lines) if _has_sequences_or_wraps(line, cols)]
        oldest, effort = 0, EFFORT
        for n in reversed(odd[-READ:]):
            effort -= self._index_line(lines[n], cols)
            if effort < 0:
                oldest = n
                break
        else:
            oldest = odd[-READ] if len(odd) > READ else 0
        plain = {line.strip(b" ") for line in lines[oldest:]}
        for text in plain.intersection(self._links):
            self._links[text] = ()

    def add_links(
        self, rows: Sequence[bytes], wrapped: Collection[int] = frozenset()
    ) -> tuple[bytes, ...]:
        """Return the C{rows} of a capture, with OSC 8 sequences added for their known links.

        @param wrapped: the indices of the rows that continue in the next one.
        """
        found: list[bytes] = []
        end = len(rows)
        while end:
            start = end - 1
            while start and start - 1 in wrapped:
                start -= 1
            found += reversed(self._link_line(rows[start:end]))
            end = start
        return tuple(reversed(found))

    def _index_line(self, line: bytes, cols: int) -> int:
        """Add a printed line to the index, and return the cost of parsing it (see L{EFFORT})."""
        if len(line) > LINE:
            return PART
        text, links = _parse_line(line)
        rows = 0
        for row, inside in _split_rows(text, links, cols):
            rows += 1
            if self._links.setdefault(row, inside) != inside:
                self._links[row] = ()
        return len(line) + len(text) + PART * (rows + line.count(OPENING))

    def _link_line(self, rows: Sequence[bytes]) -> Sequence[bytes]:
        """Return the rows of one wrapped line with their links."""
        if len(rows) == 1 or sum(map(len, rows)) > STYLED:
            return [self._link_row(row) for row in rows]
        texts = [_STYLE.sub(b"", row) for row in rows]
        whole = b"".join(texts)
        links = self._links.get(whole.strip(b" "), ())
        if not links:
            # Its begin may be in output that is no longer read.
            return [self._link_row(row) for row in rows]
        found, at = [], len(whole.lstrip(b" ")) - len(whole)
        for row, text in zip(rows, texts, strict=True):
            inside = tuple(_clip_links(links, 0, at, at + len(text)))
            found.append(self._add_if_room(row, inside, 0))
            at += len(text)
        return found

    def _link_row(self, row: bytes) -> bytes:
        if len(row) > STYLED:
            return row
        plain = _STYLE.sub(b"", row)
        links = self._links.get(plain.strip(b" "), ())
        return self._add_if_room(row, links, len(plain) - len(plain.lstrip(b" ")))

    def _add_if_room(self, row: bytes, links: Links, indent: int) -> bytes:
        """Return C{row} with C{links}; return it unchanged if this would exceed L{ADDED} bytes."""
        needs = sum(len(link.address) + 2 * len(END_LINK) for link in links)
        if not links or needs > self._left:
            return row
        self._left -= needs
        return _insert_links(row, links, indent)


def _has_sequences_or_wraps(line: bytes, cols: int) -> bool:
    return b"\x1b" in line or b"\t" in line or len(line) > cols


def _parse_line(line: bytes) -> tuple[bytes, Links]:
    """Return the text of a line and its links; an unclosed link ends with the line.

    Both are empty if the line is longer than L{LINE} as shown.
    """
    pieces: list[bytes] = []
    length, address = 0, b""
    links: list[ScreenLink] = []
    parts = _SEQUENCE.split(line)
    for printed, following in zip(parts[::2], [*parts[1::2], b""], strict=True):
        start = length
        if length + _compute_max_width(printed) > LINE:
            return b"", ()
        if b"\x1b" in printed:
            printed = strip_escapes(_FORWARD.sub(_make_blanks, printed))
        pieces.append(_expand_tabs(printed, length))
        length += len(pieces[-1])
        if address and start < length:
            links.append(ScreenLink(start, length, address))
        address = following if _WEB.fullmatch(following) else b""
    return b"".join(pieces), tuple(links)


def _compute_max_width(printed: bytes) -> int:
    """Return an upper bound for the bytes of C{printed} as shown on the screen."""
    moved = sum(int(move[1] or 1) for move in _FORWARD.finditer(printed))
    return len(printed) + 8 * printed.count(b"\t") + moved


def _expand_tabs(printed: bytes, column: int) -> bytes:
    """Return C{printed} with its tabs replaced by blanks; the text begins in C{column}."""
    before = b" " * (column % 8)
    return (before + printed).expandtabs()[len(before) :]


def _make_blanks(forward: re.Match[bytes]) -> bytes:
    return b" " * max(int(forward[1] or 1), 1)


def _split_rows(text: bytes, links: Links, cols: int) -> Iterator[tuple[bytes, Links]]:
    """Yield a line and then the rows into which it wraps, each with its links and without
    surrounding blanks.
    """
    # The width of other characters is unknown here: such a line is found as a whole.
    step = cols if text.isascii() else max(len(text), 1)
    if step < len(text):
        yield from _split_rows(text, links, len(text))
    first = 0
    for at in range(0, len(text), step):
        row = text[at : at + step]
        begin = at + len(row) - len(row.lstrip(b" "))
        row = row.strip(b" ")
        while first < len(links) and links[first].stop <= at:
            first += 1
        if row:
            yield row, tuple(_clip_links(links, first, begin, begin + len(row)))


def _clip_links(links: Links, first: int, begin: int, end: int) -> Iterator[ScreenLink]:
    for n in range(first, len(links)):
        link = links[n]
        if link.start >= end:
            return
        start, stop = max(link.start, begin), min(link.stop, end)
        if start < stop:
            yield ScreenLink(start - begin, stop - begin, link.address)


def _insert_links(row: bytes, links: Links, indent: int) -> bytes:
    """Return C{row} with C{links} inserted.

    @param indent: the number of blanks at the start of the row; the links' positions count from
        their end.
    """
    marks = []
    for link in links:
        marks.append((link.start + indent, True, b"%b;%b\x1b\\" % (OPENING, link.address)))
        marks.append((link.stop + indent, False, END_LINK))
    found, at = [], 0
    for number, piece in enumerate(_STYLE.split(row)):
        if number % 2:
            found.append(piece)
            continue
        begin, at = at, at + len(piece)
        # A link ends before the style that follows its text, and begins after the one before it.
        while marks and marks[0][0] < at + (not marks[0][1]):
            place, _, mark = marks.pop(0)
            found += [piece[: place - begin], mark]
            piece, begin = piece[place - begin :], place
        found.append(piece)
    return b"".join(found)
