"""Jobs that fire: in time, once, over clocks that are set and services that are killed."""

from __future__ import annotations

from unittest.mock import patch
from zoneinfo import ZoneInfo

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import example_count
from tests.unit.cron.harness import DAY, CronHarnessCase
from tests.unit.sessions.harness import ADMIN
from tservice.core.kernel.clock import get_unix_ms
from tservice.cron.model import (
    ConcurrencyPolicy,
    CronRun,
    InputMode,
    RunStatus,
    RunTrigger,
    ScheduleType,
)
from tservice.cron.store import CronStore
from tservice.sessions.record.model import SessionStatus

MINUTE = 60.0
HOUR = 3600.0


class FiringTests(CronHarnessCase):
    """One service, and its clock."""

    def test_shell_job_is_started_and_its_prompt_typed(self) -> None:
        job = self.make(launch_command="cd src")
        self.spend(10 * MINUTE + 5)
        (run,) = self.runs()
        self.assertEqual((RunStatus.PROMPT_SENT, RunTrigger.SCHEDULED), (run.status, run.trigger))
        self.assertEqual("cd src\rmake all\r", self.typed(run))
        session = self.sessions.get(run.session_id or "")
        self.assertEqual(("nightly", str(self.work)), (session.name, session.working_dir))
        found = self.job(job)
        self.assertEqual(f"{job.id}:{run.started_at}", found.last_due_key)
        self.assertEqual(
            (run.started_at, RunStatus.PROMPT_SENT), (found.last_run_at, found.last_status)
        )

    def test_job_of_a_case_runs_in_its_current_folder(self) -> None:
        """Wherever that is by then; without it the run fails and says so."""
        case = self.now(self.machine.cases.open_or_create("nightly", ADMIN))
        job = self.make(case_name="nightly", working_dir=None)
        self.assertEqual(case.path, job.definition.working_dir)
        run, _ = self.run_by_hand(job)
        session = self.sessions.get(run.session_id or "")
        self.assertEqual(("nightly", case.path), (session.case_name, session.working_dir))
        self.restart()
        self.assertEqual("nightly", self.job(job).definition.case_name)

    def test_shell_job_steps_are_in_order(self) -> None:
        """1 s, the command, 1 s, the prompt (protocol-cron-times)."""
        job = self.make(launch_command="cd src")
        run, _ = self.run_by_hand(job)
        self.assertEqual("", self.typed(run))
        self.spend(0.9)
        self.assertEqual("", self.typed(run))
        self.spend(0.3)
        self.assertEqual("cd src\r", self.typed(run))
        self.spend(0.7)
        self.assertEqual("cd src\r", self.typed(run))
        self.spend(0.6)
        self.assertEqual("cd src\rmake all\r", self.typed(run))

    def test_paste_mode_pastes_and_typed_mode_types(self) -> None:
        pasted, typed = self.make(), self.make(input_mode=InputMode.TYPED)
        for job, count in ((pasted, 1), (typed, 0)):
            run, _ = self.run_by_hand(job)
            self.spend(3)
            self.assertEqual("make all\r", self.typed(run))
            self.assertEqual(count, len(self.host[run.session_id or ""].pastes))

    def test_interval_job_does_not_drift(self) -> None:
        job = self.make()
        begun = job.created_at
        self.clock.advance(10 * MINUTE + 31)
        self.spend(20 * MINUTE)
        started = [run.started_at - begun for run in self.runs(job)]
        self.assertEqual([631_000, 1_200_000, 1_800_000], started)

    def test_one_time_job_is_disabled_after_its_run(self) -> None:
        at = get_unix_ms(self.clock) + 5000
        job = self.make(schedule_type=ScheduleType.ONCE, run_at=at)
        self.spend(2 * DAY)
        found = self.job(job)
        self.assertEqual(["prompt_sent"], self.statuses())
        self.assertTrue(found.completed_once)
        self.assertEqual((False, None), (found.definition.enabled, found.next_run_at))

    def test_hundred_jobs_of_the_same_second_all_start(self) -> None:
        at = get_unix_ms(self.clock) + 5000
        with patch.object(self.sessions._deps.creator, "_caps", _CapsRegistry()):
            for _ in range(100):
                self.make(schedule_type=ScheduleType.ONCE, run_at=at)
            self.spend(20)
        self.assertEqual(["prompt_sent"] * 100, self.statuses())
        self.assertEqual(100, len({run.session_id for run in self.runs()}))

    def test_full_capacity_is_a_failed_run(self) -> None:
        at = get_unix_ms(self.clock) + 5000
        for _ in range(60):
            self.make(schedule_type=ScheduleType.ONCE, run_at=at)
        self.spend(20)
        self.assertEqual(50, self.statuses().count("prompt_sent"))
        failed = [run for run in self.runs() if run.status is RunStatus.FAILED]
        self.assertEqual({"capacity reached: 50 sessions"}, {run.error_message for run in failed})
        self.assertTrue(all(run.finished_at for run in failed))

    def test_job_changes_are_published_to_the_owner(self) -> None:
        job = self.make()
        self.spend(0.2)
        self.assertEqual([job.id], [one["id"] for one in self.told("cron:jobsChanged")[-1]["jobs"]])
        run, _ = self.run_by_hand(job)
        self.assertEqual(["created"], [one["status"] for one in self.told("cron:runCreated")])
        self.spend(3)
        updates = self.told("cron:runUpdated")
        self.assertEqual(["session_started", "prompt_sent"], [one["status"] for one in updates])
        self.assertEqual(f"/?session={run.session_id}", updates[0]["createdSessionUrl"])
        self.assertEqual("prompt_sent", self.told("cron:jobsChanged")[-1]["jobs"][0]["lastStatus"])
        self.cron.delete_job(job.id, ADMIN)
        self.spend(1)
        self.assertEqual([job.id], [one["id"] for one in self.told("cron:jobDeleted")])
        self.assertEqual({"jobs": []}, self.told("cron:jobsChanged")[-1])

    def test_long_prompt_is_not_in_the_event(self) -> None:
        self.make(prompt_text="x" * 2000)
        self.spend(0.2)
        self.assertNotIn("promptText", self.told("cron:jobsChanged")[-1]["jobs"][0])

    def test_job_runs_are_in_the_audit_log(self) -> None:
        job = self.make()
        run, _ = self.run_by_hand(job)
        (entry,) = self.audit.entries
        self.assertEqual(("cron.run", job.id), (entry.action, entry.target))
        self.assertEqual((run.id, run.session_id), (entry.detail["run"], entry.detail["session"]))

    def test_only_the_newest_runs_are_kept(self) -> None:
        job = self.make(interval_minutes=1)
        with patch("tservice.cron.store.MAX_RUNS", 5):
            self.spend(12 * MINUTE)
        started = [run.started_at for run in self.runs(job)]
        self.assertEqual(5, len(started))
        self.assertEqual(get_unix_ms(self.clock), started[-1])

    def test_failing_database_is_tried_again(self) -> None:
        import sqlite3

        job = self.make()
        with patch.object(
            CronStore, "save_jobs_and_runs", side_effect=sqlite3.OperationalError("disk full")
        ):
            self.spend(10 * MINUTE + 1)
        self.assertEqual(1, len(self.flushLoggedErrors(sqlite3.OperationalError)))
        self.spend(15)
        self.assertEqual(1, len(self.runs(job)))


