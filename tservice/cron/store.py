"""Database tables of jobs and runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from tservice.core.disk.disk_errors import DiskFull
from tservice.cron.keep_going_model import KeepGoing, KeepGoingState
from tservice.cron.model import (
    MAX_RUNS,
    ConcurrencyPolicy,
    CronJob,
    CronRun,
    InputMode,
    JobDefinition,
    JobSchedule,
    PromptMode,
    RunDelivery,
    RunStatus,
    RunTrigger,
    ScheduleType,
)
from tservice.store.database import Database
from tservice.store.deferred_writes import Key

_JOB = tuple(attrs.fields_dict(CronJob))
_RUN = tuple(attrs.fields_dict(CronRun))


def _make_upsert(table: str, names: Iterable[str]) -> str:
    columns = list(names)
    kept = ", ".join(f"{name} = excluded.{name}" for name in columns if name != "id")
    return (
        f"INSERT INTO {table} ({', '.join(columns)})"  # noqa: S608
        f" VALUES ({', '.join(':' + name for name in columns)})"
        f" ON CONFLICT (id) DO UPDATE SET {kept}"
    )


_SAVE_JOB = _make_upsert("cron_jobs", _JOB)
_SAVE_RUN = _make_upsert("cron_runs", _RUN)
_DELETE = "DELETE FROM cron_jobs WHERE id = ?"
# The run of a job with the prefix of L{tservice.cron.timed_runs} is deleted with its job.
_TRIM = """
    DELETE FROM cron_runs WHERE seq <= (
        SELECT seq FROM cron_runs ORDER BY seq DESC LIMIT 1 OFFSET ?
    ) AND delivery IS NULL AND status != 'created' AND job_id NOT LIKE 'timed-%'
    AND coalesce(json_extract(keep_going, '$.state'), '') != 'running'
