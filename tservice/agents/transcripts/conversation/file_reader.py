"""Reader of the items in a transcript file; call it from a thread.

The file is read once, in its order, and its end is read again when it grows. A file that was
truncated, rewritten or replaced is a new conversation: a cursor contains a checksum of the bytes
before it, so that clients notice this, also after a restart of the service.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from attrs import evolve

from tservice.agents.transcripts.conversation.fragments import (
    ItemChange,
    NewItem,
    ParseLine,
    QueueChange,
    SeenMessage,
    apply_change,
)
from tservice.agents.transcripts.conversation.index import (
    PER_LINE,
    ConversationIndex,
    IndexedItem,
    IndexedLine,
    list_changed,
)
from tservice.agents.transcripts.conversation.items import (
    SHOWN_CHARS,
    WHOLE_CHARS,
    ConversationItem,
    ItemKind,
    ItemRole,
    ItemTokens,
    shorten_item,
)
from tservice.agents.transcripts.conversation.pages import (
    CHANGED,
    PAGE_CHARS,
    ConversationChange,
    ConversationPage,
    PageRequest,
)
from tservice.agents.transcripts.formats import FORMATS
from tservice.agents.transcripts.model import TranscriptTally, parse_line
from tservice.agents.transcripts.reader import (
    LINE_LIMIT,
    LINES,
    SHORTEST,
    TURN,
    open_regular,
    read_lines,
)
from tservice.agents.transcripts.usage.record import MessageUsage

INDEXED = 256 * 1024 * 1024
"""Maximum bytes of a file that are indexed, from its end at the first read."""
CHECKED = 256
"""Bytes before a position whose checksum identifies the content."""
PIECE = 64 * 1024
_UNREADABLE = "A part of the conversation is damaged, or too long to show."

ComputeCost = Callable[[MessageUsage], float | None]
"""Function that returns the dollars of a message; C{None} if they are unknown."""


class FileConversationReader:
    """Reader of the items in one file of lines.

    @ivar position: offset up to which the file was read.
    """

    def __init__(
        self,
        path: Path,
        mode: str,
        parse_items: ParseLine,
        compute_cost: ComputeCost,
        *,
        is_branch: bool = False,
    ) -> None:
        self._path, self._mode = path, mode
        self._parse, self._compute_cost = parse_items, compute_cost
        self._is_branch = is_branch
        self._told = (-1, -1)
        self._clear(0, 0)

    @property
    def weight(self) -> int:
        """See L{ConversationReader.weight}."""
        return len(self._index.items)

    def read_more(self) -> bool:
        """See L{ConversationReader.read_more}."""
        with open_regular(self._path) as file:
            status = os.fstat(file.fileno())
            if not self._continues(file, status):
                self._clear(status.st_ino, max(0, status.st_size - INDEXED))
            if status.st_size <= self.position:
                return False
            return self._read_lines(file)

    def read_page(self, wanted: PageRequest) -> ConversationPage:
        """See L{ConversationReader.read_page}."""
        with open_regular(self._path) as file:
            after = None if wanted.after is None else self._find_cursor(file, wanted.after)
            reset = wanted.after is not None and after is None
            if after is not None:
                return self._make_changed_page(file, after, wanted.limit)
            end = self._index.find_before(None if reset else wanted.before)
            chosen = self._index.items[max(0, end - wanted.limit) : end]
            shown = self._render_newest(file, chosen)
            first = end - len(shown)
            return ConversationPage(
                items=shown,
                cursor=self._make_cursor(),
                has_more=first > 0,
                is_reset=reset,
                is_cut=first == 0 and (self._start > 0 or self._index.is_cut),
            )

    def read_item(self, item_id: str) -> ConversationItem | None:
        """See L{ConversationReader.read_item}."""
        order = _parse_id(item_id)
        entry = None if order is None else self._index.find_item(order)
        if entry is None:
            return None
        with open_regular(self._path) as file:
            item = _LineCache(file, self._parse).render(entry, self._compute_cost)
        return shorten_item(item, WHOLE_CHARS, with_data=True)

    def take_change(self) -> ConversationChange | None:
        """See L{ConversationReader.take_change}."""
        if self._told == (self._inode, self.position):
            return None
        since = self._told[1] if self._told[0] == self._inode else -1
        self._told = (self._inode, self.position)
        changed = list_changed(self._index.items, since)[-CHANGED:]
        return ConversationChange(
            cursor=self._make_cursor(), changed=tuple(_make_id(each.order) for each in changed)
        )

    # -- internal

    def _clear(self, inode: int, start: int) -> None:
        self._index = ConversationIndex(is_branch=self._is_branch)
        self._tally = TranscriptTally()
        self._inode, self._start, self.position = inode, start, start
        self._check = 0
        self._skips_rest = start > 0
        self._told = (-1, -1)

    def _continues(self, file: BinaryIO, status: os.stat_result) -> bool:
        """Return true if the file still has the content that was read."""
        if status.st_ino != self._inode or status.st_size < self.position:
            return False
        return self._compute_check(file, self.position) == self._check

    def _compute_check(self, file: BinaryIO, position: int) -> int:
        start = max(self._start, position - CHECKED)
        return zlib.crc32(os.pread(file.fileno(), position - start, start))

    def _read_lines(self, file: BinaryIO) -> bool:
        begin, number, damaged = self.position, 0, False
        for number, (line, end) in enumerate(read_lines(file, begin, begin + TURN), 1):
            start, self.position = self.position, end
            found = parse_line(line) if len(line) >= SHORTEST else None
            rest, self._skips_rest = self._skips_rest, not line and end - start > LINE_LIMIT
            if found is not None:
                self._index.add_line(self._parse_line(found, start, end))
                damaged = False
            elif not rest and not damaged and end - start > SHORTEST:
                self._index.add_line(_make_damaged_line(start, end))
                damaged = True
            if number == LINES:
                break
        self._check = self._compute_check(file, self.position)
        return number == LINES or self.position >= begin + TURN

    def _parse_line(self, found: dict[str, object], start: int, end: int) -> IndexedLine:
        format_ = FORMATS[self._mode]
        usage = format_.parse_usage(self._tally, found)
        if format_.depends_on_earlier_lines:
            self._tally = format_.advance_tally(self._tally, found)
        fragments = self._parse(found)
        if self._tally.repeated_at is not None:
            fragments = [each for each in fragments if isinstance(each, SeenMessage)]
        return IndexedLine(start=start, end=end, fragments=tuple(fragments), usage=usage)

    def _make_cursor(self) -> str:
        return f"{self.position:x}-{self._check:x}"

    def _find_cursor(self, file: BinaryIO, cursor: str) -> int | None:
        """Return the offset of a cursor; C{None} if the content before it is gone."""
        offset, _, check = cursor.partition("-")
        try:
            position, known = int(offset, 16), int(check, 16)
        except ValueError:
            return None
        if not self._start <= position <= self.position:
            return None
        return position if self._compute_check(file, position) == known else None

    def _make_changed_page(self, file: BinaryIO, after: int, limit: int) -> ConversationPage:
        changed = list_changed(self._index.items, after)
        chosen = changed[:limit]
        while len(chosen) < len(changed) and changed[len(chosen)].changed == chosen[-1].changed:
            # A cursor between two changes of one line would lose the second.
            chosen.append(changed[len(chosen)])
        has_more = len(chosen) < len(changed)
        cursor = self._make_cursor()
        if has_more:
            end = chosen[-1].changed
            cursor = f"{end:x}-{self._compute_check(file, end):x}"
        lines = _LineCache(file, self._parse)
        shown = [self._render(lines, each) for each in sorted(chosen, key=lambda each: each.order)]
        return ConversationPage(items=tuple(shown), cursor=cursor, has_more=has_more)

    def _render_newest(
        self, file: BinaryIO, chosen: list[IndexedItem]
    ) -> tuple[ConversationItem, ...]:
        """Return the newest of the items, as many as a page holds, oldest first."""
        lines, left = _LineCache(file, self._parse), PAGE_CHARS
        shown: list[ConversationItem] = []
        for entry in reversed(chosen):
            item = self._render(lines, entry)
            left -= _count_chars(item)
            if left < 0 and shown:
                break
            shown.append(item)
        return tuple(reversed(shown))

    def _render(self, lines: _LineCache, entry: IndexedItem) -> ConversationItem:
        return shorten_item(lines.render(entry, self._compute_cost), SHOWN_CHARS, with_data=False)


class _LineCache:
    """Parsed lines of one page; a line has several items, so the last ones are kept."""

    _KEPT = 8

    def __init__(self, file: BinaryIO, parse: ParseLine) -> None:
        self._file, self._parse_items = file, parse
        self._lines: dict[int, tuple[list[NewItem], list[ItemChange]]] = {}

    def render(self, entry: IndexedItem, compute_cost: ComputeCost) -> ConversationItem:
        """Return the item of an entry, as its lines contain it now."""
        new = self._read(entry.line)[0]
        item = new[entry.number].item if entry.number < len(new) else _make_damaged_item()
        for offset in entry.changes:
            for change in self._read(offset)[1]:
                if change.key == entry.key:
                    item = apply_change(item, change)
        used = tuple(entry.usage.values())
        costs = [compute_cost(each) for each in used]
        known = [each for each in costs if each is not None]
        return evolve(
            item,
            id=_make_id(entry.order),
            order=entry.order,
            turn=None if entry.turn is None else _make_id(entry.turn),
            parent_id=None if entry.parent is None else _make_id(entry.parent),
            state=entry.state,
            model=item.model or next((each.used.model for each in used if each.used.model), None),
            tokens=_sum_tokens(used),
            cost=round(sum(known), 6) if known and len(known) == len(costs) else None,
        )

    def _read(self, offset: int) -> tuple[list[NewItem], list[ItemChange]]:
        known = self._lines.pop(offset, None)
        if known is None:
            found = parse_line(_read_line(self._file, offset))
            fragments = [] if found is None else self._parse_items(found)
            known = _list_new(fragments), [x for x in fragments if isinstance(x, ItemChange)]
        self._lines[offset] = known
        while len(self._lines) > self._KEPT:
            del self._lines[next(iter(self._lines))]
        return known


def _list_new(fragments: Iterable[object]) -> list[NewItem]:
    """Return the new items of a line, with the prompts that may have waited in the queue."""
    found: list[NewItem] = []
    for each in fragments:
        if isinstance(each, NewItem):
            found.append(each)
        elif isinstance(each, QueueChange) and each.otherwise is not None:
            found.append(each.otherwise)
    return found


def _read_line(file: BinaryIO, offset: int) -> bytes:
    pieces, at = [], offset
    while at - offset <= LINE_LIMIT and (piece := os.pread(file.fileno(), PIECE, at)):
        whole, end, _ = piece.partition(b"\n")
        pieces.append(whole)
        if end:
            break
        at += len(piece)
    return b"".join(pieces)


def _make_damaged_item() -> ConversationItem:
    return ConversationItem(role=ItemRole.SYSTEM, kind=ItemKind.NOTICE, text=_UNREADABLE)


def _make_damaged_line(start: int, end: int) -> IndexedLine:
    return IndexedLine(start=start, end=end, fragments=(NewItem(item=_make_damaged_item()),))


def _sum_tokens(used: tuple[MessageUsage, ...]) -> ItemTokens | None:
    if not used:
        return None
    return ItemTokens(
        input=sum(each.used.input for each in used),
        output=sum(each.used.output for each in used),
        cache_read=sum(each.used.cache_read for each in used),
        cache_write=sum(each.used.cache_write for each in used),
    )


def _count_chars(item: ConversationItem) -> int:
    size = len(item.text or "")
    if item.tool is not None:
        size += len(item.tool.output or "") + sum(len(str(v)) for v in item.tool.input.values())
        hunks = (hunk for diff in item.tool.diffs for hunk in diff.hunks)
        size += sum(len(line) for hunk in hunks for line in hunk.lines)
    return size


def _make_id(order: int) -> str:
    return f"{order // PER_LINE:x}.{order % PER_LINE:x}"


def _parse_id(item_id: str) -> int | None:
    offset, dot, number = item_id.partition(".")
    try:
        found = int(offset, 16) * PER_LINE + int(number, 16)
    except ValueError:
        return None
    return found if dot and found >= 0 else None
