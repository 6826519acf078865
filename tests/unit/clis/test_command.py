"""One command of a CLI: how it is started and ended, and what is kept of its output."""

from __future__ import annotations

import signal
from pathlib import Path

from twisted.internet.defer import CancelledError
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FIRST_PID, FakeProcesses, FakeTransport
from tservice.clis.command import GRACE, OUTPUT_LIMIT, TIME_LIMIT, CliCommand, CommandResult


class CliCommandTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.processes = Clock(), FakeProcesses()
        self.heard: list[bytes] = []
        self.command = CliCommand(
            self.processes.make_runner(self.clock),
            ("/bin/npm", "install"),
            {"A": "1"},
            Path("/home/u"),
            on_output=self.heard.append,
        )
        self.over = self.command.wait_ended()

    @property
    def process(self) -> FakeTransport:
        return self.processes.spawned[0]

    def ending(self) -> CommandResult:
        self.assertEqual([], self.clock.getDelayedCalls())
        return self.successResultOf(self.over)

    def test_command_runs_without_a_shell_and_without_input(self) -> None:
        call = self.processes.calls[0]
        self.assertEqual(["/bin/npm", "install"], call["args"][-2:])
        self.assertEqual(({"A": "1"}, "/home/u"), (call["env"], call["path"]))
        self.assertTrue(self.process.stdin_closed)

    def test_regular_end_leaves_the_group_alone(self) -> None:
        self.process.finish(7)
        self.assertEqual(CommandResult(status=7, was_terminated=False, output=""), self.ending())
        self.assertEqual([], self.processes.sent)

    def test_last_output_of_both_streams_is_kept(self) -> None:
        self.process.protocol.outReceived(b"a" * OUTPUT_LIMIT)
        self.process.protocol.errReceived(b"\xffend")
        self.process.finish(0)
        self.assertEqual("a" * (OUTPUT_LIMIT - 4) + "\ufffdend", self.ending().output)
        self.assertEqual([b"a" * OUTPUT_LIMIT, b"\xffend"], self.heard)

    def test_cancelled_wait_does_not_end_the_command(self) -> None:
        impatient = self.command.wait_ended()
        impatient.cancel()
        self.failureResultOf(impatient, CancelledError)
        self.assertEqual([], self.processes.sent)
        self.process.finish(0)
        self.assertEqual(0, self.ending().status)

    def test_slow_command_has_time_to_end_after_term(self) -> None:
        self.clock.advance(TIME_LIMIT)
        self.assertEqual([(FIRST_PID, signal.SIGTERM)], self.processes.sent)
        self.clock.advance(GRACE)
        self.assertEqual((FIRST_PID, signal.SIGKILL), self.processes.sent[-1])
        self.assertTrue(self.ending().was_terminated)

    def test_stopped_command_was_terminated(self) -> None:
        self.command.terminate()
        self.processes.has_group = False
        self.process.finish(None, signal.SIGTERM)
        self.assertTrue(self.ending().was_terminated)
