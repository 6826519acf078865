"""Database tables of cases, of the trash, and of the order of cases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

from attrs import frozen

from tservice.cases.model import CaseRow, WorktreeOrigin
from tservice.core.locations.location import LocationId, LocationKind, make_os_user_location
from tservice.store.database import Database

_SAVE = """
    INSERT INTO cases (
        owner, name, path, description, created_at, repository, branch,
        far_kind, far_name, far_part
    )
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (owner, name) DO UPDATE SET
        name = excluded.name, path = excluded.path, description = excluded.description,
        created_at = excluded.created_at, repository = excluded.repository,
        branch = excluded.branch, far_kind = excluded.far_kind,
        far_name = excluded.far_name, far_part = excluded.far_part
"""
_FORGET = "DELETE FROM cases WHERE owner = ? AND name = ?"


@frozen(kw_only=True)
class ScheduledRemoval:
    """Folder whose removal is scheduled.

    @ivar place: location as whose OS user the folder is removed.
    @ivar due: time of the removal, Unix milliseconds.
    """

    path: str
    place: LocationId
    due: int


class CaseStore:
    """The tables C{cases}, C{case_trash} and C{case_orders}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_rows(self, owner: str) -> list[CaseRow]:
        """Return the stored records of an owner's cases."""
        rows = self._database.query_rows(
            "SELECT * FROM cases WHERE owner = ? ORDER BY name", (owner,)
        )
        return [_row_from_database(row) for row in rows]

    def find_row(self, owner: str, name: str) -> CaseRow | None:
        """Return a stored case; C{None} if there is none.

        Upper and lower case in the name are equivalent.
        """
        row = self._database.query_first_row(
            "SELECT * FROM cases WHERE owner = ? AND name = ?", (owner, name)
        )
        return None if row is None else _row_from_database(row)

    def find_case_at(self, place: LocationId) -> str | None:
        """Return the name of a case, of any owner, at a location; C{None} if there is none."""
        sql = "SELECT name FROM cases WHERE far_kind = ? AND far_name = ? LIMIT 1"
        row = self._database.query_first_row(sql, (place.kind.value, place.name))
        return None if row is None else str(row["name"])

    def list_worktrees(self, owner: str, folder: str) -> list[str]:
        """Return the names of an owner's cases that are worktrees of the repository C{folder}."""
        sql = "SELECT name FROM cases WHERE owner = ? AND repository = ? ORDER BY name"
        return [str(row["name"]) for row in self._database.query_rows(sql, (owner, folder))]

    def save_row(self, row: CaseRow, *, spared: str | None = None) -> None:
        """Insert or update a case.

        @param spared: path of a folder whose scheduled removal is cancelled in the same
            transaction.
        @raise DiskFull: the disk is full.
        """
        worktree = row.worktree
        values = (
            row.owner,
            row.name,
            row.path,
            row.description,
            row.created_at,
            None if worktree is None else worktree.repository,
            None if worktree is None else worktree.branch,
            None if row.far is None else row.far.kind.value,
            None if row.far is None else row.far.name,
            None if row.far is None else row.far.part,
        )
        with self._database.transaction():
            self._database.execute(_SAVE, values)
            if spared is not None:
                self.cancel_removal(spared)

    def delete_row(self, owner: str, name: str) -> None:
        """Delete a case.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(_FORGET, (owner, name))

    def delete_or_defer_row(self, owner: str, name: str) -> None:
        """Delete a case that was rolled back.  On a full disk the deletion is deferred."""
        self._database.execute_or_defer(("case", owner, name), _FORGET, (owner, name))

    def check_disk_space(self) -> None:
        """Check that the database can be written.  Call this before a folder is removed.

        @raise DiskFull: the disk is full.
        """
        self._database.deferred_writes.probe_disk()

    def schedule_removal(self, path: str, place: LocationId, due: int) -> None:
        """Schedule the removal of a folder.

        @param place: location as whose OS user the folder is removed.
        @param due: time of the removal, Unix milliseconds.
        @raise DiskFull: the disk is full.
        """
        name = place.name or None
        self._database.execute(
            "INSERT OR REPLACE INTO case_trash (path, os_user, os_uid, due) VALUES (?, ?, ?, ?)",
            (path, name, place.uid, due),
        )

    def cancel_removal(self, path: str) -> None:
        """Remove a folder from the schedule, because it is kept or was removed."""
        self._database.execute("DELETE FROM case_trash WHERE path = ?", (path,))

    def postpone_removal(self, path: str, due: int) -> None:
        """Schedule another attempt to remove a folder.

        @param due: time of the attempt, Unix milliseconds.
        """
        sql = "UPDATE case_trash SET due = ? WHERE path = ?"
        self._database.execute(sql, (due, path), durable=False)

    def list_due_removals(self, now: int, limit: int) -> list[ScheduledRemoval]:
        """Return at most C{limit} folders whose removal is due, oldest first.

        @param now: Unix milliseconds.
        """
        rows = self._database.query_rows(
            "SELECT * FROM case_trash WHERE due <= ? ORDER BY due, path LIMIT ?", (now, limit)
        )
        return [_removal_from_row(row) for row in rows]

    def get_order(self, owner: str) -> list[str]:
        """Return the names of cases in the order that an account has set."""
        sql = "SELECT names FROM case_orders WHERE owner = ?"
        row = self._database.query_first_row(sql, (owner,))
        return [] if row is None else [str(name) for name in json.loads(row["names"])]

    def delete_stale_orders(self, known: Callable[[str], bool]) -> None:
        """Delete the orders of removed accounts.  On a full disk the deletion is deferred.

        @param known: returns true if an account of that name exists.
        """
        for row in self._database.query_rows("SELECT owner FROM case_orders"):
            if not known(row["owner"]):
                sql = "DELETE FROM case_orders WHERE owner = ?"
                self._database.execute_or_defer(("order of", row["owner"]), sql, (row["owner"],))

    def put_order(self, owner: str, names: Sequence[str]) -> None:
        """Insert or update the order of an account's cases.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(
            "INSERT OR REPLACE INTO case_orders (owner, names) VALUES (?, ?)",
            (owner, json.dumps(list(names))),
        )


def _row_from_database(row: sqlite3.Row) -> CaseRow:
    repository, branch = row["repository"], row["branch"]
    return CaseRow(
        owner=row["owner"],
        name=row["name"],
        path=row["path"],
        description=row["description"],
        created_at=row["created_at"],
        worktree=None if branch is None else WorktreeOrigin(repository=repository, branch=branch),
        far=_location_from_row(row),
    )


def _location_from_row(row: sqlite3.Row) -> LocationId | None:
    if row["far_kind"] is None:
        return None
    kind = LocationKind(row["far_kind"])
    return LocationId(kind=kind, name=row["far_name"], part=row["far_part"])


def _removal_from_row(row: sqlite3.Row) -> ScheduledRemoval:
    place = make_os_user_location(row["os_user"], row["os_uid"])
    return ScheduledRemoval(path=row["path"], place=place, due=row["due"])
