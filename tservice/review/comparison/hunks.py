"""Hunks of a unified diff: rows with line numbers, stable names and the words that changed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from enum import StrEnum

from attrs import evolve, field, frozen

from tservice.core.kernel.errors import make_failure_error
from tservice.review.model import PAGE_BYTES, PAGE_ROWS

_HEAD = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)", re.DOTALL)
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
INTRALINE_CHARACTERS = 1000
"""Maximum length of a line in which the words that changed are marked."""
COMPARED_LINES = 2000
"""Maximum number of lines of each text, without the same ones at both ends, that are compared.

All lines of longer ones count as replaced."""
_SPACE = re.compile(rb"\s+")


class RowKind(StrEnum):
    """Kind of a row in a hunk."""

    CONTEXT = "context"
    ADDED = "added"
    REMOVED = "removed"


@frozen(kw_only=True)
class DiffRow:
    """Line of a hunk.

    @ivar old: line number in the base; C{None} for an added line.
    @ivar new: line number in the working tree; C{None} for a removed line.
    @ivar raw: the line without its line feed.
    @ivar lacks_newline: true if the file ends there without a line feed.
    @ivar changed: the range of the line that changed, if it has a counterpart.
    """

    kind: RowKind
    old: int | None
    new: int | None
    raw: bytes
    lacks_newline: bool = False
    changed: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The line as text."""
        return self.raw.decode("utf-8", "replace")


@frozen(kw_only=True)
class Hunk:
    """Part of a file with changes.

    @ivar id: name of the hunk, which depends on its removed and added lines alone.
    @ivar section: text that git found to describe the place, such as a function's head.
    @ivar is_continued: true if the hunk began on an earlier page.
    """

    id: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    section: str
    rows: Sequence[DiffRow] = field(factory=tuple)
    is_continued: bool = False

    @property
    def changed_rows(self) -> Sequence[DiffRow]:
        """Removed and added rows."""
        return [row for row in self.rows if row.kind is not RowKind.CONTEXT]


def parse_hunks(patch: bytes) -> list[Hunk]:
    """Parse the hunks of one file's patch.  Hunks have no marks of words yet.

    @param patch: output of C{git diff} for one file, perhaps cut at its end.
    @raise ServiceError: 422: the output has another form.
    """
    lines = patch.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    hunks: list[Hunk] = []
    seen: Counter[str] = Counter()
    at = 0
    while at < len(lines):
        found = _HEAD.fullmatch(lines[at])
        at += 1
        if found is None:
            continue
        old, old_count, new, new_count = (
            1 if each is None else int(each) for each in found.groups()[:4]
        )
        rows, at = _read_rows(lines, at, (old, old + old_count), (new, new + new_count))
        name = _name_rows(rows)
        seen[name] += 1
        hunks.append(
            Hunk(
                id=name if seen[name] == 1 else f"{name}-{seen[name]}",
                old_start=old,
                old_count=old_count,
                new_start=new,
                new_count=new_count,
                section=found[5].decode("utf-8", "replace").strip(),
                rows=rows,
            )
        )
    return hunks


def make_replaced_hunks(before: bytes, after: bytes) -> list[Hunk]:
    """Return the hunk that replaces all lines; none if nothing changed."""
    if before == after:
        return []
    removed = [
        DiffRow(kind=RowKind.REMOVED, old=number, new=None, raw=line, lacks_newline=lacks)
        for number, (line, lacks) in enumerate(_split_content(before), 1)
    ]
    added = [
        DiffRow(kind=RowKind.ADDED, old=None, new=number, raw=line, lacks_newline=lacks)
        for number, (line, lacks) in enumerate(_split_content(after), 1)
    ]
    rows = [*removed, *added]
    return [
        Hunk(
            id=_name_rows(rows),
            old_start=1 if removed else 0,
            old_count=len(removed),
            new_start=1 if added else 0,
            new_count=len(added),
            section="",
            rows=rows,
        )
    ]


