"""Anchors of comments: find the lines of a comment again in a file that was changed.

A place is named by its lines, together with as many lines before or after them as no other place
of the file had.  It is found again only where exactly one place still has these lines.  Otherwise
they count as changed, so that no comment is shown at a place that merely looks alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen

SURROUNDING_LINES = 40
"""Maximum number of lines that an anchor keeps on each side of its own."""
ANCHOR_LINES = 400
"""Maximum number of lines of a comment."""
ANCHOR_CHARACTERS = 100_000
"""Maximum characters of an anchor."""


class AnchorState(StrEnum):
    """Place of a comment's lines in the file as it is now."""

    SAME = "same"
    MOVED = "moved"
    CHANGED = "changed"
    """Other lines are there now."""
    GONE = "gone"
    """The lines, or the file, were removed."""


@frozen(kw_only=True)
class Anchor:
    """Lines of a comment with their surroundings.

    @ivar line: number of the first line, from 1, when the comment was written.
    @ivar before: lines before, the nearest last.
    @ivar after: lines after, the nearest first.
    @ivar before_needed: number of lines before that make the place unique.  C{None} if no number
        does.
    @ivar has_mark: true if one of the lines was equal to no other line of the file.
    @ivar marks_before: indexes of lines in C{before} that no other line of the file equals.
    @ivar marks_after: indexes of such lines in C{after}.
    @ivar at_start: true if C{before} begins with the first line of the file.
    @ivar at_end: true if C{after} ends with the last line of the file.
    """

    line: int
    lines: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before_needed: int | None = None
    after_needed: int | None = None
    has_mark: bool = False
    marks_before: tuple[int, ...] = ()
    marks_after: tuple[int, ...] = ()
    at_start: bool = False
    at_end: bool = False


@frozen(kw_only=True)
class AnchorPlace:
    """Result of the search for an anchor.

    @ivar line: first line now; C{None} if the lines are gone.
    @ivar end_line: last line now.
    @ivar lines: the lines that are there now.
    """

    state: AnchorState
    line: int | None = None
    end_line: int | None = None
    lines: Sequence[str] = field(factory=tuple)


GONE = AnchorPlace(state=AnchorState.GONE)


