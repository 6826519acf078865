"""Jobs whose runs keep going, and the upgrade that makes timed runs of earlier versions jobs."""

from __future__ import annotations

import sqlite3
from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.harness import COMPOSER
from tests.unit.cron.harness import CronHarnessCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.cron.keep_going.driver import BREATH
from tservice.cron.keep_going_model import AT_A_TIME, KeepGoing, KeepGoingState
from tservice.cron.model import MAX_RUNS, CronRun, RunDelivery, RunStatus, make_run
from tservice.cron.responses import SHOWN_LOG_LINES
from tservice.cron.store import CronStore
from tservice.sessions.interfaces import Session
from tservice.store.schemas import (
    apply_steps,
    create_version_table,
    find_packaged_schemas,
    read_steps,
)


class KeepGoingJobTests(CronHarnessCase):
    def fields(self, **more: Any) -> dict[str, Any]:
        return super().fields(**{"agent_type": "primary", "keep_going_minutes": 30, **more})

    def fire(self, **more: Any) -> CronRun:
        """The newest run of a job of an agent, whose prompt was typed."""
        self.make(**more)
        self.spend(601)
        run = self.runs()[-1]
        self.show(self.session(run), COMPOSER)
        self.spend(10)
        return self.latest(run)

    def latest(self, run: CronRun) -> CronRun:
        return next(one for one in self.runs() if one.id == run.id)

    def state(self, run: CronRun) -> KeepGoing:
        going = self.latest(run).keep_going
        assert going is not None
        return going

    def session(self, run: CronRun) -> Session:
        return self.sessions.get(run.session_id or "")

    def end_turn(self, run: CronRun) -> None:
        self.hook(self.session(run), "prompt_submitted")
        self.spend(1)
        self.hook(self.session(run), "stop")
        self.spend(BREATH + 2)

    def test_scheduled_run_keeps_going_until_its_time_is_over(self) -> None:
        run = self.fire(interval_minutes=10, auto_close_previous_session=False)
        self.assertEqual(RunStatus.PROMPT_SENT, run.status)
        self.end_turn(run)
        self.assertEqual("make all\r", self.typed(run).partition("Time left")[0])
        self.assertIn("Go on with the task.", self.typed(run))
        left = self.state(run).end_at / 1000 - self.clock.seconds()
        self.assertLess(left, 30 * 60)
        self.spend(left + 1)
        self.assertEqual(KeepGoingState.COMPLETED, self.state(run).state)
        self.assertEqual(RunStatus.PROMPT_SENT, self.latest(run).status)

    def test_prompt_of_several_lines_arrives_as_one(self) -> None:
        run = self.fire(prompt_text="first\n\n- second", keep_going_minutes=None)
        self.assertEqual(RunStatus.PROMPT_SENT, run.status)
        self.assertEqual(1, self.typed(run).count("\r"))
        self.assertIn("first\n\n- second", self.typed(run))

    def test_next_run_closes_the_session_and_ends_the_run_before(self) -> None:
        run = self.fire(interval_minutes=10)
        self.spend(600)
        self.assertEqual(KeepGoingState.FAILED, self.state(run).state)
        self.assertEqual("the session ended", self.latest(run).error_message)

    def test_stopped_run_types_no_more(self) -> None:
        run = self.fire()
        self.cron.stop_run(run.id, ADMIN)
        before = self.typed(run)
        self.end_turn(run)
        self.assertEqual((before, KeepGoingState.STOPPED), (self.typed(run), self.state(run).state))
        self.cron.stop_run(run.id, ADMIN)

    def test_only_known_runs_that_keep_going_are_stopped(self) -> None:
        self.make(agent_type="shell", keep_going_minutes=None)
        self.spend(601)
        (run,) = self.runs()
        for run_id, code in (("x", ErrorCode.NOT_FOUND), (run.id, ErrorCode.CONFLICT)):
            told = self.assertRaises(ServiceError, self.cron.stop_run, run_id, ADMIN)
            self.assertEqual(code, told.code)

    def test_shell_cannot_keep_going(self) -> None:
        made = start_coroutine(self.cron.create_job(self.fields(agent_type="shell"), ADMIN))
        self.assertIn("keepGoingMinutes", self.failureResultOf(made, ServiceError).value.message)

    def test_change_to_a_shell_drops_the_minutes(self) -> None:
        job = self.make()
        changed = self.now(self.cron.update_job(job.id, {"agent_type": "shell"}, ADMIN))
        self.assertIsNone(changed.definition.keep_going_minutes)

    def test_run_beyond_the_limit_fails_with_the_reason(self) -> None:
        job = self.make(auto_close_previous_session=False)
        for _ in range(AT_A_TIME):
            self.run_by_hand(job)
        run, _ = self.run_by_hand(job)
        self.assertEqual(RunStatus.FAILED, run.status)
        self.assertIn("already in progress", run.error_message or "")
        self.assertEqual(KeepGoingState.FAILED, self.state(run).state)

    def test_run_that_is_over_leaves_no_prompt_behind(self) -> None:
        run, _ = self.run_by_hand(self.make(keep_going_minutes=1))
        self.spend(61)
        found = self.latest(run)
        self.assertEqual((None, KeepGoingState.COMPLETED), (found.delivery, self.state(run).state))
        self.assertFalse(found.is_unfinished)

    def test_events_hold_the_newest_lines_of_the_log(self) -> None:
        run = self.fire()
        for _ in range(SHOWN_LOG_LINES):
            self.end_turn(run)
        told = self.told("cron:runUpdated")[-1]["keepGoing"]
        self.assertEqual(list(self.state(run).logs[-SHOWN_LOG_LINES:]), told["logs"])

    def test_old_runs_that_keep_going_stay_stored(self) -> None:
        run = self.fire()
        job = next(one for one in self.cron.list_jobs(ADMIN) if one.id == run.job_id)
        store = CronStore(self.machine.database)
        for number in range(MAX_RUNS + 1):
            plain = make_run(job, f"n{number}", run.trigger, number)
            skipped = {"status": RunStatus.SKIPPED, "keep_going": None}
            store.save_jobs_and_runs([], [self.changed(plain, **skipped)])
        self.assertIsNotNone(store.find_run(run.id))
        self.assertIsNone(store.find_run("n0"))

    def changed(self, run: CronRun, **fields: Any) -> CronRun:
        from attrs import evolve

        return evolve(run, **fields)


