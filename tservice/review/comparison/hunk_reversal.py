"""Reversal of chosen rows of a diff in a file's content.  Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from tservice.core.kernel.errors import make_conflict_error
from tservice.review.comparison.hunks import DiffRow, Hunk, RowKind

ChooseRow = Callable[[Hunk, DiffRow], bool]
"""Returns true if a row is to be reversed."""


@frozen
class _FileLine:
    """Line of a file, without its line feed."""

    text: bytes
    has_newline: bool = True


def reverse_rows(data: bytes, hunks: Sequence[Hunk], choose: ChooseRow) -> bytes:
    """Return the content of a file in which the chosen rows are as in the base.

    @param data: the file as it is now.
    @param hunks: the complete difference of the file.
    @raise ServiceError: 409 if the difference is not that of C{data}, or nothing is chosen.
    """
    lines = _split_content(data)
    found: list[_FileLine] = []
    at = 0
    changed = False
    for hunk in hunks:
        converts = _converts_ends(lines, hunk)
        position = hunk.new_start if hunk.new_count else hunk.new_start + 1
        for row in hunk.rows:
            target = position if row.new is None else row.new
            found += lines[at : target - 1]
            at = max(at, target - 1)
            if row.new is None:
                if choose(hunk, row):
                    found.append(_restore_line(row, converts=converts))
                    changed = True
                continue
            line = _check_line(lines, row.new, row.raw, converts=converts)
            at, position = row.new, row.new + 1
            if row.kind is RowKind.ADDED and choose(hunk, row):
                changed = True
            else:
                found.append(line)
    found += lines[at:]
    if not changed:
        raise make_conflict_error("hunkIds: the file has no such changes any more")
    return _join_lines(found)


def _split_content(data: bytes) -> list[_FileLine]:
    parts = data.split(b"\n")
    last = parts.pop()
    return [_FileLine(part) for part in parts] + (
        [_FileLine(last, has_newline=False)] if last else []
    )


def _join_lines(lines: Sequence[_FileLine]) -> bytes:
    if not lines:
        return b""
    body = b"\n".join(line.text for line in lines)
    return body + (b"\n" if lines[-1].has_newline else b"")


def _converts_ends(lines: Sequence[_FileLine], hunk: Hunk) -> bool:
    """Return true if git compared lines without the carriage returns that the file has."""
    return any(
        row.new is not None and row.new <= len(lines) and lines[row.new - 1].text == row.raw + b"\r"
        for row in hunk.rows
    )


def _check_line(
    lines: Sequence[_FileLine], number: int, raw: bytes, *, converts: bool
) -> _FileLine:
    """Return the file's line with this number.

    @raise ServiceError: 409 if its text is not C{raw}.
    """
    line = lines[number - 1] if number <= len(lines) else None
    if line is None or (line.text != raw and not (converts and line.text == raw + b"\r")):
        raise make_conflict_error("hash: the file was changed since you looked at it")
    return line


def _restore_line(row: DiffRow, *, converts: bool) -> _FileLine:
    line = _FileLine(row.raw, has_newline=not row.lacks_newline)
    if converts and line.has_newline and not row.raw.endswith(b"\r"):
        return evolve(line, text=row.raw + b"\r")
    return line
