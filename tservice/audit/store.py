"""Table C{audit_log}, whose parts have separate limits.

No actor can fill a part alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tservice.core.disk.disk_errors import DiskFull
from tservice.store.database import Database

_APPEND = """
    INSERT INTO audit_log (at, actor, method, address, action, target, detail, part)
    VALUES (:at, :actor, :method, :address, :action, :target, :detail, :part)
"""
_OLDEST = "SELECT seq FROM audit_log WHERE part = ? AND actor = ? ORDER BY seq LIMIT 1 OFFSET ?"
_EVICT = "DELETE FROM audit_log WHERE part = ? AND actor = ? AND seq <= ?"


class AuditStore:
    """Access to the table C{audit_log}.

    If a part is full, the oldest rows of the actor with most rows are removed.
    """

    def __init__(self, database: Database, bounds: Mapping[str, int]) -> None:
        """@param bounds: maximum number of rows in each part; one actor has at most half of
        them.
        """
        self._database, self._bounds = database, bounds
        self._counts: dict[str, Counter[str]] = {part: Counter() for part in bounds}
        rows = database.query_rows(
            "SELECT part, actor, count(*) AS rows FROM audit_log GROUP BY part, actor"
        )
        for row in rows:
            self._counts[row["part"]][row["actor"]] = row["rows"]
        for row in rows:
            self._delete_oldest_of_actor(
                row["part"], row["actor"], row["rows"] - bounds[row["part"]] // 2
            )
        for part, counts in self._counts.items():
            while counts.total() > bounds[part] and self._make_room(part):
                pass

    def append_row(self, row: Mapping[str, Any]) -> None:
        """Insert one row; it is on disk when this returns.

        @param row: the column values by name.
        @raise DiskFull: the disk does not accept the write.
        """
        self._database.execute(_APPEND, row)
        part, actor = row["part"], row["actor"]
        counts = self._counts[part]
        counts[actor] += 1
        if counts[actor] > self._bounds[part] // 2:
            self._delete_oldest_of_actor(part, actor, max(1, counts[actor] // 10))
        elif counts.total() > self._bounds[part]:
            self._make_room(part)

    def _make_room(self, part: str) -> bool:
        [(actor, count)] = self._counts[part].most_common(1)
        return self._delete_oldest_of_actor(part, actor, max(1, count // 10))

    def _delete_oldest_of_actor(self, part: str, actor: str, many: int) -> bool:
        """Delete the oldest rows of an actor in a part.

        @param many: number of rows to delete.
        @return: true if a row may be inserted.
        """
        if many <= 0:
            return False
        row = self._database.query_first_row(_OLDEST, (part, actor, many - 1))
        try:
            if row is not None:
                params = (part, actor, row["seq"])
                self._database.execute_or_defer(("audit", part, actor), _EVICT, params)
        except DiskFull:
            return False  # the next row will retry
        self._counts[part][actor] -= many
        return True