def compare_texts(before: bytes, after: bytes, context: int, whitespace: str) -> list[Hunk]:
    """Return the hunks between two texts of which git has none.

    @param context: number of lines around a change.
    @param whitespace: C{show}, C{ignore-end}, C{ignore-amount} or C{ignore}.
    """
    old, new = _split_content(before), _split_content(after)
    olds, news = ([_make_key(each, whitespace) for each in side] for side in (old, new))
    head, tail = _count_same(olds, news)
    if max(len(olds), len(news)) - head - tail > COMPARED_LINES:
        return make_replaced_hunks(before, after)
    start, end = max(0, head - context), max(0, tail - context)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    matcher = SequenceMatcher(None, olds[start : len(olds) - end], news[start : len(news) - end])
    hunks: list[Hunk] = []
    seen: Counter[str] = Counter()
    for group in matcher.get_grouped_opcodes(context):
        if all(tag == "equal" for tag, *_ in group):
            continue
        rows = [row for code in group for row in _make_rows(code, old, new, start)]
        name = _name_rows(rows)
        seen[name] += 1
        olds_here = [row.old for row in rows if row.old is not None]
        news_here = [row.new for row in rows if row.new is not None]
        hunks.append(
            Hunk(
                id=name if seen[name] == 1 else f"{name}-{seen[name]}",
                old_start=olds_here[0] if olds_here else start + group[0][1],
                old_count=len(olds_here),
                new_start=news_here[0] if news_here else start + group[0][3],
                new_count=len(news_here),
                section="",
                rows=rows,
            )
        )
    return hunks


def _make_key(line: tuple[bytes, bool], whitespace: str) -> tuple[bytes, bool]:
    """Return what of a line is compared."""
    raw, lacks_newline = line
    match whitespace:
        case "ignore-end":
            return raw.rstrip(), False
        case "ignore-amount":
            return _SPACE.sub(b" ", raw).rstrip(), False
        case "ignore":
            return _SPACE.sub(b"", raw), False
        case _:
            return raw, lacks_newline


def _count_same(olds: Sequence[object], news: Sequence[object]) -> tuple[int, int]:
    """Return the numbers of same lines at the beginning and at the end."""
    shorter = min(len(olds), len(news))
    head = tail = 0
    while head < shorter and olds[head] == news[head]:
        head += 1
    while tail < shorter - head and olds[-1 - tail] == news[-1 - tail]:
        tail += 1
    return head, tail


def _make_rows(
    code: tuple[str, int, int, int, int],
    old: Sequence[tuple[bytes, bool]],
    new: Sequence[tuple[bytes, bool]],
    start: int,
) -> list[DiffRow]:
    """Return the rows of one operation of L{SequenceMatcher}.

    @param start: number of lines above those of C{old} and C{new}.
    """
    tag, old_start, old_end, new_start, new_end = code
    if tag == "equal":
        shift = old_start - new_start
        return [
            DiffRow(
                kind=RowKind.CONTEXT, old=start + at + shift + 1, new=start + at + 1, raw=raw,
                lacks_newline=lacks,
            )
            for at, (raw, lacks) in enumerate(new[new_start:new_end], new_start)
        ]  # fmt: skip
    removed = [
        DiffRow(kind=RowKind.REMOVED, old=start + at + 1, new=None, raw=raw, lacks_newline=lacks)
        for at, (raw, lacks) in enumerate(old[old_start:old_end], old_start)
    ]
    added = [
        DiffRow(kind=RowKind.ADDED, old=None, new=start + at + 1, raw=raw, lacks_newline=lacks)
        for at, (raw, lacks) in enumerate(new[new_start:new_end], new_start)
    ]
    return [*removed, *added]


def _split_content(data: bytes) -> list[tuple[bytes, bool]]:
    """Return the lines of a file, each with true if it lacks a line feed."""
    *lines, last = data.split(b"\n")
    return [(line, False) for line in lines] + ([(last, True)] if last else [])


