"""Database table of timed runs."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import attrs

from tservice.core.disk.disk_errors import DiskFull
from tservice.store.database import Database
from tservice.store.deferred_writes import Key
from tservice.timed_runs.model import TimedRun, TimedRunState

_FIELDS = tuple(attrs.fields_dict(TimedRun))
_CHANGES = ", ".join(f"{name} = excluded.{name}" for name in _FIELDS if name != "id")
_SAVE = (
    f"INSERT INTO timed_runs ({', '.join(_FIELDS)})"  # noqa: S608
    f" VALUES ({', '.join(':' + name for name in _FIELDS)})"
    f" ON CONFLICT (id) DO UPDATE SET {_CHANGES}"
)


class TimedRunStore:
    """The table C{timed_runs}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load_runs(self) -> list[TimedRun]:
        """Return all runs, oldest first."""
        sql = "SELECT * FROM timed_runs ORDER BY seq"
        return self._database.read_records(_run_from_row, sql, named="timed_runs.id")

    def save_run(self, run: TimedRun) -> None:
        """Insert or replace a run.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(_SAVE, _run_to_row(run))

    def save_or_defer_run(self, run: TimedRun) -> None:
        """Save a change that was observed and cannot be refused.

        On a full disk this is deferred.
        """
        try:
            self.save_run(run)
        except DiskFull:
            self._database.execute_or_defer(_deferred_key(run.id), _SAVE, _run_to_row(run))

    def check_saved(self, run_id: str) -> None:
        """Fail if the last change from L{save_or_defer_run} is not on disk.

        @raise DiskFull: the change is still deferred.
        """
        self._database.deferred_writes.check_not_deferred(_deferred_key(run_id))

    def delete_run(self, run_id: str) -> None:
        """Delete a run.

        On a full disk the deletion is deferred, because the service and new runs must be able to
        start.
        """
        sql = "DELETE FROM timed_runs WHERE id = ?"
        self._database.execute_or_defer(_deferred_key(run_id), sql, (run_id,))


def _deferred_key(run_id: str) -> Key:
    return ("timed run", run_id)


def _run_to_row(run: TimedRun) -> dict[str, Any]:
    return {name: getattr(run, name) for name in _FIELDS} | {"logs": json.dumps(run.logs)}


def _run_from_row(row: sqlite3.Row) -> TimedRun:
    found = dict(row)
    del found["seq"]
    logs = tuple(json.loads(found["logs"]))
    return TimedRun(**found | {"status": TimedRunState(found["status"]), "logs": logs})