"""


class CronStore:
    """The tables C{cron_jobs} and C{cron_runs}."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_jobs(self) -> list[CronJob]:
        """Return all jobs, oldest first."""
        sql = "SELECT * FROM cron_jobs ORDER BY created_at, rowid"
        return self._database.read_records(_job_from_row, sql, named="cron_jobs.id")

    def save_jobs_and_runs(
        self, jobs: Iterable[CronJob] = (), runs: Iterable[CronRun] = ()
    ) -> None:
        """Save jobs and runs in one transaction, and delete the oldest finished runs beyond
        L{MAX_RUNS}.

        @raise DiskFull: the disk is full.
        @raise sqlite3.IntegrityError: another run has the due key of a new run.
        """
        with self._database.transaction():
            self._database.execute_many(_SAVE_JOB, [_job_row(job) for job in jobs])
            self._database.execute_many(_SAVE_RUN, [_run_row(run) for run in runs])
            self._database.execute(_TRIM, (MAX_RUNS,))

    def save_or_defer(self, jobs: Iterable[CronJob], runs: Iterable[CronRun]) -> None:
        """Save changes of existing runs as L{save_jobs_and_runs} does.

        On a full disk this is deferred.
        """
        try:
            self.save_jobs_and_runs(jobs, runs)
        except DiskFull:
            for job in jobs:
                self._database.execute_or_defer(("cron job", job.id), _SAVE_JOB, _job_row(job))
            for run in runs:
                self._database.execute_or_defer(_run_key(run.id), _SAVE_RUN, _run_row(run))

    def delete_job(self, job_id: str) -> None:
        """Delete a job and its runs.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(_DELETE, (job_id,))

    def delete_or_defer_job(self, job_id: str) -> None:
        """Delete a job whose owner no longer exists.

        On a full disk the deletion is deferred.
        """
        self._database.execute_or_defer(("cron job", job_id), _DELETE, (job_id,))

    def list_runs(self, job_id: str | None = None) -> list[CronRun]:
        """Return the runs of one job, newest first.

        @param job_id: id of the job; C{None} means the runs of all jobs.
        """
        where = "" if job_id is None else "WHERE job_id = :job_id"
        rows = self._database.query_rows(
            f"SELECT * FROM cron_runs {where} ORDER BY seq DESC",  # noqa: S608
            {"job_id": job_id},
        )
        return [_run_from_row(row) for row in rows]

    def find_run(self, run_id: str) -> CronRun | None:
        """Return a run by its id; C{None} if there is none."""
        row = self._database.query_first_row("SELECT * FROM cron_runs WHERE id = ?", (run_id,))
        return None if row is None else _run_from_row(row)

    def find_newest_run(self, job_id: str) -> str | None:
        """Return the id of the newest run of a job; C{None} if it has no run."""
        row = self._database.query_first_row(
            "SELECT id FROM cron_runs WHERE job_id = ? ORDER BY seq DESC LIMIT 1", (job_id,)
        )
        return None if row is None else str(row["id"])

    def find_previous_session(self, run: CronRun) -> str | None:
        """Return the id of the session that the job's latest run before C{run} created.

        Runs without a session are skipped.  C{None} means that there is no such run.
        """
        row = self._database.query_first_row(
            "SELECT session_id FROM cron_runs WHERE job_id = :job_id AND session_id IS NOT NULL"
            " AND seq < (SELECT seq FROM cron_runs WHERE id = :id) ORDER BY seq DESC LIMIT 1",
            {"job_id": run.job_id, "id": run.id},
        )
        return None if row is None else str(row["session_id"])

    def list_unfinished(self) -> list[CronRun]:
        """Return the unfinished runs and those that keep going, oldest first."""
        return [run for run in reversed(self.list_runs()) if run.is_unfinished or run.keeps_going]

    def check_saved(self, run_id: str) -> None:
        """Fail if the last change of a run from L{save_or_defer} is not on disk.

        @raise DiskFull: the change is still deferred.
        """
        self._database.deferred_writes.check_not_deferred(_run_key(run_id))

    def is_saved(self, run_id: str) -> bool:
        """Return true if the last change of a run from L{save_or_defer} is on disk."""
        try:
            self.check_saved(run_id)
        except DiskFull:
            return False
        return True

    def has_run(self, due_key: str) -> bool:
        """Return true if a run with that due key exists."""
        sql = "SELECT 1 FROM cron_runs WHERE due_key = ?"
        return self._database.query_first_row(sql, (due_key,)) is not None


def _run_key(run_id: str) -> Key:
    return ("cron run", run_id)


def _job_row(job: CronJob) -> dict[str, Any]:
    row = {name: getattr(job, name) for name in _JOB}
    return row | {
        "definition": json.dumps(attrs.asdict(job.definition), ensure_ascii=False),
        "completed_once": int(job.completed_once),
        "skipping": int(job.skipping),
    }


def _job_from_row(row: sqlite3.Row) -> CronJob:
    found = dict(row)
    status = found["last_status"]
    return CronJob(
        **found
        | {
            "definition": _parse_definition(json.loads(found["definition"])),
            "last_status": None if status is None else RunStatus(status),
            "completed_once": bool(found["completed_once"]),
            "skipping": bool(found["skipping"]),
        }
    )


def _parse_definition(found: Mapping[str, Any]) -> JobDefinition:
    schedule = dict(found["schedule"])
    days = schedule["weekly_days"]
    schedule |= {
        "type": ScheduleType(schedule["type"]),
        "weekly_days": None if days is None else tuple(days),
    }
    return JobDefinition(
        **{
            **found,
            "schedule": JobSchedule(**schedule),
            "prompt_mode": PromptMode(found["prompt_mode"]),
            "input_mode": InputMode(found["input_mode"]),
            "concurrency_policy": ConcurrencyPolicy(found["concurrency_policy"]),
        }
    )


def _run_row(run: CronRun) -> dict[str, Any]:
    row = {name: getattr(run, name) for name in _RUN}
    parts = {"delivery": run.delivery, "keep_going": run.keep_going}
    return row | {
        name: None if part is None else json.dumps(attrs.asdict(part))
        for name, part in parts.items()
    }


def _run_from_row(row: sqlite3.Row) -> CronRun:
    found = dict(row)
    del found["seq"]
    delivery, going = found["delivery"], found["keep_going"]
    return CronRun(
        **found
        | {
            "trigger": RunTrigger(found["trigger"]),
            "status": RunStatus(found["status"]),
            "delivery": None if delivery is None else RunDelivery(**json.loads(delivery)),
            "keep_going": None if going is None else _parse_keep_going(json.loads(going)),
        }
    )


def _parse_keep_going(found: Mapping[str, Any]) -> KeepGoing:
    return KeepGoing(
        **{**found, "state": KeepGoingState(found["state"]), "logs": tuple(found["logs"])}
    )