def _read_rows(
    lines: Sequence[bytes], at: int, olds: tuple[int, int], news: tuple[int, int]
) -> tuple[list[DiffRow], int]:
    """Read the rows of one hunk from C{lines[at]} on.

    @param olds: first line number in the base, and the one after the last.
    @return: the rows, and the index of the line after them.
    """
    rows: list[DiffRow] = []
    (old, old_end), (new, new_end) = olds, news
    while at < len(lines):
        mark, raw = lines[at][:1], lines[at][1:]
        if mark == b"\\" and rows:
            rows[-1] = evolve(rows[-1], lacks_newline=True)
        elif old >= old_end and new >= new_end:
            break
        elif mark == b"-":
            rows.append(DiffRow(kind=RowKind.REMOVED, old=old, new=None, raw=raw))
            old += 1
        elif mark == b"+":
            rows.append(DiffRow(kind=RowKind.ADDED, old=None, new=new, raw=raw))
            new += 1
        elif mark in (b" ", b""):
            rows.append(DiffRow(kind=RowKind.CONTEXT, old=old, new=new, raw=raw))
            old, new = old + 1, new + 1
        else:
            raise make_failure_error("git's output could not be read")
        at += 1
    return rows, at


def _name_rows(rows: Sequence[DiffRow]) -> str:
    """Return a name made from the removed and added lines."""
    changed = (
        row.kind[0].encode() + row.raw + (b"\\" if row.lacks_newline else b"")
        for row in rows
        if row.kind is not RowKind.CONTEXT
    )
    return hashlib.sha256(b"\n".join(changed)).hexdigest()[:16]


@frozen(kw_only=True)
class HunkPage:
    """Hunks of one answer.

    @ivar next: index of the first row of the next page; C{None} on the last one.
    """

    hunks: Sequence[Hunk]
    next: int | None = None


def select_page(hunks: Sequence[Hunk], start: int) -> HunkPage:
    """Return the hunks from the row with index C{start} on, as many as one answer may have.

    A hunk that does not fit is continued on the next page.
    """
    found: list[Hunk] = []
    skipped = size = taken = 0
    for hunk in hunks:
        first = max(0, start - skipped)
        skipped += len(hunk.rows)
        if first >= len(hunk.rows) > 0:
            continue
        last = first
        while last < len(hunk.rows) and taken < PAGE_ROWS:
            size += len(hunk.rows[last].raw)
            if size > PAGE_BYTES and taken:
                break
            taken, last = taken + 1, last + 1
        if last > first:
            rows = mark_words(hunk.rows[first:last])
            found.append(evolve(hunk, rows=rows, is_continued=first > 0))
        if last < len(hunk.rows):
            return HunkPage(hunks=found, next=skipped - len(hunk.rows) + last)
    return HunkPage(hunks=found)


def mark_words(rows: Sequence[DiffRow]) -> list[DiffRow]:
    """Mark the words that changed in lines that replace as many other lines."""
    found = list(rows)
    at = 0
    while at < len(found):
        removed = _count_kind(found, at, RowKind.REMOVED)
        added = _count_kind(found, at + removed, RowKind.ADDED)
        if removed and removed == added:
            for old in range(at, at + removed):
                found[old], found[old + removed] = _mark_pair(found[old], found[old + removed])
        at += max(1, removed + added)
    return found


def _count_kind(rows: Sequence[DiffRow], start: int, kind: RowKind) -> int:
    end = start
    while end < len(rows) and rows[end].kind is kind:
        end += 1
    return end - start


def _mark_pair(old: DiffRow, new: DiffRow) -> tuple[DiffRow, DiffRow]:
    """Mark what lies between the first and the last word that differ, unless nothing is alike."""
    if max(len(old.raw), len(new.raw)) > INTRALINE_CHARACTERS:
        return old, new
    before, after = _WORD.findall(old.text), _WORD.findall(new.text)
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    if not any(word.strip() for word in [*before[:head], *before[len(before) - tail :]]):
        return old, new
    return (
        evolve(old, changed=_measure_range(before, head, tail)),
        evolve(new, changed=_measure_range(after, head, tail)),
    )


def _measure_range(words: Sequence[str], head: int, tail: int) -> tuple[int, int]:
    """Return the range between C{head} words and the last C{tail} words, in UTF-16 units."""
    start = _utf16_length("".join(words[:head]))
    return start, start + _utf16_length("".join(words[head : len(words) - tail]))


def _utf16_length(text: str) -> int:
    """Return the length of C{text} as JavaScript counts it."""
    return len(text) + sum(character > "\uffff" for character in text)
