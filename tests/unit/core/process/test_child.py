"""One child process: its limits, how it is ended, and its result."""

from __future__ import annotations

import os
import signal
from typing import Any

from attrs import evolve
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FIRST_PID, FakeProcesses, FakeTransport
from tservice.core.process import warden
from tservice.core.process.child import (
    ABANDON_SECONDS,
    ChildCommand,
    ChildFamily,
    ChildProcess,
    ChildResult,
    ChildTools,
)
from tservice.core.users.os_users import make_missing_user, make_user_prefix

TERM, KILL = (FIRST_PID, signal.SIGTERM), (FIRST_PID, signal.SIGKILL)
COMMAND = ChildCommand(argv=("/bin/x", "y"), env={"A": "1"}, seconds=30)
PATIENT = evolve(COMMAND, term_seconds=3)
TOOLS = ChildTools("/s", "/p")


class ChildCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.processes = Clock(), FakeProcesses()
        self.children = self.processes.make_runner(self.clock)

    def start(self, command: ChildCommand = COMMAND, **fields: Any) -> ChildProcess:
        return self.children.start(evolve(command, **fields))

    @property
    def process(self) -> FakeTransport:
        return self.processes.spawned[-1]

    def result(self, child: ChildProcess) -> ChildResult:
        """The result, after which no timer and no process is left."""
        found = self.successResultOf(child.wait_ended())
        self.assertEqual(([], 0), (self.clock.getDelayedCalls(), self.children.running))
        return found


class StartTests(ChildCase):
    def test_child_runs_with_its_environment_and_without_input(self) -> None:
        child = self.start(folder="/home")
        [call] = self.processes.calls
        self.assertEqual(["/bin/x", "/bin/x", "y"], call["args"][-3:])
        self.assertEqual(({"A": "1"}, "/home"), (call["env"], call["path"]))
        self.assertEqual((True, b"", 1), (self.process.stdin_closed, self.process.written, 1))
        self.process.finish()
        self.assertEqual(ChildResult(status=0), self.result(child))

    def test_child_reads_bytes_or_a_file(self) -> None:
        self.start(stdin=b"question")
        self.assertEqual((b"question", True), (self.process.written, self.process.stdin_closed))
        self.start(stdin=7)
        self.assertEqual({0: 7, 1: "r", 2: "r"}, self.processes.calls[1]["fds"])
        self.assertFalse(self.process.stdin_closed)

    def test_silent_child_has_no_pipes(self) -> None:
        self.start(is_silent=True)
        [null] = set(self.processes.calls[0]["fds"].values())
        self.assertRaises(OSError, os.fstat, null)

    def test_child_that_cannot_be_started_is_forgotten(self) -> None:
        self.processes.error = OSError(2, "No such file or directory")
        self.assertRaises(OSError, self.start)
        self.assertEqual(([], 0), (self.clock.getDelayedCalls(), self.children.running))

    def test_argument_with_a_nul_is_refused(self) -> None:
        for word in ("a\0", b"a\0"):
            error = self.assertRaises(OSError, self.start, argv=("/bin/x", word))
            self.assertEqual("an argument contains a NUL", error.strerror)

    def test_command_line_depends_on_family_and_user(self) -> None:
        user = make_missing_user("ann", 7)
        tie = ["/p", "--pdeathsig", "KILL", "--"]
        for fields, begin in (
            ({}, ["/s", *tie]),
            ({"family": ChildFamily.ALONE}, tie),
            ({"user": user}, make_user_prefix("/s", "/p", user)),
        ):
            command = evolve(COMMAND, **fields)
            self.assertEqual([*begin, "/bin/x", "y"], TOOLS.build_argv(command))
        named = TOOLS.build_argv(evolve(COMMAND, name="-x"))
        self.assertEqual((tie, ["/bin/x", "-x", "y"]), (named[:4], named[-3:]))
        alone = evolve(COMMAND, family=ChildFamily.ALONE)
        self.assertEqual(["/bin/x", "y"], ChildTools().build_argv(alone))

    def test_guarded_command_runs_under_a_warden(self) -> None:
        user = make_missing_user("ann", 7)
        line = TOOLS.build_argv(evolve(COMMAND, is_guarded=True, user=user))
        self.assertEqual([warden.__file__, *make_user_prefix("/s", "/p", user)[1:]], line[3:-2])
        self.start(is_guarded=True)
        self.assertEqual([warden.__file__, "/bin/x", "y"], self.processes.calls[0]["args"][3:])
        self.assertFalse(self.process.stdin_closed)

    def test_other_user_needs_the_tools(self) -> None:
        user = make_missing_user("ann", 7)
        error = self.assertRaises(OSError, self.start, user=user)
        self.assertEqual("setpriv and setsid of util-linux are missing", error.strerror)
        self.assertEqual([], self.processes.spawned)

    def test_child_is_niced(self) -> None:
        self.start(niceness=5)
        want = min(19, os.getpriority(os.PRIO_PROCESS, 0) + 5)
        self.assertEqual([(FIRST_PID, want)], self.processes.niced)

    def test_failed_restriction_starts_nothing(self) -> None:
        def refuse() -> None:
            raise OSError(1, "refused")

        self.assertRaises(OSError, self.start, restrict=refuse)
        self.assertEqual(([], 0), (self.processes.spawned, self.children.running))


