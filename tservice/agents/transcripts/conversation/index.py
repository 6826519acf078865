"""Index of the items of one transcript file, which is extended line by line.

The index has no texts: it has the offsets of the lines in which each item begins and changes. So a
long conversation takes little memory, and a page of items is read from the file again.

This module does no I/O.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import TypeVar

from attrs import define, field, frozen

from tservice.agents.transcripts.conversation.fragments import (
    Fragment,
    ItemChange,
    NewItem,
    QueueChange,
    SeenMessage,
)
from tservice.agents.transcripts.conversation.items import ItemRole, PromptState
from tservice.agents.transcripts.usage.record import MessageUsage

ITEMS = 200_000
"""Maximum items of one conversation; the oldest are dropped."""
DROPPED = 20_000
"""Number of items that are dropped together."""
KEYS = 5_000
"""Maximum items that later lines may still change; the newest are kept."""
QUEUED = 200
CHANGES = 16
"""Maximum lines that change one item; the newest are kept."""
PER_LINE = 1_024
"""Maximum items of one line, which separates the positions of two lines' items."""
_T = TypeVar("_T")
_AGENTS = frozenset({"Task", "Agent"})
"""Claude Code's tools that begin a sub-agent."""


@define(eq=False)
class IndexedItem:
    """Item of the index.

    @ivar order: position in the conversation, made of the offset of the first line.
    @ivar line: offset of the line that has the item as it is now.
    @ivar number: number of the item among the items of that line.
    @ivar changed: end of the last line that changed the item.
    @ivar turn: position of the prompt that began the turn; C{None} before the first one.
    @ivar parent: position of the call whose sub-agent wrote the item.
    @ivar changes: offsets of the lines that change the item.
    @ivar state: state of a prompt that waited.
    @ivar usage: usage of the model's answers that the item begins, by their names.
    """

    order: int
    line: int
    number: int
    changed: int
    turn: int | None
    parent: int | None
    key: str
    changes: tuple[int, ...] = ()
    state: PromptState | None = None
    usage: dict[str, MessageUsage] = field(factory=dict)


@frozen(kw_only=True)
class IndexedLine:
    """Line of a transcript, with what is known of it.

    @ivar start: offset of its first byte.
    @ivar end: offset of the byte after its end.
    @ivar usage: usage of a message, which its line or an earlier one may have begun.
    """

    start: int
    end: int
    fragments: tuple[Fragment, ...]
    usage: MessageUsage | None = None


