"""The approval inbox on disk."""

from __future__ import annotations

import json
from typing import Any

import attrs

from tservice.agents.approvals_model import Item, ItemKind, ItemOption
from tservice.store.database import Database


class ApprovalStore:
    """One row a session; what was saved is on the disk when the method returns."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> list[Item]:
        """Every pending item, oldest first."""
        rows = self._database.query("SELECT item FROM approvals WHERE item IS NOT NULL")
        items = [_decode(json.loads(row["item"])) for row in rows]
        return sorted(items, key=lambda item: item.created_at)

    def next_number(self, session_id: str) -> int:
        """A number that no item of the session ever had."""
        row = self._database.query_one(
            "SELECT number FROM approvals WHERE session_id = ?", (session_id,)
        )
        return 1 if row is None else int(row["number"]) + 1

    def save(self, item: Item) -> None:
        """Let it be the session's item."""
        text = json.dumps(attrs.asdict(item))
        self._database.execute(
            "INSERT INTO approvals (session_id, number, item) VALUES (?, ?, ?) "
            "ON CONFLICT (session_id) DO UPDATE SET number = excluded.number, item = excluded.item",
            (item.session_id, number_of(item.id), text),
        )

    def clear(self, session_id: str) -> None:
        """The session has no item any more; its last number stays known."""
        self._database.execute(
            "UPDATE approvals SET item = NULL WHERE session_id = ?", (session_id,)
        )


def number_of(item_id: str) -> int:
    """The number in an item's id."""
    return int(item_id.rpartition(":")[2])


def _decode(fields: dict[str, Any]) -> Item:
    options = tuple(ItemOption(**option) for option in fields.pop("options"))
    return Item(**{**fields, "kind": ItemKind(fields["kind"]), "options": options})