class _CapsRegistry:
    total = per_user = 1000


class ConcurrencyTests(CronHarnessCase):
    """What runs beside a job."""

    def test_streak_of_skipped_runs_is_one_record(self) -> None:
        job = self.make(concurrency_policy=ConcurrencyPolicy.SKIP)
        other = self.shell()
        self.spend(35 * MINUTE)
        self.assertEqual(["skipped"], self.statuses(job))
        (run,) = self.runs(job)
        self.assertEqual((None, run.started_at), (run.session_id, run.finished_at))
        self.assertEqual(RunStatus.SKIPPED, self.job(job).last_status)
        self.run_now(self.sessions.delete(other.id))
        self.spend(10 * MINUTE)
        self.shell()
        self.spend(20 * MINUTE)
        self.assertEqual(["skipped", "prompt_sent", "skipped"], self.statuses(job))

    def test_own_sessions_of_a_job_do_not_count(self) -> None:
        job = self.make(
            concurrency_policy=ConcurrencyPolicy.SKIP, auto_close_previous_session=False
        )
        self.spend(30 * MINUTE + 5)
        self.assertEqual(["prompt_sent"] * 3, self.statuses(job))
        _, others = self.run_by_hand(job)
        self.assertEqual(0, others)

    def test_warn_only_policy_starts_the_run(self) -> None:
        job = self.make()
        self.shell()
        self.spend(10 * MINUTE + 5)
        self.assertEqual(["prompt_sent"], self.statuses(job))

    def test_second_job_of_the_same_second_is_skipped(self) -> None:
        at = get_unix_ms(self.clock) + 5000
        for _ in range(2):
            self.make(
                schedule_type=ScheduleType.ONCE,
                run_at=at,
                concurrency_policy=ConcurrencyPolicy.SKIP,
            )
        self.spend(20)
        self.assertEqual(["prompt_sent", "skipped"], sorted(self.statuses()))

    def test_manual_run_ignores_policy_and_schedule(self) -> None:
        """Of a disabled job, past the policy, without moving the schedule."""
        job = self.make(enabled=False, concurrency_policy=ConcurrencyPolicy.SKIP)
        self.shell()
        run, others = self.run_by_hand(job)
        self.assertEqual((RunStatus.SESSION_STARTED, 1), (run.status, others))
        self.assertEqual(RunTrigger.MANUAL, run.trigger)
        found = self.job(job)
        self.assertEqual((None, None), (found.next_run_at, found.last_due_key))
        self.assertEqual(run.started_at, found.last_run_at)

    def test_next_run_closes_the_session_of_the_previous_one(self) -> None:
        job = self.make()
        first, _ = self.run_by_hand(job)
        second, _ = self.run_by_hand(job)
        closed = self.sessions.get(first.session_id or "")
        self.assertEqual((SessionStatus.STOPPED, None), (closed.status, closed.pid))
        self.assertIsNotNone(self.sessions.get(second.session_id or "").pid)
        self.spend(5)
        # The first was closed while it waited: it stays where it was, and says why.
        found = self.runs(job)
        self.assertEqual(["session_started", "prompt_sent"], self.statuses(job))
        self.assertIsNone(found[0].finished_at)
        self.assertIn("closed", found[0].error_message or "")

    def test_previous_session_stays_on_request_and_for_one_time_jobs(self) -> None:
        once = get_unix_ms(self.clock) + 10**9
        for fields in (
            {"auto_close_previous_session": False},
            {"schedule_type": ScheduleType.ONCE, "run_at": once},
        ):
            job = self.make(**fields)
            first, _ = self.run_by_hand(job)
            self.run_by_hand(job)
            self.assertIsNotNone(self.sessions.get(first.session_id or "").pid)


