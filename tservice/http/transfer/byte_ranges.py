"""Byte ranges and validators of a served file (RFC 9110, sections 13 and 14)."""

from __future__ import annotations

import re

from attrs import frozen

_RANGE = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.IGNORECASE)


@frozen
class ByteRange:
    """Range of a file that begins at C{start} and has C{length} bytes."""

    start: int
    length: int

    def content_range(self, size: int) -> str:
        """Return the C{Content-Range} header of a 206 response.

        @param size: size of the file in bytes.
        """
        return f"bytes {self.start}-{self.start + self.length - 1}/{size}"


class UnsatisfiableRange(ValueError):
    """Error of a range that begins after the file's end, answered with 416."""


def parse_range(header: str | None, size: int) -> ByteRange | None:
    """Return the single requested range; C{None} for the whole file.

    A header with several ranges or another unit is ignored, as RFC 9110 allows.

    @param size: size of the file in bytes.
    @raise UnsatisfiableRange: the range contains no byte of the file.
    """
    match = _RANGE.fullmatch(header or "")
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        if not length:
            raise UnsatisfiableRange
        return ByteRange(size - length, length)
    start = int(match[1])
    end = min(int(match[2]), size - 1) if match[2] else size - 1
    if match[2] and int(match[2]) < start:
        return None
    if start >= size:
        raise UnsatisfiableRange
    return ByteRange(start, end - start + 1)


def matches_any_tag(header: str | None, tag: str) -> bool:
    """Return whether an C{If-None-Match} header contains C{tag}, or is C{*}."""
    if header is None:
        return False
    tags = [each.strip().removeprefix("W/") for each in header.split(",")]
    return "*" in tags or tag in tags


def may_be_partial(if_range: str | None, tag: str) -> bool:
    """Return whether an C{If-Range} header permits a partial response for the version C{tag}."""
    return if_range is None or if_range.strip() == tag