class ResultTests(ChildCase):
    def test_status_and_signal_are_reported(self) -> None:
        child = self.start()
        self.process.finish(7)
        self.assertEqual(ChildResult(status=7), self.result(child))
        child = self.start()
        self.process.finish(None, signal.SIGSEGV)
        self.assertEqual(ChildResult(status=None, signal=signal.SIGSEGV), self.result(child))

    def test_output_and_end_of_errors_are_returned(self) -> None:
        child = self.start(error_limit=4)
        child.outReceived(b"ou")
        child.outReceived(b"t")
        child.errReceived(b"\xffnoise")
        self.process.finish(1)
        found = self.result(child)
        self.assertEqual((b"out", b"oise", "oise"), (found.output, found.errors, found.error_text))

    def test_every_waiter_has_the_result(self) -> None:
        child = self.start()
        waiting = [child.wait_ended() for _ in range(2)]
        waiting[0].cancel()
        self.failureResultOf(waiting[0], CancelledError)
        self.assertFalse(child.has_ended)
        self.process.finish()
        self.assertEqual(self.result(child), self.successResultOf(waiting[1]))
        self.assertTrue(child.has_ended)

    def test_output_beyond_its_limit_kills_the_child(self) -> None:
        child = self.start(output_limit=4)
        child.outReceived(b"1234")
        self.assertEqual([], self.processes.sent)
        child.outReceived(b"5")
        child.outReceived(b"6")
        found = self.result(child)
        self.assertEqual(
            (b"1234", True, [KILL]), (found.output, found.is_truncated, self.processes.sent)
        )

    def test_sink_that_has_enough_kills_the_child(self) -> None:
        heard: list[bytes] = []
        errors: list[bytes] = []

        def hear(data: bytes) -> bool:
            heard.append(data)
            return data != b"enough"

        child = self.children.start(COMMAND, hear, errors.append)
        for data in (b"a", b"enough", b"more"):
            child.outReceived(data)
        child.errReceived(b"late")
        self.assertEqual(([b"a", b"enough"], []), (heard, errors))
        self.assertEqual((True, b""), (self.result(child).is_truncated, self.result(child).output))

    def test_error_of_the_sink_kills_the_child(self) -> None:
        def refuse(data: bytes) -> bool:
            raise ValueError(data)

        child = self.children.start(COMMAND, refuse)
        child.outReceived(b"odd")
        child.outReceived(b"more")
        found = self.result(child)
        self.assertEqual((False, "b'odd'"), (found.is_truncated, str(found.fault)))

    def test_pipes_held_by_others_are_closed(self) -> None:
        child = self.start(pipe_seconds=2)
        self.process.exit(0)
        self.assertNoResult(child.wait_ended())
        self.clock.advance(2)
        self.assertEqual(ChildResult(status=0), self.result(child))