class ClockTests(CronHarnessCase):
    """A clock that is set; its alarm is told as the kernel would tell."""

    zone = ZoneInfo("Europe/Berlin")

    def jump(self, seconds: float) -> None:
        """Set the clock, timers as they were: the kernel's alarm goes off by itself."""
        self.clock.rightNow += seconds
        for call in self.clock.calls:
            call.time += seconds
        self.cron.deps.scheduler.fire_due_jobs()

    def at(self, hours: float) -> None:
        """Go on to a time of day."""
        day = (int(self.clock.seconds()) // DAY + 1) * DAY
        self.spend(day + hours * HOUR - self.clock.seconds())

    def test_clock_set_ahead_over_the_time_fires_immediately(self) -> None:
        self.at(7.75)
        job = self.make(schedule_type=ScheduleType.DAILY, daily_time="09:00")
        self.jump(HOUR)
        self.spend(5)
        self.assertEqual(["prompt_sent"], self.statuses(job))
        self.spend(DAY)
        self.assertEqual(2, len(self.runs(job)))

    def test_clock_set_back_over_the_time_does_not_fire_again(self) -> None:
        self.at(7.75)
        job = self.make(schedule_type=ScheduleType.DAILY, daily_time="09:00")
        self.spend(0.5 * HOUR)
        self.assertEqual(1, len(self.runs(job)))
        self.jump(-HOUR)
        self.spend(2 * HOUR)
        self.assertEqual(1, len(self.runs(job)))
        self.spend(DAY)
        self.assertEqual(2, len(self.runs(job)))

    def test_interval_continues_after_the_clock_is_set_back(self) -> None:
        job = self.make()
        self.spend(25 * MINUTE)
        self.jump(-HOUR)
        self.spend(10 * MINUTE + 1)
        self.assertEqual(3, len(self.runs(job)))

    def test_job_keeps_firing_after_the_clock_is_set_years_ahead_and_back(self) -> None:
        job = self.make(schedule_type=ScheduleType.DAILY, daily_time="09:00")
        self.jump(5 * 365 * DAY)
        self.spend(1)
        self.assertEqual(1, len(self.runs(job)))
        self.jump(-5 * 365 * DAY)
        # The fire of the first morning was done then; those of the next two come.
        self.spend(3 * DAY)
        self.assertEqual(3, len(self.runs(job)))

    def test_repeated_clock_changes_fire_only_for_new_times(self) -> None:
        """What the first jump caught up with is done; what came after it is not."""
        for schedule in (
            {"schedule_type": ScheduleType.DAILY, "daily_time": "09:00"},
            {"schedule_type": ScheduleType.CRON, "cron_expression": "*/30 * * * *"},
            {"schedule_type": ScheduleType.INTERVAL, "interval_minutes": 60},
        ):
            job = self.make(**schedule)
            for days, count in ((3, 1), (-3, 1), (5, 2)):
                self.jump(days * DAY)
                self.spend(5)
                self.assertEqual(count, len(self.runs(job)), (schedule, days))
            self.assertGreater(self.job(job).next_run_at or 0, get_unix_ms(self.clock))
            keys = [run.due_key for run in self.runs(job)]
            self.assertEqual(len(keys), len(set(keys)))
            self.cron.delete_job(job.id, ADMIN)

    def test_due_key_is_never_used_twice(self) -> None:
        at = get_unix_ms(self.clock) + 60_000
        # Hourly, so that the runs of two days are few enough to be kept all of them.
        job = self.make(schedule_type=ScheduleType.CRON, cron_expression="0 * * * *")
        self.spend(3 * HOUR)
        count = len(self.runs(job))
        self.jump(-2 * DAY)
        self.spend(2 * DAY)
        keys = [run.due_key for run in self.runs(job)]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertGreater(count, 1)
        self.assertGreater(self.job(job).next_run_at or 0, at)


class FiringRestartTests(CronHarnessCase):
    """The service is killed, at any point; what it left is gone on with, once."""

    def test_missed_fires_are_made_up_once(self) -> None:
        job = self.make()
        self.restart(away=5 * HOUR)
        self.spend(5)
        (run,) = self.runs(job)
        self.assertEqual((RunTrigger.SCHEDULED, RunStatus.PROMPT_SENT), (run.trigger, run.status))
        next_run = self.job(job).next_run_at or 0
        self.assertEqual(0, (next_run - job.created_at) % 600_000)
        self.assertGreater(next_run, get_unix_ms(self.clock))

    def test_interrupted_prompt_is_typed_once(self) -> None:
        for after in (0.0, 0.5, 1.05, 1.1, 1.2, 1.3, 2.0, 2.05, 2.1, 2.2, 2.4, 3.0):
            for mode in InputMode:
                job = self.make(launch_command="cd src", input_mode=mode)
                run, _ = self.run_by_hand(job)
                self.spend(after)
                self.restart()
                self.spend(10)
                self.assertEqual(["prompt_sent"], self.statuses(job), after)
                self.assertEqual("cd src\rmake all\r", self.typed(run), (after, mode))

    def test_run_without_a_session_gets_one_after_a_restart(self) -> None:
        job = self.make()
        run, _ = self.run_by_hand(job)
        self.run_now(self.sessions.delete(run.session_id or ""))
        self.restart_before(run)
        self.spend(5)
        self.assertEqual(["prompt_sent"], self.statuses(job))

    def restart_before(self, run: CronRun) -> None:
        """As if the service had been killed before the run was told of its session."""
        self.machine.crash()
        bare = evolve(run, status=RunStatus.CREATED, session_id=None, delivery=None)
        self.cron._book.store.save_jobs_and_runs((), [bare])
        self.machine.restart()
        self.boot()

    def test_unrecorded_session_of_a_run_is_adopted(self) -> None:
        job = self.make()
        run, _ = self.run_by_hand(job)
        self.assertEqual(1, len(self.sessions.list()))
        self.restart_before(run)
        self.spend(5)
        self.assertEqual(["prompt_sent"], self.statuses(job))
        self.assertEqual(1, len(self.sessions.list()))

    def test_old_unfinished_run_is_given_up_with_a_message(self) -> None:
        job = self.make(enabled=False)
        self.run_by_hand(job)
        self.restart(away=HOUR)
        self.spend(10)
        (run,) = self.runs(job)
        self.assertEqual((RunStatus.SESSION_STARTED, None), (run.status, run.finished_at))
        self.assertIn("not running", run.error_message or "")

    @settings(max_examples=example_count(15), deadline=None)
    @given(st.lists(st.floats(0.1, 900), min_size=1, max_size=12))
    def test_fires_are_neither_repeated_nor_lost(self, naps: list[float]) -> None:
        """Each interval that passed while the service ran has its run."""
        self.setUp()
        job = self.make()
        for nap in naps:
            self.spend(nap)
            self.restart()
        self.spend(5)
        gone = self.clock.seconds() - job.created_at / 1000
        want = int(gone // 600)
        self.assertEqual(want, len(self.runs(job)))
        self.finish()
