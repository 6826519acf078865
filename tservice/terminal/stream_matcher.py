"""Search for a literal text in a session's output as it arrives (protocol-wait-output)."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from itertools import accumulate

from attrs import frozen

from tservice.terminal.frames.ansi import EscapeStripper

NEEDLE_MAX = 200
"""Maximum characters of the text to search for (protocol-wait-output)."""

CONTEXT = 80
"""Characters of the snippet on either side of the match (protocol-wait-output)."""

TAIL = 256 * 1024
"""Bytes of existing output, from its end, that C{from=buffer} searches first
(protocol-wait-output).
"""


@frozen
class NeedleMatch:
    """Match of the text that was searched for.

    @ivar text: the matching characters as printed, with their case. If a character folds to several
        and only some of them match, the whole character is included.
    @ivar before: up to L{CONTEXT} characters before the match.
    @ivar after: up to L{CONTEXT} characters after the match. It may be shorter, because a match is
        reported immediately.
    """

    text: str
    before: str
    after: str

    @property
    def snippet(self) -> str:
        """Matching text with the characters before and after it."""
        return f"{self.before}{self.text}{self.after}"


class SearchNeedle:
    """Text to search for.

    With C{nocase} both sides are case folded (Unicode full folding: C{ß} equals C{ss}, C{İ} is C{i}
    and a combining dot). There is no other normalization.

    @raise ValueError: C{text} is empty or longer than L{NEEDLE_MAX} characters.
    """

    def __init__(self, text: str, nocase: bool = False) -> None:
        if not 1 <= len(text) <= NEEDLE_MAX:
            raise ValueError(f"a needle has 1 to {NEEDLE_MAX} characters, not {len(text)}")
        self._nocase = nocase
        self._wanted = text.casefold() if nocase else text

    @property
    def overlap(self) -> int:
        """Maximum number of characters at the end of an unmatched text with which a match may
        begin.
        """
        # A character folds to at least one character, so the folded length is an upper bound.
        return len(self._wanted) - 1

    def find_match(self, text: str, start: int = 0) -> NeedleMatch | None:
        """Return the first match in C{text} at or after character C{start}."""
        if not self._nocase:
            at = text.find(self._wanted, start)
            return None if at < 0 else _make_match(text, at, at + len(self._wanted))
        folded = text[start:].casefold()
        at = folded.find(self._wanted)
        if at < 0:
            return None
        end = at + len(self._wanted) - 1
        # No character folds to nothing, so equal lengths mean a one-to-one mapping.
        same = len(folded) == len(text) - start
        first, last = (
            (start + at, start + end) if same else _map_folded_offsets(text, start, at, end)
        )
        return _make_match(text, first, last + 1)


def _map_folded_offsets(text: str, start: int, first: int, last: int) -> tuple[int, int]:
    """Return the positions in C{text} of two offsets into its case folded rest.

    @param start: the character at which the rest begins.
    """
    ends = list(accumulate(len(character.casefold()) for character in text[start:]))
    return start + bisect_right(ends, first), start + bisect_right(ends, last)


def _make_match(text: str, start: int, stop: int) -> NeedleMatch:
    return NeedleMatch(
        text=text[start:stop],
        before=text[max(0, start - CONTEXT) : start],
        after=text[stop : stop + CONTEXT],
    )


class StreamMatcher:
    """Search for one needle in raw output, chunk by chunk.

    Escape sequences are removed first, and bytes are decoded as UTF-8; invalid bytes become U+FFFD.
    The chunk boundaries affect only C{NeedleMatch.after}. Between chunks the matcher buffers
    L{SearchNeedle.overlap} and L{CONTEXT} characters, an unfinished escape sequence and an
    unfinished character.
    """

    def __init__(self, needle: SearchNeedle) -> None:
        self._needle = needle
        self._strip = EscapeStripper()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = ""

    def feed(self, data: bytes) -> NeedleMatch | None:
        """Return the first match that ends in C{data}; C{None} without one.

        Do not call this again after a match.
        """
        text = self._decode.decode(self._strip.feed(data))
        if not text:
            return None
        fresh = max(0, len(self._kept) - self._needle.overlap)
        text = self._kept + text
        match = self._needle.find_match(text, fresh)
        self._kept = text[-(CONTEXT + self._needle.overlap) :]
        return match


def take_tail(data: bytes) -> bytes:
    """Return the last L{TAIL} bytes of existing output, beginning at a character boundary."""
    data = data[-TAIL:]
    lead = next((i for i in range(min(4, len(data))) if data[i] & 0xC0 != 0x80), 0)
    return data[lead:]