def split_lines(data: bytes) -> list[str]:
    """Return the lines of a file as text, without their ends."""
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def make_anchor(lines: Sequence[str], first: int, last: int) -> Anchor:
    """Return the anchor of the lines C{first} to C{last} of a file, counted from 1.

    @raise ValueError: the file has no such lines.
    """
    if not 1 <= first <= last <= len(lines) or last - first >= ANCHOR_LINES:
        raise ValueError("the file has no such lines")
    begin, end = first - 1, last
    block = tuple(lines[begin:end])
    room = ANCHOR_CHARACTERS - sum(map(len, block))
    before = _take_lines(lines[max(0, begin - SURROUNDING_LINES) : begin][::-1], room // 2)[::-1]
    after = _take_lines(lines[end : end + SURROUNDING_LINES], room // 2)
    places = _find_block(lines, block)
    counts = Counter(lines)
    return Anchor(
        line=first,
        lines=block,
        before=tuple(before),
        after=tuple(after),
        before_needed=_count_needed_before(lines, places, begin, before),
        after_needed=_count_needed_after(lines, places, begin, len(block), after),
        has_mark=any(counts[line] == 1 for line in block),
        marks_before=tuple(at for at, line in enumerate(before) if counts[line] == 1),
        marks_after=tuple(at for at, line in enumerate(after) if counts[line] == 1),
        at_start=len(before) == begin,
        at_end=end + len(after) == len(lines),
    )


def find_anchor(anchor: Anchor, lines: Sequence[str]) -> AnchorPlace:
    """Find the lines of C{anchor} in the lines of the file as it is now."""
    region = _find_region(anchor, lines)
    start = _find_unchanged(anchor, lines, region)
    if start is not None and (anchor.has_mark or _has_same_neighbours(anchor, lines, start)):
        state = AnchorState.SAME if start + 1 == anchor.line else AnchorState.MOVED
        return AnchorPlace(
            state=state, line=start + 1, end_line=start + len(anchor.lines), lines=anchor.lines
        )
    if region is None:
        begin = min(anchor.line - 1, max(0, len(lines) - 1))
        region = (begin, min(begin + len(anchor.lines), len(lines)))
    begin, end = region
    if begin == end:
        return GONE
    return AnchorPlace(
        state=AnchorState.CHANGED, line=begin + 1, end_line=end, lines=tuple(lines[begin:end])
    )


def _take_lines(lines: Sequence[str], room: int) -> list[str]:
    found: list[str] = []
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        found.append(line)
    return found


def _find_block(lines: Sequence[str], block: Sequence[str]) -> list[int]:
    """Return the indexes at which C{block} stands in C{lines}."""
    size, first = len(block), block[0]
    wanted = [*block]
    return [
        at
        for at in range(len(lines) - size + 1)
        if lines[at] == first and [*lines[at : at + size]] == wanted
    ]


def _count_needed_before(
    lines: Sequence[str], places: Sequence[int], begin: int, before: Sequence[str]
) -> int | None:
    """Return how many lines before tell the place at C{begin} from all others."""
    rivals = [at for at in places if at != begin]
    for count in range(len(before) + 1):
        if not rivals:
            return count
        if count < len(before):
            wanted = before[-1 - count]
            rivals = [at for at in rivals if at > count and lines[at - 1 - count] == wanted]
    return None


def _count_needed_after(
    lines: Sequence[str], places: Sequence[int], begin: int, size: int, after: Sequence[str]
) -> int | None:
    """Return how many lines after tell the place at C{begin} from all others."""
    rivals = [at for at in places if at != begin]
    for count in range(len(after) + 1):
        if not rivals:
            return count
        if count < len(after):
            wanted = after[count]
            rivals = [
                at
                for at in rivals
                if at + size + count < len(lines) and lines[at + size + count] == wanted
            ]
    return None


def _find_unchanged(
    anchor: Anchor, lines: Sequence[str], region: tuple[int, int] | None
) -> int | None:
    """Return the index at which the lines stand unchanged; C{None} if it is not certain.

    @param region: where the lines were, in the file as it is now.
    """
    size = len(anchor.lines)
    if region is not None and tuple(lines[region[0] : region[1]]) == anchor.lines:
        return region[0]
    places, certain = _find_by_neighbours(anchor, lines)
    if len(places) != 1 or places != certain:
        return None
    (at,) = places
    if region is None or region[0] == region[1] or region[0] <= at <= region[1] - size:
        return at
    return None  # Other lines are at the old place, so that this is a copy.


def _has_same_neighbours(anchor: Anchor, lines: Sequence[str], start: int) -> bool:
    """Return true if the lines beside those at C{start} are the ones beside the anchor's."""
    end = start + len(anchor.lines)
    return (
        tuple(lines[max(0, start - 1) : start]) == anchor.before[-1:]
        and tuple(lines[end : end + 1]) == anchor.after[:1]
    )


def _find_by_neighbours(anchor: Anchor, lines: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the indexes at which the lines stand with the neighbours that made them unique, and
    those of them that are certain.

    For that, one of the lines or neighbours must be unlike all others: lines such as a single
    bracket come and go too often.
    """
    found: set[int] = set()
    certain: set[int] = set()
    size = len(anchor.lines)
    if anchor.before_needed is not None:
        start = len(anchor.before) - max(anchor.before_needed, 1)
        key = (*anchor.before[max(0, start) :], *anchor.lines)
        places = _find_block(lines, key)
        # Without a line before, the file begins there.
        places = [at + len(key) - size for at in places if start >= 0 or at == 0]
        found |= {*places}
        if anchor.has_mark or any(at >= start for at in anchor.marks_before):
            certain |= {*places}
    if anchor.after_needed is not None:
        count = max(anchor.after_needed, 1)
        key = (*anchor.lines, *anchor.after[:count])
        places = _find_block(lines, key)
        if count > len(anchor.after):
            places = [at for at in places if at + size == len(lines)]
        found |= {*places}
        if anchor.has_mark or any(at < count for at in anchor.marks_after):
            certain |= {*places}
    if anchor.has_mark and not found:
        # Both neighbours changed, and the lines themselves did not.
        found = certain = {*_find_block(lines, anchor.lines)}
    return found, certain


def _find_region(anchor: Anchor, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the range between the nearest lines around the anchor's own that are still there.

    The range is where the anchor's lines were.  C{None} means that too little is left to tell.
    """
    where = _index_unique_lines(lines)
    above = _find_above(anchor, where)
    below = _find_below(anchor, where, len(lines))
    if above is None or below is None:
        return None
    (begin, kept_before), (end, kept_after) = above, below
    if begin > end:
        return None
    for line in kept_before:
        if begin >= end or lines[begin] != line:
            break
        begin += 1
    for line in reversed(kept_after):
        if begin >= end or lines[end - 1] != line:
            break
        end -= 1
    return begin, end


def _index_unique_lines(lines: Sequence[str]) -> dict[str, int]:
    """Return the index of each line that no other line equals."""
    counts = Counter(lines)
    return {line: at for at, line in enumerate(lines) if counts[line] == 1}


def _find_above(anchor: Anchor, where: dict[str, int]) -> tuple[int, Sequence[str]] | None:
    """Return the index after the nearest mark above, and the lines between it and the anchor's."""
    for at in reversed(anchor.marks_before):
        if anchor.before[at] in where:
            return where[anchor.before[at]] + 1, anchor.before[at + 1 :]
    return (0, anchor.before) if anchor.at_start else None


def _find_below(
    anchor: Anchor, where: dict[str, int], count: int
) -> tuple[int, Sequence[str]] | None:
    """Return the index of the nearest mark below, and the lines between the anchor's and it."""
    for at in anchor.marks_after:
        if anchor.after[at] in where:
            return where[anchor.after[at]], anchor.after[:at]
    return (count, anchor.after) if anchor.at_end else None
