"""Tables of the checks of cases, of their runs, and of the progress between runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Row
from typing import Any

from attrs import asdict

from tservice.checks.model import (
    CaseChecks,
    Check,
    CheckProgress,
    CheckResult,
    CheckRun,
    CheckState,
    FailurePolicy,
    FollowUp,
    RunState,
    RunTrigger,
)
from tservice.store.database import Database

MAX_RUNS = 20
"""Maximum number of runs of one session that are kept; the oldest is dropped first."""

_SAVE_CHECKS = """
    INSERT INTO case_checks VALUES (
        :owner, :case_name, :path, :checks, :on_failure, :max_attempts, :updated_at, :updated_by
    )
    ON CONFLICT (owner, name) DO UPDATE SET
        name = excluded.name, path = excluded.path, checks = excluded.checks,
        on_failure = excluded.on_failure, max_attempts = excluded.max_attempts,
        updated_at = excluded.updated_at, updated_by = excluded.updated_by
"""
_SAVE_RUN = """
    INSERT INTO check_runs
    SELECT :id, :session_id, :state, :trigger, :follow_up, :attempt, :reason, :created_at,
        :finished_at, :results
    WHERE EXISTS (SELECT 1 FROM sessions WHERE id = :session_id)
    ON CONFLICT (id) DO UPDATE SET
        state = excluded.state, follow_up = excluded.follow_up, reason = excluded.reason,
        finished_at = excluded.finished_at, results = excluded.results
"""
_SAVE_PROGRESS = """
    INSERT INTO check_progress
    SELECT :session_id, :workspace, :attempts, :is_stopped, :has_given_up
    WHERE EXISTS (SELECT 1 FROM sessions WHERE id = :session_id)
    ON CONFLICT (session_id) DO UPDATE SET
        workspace = excluded.workspace, attempts = excluded.attempts,
        is_stopped = excluded.is_stopped, has_given_up = excluded.has_given_up
"""


class CheckStore:
    """The tables C{case_checks}, C{check_runs} and C{check_progress}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # -- checks of cases

    def find_checks(self, owner: str, name: str) -> CaseChecks | None:
        """Return the checks of a case; C{None} if it has none."""
        sql = "SELECT * FROM case_checks WHERE owner = ? AND name = ?"
        row = self._database.query_first_row(sql, (owner, name))
        return None if row is None else _read_checks(row)

    def list_checks(self, owner: str) -> list[CaseChecks]:
        """Return the checks of all cases of an owner."""
        sql = "SELECT * FROM case_checks WHERE owner = ?"
        return [_read_checks(row) for row in self._database.query_rows(sql, (owner,))]

    def list_owners(self) -> list[str]:
        """Return the owners of cases with checks."""
        sql = "SELECT DISTINCT owner FROM case_checks"
        return [str(row["owner"]) for row in self._database.query_rows(sql)]

    def save_checks(self, checks: CaseChecks) -> None:
        """Replace the checks of a case.

        @raise DiskFull: the disk is full.
        """
        fields = asdict(checks, recurse=False)
        fields["checks"] = write_definitions(checks.checks)
        fields["on_failure"] = checks.on_failure.value
        self._database.execute(_SAVE_CHECKS, fields)

    def delete_checks(self, owner: str, name: str) -> None:
        """Delete the checks of a case.  On a full disk the deletion is deferred."""
        sql = "DELETE FROM case_checks WHERE owner = ? AND name = ?"
        self._database.execute_or_defer(("case checks", owner, name), sql, (owner, name))

    def delete_owner(self, owner: str) -> None:
        """Delete the checks of all cases of an owner.  On a full disk the deletion is deferred."""
        sql = "DELETE FROM case_checks WHERE owner = ?"
        self._database.execute_or_defer(("case checks", owner), sql, (owner,))

    # -- runs

    def list_runs(self, session_id: str) -> list[CheckRun]:
        """Return the kept runs of a session, newest first."""
        sql = "SELECT * FROM check_runs WHERE session_id = ? ORDER BY created_at DESC, rowid DESC"
        return [_read_run(row) for row in self._database.query_rows(sql, (session_id,))]

    def list_open_runs(self) -> list[CheckRun]:
        """Return the runs that have not ended, or whose end still has to be followed up.

        That is a failure that is being sent to the agent, or an interruption without a notice.
        """
        sql = (
            "SELECT * FROM check_runs WHERE state IN ('waiting', 'running') OR follow_up = ?"
            " OR (state = 'interrupted' AND follow_up = ?)"
        )
        params = (FollowUp.SENDING.value, FollowUp.NONE.value)
        return [_read_run(row) for row in self._database.query_rows(sql, params)]

    def list_last_runs(self) -> list[CheckRun]:
        """Return the newest run of each session."""
        sql = (
            "SELECT * FROM check_runs AS run WHERE rowid = (SELECT rowid FROM check_runs"
            " WHERE session_id = run.session_id ORDER BY created_at DESC, rowid DESC LIMIT 1)"
        )
        return [_read_run(row) for row in self._database.query_rows(sql)]

    def save_run(self, run: CheckRun, *, durable: bool = True) -> None:
        """Insert or update a run, and drop the oldest ones of its session beyond the bound.

        Nothing is written if the session was removed.

        @raise DiskFull: the disk is full.
        """
        fields = asdict(run, recurse=False)
        fields["results"] = json.dumps([asdict(each) for each in run.results])
        for name in ("state", "trigger", "follow_up"):
            fields[name] = fields[name].value
        with self._database.transaction(durable):
            self._database.execute(_SAVE_RUN, fields)
            self._database.execute(
                "DELETE FROM check_runs WHERE id IN (SELECT id FROM check_runs WHERE session_id = ?"
                " ORDER BY created_at DESC, rowid DESC LIMIT -1 OFFSET ?)",
                (run.session_id, MAX_RUNS),
            )

    # -- progress

    def get_progress(self, session_id: str) -> CheckProgress:
        """Return the progress of a session."""
        sql = "SELECT * FROM check_progress WHERE session_id = ?"
        row = self._database.query_first_row(sql, (session_id,))
        if row is None:
            return CheckProgress(session_id=session_id)
        fields: dict[str, Any] = dict(row)
        for name in ("is_stopped", "has_given_up"):
            fields[name] = bool(fields[name])
        return CheckProgress(**fields)

    def save_progress(self, progress: CheckProgress) -> None:
        """Replace the progress of a session.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(_SAVE_PROGRESS, asdict(progress))


def write_definitions(checks: Sequence[Check]) -> str:
    """Return checks as JSON."""
    return json.dumps([asdict(each) for each in checks])


def read_definitions(text: str) -> tuple[Check, ...]:
    """Return the checks that L{write_definitions} wrote."""
    return tuple(Check(**{**each, "paths": tuple(each["paths"])}) for each in json.loads(text))


def _read_checks(row: Row) -> CaseChecks:
    fields: dict[str, Any] = dict(row)
    fields["case_name"] = fields.pop("name")
    fields["on_failure"] = FailurePolicy(fields["on_failure"])
    fields["checks"] = read_definitions(fields["checks"])
    return CaseChecks(**fields)


def _read_run(row: Row) -> CheckRun:
    fields: dict[str, Any] = dict(row)
    fields["state"], fields["trigger"] = RunState(fields["state"]), RunTrigger(fields["trigger"])
    fields["follow_up"] = FollowUp(fields["follow_up"])
    fields["results"] = tuple(
        CheckResult(**{**each, "state": CheckState(each["state"])})
        for each in json.loads(fields["results"])
    )
    return CheckRun(**fields)
