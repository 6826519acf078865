"""Timed runs on fakes: the prompt, a line after each turn, an end to the second, restarts."""

from __future__ import annotations

from typing import Any
from unittest import mock

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.harness import (
    BUSY_TITLE,
    COMPOSER,
    IDLE_TITLE,
    PERMISSION,
    SPINNER,
    AgentHarnessCase,
)
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import FULL, DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.interfaces import Session
from tservice.timed_runs.build import build_timed_runs
from tservice.timed_runs.driver import AGAIN, BREATH, UNSEEN
from tservice.timed_runs.model import (
    AT_A_TIME,
    KEPT,
    LOGGED,
    OF_ONE,
    TimedRun,
    TimedRunState,
    add_log_line,
    find_excess_runs,
    format_duration,
    make_next_line,
)
from tservice.timed_runs.store import TimedRunStore


def run(**fields: Any) -> TimedRun:
    given: dict[str, Any] = {
        "id": "r",
        "owner": None,
        "prompt": "tidy up",
        "working_dir": "/w",
        "duration_minutes": 90,
        "started_at": 0,
        "end_at": 90 * 60_000,
    }
    return TimedRun(**{**given, **fields})


class TimedRunRuleTests(SynchronousTestCase):
    def test_prompt_comes_first_then_the_remaining_time(self) -> None:
        self.assertEqual("tidy up", make_next_line(run(), 0))
        said = make_next_line(run(lines=1), 10 * 60_000)
        self.assertEqual("Time left: 1 h 20 min. Go on with the task.", said)

    def test_durations_are_written_in_words(self) -> None:
        found = [format_duration(ms) for ms in (59_999, 60_000, 3_600_000, 36_061_000)]
        self.assertEqual(["less than a minute", "1 min", "1 h", "10 h 1 min"], found)

    def test_log_is_bounded_and_repeats_nothing(self) -> None:
        found = run()
        for number in range(LOGGED + 5):
            found = add_log_line(add_log_line(found, number * 1000, f"{number}"), 9, f"{number}")
        self.assertEqual(LOGGED, len(found.logs))
        self.assertEqual("1970-01-01T00:03:24Z 204", found.logs[-1])

    def test_finished_runs_are_removed_first(self) -> None:
        over = [run(id=str(n), status=TimedRunState.COMPLETED) for n in range(KEPT)]
        self.assertEqual([], find_excess_runs([run(id="a"), *over[1:]]))
        self.assertEqual(over[:1], find_excess_runs([run(id="a"), *over]))