class UpgradeTests(SynchronousTestCase):
    """Timed runs of a database of version 31."""

    def setUp(self) -> None:
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.addCleanup(self.database.close)
        self.database.row_factory = sqlite3.Row
        clock: Any = Clock()
        self.steps = read_steps(find_packaged_schemas())
        create_version_table(self.database, clock)
        apply_steps(self.database, self.steps[:31], clock)

    def add_run(self, run_id: str, status: str, session: str | None, lines: int) -> None:
        self.database.execute(
            "INSERT INTO timed_runs (id, owner, prompt, working_dir, duration_minutes, started_at,"
            " end_at, status, session_id, turns, lines, logs)"
            " VALUES (?, 'ann', ?, '/w', 5, 1000, 301000, ?, ?, 0, ?, ?)",
            (
                run_id, " tidy\n up \t", status, session, lines,
                '["1970-01-01T00:00:01Z session started", "1970-01-01T00:00:02Z it ended"]',
            ),
        )  # fmt: skip

    def upgrade(self) -> dict[str, CronRun]:
        clock: Any = Clock()
        apply_steps(self.database, self.steps, clock)
        rows: Any = _Rows(self.database)
        store = CronStore(rows)
        self.jobs = store.list_jobs()
        return {run.id: run for run in store.list_runs()}

    def test_timed_runs_become_jobs_that_have_run(self) -> None:
        self.add_run("a", "running", "s1", 1)
        self.add_run("b", "running", "s2", 0)
        self.add_run("c", "failed", "s3", 2)
        self.add_run("d", "running", None, 0)
        self.add_run("e", "stopped", "s5", 1)
        runs = self.upgrade()
        self.assertEqual(
            [("timed-a", "ann", "tidy  up", " tidy\n up \t", 5, False, True)] * 1,
            [
                (job.id, job.owner, job.definition.name, job.definition.prompt_text,
                 job.definition.keep_going_minutes, job.definition.enabled, job.completed_once)
                for job in self.jobs[:1]
            ],
        )  # fmt: skip
        self.assertEqual([f"timed-{run}" for run in "abcde"], [job.id for job in self.jobs])
        found = {
            key: (run.status.value, run.is_unfinished, run.keep_going and run.keep_going.state)
            for key, run in runs.items()
        }
        self.assertEqual(
            {
                "a": ("prompt_sent", False, "running"),
                "b": ("session_started", True, "running"),
                "c": ("prompt_sent", False, "failed"),
                "d": ("failed", False, "failed"),
                "e": ("prompt_sent", False, "stopped"),
            },
            found,
        )
        self.assertEqual(RunDelivery(text=" tidy\n up \t", typed=False), runs["b"].delivery)
        self.assertEqual("it ended", runs["c"].error_message)
        self.assertIsNone(runs["a"].error_message)
        self.assertEqual(
            KeepGoing(
                minutes=5, end_at=301_000, lines=1,
                logs=("1970-01-01T00:00:01Z session started", "1970-01-01T00:00:02Z it ended"),
            ),
            runs["a"].keep_going,
        )  # fmt: skip

    def test_upgrade_without_timed_runs_makes_no_jobs(self) -> None:
        self.assertEqual(({}, []), (self.upgrade(), self.jobs))


class _Rows:
    """Reads rows as the database does, without its threads and files."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def read_records(self, make: Any, sql: str, named: str) -> list[Any]:
        return [make(row) for row in self._connection.execute(sql)]

    def query_rows(self, sql: str, params: Any = ()) -> list[sqlite3.Row]:
        return self._connection.execute(sql, params).fetchall()
