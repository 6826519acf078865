"""Timed runs on fakes: the prompt, a line after each turn, an end to the second, restarts."""

from __future__ import annotations

from typing import Any
from unittest import mock

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.harness import (
    BUSY_TITLE,
    COMPOSER,
    IDLE_TITLE,
    PERMISSION,
    SPINNER,
)
from tests.unit.cron.harness import CronHarnessCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import FULL, DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.cron import build, service
from tservice.cron.keep_going.driver import AGAIN, BREATH, UNSEEN, make_next_line
from tservice.cron.keep_going_model import (
    AT_A_TIME,
    LOGGED,
    OF_ONE,
    KeepGoing,
    KeepGoingState,
    add_log_line,
    format_duration,
)
from tservice.cron.model import CronRun, RunDelivery, RunStatus, RunTrigger
from tservice.cron.store import CronStore
from tservice.cron.timed_runs.service import TimedRun
from tservice.sessions.interfaces import Session


class KeepGoingRuleTests(SynchronousTestCase):
    def test_prompt_comes_first_then_the_remaining_time(self) -> None:
        going = KeepGoing(minutes=90, end_at=90 * 60_000)
        run = CronRun(
            id="r", job_id="j", trigger=RunTrigger.MANUAL, status=RunStatus.SESSION_STARTED,
            started_at=0, delivery=RunDelivery(text="tidy up", typed=False), keep_going=going,
        )  # fmt: skip
        self.assertEqual("tidy up", make_next_line(run, 0))
        said = make_next_line(evolve(run, keep_going=evolve(going, lines=1)), 10 * 60_000)
        self.assertEqual("Time left: 1 h 20 min. Go on with the task.", said)
        self.assertRaises(ServiceError, make_next_line, evolve(run, delivery=None), 0)
        self.assertRaises(ServiceError, make_next_line, evolve(run, keep_going=None), 0)

    def test_durations_are_written_in_words(self) -> None:
        found = [format_duration(ms) for ms in (59_999, 60_000, 3_600_000, 36_061_000)]
        self.assertEqual(["less than a minute", "1 min", "1 h", "10 h 1 min"], found)

    def test_log_is_bounded_and_repeats_nothing(self) -> None:
        found = KeepGoing(minutes=1, end_at=1)
        for number in range(LOGGED + 5):
            found = add_log_line(add_log_line(found, number * 1000, f"{number}"), 9, f"{number}")
        self.assertEqual(LOGGED, len(found.logs))
        self.assertEqual("1970-01-01T00:03:24Z 204", found.logs[-1])


class TimedRunCase(CronHarnessCase):
    """Timed runs of one user; C{gone} takes the account away."""

    def setUp(self) -> None:
        self.gone = False
        super().setUp()

    def boot(self) -> None:
        def find_account(owner: str | None) -> Identity | None:
            return None if self.gone else ADMIN

        with mock.patch.object(build, "make_account_finder", return_value=find_account):
            super().boot()

    def start_run(
        self, prompt: str = "tidy up", folder: str | None = None, caller: Caller = ADMIN
    ) -> Deferred[TimedRun]:
        work = folder or str(self.work)
        return start_coroutine(self.timed.start_run(prompt, work, 5, caller))

    def make_run(self, minutes: int = 10) -> TimedRun:
        made = self.timed.start_run("tidy up", str(self.work), minutes, ADMIN)
        return self.successResultOf(start_coroutine(made))

    def as_now(self, made: TimedRun) -> TimedRun:
        return self.timed.get_run(made.run.id, ADMIN)

    def state(self, made: TimedRun) -> KeepGoingState:
        return self.as_now(made).going.state

    def session(self, made: TimedRun) -> Session:
        return self.sessions.get(made.run.session_id or "")

    def typed_by(self, made: TimedRun) -> str:
        return self.typed(made.run)

    def works(self, made: TimedRun) -> None:
        """Its agent has the prompt."""
        self.show(self.session(made), COMPOSER)
        self.spend(10)

    def turn_ends(self, made: TimedRun) -> None:
        self.hook(self.session(made), "prompt_submitted")
        self.spend(1)
        self.hook(self.session(made), "stop")
        self.spend(BREATH + 2)

    def said(self, made: TimedRun) -> str:
        return "\n".join(self.as_now(made).going.logs)


