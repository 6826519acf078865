"""A command in a group of its own: bounds on time and output, and how it is ended."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tests.fakes.child_processes import FakeProcesses, FakeTransport
from tests.unit.clis.fakes import make_program
from tests.waiting import wait_until
from tservice.clis.command import GRACE, OUTPUT_LIMIT, TIME_LIMIT, CliCommand, CommandResult


class GroupCommandTests(SynchronousTestCase):
    """C{self.group} says whether anybody of the group is left."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.processes = FakeProcesses()
        self.heard: list[bytes] = []
        self.sent: list[tuple[int, int]] = []
        self.group = True
        self.command = CliCommand(self.clock, self.heard.append, self.kill_group)
        self.command.start(self.processes, ("/bin/npm", "install"), {"A": "1"}, Path("/home/u"))
        self.over = self.command.wait_ended()

    def kill_group(self, group: int, number: int) -> None:
        if not self.group:
            raise ProcessLookupError
        if number:
            self.sent.append((group, number))

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

    def test_success_and_failure_are_reported(self) -> None:
        self.process.finish(0)
        self.assertEqual(CommandResult(status=0, was_terminated=False, output=""), self.ending())
        self.setUp()
        self.process.finish(7)
        self.assertEqual(7, self.ending().status)
        self.setUp()
        self.process.finish(None, signal.SIGSEGV)
        self.assertIsNone(self.ending().status)
        self.assertEqual([], self.sent)

    def test_last_output_of_both_streams_is_kept(self) -> None:
        self.command.outReceived(b"a" * OUTPUT_LIMIT)
        self.command.errReceived(b"\xffend")
        self.process.finish(0)
        self.assertEqual("a" * (OUTPUT_LIMIT - 4) + "\ufffdend", self.ending().output)
        self.assertEqual([b"a" * OUTPUT_LIMIT, b"\xffend"], self.heard)

    def test_late_waiter_is_answered_immediately(self) -> None:
        self.process.finish(0)
        self.assertEqual(self.ending(), self.successResultOf(self.command.wait_ended()))

    def test_cancelled_wait_does_not_end_the_command(self) -> None:
        impatient = self.command.wait_ended()
        impatient.cancel()
        self.failureResultOf(impatient, CancelledError)
        self.assertEqual([], self.sent)
        self.process.finish(0)
        self.assertEqual(0, self.ending().status)

    def test_term_is_sent_at_the_time_limit(self) -> None:
        self.clock.advance(TIME_LIMIT - 1)
        self.assertEqual([], self.sent)
        self.clock.advance(1)
        self.assertEqual([(4000, signal.SIGTERM)], self.sent)
        self.group = False
        self.process.finish(None, signal.SIGTERM)
        self.assertTrue(self.ending().was_terminated)

    def test_kill_is_sent_when_term_is_ignored(self) -> None:
        self.command.terminate()
        self.command.terminate()
        self.clock.advance(GRACE)
        self.assertEqual([(4000, signal.SIGTERM), (4000, signal.SIGKILL)], self.sent)
        self.assertNoResult(self.over)
        self.process.finish(None, signal.SIGKILL)
        self.assertTrue(self.ending().was_terminated)

    def test_remaining_group_is_killed_too(self) -> None:
        self.command.terminate()
        self.process.finish(None, signal.SIGTERM)
        self.assertNoResult(self.over)
        self.clock.advance(GRACE)
        self.assertEqual((4000, signal.SIGKILL), self.sent[-1])
        self.assertTrue(self.ending().was_terminated)

    def test_pipes_held_by_others_are_closed(self) -> None:
        self.process.exit(0)
        self.assertNoResult(self.over)
        self.clock.advance(GRACE)
        self.assertEqual(CommandResult(status=0, was_terminated=False, output=""), self.ending())

    def test_command_ended_before_it_has_its_group_is_killed(self) -> None:
        self.group = False
        self.command.terminate()
        self.assertEqual([signal.SIGTERM], self.process.signals)
        self.process.finish(None, signal.SIGTERM)
        self.assertTrue(self.ending().was_terminated)

    def test_ending_a_finished_command_does_nothing(self) -> None:
        self.process.finish(0)
        self.command.terminate()
        self.assertFalse(self.ending().was_terminated)
        self.assertEqual([], self.sent)


FAMILY = """#!/bin/sh
trap '' TERM
(trap '' TERM; echo "child $$"; sleep 60) &
echo "ready $PPID"
wait
sleep 60
"""


class RealProcessTests(TestCase):
    """With real children: only then is it known that the whole group goes."""

    def start(self, text: str, clock: Clock) -> tuple[CliCommand, Deferred[None], list[bytes]]:
        from twisted.internet import reactor

        folder = Path(self.mktemp()).absolute()
        program = make_program(folder, "program", text)
        heard: list[bytes] = []
        ready: Deferred[None] = Deferred()

        def hear(data: bytes) -> None:
            heard.append(data)
            if b"ready" in b"".join(heard) and not ready.called:
                ready.callback(None)

        command = CliCommand(clock, hear)
        command.start(reactor, (str(program),), {"PATH": os.environ["PATH"]}, folder)
        return command, ready, heard

    async def test_output_and_status_of_a_real_process_are_read(self) -> None:
        command, _, _ = self.start("#!/bin/sh\necho out; echo err >&2; exit 3\n", Clock())
        ending = await command.wait_ended()
        self.assertEqual((3, False), (ending.status, ending.was_terminated))
        self.assertEqual({"out", "err"}, set(ending.output.split()))

    async def test_process_family_that_ignores_term_is_killed(self) -> None:
        clock = Clock()
        command, ready, _ = self.start(FAMILY, clock)
        await ready
        group = command.transport.pid
        assert group is not None
        self.assertEqual(group, os.getpgid(group))
        self.assertNotEqual(os.getpgrp(), group)
        command.terminate()
        clock.advance(GRACE)
        ending = await command.wait_ended()
        self.assertEqual((None, True), (ending.status, ending.was_terminated))
        # Who is killed closes its pipes a moment before it is over.
        wait_until("the end of the whole group", lambda: not alive(group))


def alive(group: int) -> bool:
    """Whether a process of C{group} runs; one that waits to be reaped does not."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[2]) == group and fields[0] not in "ZX":
                return True
    return False
