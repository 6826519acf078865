"""Making and changing jobs: fields, merged updates, owners."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any
from unittest import mock

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import make_caller
from tests.event_helpers import make_event
from tests.unit.cron.harness import CronHarnessCase
from tests.unit.right_checks import deny_change
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import FULL, DiskFull
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.cron.model import (
    MAX_JOBS,
    MAX_JOBS_OF_ONE,
    ConcurrencyPolicy,
    CronJob,
    InputMode,
    PromptMode,
    RunStatus,
    ScheduleType,
    flatten_definition,
    is_single_line,
    merge_definition,
)
from tservice.cron.store import CronStore

ANN = make_caller(username="ann", admin=False, can_bypass_permissions=True)
BOB = make_caller(username="bob", admin=False, can_bypass_permissions=True)
ROOT = make_caller(username="root", admin=True)


class JobCase(CronHarnessCase):
    """Refusals by name."""

    def refused(self, code: ErrorCode, part: str, caller: Caller = ADMIN, **more: Any) -> None:
        error = self.assertRaises(ServiceError, self.make, caller, **more)
        self.assertEqual(code, error.code, error.message)
        self.assertIn(part, error.message)

    def change(self, job: CronJob, caller: Caller = ADMIN, **given: Any) -> CronJob:
        return self.now(self.cron.update_job(job.id, given, caller))

    def change_refused(self, job: CronJob, part: str, caller: Caller = ADMIN, **given: Any) -> None:
        error = self.assertRaises(ServiceError, self.change, job, caller, **given)
        self.assertIn(part, error.message)
        self.assertEqual(job, self.job(job))


class FieldTests(JobCase):
    """Every rule beyond the shape of a field."""

    def test_created_job_is_stored(self) -> None:
        job = self.make()
        self.assertEqual([job], self.cron.list_jobs(ADMIN))
        self.assertEqual(job.created_at + 600_000, job.next_run_at)
        self.assertEqual(CronStore(self.machine.database).list_jobs(), [job])

    def test_each_schedule_type_and_prompt_mode_requires_its_fields(self) -> None:
        need = {
            ScheduleType.ONCE: ["runAt"],
            ScheduleType.INTERVAL: ["intervalMinutes"],
            ScheduleType.DAILY: ["dailyTime"],
            ScheduleType.WEEKLY: ["weeklyDays", "weeklyTime"],
            ScheduleType.CRON: ["cronExpression"],
        }
        for kind, (first, *_) in need.items():
            bare: dict[str, Any] = {"schedule_type": kind, "interval_minutes": None}
            self.refused(ErrorCode.INVALID_INPUT, f"{first}: is required", **bare)
        self.refused(ErrorCode.INVALID_INPUT, "promptText: is required", prompt_text=None)
        by_file: dict[str, Any] = {"prompt_mode": PromptMode.FILE}
        self.refused(ErrorCode.INVALID_INPUT, "promptFilePath: is required", **by_file)

    def test_one_time_job_must_be_in_the_future(self) -> None:
        for late in (0, 1):
            at = get_unix_ms(self.clock) - late
            self.refused(
                ErrorCode.INVALID_INPUT, "runAt: ", schedule_type=ScheduleType.ONCE, run_at=at
            )

    def test_unsuitable_working_folders_are_refused(self) -> None:
        data = self.machine.folder / "data"
        (data / "mux").mkdir(parents=True)
        link = self.work / "link"
        link.symlink_to("/etc")
        places = ("/", "/root", "/etc", "/etc/ssl", "/proc/self", "/sys", "/dev/shm")
        for place in (*places, str(data), str(data / "mux"), str(link)):
            self.refused(ErrorCode.INVALID_INPUT, "workingDir: ", working_dir=place)
        for place in ("relative", "/nowhere/at/all", str(self.file("plain"))):
            self.refused(ErrorCode.INVALID_INPUT, "workingDir: ", working_dir=place)

    def test_cases_in_the_data_folder_are_allowed(self) -> None:
        place = self.machine.folder / "cases" / "one"
        place.mkdir(parents=True)
        self.assertEqual(str(place), self.make(working_dir=str(place)).definition.working_dir)

    def test_unsuitable_prompt_file_paths_are_refused(self) -> None:
        for path, part in (
            ("prompt", "an absolute path"),
            ("/etc/passwd", "inside"),
            (f"{self.work}/../secret", "inside"),
            (str(self.work), "inside"),
            (f"{self.work}-other/x", "inside"),
        ):
            more: dict[str, Any] = {"prompt_mode": PromptMode.FILE, "prompt_file_path": path}
            self.refused(ErrorCode.INVALID_INPUT, f"promptFilePath: must be {part}", **more)

    def test_unknown_agent_and_foreign_launch_command_are_refused(self) -> None:
        self.refused(ErrorCode.INVALID_INPUT, "agentType: must be one of", agent_type="emacs")
        self.refused(
            ErrorCode.INVALID_INPUT, "launchCommand: ", agent_type="primary", launch_command="ls"
        )

    def test_bad_cron_expression_is_refused(self) -> None:
        bad: dict[str, Any] = {"schedule_type": ScheduleType.CRON, "cron_expression": "0 0 31 2 *"}
        self.refused(ErrorCode.INVALID_INPUT, "cronExpression: never fires", **bad)

    def test_jobs_are_limited_to_one_hundred(self) -> None:
        for _ in range(MAX_JOBS):
            self.make(enabled=False)
        self.refused(ErrorCode.OPERATION_FAILED, "100 jobs")

    def test_preview_lists_the_next_fires(self) -> None:
        found = self.now(self.cron.preview_fires(self.fields(enabled=False), ADMIN))
        now = get_unix_ms(self.clock)
        self.assertEqual([now + n * 600_000 for n in range(1, 6)], found)
        self.assertEqual([], self.cron.list_jobs(ADMIN))
        once = self.fields(schedule_type=ScheduleType.ONCE, run_at=now + 5)
        self.assertEqual([now + 5], self.now(self.cron.preview_fires(once, ADMIN)))


class UpdateTests(JobCase):
    """Partial updates are merged, and the whole is checked."""

    def test_single_field_update_keeps_the_others(self) -> None:
        job = self.make(notes="keep")
        self.spend(60)
        found = self.change(job, name="other")
        want = evolve(job.definition, name="other")
        self.assertEqual((want, job.next_run_at), (found.definition, found.next_run_at))
        self.assertEqual(get_unix_ms(self.clock), found.updated_at)

    def test_new_interval_starts_at_the_update(self) -> None:
        job = self.make()
        self.spend(60)
        found = self.change(job, interval_minutes=20)
        self.assertEqual(get_unix_ms(self.clock) + 1_200_000, found.next_run_at)

    def test_new_schedule_type_requires_its_fields(self) -> None:
        job = self.make()
        self.change_refused(job, "dailyTime: is required", schedule_type=ScheduleType.DAILY)
        self.change_refused(job, "promptFilePath: is required", prompt_mode=PromptMode.FILE)
        found = self.change(job, schedule_type=ScheduleType.DAILY, daily_time="09:00")
        self.assertIsNone(found.definition.schedule.interval_minutes)
        self.change_refused(
            found, "intervalMinutes: is required", schedule_type=ScheduleType.INTERVAL
        )

    def test_null_removes_an_optional_field(self) -> None:
        job = self.make(notes="x", launch_command="ls")
        found = self.change(job, notes=None, launch_command=None, auto_close_previous_session=None)
        self.assertEqual((None, None), (found.definition.notes, found.definition.launch_command))
        self.assertTrue(found.definition.auto_close_previous_session)
        self.change_refused(found, "promptText: is required", prompt_text=None)

    def test_job_that_is_no_longer_a_shell_job_loses_its_launch_command(self) -> None:
        job = self.make(launch_command="ls")
        self.assertIsNone(self.change(job, agent_type="primary").definition.launch_command)

    def test_disabled_job_is_enabled_again(self) -> None:
        job = self.make()
        self.assertIsNone(self.change(job, enabled=False).next_run_at)
        self.spend(3600)
        self.assertEqual([], self.runs())
        again = self.change(job, enabled=True)
        self.assertEqual(get_unix_ms(self.clock) + 600_000, again.next_run_at)

    def test_job_that_is_no_longer_valid_can_be_disabled(self) -> None:
        job = self.make()
        self.work.rmdir()
        self.change_refused(job, "workingDir", name="other")
        self.assertFalse(self.change(job, enabled=False).definition.enabled)

    def test_finished_one_time_job_can_be_scheduled_again(self) -> None:
        job = self.make(schedule_type=ScheduleType.ONCE, run_at=get_unix_ms(self.clock) + 1000)
        self.spend(10)
        done = self.job(job)
        self.assertEqual("other", self.change(job, name="other").definition.name)
        self.assertTrue(done.completed_once)
        error = self.assertRaises(ServiceError, self.change, job, enabled=True)
        self.assertIn("runAt: must be in the future", error.message)
        found = self.change(job, run_at=get_unix_ms(self.clock) + 1000, enabled=True)
        self.assertFalse(found.completed_once)
        self.spend(10)
        self.assertEqual(["prompt_sent"] * 2, self.statuses())

    def test_unknown_jobs_are_not_found(self) -> None:
        for ask in (
            lambda: self.now(self.cron.update_job("x", {}, ADMIN)),
            lambda: self.cron.delete_job("x", ADMIN),
            lambda: self.cron.get_job("x", ADMIN),
            lambda: self.cron.list_job_runs("x", ADMIN),
        ):
            self.assertEqual(ErrorCode.NOT_FOUND, self.assertRaises(ServiceError, ask).code)

    def test_deleted_job_loses_its_runs(self) -> None:
        job, other = self.make(), self.make()
        run, _ = self.run_by_hand(job)
        self.run_by_hand(other)
        self.cron.delete_job(job.id, ADMIN)
        self.assertEqual([other.id], [one.job_id for one in self.runs()])
        self.assertIsNotNone(self.sessions.get(run.session_id or "").pid)
        self.spend(3600)
        self.assertNotIn(job.id, [one.job_id for one in self.runs()])


class JobOwnerTests(JobCase):
    """Whose jobs they are, and with whose rights they run."""

    multiuser = True

    def setUp(self) -> None:
        super().setUp()
        self.accounts.update(ann=ANN, bob=BOB, root=ROOT)

    def boot(self) -> None:
        self.machine.config = evolve(self.machine.config, multiuser=True)
        self.machine.boot()
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.place("ann")
        self.place("bob")
        super().boot()

    def place(self, name: str) -> str:
        folder = self.machine.config.cases_dir / ".accounts" / name
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)

    def of_ann(self, **more: Any) -> CronJob:
        return self.make(ANN, working_dir=self.place("ann"), **more)

    def test_job_is_invisible_to_other_accounts(self) -> None:
        job = self.of_ann()
        self.assertEqual("ann", job.owner)
        self.assertEqual(([job], [], [job]), tuple(map(self.cron.list_jobs, (ANN, BOB, ROOT))))
        run, _ = self.run_by_hand(job)
        self.assertEqual("ann", self.sessions.get_owner(run.session_id or ""))
        counts = [len(self.cron.list_runs(caller)) for caller in (ANN, BOB, ROOT)]
        self.assertEqual([1, 0, 1], counts)
        for ask in (
            lambda: self.now(self.cron.update_job(job.id, {"enabled": False}, BOB)),
            lambda: self.cron.delete_job(job.id, BOB),
            lambda: self.cron.get_job(job.id, BOB),
            lambda: self.cron.list_job_runs(job.id, BOB),
        ):
            self.assertEqual(ErrorCode.NOT_FOUND, self.assertRaises(ServiceError, ask).code)
        self.assertEqual(ErrorCode.NOT_FOUND, self.refusal(self.cron.run_now(job.id, BOB)).code)

    def test_right_lost_during_a_manual_run_starts_no_session(self) -> None:
        """An admin who is one no more by the time that its session is made."""
        job = self.of_ann()
        self.now(self.cron.run_now(job.id, evolve(ROOT, reauthorize=deny_change)))
        [run] = self.runs(job)
        self.assertEqual((RunStatus.FAILED, None), (run.status, run.session_id))
        self.assertIn("permission was revoked", run.error_message or "")
        self.assertEqual([], self.sessions.list())

    def test_jobs_of_one_account_leave_room_for_others(self) -> None:
        for _ in range(MAX_JOBS_OF_ONE):
            self.of_ann(enabled=False)
        error = self.refusal(self.cron.create_job(self.fields(working_dir=self.place("ann")), ANN))
        self.assertEqual("this account already has 50 jobs: delete one first", error.message)
        self.make(BOB, working_dir=self.place("bob"))

    def test_events_go_to_the_owner(self) -> None:
        job = self.of_ann()
        self.run_by_hand(job)
        self.spend(3)
        found = {(one.name, one.owner) for one in self.machine.events if "cron:" in one.name}
        want = {("cron:jobsChanged", "ann"), ("cron:jobsChanged", None)}
        runs = {("cron:runCreated", "ann"), ("cron:runUpdated", "ann")}
        self.assertEqual(want | runs, found)

    def test_folder_outside_the_workspace_is_refused(self) -> None:
        self.refused(ErrorCode.FORBIDDEN, "workingDir", ANN, working_dir=self.place("bob"))

    def test_shell_jobs_and_launch_commands_need_the_grant(self) -> None:
        plain = evolve(ANN, can_bypass_permissions=False)
        here = {"working_dir": self.place("ann")}
        self.refused(ErrorCode.FORBIDDEN, "agentType shell", plain, **here)
        self.refused(ErrorCode.FORBIDDEN, "launchCommand", plain, launch_command="ls", **here)
        self.make(plain, agent_type="primary", **here)

    def test_rights_of_the_owner_are_checked_when_the_job_fires(self) -> None:
        changes: list[tuple[Identity | None, str]] = [
            (None, "gone or disabled"),
            (evolve(ANN, can_bypass_permissions=False), "needs the grant"),
        ]
        for account, part in changes:
            job = self.of_ann()
            if account is None:
                del self.accounts["ann"]
            else:
                self.accounts["ann"] = account
            self.spend(601)
            (run,) = self.runs(job)
            self.assertEqual(RunStatus.FAILED, run.status)
            self.assertIn(part, run.error_message or "")
            self.accounts["ann"] = ANN
            self.cron.delete_job(job.id, ROOT)

    def test_folder_lost_by_the_owner_fails_the_run(self) -> None:
        folder = self.machine.config.cases_dir / ".accounts" / "ann" / "deep"
        folder.mkdir()
        job = self.make(ANN, working_dir=str(folder))
        folder.rmdir()
        folder.symlink_to(self.place("bob"))
        self.spend(601)
        (run,) = self.runs(job)
        self.assertIn("outside the workspace", run.error_message or "")

    def test_change_by_an_admin_uses_the_rights_of_the_owner(self) -> None:
        job = self.of_ann()
        self.change_refused(job, "workingDir", ROOT, working_dir=self.place("bob"))
        self.assertEqual("ann", self.change(job, ROOT, name="other").owner)

    def test_jobs_of_a_removed_account_are_removed(self) -> None:
        job = self.of_ann()
        del self.accounts["ann"]
        self.machine.hub.publish(make_event("admin:usersChanged"))
        self.assertEqual([], self.cron.list_jobs(ROOT))
        self.accounts["ann"] = ANN
        self.assertRaises(ServiceError, self.cron.get_job, job.id, ANN)

    def test_jobs_of_a_removed_account_are_removed_on_a_full_disk(self) -> None:
        """At a start, which must not need room."""
        job = self.of_ann()
        database = self.machine.database
        self.successResultOf(start_coroutine(self.cron.stop()))
        del self.accounts["ann"]
        with mock.patch.object(database, "execute", side_effect=DiskFull(FULL)):
            self.cron.start()
        self.assertEqual([], self.cron.list_jobs(ROOT))
        self.assertIn(job.id, [kept.id for kept in CronStore(database).list_jobs()])
        database.deferred_writes.write_deferred()
        self.assertEqual([], CronStore(database).list_jobs())

    def test_agents_of_other_accounts_do_not_count(self) -> None:
        job = self.of_ann(concurrency_policy=ConcurrencyPolicy.SKIP)
        self.create(BOB, working_dir=self.place("bob"), start=True)
        self.spend(610)
        self.assertEqual(["prompt_sent"], self.statuses(job))


class JobLineTests(SynchronousTestCase):
    def test_every_control_and_line_end_is_refused_in_a_line(self) -> None:
        refused = {
            char for char in map(chr, range(sys.maxunicode + 1)) if not is_single_line(f"a{char}b")
        }
        kinds = ("Cc", "Zl", "Zp")
        told = {char for char in map(chr, range(0x3000)) if unicodedata.category(char) in kinds}
        self.assertEqual(told - {"\t"}, refused)


class JobMergeTests(SynchronousTestCase):
    """L{merge_definition} as a whole."""

    WANTED = st.fixed_dictionaries(
        {
            "name": st.just("x"),
            "agent_type": st.sampled_from(["shell", "primary"]),
            "working_dir": st.just("/w"),
            "prompt_mode": st.sampled_from(PromptMode),
            "input_mode": st.sampled_from(InputMode),
            "schedule_type": st.sampled_from(ScheduleType),
            "enabled": st.booleans(),
            "concurrency_policy": st.sampled_from(ConcurrencyPolicy),
            "prompt_text": st.just("p"),
            "prompt_file_path": st.just("/w/p"),
            "run_at": st.just(1),
            "interval_minutes": st.integers(1, 9),
            "daily_time": st.just("09:00"),
            "weekly_days": st.just((0, 3)),
            "weekly_time": st.just("10:00"),
            "cron_expression": st.just("* * * * *"),
            "notes": st.none() | st.just("n"),
            "auto_close_previous_session": st.none() | st.booleans(),
        }
    )

    @given(WANTED)
    def test_defined_job_round_trips(self, given: dict[str, Any]) -> None:
        found = merge_definition(given)
        self.assertEqual(found, merge_definition({}, found))
        self.assertEqual(found, merge_definition(flatten_definition(found)))
        there = {name for name, value in flatten_definition(found).items() if value is not None}
        self.assertEqual(1, len({"prompt_text", "prompt_file_path"} & there))

    @given(WANTED, WANTED)
    def test_change_of_every_field_equals_a_new_job(
        self, one: dict[str, Any], other: dict[str, Any]
    ) -> None:
        self.assertEqual(merge_definition(other), merge_definition(other, merge_definition(one)))