class TimedRunTests(TimedRunCase):
    def test_account_disabled_before_the_prompt_fails_the_run(self) -> None:
        made = self.make_run()
        self.spend(3)
        self.gone = True
        self.works(made)
        self.assertEqual(("", KeepGoingState.FAILED), (self.typed_by(made), self.state(made)))

    def test_timed_run_starts_prompts_and_completes(self) -> None:
        made = self.make_run()
        self.assertEqual(
            (KeepGoingState.RUNNING, str(self.work)),
            (made.going.state, made.job.definition.working_dir),
        )
        self.assertEqual(made.run.started_at + 600_000, made.going.end_at)
        self.spend(3)
        self.assertEqual("", self.typed_by(made), "nothing is typed blindly")
        self.works(made)
        self.assertEqual("tidy up\r", self.typed_by(made))
        self.turn_ends(made)
        self.turn_ends(made)
        self.assertEqual(2, self.as_now(made).going.turns)
        self.assertEqual(2, self.typed_by(made).count("min. Go on with the task.\r"))
        left = (made.going.end_at / 1000) - self.clock.seconds()
        self.spend(left - 0.2)
        self.assertEqual(KeepGoingState.RUNNING, self.state(made))
        self.spend(0.4)
        self.assertEqual(KeepGoingState.COMPLETED, self.state(made))
        before = self.typed_by(made)
        self.turn_ends(made)
        self.spend(AGAIN * 2)
        self.assertEqual(before, self.typed_by(made))
        self.assertIsNotNone(self.session(made).pid, "its session stays")

    def test_timed_run_continues_after_a_restart(self) -> None:
        made = self.make_run()
        self.works(made)
        self.turn_ends(made)
        lines = self.as_now(made).going.lines
        self.restart()
        self.spend(AGAIN + 10)
        self.show(self.session(made), COMPOSER)
        self.spend(AGAIN * 2)
        self.assertGreaterEqual(self.as_now(made).going.lines, lines)
        self.assertEqual(1, self.typed_by(made).count("tidy up\r"))
        self.assertEqual(KeepGoingState.RUNNING, self.state(made))
        self.spend(600)
        self.assertEqual(KeepGoingState.COMPLETED, self.state(made))

    def away(self, made: TimedRun, screen: str, seconds: float = 120.0) -> None:
        """The service is killed; its agent goes on, and the next service finds C{screen}."""
        self.machine.crash()
        self.show(self.session(made), screen, IDLE_TITLE)
        self.clock.advance(seconds)
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.boot()

    def in_mid_turn(self, made: TimedRun) -> None:
        """Its agent, or a person's prompt in it, is at work."""
        self.hook(self.session(made), "prompt_submitted")
        self.show(self.session(made), SPINNER, BUSY_TITLE)
        self.spend(3)
        self.assertEqual("busy", self.session(made).status)

    def told_to_go_on(self, made: TimedRun) -> int:
        return self.typed_by(made).count("Go on with the task.\r")

    def test_turn_that_ended_during_the_restart_is_continued(self) -> None:
        """Killed in mid-turn: no end of that turn is told any more, the state decides."""
        made = self.make_run()
        self.works(made)
        self.in_mid_turn(made)
        self.away(made, COMPOSER)
        self.spend(10)
        self.assertEqual(1, self.told_to_go_on(made))
        self.assertEqual((1, 2), (self.as_now(made).going.turns, self.as_now(made).going.lines))
        self.spend(30)
        self.assertEqual(1, self.told_to_go_on(made))

    def test_kill_before_the_prompt_is_confirmed_sends_it_once(self) -> None:
        """The number of its prompt is a duplicate then, which says nothing of its turn."""
        made = self.make_run()
        self.show(self.session(made), COMPOSER)
        while not self.typed_by(made).endswith("\r"):
            self.spend(0.01)
        self.assertEqual(0, self.as_now(made).going.lines)
        self.away(made, COMPOSER)
        self.spend(10)
        self.assertEqual((1, 1), (self.typed_by(made).count("tidy up\r"), self.told_to_go_on(made)))
        self.assertEqual((1, 2), (self.as_now(made).going.turns, self.as_now(made).going.lines))

    def test_kill_between_a_turn_and_the_next_line_sends_it_once(self) -> None:
        made = self.make_run()
        self.works(made)
        self.hook(self.session(made), "prompt_submitted")
        self.spend(1)
        self.hook(self.session(made), "stop")
        self.spend(BREATH / 2)
        self.away(made, COMPOSER)
        self.spend(10)
        self.assertEqual(1, self.told_to_go_on(made))

    def test_turn_still_running_after_a_restart_is_waited_for(self) -> None:
        made = self.make_run()
        self.works(made)
        self.in_mid_turn(made)
        self.away(made, SPINNER)
        self.spend(100)
        self.assertEqual(0, self.told_to_go_on(made))
        self.show(self.session(made), COMPOSER, IDLE_TITLE)
        self.spend(10)
        self.assertEqual(1, self.told_to_go_on(made))

    def test_due_line_waits_only_for_the_end_of_a_personal_turn(self) -> None:
        made = self.make_run()
        self.works(made)
        self.turn_ends(made)
        self.hook(self.session(made), "prompt_submitted")
        self.spend(1)
        self.hook(self.session(made), "stop")
        self.spend(1)
        before = self.told_to_go_on(made)
        self.in_mid_turn(made)
        self.away(made, COMPOSER)
        self.spend(10)
        self.assertEqual(before + 1, self.told_to_go_on(made))

    def test_clock_that_was_ahead_is_corrected(self) -> None:
        """What began then has its time from when the clock is right, and no more."""
        made = self.make_run()
        clock: Any = self.clock
        clock.time_of_day = lambda: clock.seconds() - 400 * 86400
        self.restart()
        found = self.as_now(made)
        self.assertEqual(made.going.end_at - 400 * 86400_000, found.going.end_at)
        self.assertIn("the clock was set back", self.said(made))
        self.spend(601)
        self.assertEqual(KeepGoingState.COMPLETED, self.state(made))

    def test_run_whose_end_passed_while_stopped_completes(self) -> None:
        made = self.make_run(1)
        self.machine.crash()
        self.clock.advance(120)
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.boot()
        self.assertEqual(KeepGoingState.COMPLETED, self.state(made))

    def test_dialog_is_left_to_the_user(self) -> None:
        made = self.make_run()
        self.show(self.session(made), PERMISSION)
        self.spend(90)
        self.assertEqual("", self.typed_by(made))
        self.assertEqual(KeepGoingState.RUNNING, self.state(made))
        self.assertIn("dialog", self.said(made))
        self.works(made)
        self.spend(AGAIN)
        self.assertEqual("tidy up\r", self.typed_by(made))

    def test_stopped_run_sends_nothing_more(self) -> None:
        made = self.make_run()
        self.works(made)
        self.timed.end_run(made.run.id, ADMIN)
        self.turn_ends(made)
        found = self.as_now(made)
        self.assertEqual(
            (KeepGoingState.STOPPED, "tidy up\r"), (found.going.state, self.typed_by(made))
        )
        self.timed.end_run(made.run.id, ADMIN)
        self.assertEqual(found, self.as_now(made), "a second time changes nothing")

    def test_unseen_turn_is_assumed_finished_after_the_limit(self) -> None:
        made = self.make_run()
        self.works(made)
        self.spend(UNSEEN + BREATH)
        self.assertEqual((1, 2), (self.as_now(made).going.turns, self.as_now(made).going.lines))

    def test_ended_session_fails_the_run(self) -> None:
        deleted, ended = self.make_run(), self.make_run()
        self.run_now(self.sessions.delete(deleted.run.session_id or ""))
        self.pane(self.session(ended)).exit_program(1)
        self.spend(5)
        for made in (deleted, ended):
            self.assertEqual(KeepGoingState.FAILED, self.state(made))

    def test_removed_account_fails_the_run(self) -> None:
        made = self.make_run()
        self.gone = True
        self.works(made)
        self.assertEqual((KeepGoingState.FAILED, ""), (self.state(made), self.typed_by(made)))

    def test_run_that_cannot_start_leaves_nothing(self) -> None:
        began = start_coroutine(self.timed.start_run("x", "/nowhere/at/all", 5, ADMIN))
        self.assertEqual(ErrorCode.INVALID_INPUT, self.failureResultOf(began).value.code)
        self.assertEqual([], self.timed.list_runs(ADMIN))

    def test_a_folder_that_is_asked_about(self) -> None:
        (self.work / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "x"}}}')
        began = start_coroutine(self.timed.start_run("tidy up", str(self.work), 5, ADMIN))
        self.assertIn("inbox", self.failureResultOf(began).value.message)
        self.assertEqual([], self.timed.list_runs(ADMIN))

    def test_runs_at_a_time_are_limited(self) -> None:
        for _ in range(AT_A_TIME):
            made = self.make_run()
        began = start_coroutine(self.timed.start_run("x", str(self.work), 5, ADMIN))
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.failureResultOf(began).value.code)
        self.timed.end_run(made.run.id, ADMIN)
        self.make_run()

    def reboot(self, *, multiuser: bool) -> None:
        self.successResultOf(start_coroutine(self.cron.stop()))
        self.multiuser = multiuser
        self.boot()

    def count_stored_jobs(self) -> int:
        return len(CronStore(self.machine.database).list_jobs())

    def test_run_of_a_removed_account_is_removed_on_a_full_disk(self) -> None:
        self.reboot(multiuser=True)
        made = self.make_run()
        database = self.machine.database
        self.successResultOf(start_coroutine(self.cron.stop()))
        with mock.patch.object(database, "execute", side_effect=DiskFull(FULL)):
            self.boot()
        self.assertEqual([], self.timed.list_runs(ADMIN))
        self.assertEqual(1, self.count_stored_jobs())
        database.deferred_writes.write_deferred()
        self.assertEqual(0, self.count_stored_jobs())
        self.works(made)
        self.assertEqual("", self.typed_by(made))

    def test_stop_on_a_full_disk_warns_that_a_restart_undoes_it(self) -> None:
        made = self.make_run()
        database = self.machine.database
        with mock.patch.object(database, "execute", side_effect=DiskFull(FULL)):
            for _ in range(2):
                told = self.assertRaises(ServiceError, self.timed.end_run, made.run.id, ADMIN)
                self.assertEqual(ErrorCode.OPERATION_FAILED, told.code)
                self.assertIn("stopped, but a restart now would go on with it", told.message)
        self.assertEqual(KeepGoingState.STOPPED, self.state(made))
        database.deferred_writes.write_deferred()
        self.timed.end_run(made.run.id, ADMIN)
        (kept,) = CronStore(database).list_runs()
        self.assertFalse(kept.keeps_going)

    def test_runs_of_one_account_leave_room_for_others(self) -> None:
        self.reboot(multiuser=True)
        for _ in range(OF_ONE):
            self.make_run()
        began = self.start_run()
        self.assertIn("of this account", self.failureResultOf(began, ServiceError).value.message)
        other = Caller.from_identity(evolve(ADMIN, username="other"), lambda: None)
        self.successResultOf(self.start_run(caller=other))

    def test_job_is_deleted_with_its_run_and_types_no_more(self) -> None:
        made = self.make_run()
        self.cron.delete_job(made.job.id, ADMIN)
        self.works(made)
        self.assertEqual(("", []), (self.typed_by(made), self.timed.list_runs(ADMIN)))

    def test_timed_run_is_a_job_that_has_run_and_cannot_be_changed(self) -> None:
        made = self.make_run(90)
        (job,) = self.cron.list_jobs(ADMIN)
        self.assertEqual(("tidy up", True, None), (job.definition.name, job.completed_once,
                                                   job.next_run_at))  # fmt: skip
        changed = start_coroutine(self.cron.update_job(job.id, {"enabled": True}, ADMIN))
        self.assertEqual(ErrorCode.CONFLICT, self.failureResultOf(changed, ServiceError).value.code)
        self.assertEqual([made.run.id], [run.id for run in self.cron.list_runs(ADMIN)])

    def test_runs_that_are_over_make_room_for_jobs(self) -> None:
        made = [self.make_run() for _ in range(2)]
        self.timed.end_run(made[0].run.id, ADMIN)
        with mock.patch.object(service, "MAX_JOBS", 2):
            self.make()
            left = [job.id for job in self.cron.list_jobs(ADMIN)]
            self.assertEqual([made[1].job.id], left[1:])
            full = start_coroutine(self.cron.create_job(self.fields(), ADMIN))
            self.assertEqual(
                ErrorCode.OPERATION_FAILED, self.failureResultOf(full, ServiceError).value.code
            )

    def test_unknown_run_is_not_found(self) -> None:
        for call in (self.timed.get_run, self.timed.end_run):
            self.assertRaises(ServiceError, call, "x", ADMIN)