class ConversationIndex:
    """Items of one file, in its order.

    @ivar items: the items, oldest first.
    @ivar is_cut: true if older items were dropped.
    """

    def __init__(self, *, is_branch: bool = False) -> None:
        """Begin an empty index.

        @param is_branch: true if the file is a sub-agent's own.
        """
        self.items: list[IndexedItem] = []
        self.is_cut = False
        self._is_branch = is_branch
        self._by_key: dict[str, IndexedItem] = {}
        self._seen: dict[str, None] = {}
        self._usage: dict[str, IndexedItem] = {}
        self._waiting: dict[str, MessageUsage] = {}
        self._queued: dict[str, IndexedItem] = {}
        self._turn: int | None = None
        self._agent: int | None = None
        self._answer: IndexedItem | None = None

    def add_line(self, line: IndexedLine) -> None:
        """Extend the index by one line."""
        begun: IndexedItem | None = None
        number = 0
        for fragment in line.fragments:
            if isinstance(fragment, ItemChange):
                self._change_item(fragment, line)
                continue
            if isinstance(fragment, SeenMessage):
                _remember(self._seen, fragment.name, None, KEYS * 4)
                continue
            new = self._resolve_queue(fragment, line)
            if new is None or number >= PER_LINE:
                number += isinstance(fragment, QueueChange) and fragment.otherwise is not None
                continue
            entry = self._add_item(new, line, number)
            number += 1
            begun = begun or entry
        self._add_usage(begun, line)
        if len(self.items) > ITEMS:
            del self.items[:DROPPED]
            self.is_cut = True

    def find_before(self, order: int | None) -> int:
        """Return the number of items before a position; all items for C{None}."""
        return len(self.items) if order is None else bisect_left(self.items, order, key=_get_order)

    def find_item(self, order: int) -> IndexedItem | None:
        """Return the item at a position; C{None} without one."""
        at = self.find_before(order)
        found = self.items[at] if at < len(self.items) else None
        return found if found is not None and found.order == order else None

    # -- internal

    def _add_item(self, new: NewItem, line: IndexedLine, number: int) -> IndexedItem | None:
        if any(each in self._seen for each in new.unless_known):
            return None
        before = self._by_key.get(new.key) if new.replaces and new.key else None
        if before is not None:
            # The message is complete each time it is written.
            before.line, before.number, before.changed, before.changes = (
                line.start, number, line.end, (),
            )  # fmt: skip
            return before
        order = line.start * PER_LINE + number
        side = new.is_side and not self._is_branch
        if new.begins_turn and not side and new.item.state is not PromptState.QUEUED:
            self._turn = order
        entry = IndexedItem(
            order, line.start, number, line.end, self._turn, self._agent if side else None, new.key,
            (), new.item.state,
        )  # fmt: skip
        self.items.append(entry)
        if new.key:
            _remember(self._by_key, new.key, entry, KEYS)
        if new.item.state is PromptState.QUEUED:
            _remember(self._queued, f"{order}\n{new.item.text}", entry, QUEUED)
        if new.item.role is ItemRole.ASSISTANT:
            self._answer = entry
        tool = new.item.tool
        if tool is not None and tool.name in _AGENTS and not side:
            self._agent = order
        return entry

    def _change_item(self, change: ItemChange, line: IndexedLine) -> None:
        entry = self._by_key.get(change.key)
        if entry is not None and change.key:
            entry.changes = (*entry.changes, line.start)[-CHANGES:]
            entry.changed = line.end

    def _resolve_queue(self, fragment: NewItem | QueueChange, line: IndexedLine) -> NewItem | None:
        """Apply a change of the queue, and return the item that is new all the same."""
        if isinstance(fragment, NewItem):
            return fragment
        new = fragment.otherwise
        if new is None:
            for entry in self._queued.values():
                entry.state, entry.changed = PromptState.WITHDRAWN, line.end
            self._queued.clear()
            return None
        ending = f"\n{new.item.text}"
        key = next((each for each in self._queued if each.endswith(ending)), None)
        if key is None:
            return new
        entry = self._queued.pop(key)
        entry.state, entry.changed = PromptState.SENT, line.end
        self._turn = entry.turn = entry.order
        return None

    def _add_usage(self, begun: IndexedItem | None, line: IndexedLine) -> None:
        """Add the usage of an answer to its first item.

        Codex reports the usage after the items, and Gemini CLI before those that call tools.
        """
        if begun is not None and begun.order == begun.turn:
            # No item will come for what is left of the turn before.
            self._attach_waiting(self._answer, line.end)
        elif begun is not None:
            self._attach_waiting(begun, line.end)
        told = line.usage
        if told is None:
            return
        entry = self._usage.get(told.name) or begun
        last = self._answer
        if entry is None and last is not None and last.turn == self._turn and not last.usage:
            entry = last
        if entry is None:
            _remember(self._waiting, told.name, told, CHANGES)
        else:
            self._attach_usage(entry, told, line.end)

    def _attach_waiting(self, entry: IndexedItem | None, end: int) -> None:
        if entry is None:
            return
        for told in self._waiting.values():
            self._attach_usage(entry, told, end)
        self._waiting.clear()

    def _attach_usage(self, entry: IndexedItem, told: MessageUsage, end: int) -> None:
        before = entry.usage.get(told.name)
        if before is None or told.is_newer_than(before):
            _remember(entry.usage, told.name, told, CHANGES)
            _remember(self._usage, told.name, entry, KEYS)
            entry.changed = max(entry.changed, end)


def list_changed(items: Iterable[IndexedItem], after: int) -> list[IndexedItem]:
    """Return the items that changed after an offset, in the order of their last changes."""
    found = (each for each in items if each.changed > after)
    return sorted(found, key=lambda each: (each.changed, each.order))


def _get_order(entry: IndexedItem) -> int:
    return entry.order


def _remember(known: dict[str, _T], name: str, value: _T, most: int) -> None:
    known.pop(name, None)
    known[name] = value
    while len(known) > most:
        del known[next(iter(known))]
