"""Storage of the approval inbox."""

from __future__ import annotations

import json
from sqlite3 import Row
from typing import Any

import attrs

from tservice.agents.approvals.model import ApprovalItem, ItemKind, ItemOption
from tservice.core.disk.disk_errors import DiskFull
from tservice.store.database import Database
from tservice.store.deferred_writes import Key

_SET = (
    "INSERT INTO approvals (session_id, number, item) SELECT id, ?, ? FROM sessions WHERE id = ? "
    "ON CONFLICT (session_id) DO UPDATE SET number = excluded.number, item = excluded.item"
)


class ApprovalStore:
    """Table with one row for each session; a saved item is on disk when the method returns.

    If the disk is full, the write is deferred and the item is still announced, so that users learn
    of the dialog.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # Numbers of sessions whose row is not on disk yet.
        self._numbers: dict[str, int] = {}

    def load_items(self) -> list[ApprovalItem]:
        """Return all pending items, oldest first."""
        sql = "SELECT session_id, item FROM approvals WHERE item IS NOT NULL"
        items = self._database.read_records(_decode_row, sql, named="approvals.session_id")
        return sorted(items, key=lambda item: item.created_at)

    def next_number(self, session_id: str) -> int:
        """Return a number that no item of the session has ever had."""
        row = self._database.query_first_row(
            "SELECT number FROM approvals WHERE session_id = ?", (session_id,)
        )
        kept = 0 if row is None else int(row["number"])
        return max(kept, self._numbers.get(session_id, 0)) + 1

    def save_item(self, item: ApprovalItem) -> None:
        """Store the session's item."""
        self._write_row(item.session_id, parse_item_number(item.id), json.dumps(attrs.asdict(item)))

    def clear_item(self, session_id: str) -> None:
        """Remove the session's item, but keep its number, so that L{next_number} does not repeat
        it.
        """
        self._write_row(session_id, self.next_number(session_id) - 1, None)

    def check_saved(self, session_id: str) -> None:
        """Check that the last change of the session's item is on disk.

        @raise DiskFull: the change is not on disk yet.
        """
        self._database.deferred_writes.check_not_deferred(_make_key(session_id))

    def _write_row(self, session_id: str, number: int, item: str | None) -> None:
        row = (number, item, session_id)
        try:
            self._database.execute(_SET, row)
        except DiskFull:
            self._database.execute_or_defer(_make_key(session_id), _SET, row)
            self._numbers[session_id] = number
        else:
            self._numbers.clear()


def _make_key(session_id: str) -> Key:
    return ("approval", session_id)


def parse_item_number(item_id: str) -> int:
    """Return the number that an item's id contains."""
    return int(item_id.rpartition(":")[2])


def _decode_row(row: Row) -> ApprovalItem:
    fields: dict[str, Any] = json.loads(row["item"])
    options = tuple(ItemOption(**option) for option in fields.pop("options"))
    others = fields.pop("tool_other", None)
    fields |= {"kind": ItemKind(fields["kind"]), "options": options}
    return ApprovalItem(**fields, tool_other=None if others is None else tuple(others))