class EndTests(ChildCase):
    def test_slow_child_is_killed(self) -> None:
        child = self.start()
        self.clock.advance(29)
        self.assertEqual([], self.processes.sent)
        self.clock.advance(1)
        self.assertEqual([KILL], self.processes.sent)
        found = self.result(child)
        self.assertEqual((None, 9, True), (found.status, found.signal, found.is_timed_out))
        self.assertFalse(found.is_stopped)

    def test_term_comes_before_kill(self) -> None:
        child = self.start(PATIENT)
        child.stop()
        child.stop()
        self.assertEqual([TERM], self.processes.sent)
        self.clock.advance(3)
        self.assertEqual([TERM, KILL], self.processes.sent)
        self.assertTrue(self.result(child).is_stopped)

    def test_term_leaves_its_group_time_to_end(self) -> None:
        child = self.start(PATIENT)
        child.stop()
        self.process.finish(None, signal.SIGTERM)
        self.assertNoResult(child.wait_ended())
        self.clock.advance(3)
        self.assertEqual([TERM, KILL], self.processes.sent)
        found = self.result(child)
        self.assertEqual((signal.SIGTERM, True), (found.signal, found.is_stopped))

    def test_empty_group_ends_the_wait_after_term(self) -> None:
        child = self.start(PATIENT)
        child.stop()
        self.processes.has_group = False
        self.process.finish(0)
        self.assertTrue(self.result(child).is_stopped)

    def test_rest_of_a_bound_family_is_killed(self) -> None:
        for family, sent in ((ChildFamily.BOUND, [KILL]), (ChildFamily.GROUP, [])):
            self.setUp()
            self.start(family=family)
            self.process.finish(0)
            self.assertEqual(sent, self.processes.sent, family)

    def test_lone_child_is_signalled_without_its_group(self) -> None:
        child = self.start(family=ChildFamily.ALONE)
        child.stop()
        self.assertEqual(([signal.SIGKILL], []), (self.process.signals, self.processes.sent))
        self.process.exit(None, 9)
        self.assertTrue(self.result(child).is_stopped)

    def test_child_without_its_group_yet_is_killed(self) -> None:
        self.processes.has_group = False
        child = self.start()
        child.stop()
        self.assertEqual([signal.SIGKILL], self.process.signals)
        self.process.finish(None, 9)
        self.result(child)

    def test_group_of_another_user_does_not_hold_up_the_result(self) -> None:
        self.processes.refusal = PermissionError(1, "Operation not permitted")
        child = self.start(PATIENT, niceness=5)
        child.stop()
        self.assertEqual([signal.SIGTERM], self.process.signals)
        self.process.finish(0)
        self.assertTrue(self.result(child).is_stopped)
        child = self.start()
        self.process.finish(0)
        self.assertEqual(ChildResult(status=0), self.result(child))

    def test_unkillable_child_is_abandoned(self) -> None:
        """It hangs in the kernel, at a mount whose server is gone."""
        self.processes.obeys_kill = False
        child = self.start()
        self.clock.advance(30)
        self.clock.advance(ABANDON_SECONDS - 0.1)
        self.assertNoResult(child.wait_ended())
        self.clock.advance(0.1)
        found = self.result(child)
        self.assertEqual((None, True, True), (found.status, found.is_timed_out, found.is_abandoned))
        child.outReceived(b"late")
        self.process.finish(None, 9)
        self.assertEqual(found, self.result(child))

    def test_ended_child_is_not_stopped(self) -> None:
        child = self.start(family=ChildFamily.GROUP)
        self.process.finish(0)
        child.stop()
        self.assertEqual((ChildResult(status=0), []), (self.result(child), self.processes.sent))

    def test_child_without_a_limit_runs_on(self) -> None:
        self.start(seconds=None)
        self.assertEqual([], self.clock.getDelayedCalls())


class RunnerTests(ChildCase):
    def test_result_of_a_run_is_returned(self) -> None:
        running = Deferred.fromCoroutine(self.children.run(COMMAND))
        self.assertEqual(1, self.children.running)
        self.process.finish(3)
        self.assertEqual(3, self.successResultOf(running).status)

    def test_cancelled_run_is_killed(self) -> None:
        running = Deferred.fromCoroutine(self.children.run(COMMAND))
        running.cancel()
        self.failureResultOf(running, CancelledError)
        self.assertEqual(([KILL], 0), (self.processes.sent, self.children.running))

    def test_stop_waits_for_every_child(self) -> None:
        self.processes.obeys_kill = False
        for _ in range(2):
            self.start()
        stopped = self.children.stop()
        self.assertEqual({KILL, (FIRST_PID + 1, signal.SIGKILL)}, set(self.processes.sent))
        self.processes.spawned[0].finish(None, 9)
        self.assertNoResult(stopped)
        self.processes.spawned[1].finish(None, 9)
        self.successResultOf(stopped)
        self.successResultOf(self.children.stop())