class TimedRunServiceTests(AgentHarnessCase):
    def setUp(self) -> None:
        super().setUp()
        self.gone = False
        self.addCleanup(self.finish)
        self.boot()

    def finish(self) -> None:
        self.successResultOf(start_coroutine(self.runs.stop()))
        self.machine.crash()

    def boot(self, multiuser: bool = False) -> None:
        def identity(owner: str | None) -> Identity | None:
            return None if self.gone else ADMIN

        self.runs = build_timed_runs(
            self.machine.ground(config=evolve(self.machine.config, multiuser=multiuser)),
            sessions=self.machine.sessions,
            agents=self.agents.agents,
            clis=self.machine.clis,
            accounts=None,
            identity=identity,
        ).service
        self.runs.start()

    def restart(self) -> None:
        self.machine.crash()
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.boot()

    def make(self, minutes: int = 10) -> TimedRun:
        made = self.runs.start_run("tidy up", str(self.work), minutes, ADMIN)
        return self.successResultOf(start_coroutine(made))

    def as_now(self, made: TimedRun) -> TimedRun:
        return self.runs.get_run(made.id, ADMIN)

    def session(self, made: TimedRun) -> Session:
        return self.sessions.get(made.session_id or "")

    def typed(self, made: TimedRun) -> str:
        return bytes(self.host[made.session_id or ""].typed).decode()

    def works(self, made: TimedRun) -> None:
        """Its agent has the prompt."""
        self.show(self.session(made), COMPOSER)
        self.spend(10)

    def turn_ends(self, made: TimedRun) -> None:
        self.hook(self.session(made), "prompt_submitted")
        self.spend(1)
        self.hook(self.session(made), "stop")
        self.spend(BREATH + 2)

    def test_account_disabled_before_the_prompt_fails_the_run(self) -> None:
        made = self.make()
        self.spend(3)
        self.gone = True
        self.works(made)
        self.assertEqual(("", TimedRunState.FAILED), (self.typed(made), self.as_now(made).status))

    def said(self, made: TimedRun) -> str:
        return "\n".join(self.as_now(made).logs)

    def test_timed_run_starts_prompts_and_completes(self) -> None:
        made = self.make()
        self.assertEqual((TimedRunState.RUNNING, str(self.work)), (made.status, made.working_dir))
        self.assertEqual(made.started_at + 600_000, made.end_at)
        self.spend(3)
        self.assertEqual("", self.typed(made), "nothing is typed blindly")
        self.works(made)
        self.assertEqual("tidy up\r", self.typed(made))
        self.turn_ends(made)
        self.turn_ends(made)
        self.assertEqual(2, self.as_now(made).turns)
        self.assertEqual(2, self.typed(made).count("min. Go on with the task.\r"))
        left = (made.end_at / 1000) - self.clock.seconds()
        self.spend(left - 0.2)
        self.assertEqual(TimedRunState.RUNNING, self.as_now(made).status)
        self.spend(0.4)
        self.assertEqual(TimedRunState.COMPLETED, self.as_now(made).status)
        before = self.typed(made)
        self.turn_ends(made)
        self.spend(AGAIN * 2)
        self.assertEqual(before, self.typed(made))
        self.assertIsNotNone(self.session(made).pid, "its session stays")

    def test_timed_run_continues_after_a_restart(self) -> None:
        made = self.make()
        self.works(made)
        self.turn_ends(made)
        lines = self.as_now(made).lines
        self.restart()
        self.spend(AGAIN + 10)
        self.show(self.session(made), COMPOSER)
        self.spend(AGAIN * 2)
        self.assertGreaterEqual(self.as_now(made).lines, lines)
        self.assertEqual(1, self.typed(made).count("tidy up\r"))
        self.assertEqual(TimedRunState.RUNNING, self.as_now(made).status)
        self.spend(600)
        self.assertEqual(TimedRunState.COMPLETED, self.as_now(made).status)

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
        return self.typed(made).count("Go on with the task.\r")

    def test_turn_that_ended_during_the_restart_is_continued(self) -> None:
        """Killed in mid-turn: no end of that turn is told any more, the state decides."""
        made = self.make()
        self.works(made)
        self.in_mid_turn(made)
        self.away(made, COMPOSER)
        self.spend(10)
        self.assertEqual(1, self.told_to_go_on(made))
        self.assertEqual((1, 2), (self.as_now(made).turns, self.as_now(made).lines))
        self.spend(30)
        self.assertEqual(1, self.told_to_go_on(made))

    def test_kill_before_the_prompt_is_confirmed_sends_it_once(self) -> None:
        """The number of its prompt is a duplicate then, which says nothing of its turn."""
        made = self.make()
        self.show(self.session(made), COMPOSER)
        while not self.typed(made).endswith("\r"):
            self.spend(0.01)
        self.assertEqual(0, self.as_now(made).lines)
        self.away(made, COMPOSER)
        self.spend(10)
        self.assertEqual((1, 1), (self.typed(made).count("tidy up\r"), self.told_to_go_on(made)))
        self.assertEqual((1, 2), (self.as_now(made).turns, self.as_now(made).lines))

    def test_kill_between_a_turn_and_the_next_line_sends_it_once(self) -> None:
        made = self.make()
        self.works(made)
        self.hook(self.session(made), "prompt_submitted")
        self.spend(1)
        self.hook(self.session(made), "stop")
        self.spend(BREATH / 2)
        self.away(made, COMPOSER)
        self.spend(10)
        self.assertEqual(1, self.told_to_go_on(made))

    def test_turn_still_running_after_a_restart_is_waited_for(self) -> None:
        made = self.make()
        self.works(made)
        self.in_mid_turn(made)
        self.away(made, SPINNER)
        self.spend(100)
        self.assertEqual(0, self.told_to_go_on(made))
        self.show(self.session(made), COMPOSER, IDLE_TITLE)
        self.spend(10)
        self.assertEqual(1, self.told_to_go_on(made))

    def test_due_line_waits_only_for_the_end_of_a_personal_turn(self) -> None:
        made = self.make()
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
        made = self.make()
        clock: Any = self.clock
        clock.time_of_day = lambda: clock.seconds() - 400 * 86400
        self.restart()
        found = self.as_now(made)
        self.assertEqual(made.end_at - 400 * 86400_000, found.end_at)
        self.assertIn("the clock was set back", self.said(made))
        self.spend(601)
        self.assertEqual(TimedRunState.COMPLETED, self.as_now(made).status)

    def test_run_whose_end_passed_while_stopped_completes(self) -> None:
        made = self.make(1)
        self.machine.crash()
        self.clock.advance(120)
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.boot()
        self.assertEqual(TimedRunState.COMPLETED, self.as_now(made).status)

    def test_dialog_is_left_to_the_user(self) -> None:
        made = self.make()
        self.show(self.session(made), PERMISSION)
        self.spend(90)
        self.assertEqual("", self.typed(made))
        self.assertEqual(TimedRunState.RUNNING, self.as_now(made).status)
        self.assertIn("dialog", self.said(made))
        self.works(made)
        self.spend(AGAIN)
        self.assertEqual("tidy up\r", self.typed(made))

    def test_stopped_run_sends_nothing_more(self) -> None:
        made = self.make()
        self.works(made)
        self.runs.end_run(made.id, ADMIN)
        self.turn_ends(made)
        found = self.as_now(made)
        self.assertEqual((TimedRunState.STOPPED, "tidy up\r"), (found.status, self.typed(made)))
        self.runs.end_run(made.id, ADMIN)
        self.assertEqual(found, self.as_now(made), "a second time changes nothing")

    def test_unseen_turn_is_assumed_finished_after_the_limit(self) -> None:
        made = self.make()
        self.works(made)
        self.spend(UNSEEN + BREATH)
        self.assertEqual((1, 2), (self.as_now(made).turns, self.as_now(made).lines))

    def test_ended_session_fails_the_run(self) -> None:
        deleted, ended = self.make(), self.make()
        self.run_now(self.sessions.delete(deleted.session_id or ""))
        self.pane(self.session(ended)).exit_program(1)
        self.spend(5)
        for made in (deleted, ended):
            self.assertEqual(TimedRunState.FAILED, self.as_now(made).status)

    def test_removed_account_fails_the_run(self) -> None:
        made = self.make()
        self.gone = True
        self.works(made)
        self.assertEqual((TimedRunState.FAILED, ""), (self.as_now(made).status, self.typed(made)))

    def test_run_that_cannot_start_leaves_nothing(self) -> None:
        began = start_coroutine(self.runs.start_run("x", "/nowhere/at/all", 5, ADMIN))
        self.assertEqual(ErrorCode.INVALID_INPUT, self.failureResultOf(began).value.code)
        self.assertEqual([], self.runs.list_runs(ADMIN))

    def test_a_folder_that_is_asked_about(self) -> None:
        (self.work / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "x"}}}')
        began = start_coroutine(self.runs.start_run("tidy up", str(self.work), 5, ADMIN))
        self.assertIn("inbox", self.failureResultOf(began).value.message)
        self.assertEqual([], self.runs.list_runs(ADMIN))

    def test_runs_at_a_time_are_limited(self) -> None:
        for _ in range(AT_A_TIME):
            made = self.make()
        began = start_coroutine(self.runs.start_run("x", str(self.work), 5, ADMIN))
        self.assertEqual(ErrorCode.OPERATION_FAILED, self.failureResultOf(began).value.code)
        self.runs.end_run(made.id, ADMIN)
        self.make()

    def test_run_of_a_removed_account_is_removed_on_a_full_disk(self) -> None:
        self.successResultOf(start_coroutine(self.runs.stop()))
        self.boot(multiuser=True)
        self.make()
        database = self.machine.database
        self.successResultOf(start_coroutine(self.runs.stop()))
        with mock.patch.object(database, "execute", side_effect=DiskFull(FULL)):
            self.boot(multiuser=True)
        self.assertEqual([], self.runs.list_runs(ADMIN))
        self.assertEqual(1, len(TimedRunStore(database).load_runs()))
        database.deferred_writes.write_deferred()
        self.assertEqual([], TimedRunStore(database).load_runs())

    def test_stop_on_a_full_disk_warns_that_a_restart_undoes_it(self) -> None:
        run = self.make()
        database = self.machine.database
        with mock.patch.object(database, "execute", side_effect=DiskFull(FULL)):
            for _ in range(2):
                told = self.assertRaises(ServiceError, self.runs.end_run, run.id, ADMIN)
                self.assertEqual(ErrorCode.OPERATION_FAILED, told.code)
                self.assertIn("stopped, but a restart now would go on with it", told.message)
        self.assertFalse(self.runs.get_run(run.id, ADMIN).is_running)
        database.deferred_writes.write_deferred()
        self.runs.end_run(run.id, ADMIN)
        (kept,) = TimedRunStore(database).load_runs()
        self.assertFalse(kept.is_running)

    def test_runs_of_one_account_leave_room_for_others(self) -> None:
        self.successResultOf(start_coroutine(self.runs.stop()))
        self.boot(multiuser=True)
        for _ in range(OF_ONE):
            self.make()
        began = start_coroutine(self.runs.start_run("x", str(self.work), 5, ADMIN))
        self.assertIn("of this account", self.failureResultOf(began, ServiceError).value.message)
        other = evolve(ADMIN, username="other")
        self.successResultOf(start_coroutine(self.runs.start_run("x", str(self.work), 5, other)))

    def test_unknown_run_is_not_found(self) -> None:
        for call in (self.runs.get_run, self.runs.end_run):
            self.assertRaises(ServiceError, call, "x", ADMIN)
