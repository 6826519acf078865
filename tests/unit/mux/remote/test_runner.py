"""What became of a short program at the far end, and how that is told."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.mux.remote.remote_children import RemoteChild
from tservice.mux.remote.runner import (
    CUT,
    MAX_ANSWER,
    RUN_TIMEOUT,
    RemoteChannel,
    RemoteError,
    RemoteResult,
    RemoteRunner,
)
from tservice.mux.remote.shell_quoting import MARK


class TrialTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.made: list[RemoteChild] = []
        processes: Any = self
        way = RemoteChannel(prefix=lambda: ["/ssh"], takes_shell_text=True, env={})
        self.running = Deferred.fromCoroutine(
            RemoteRunner(self.clock, processes, way).run_program(b"line\n")
        )
        (self.child,) = self.made
        self.addCleanup(lambda: self.assertEqual([], self.clock.getDelayedCalls()))

    def spawnProcess(self, protocol: Any, *_: object) -> None:
        self.made.append(RemoteChild(protocol))

    def why(self) -> str:
        """Why nobody knows what became of it."""
        return str(self.failureResultOf(self.running, RemoteError).value)

    def test_noise_before_the_mark_is_skipped(self) -> None:
        """It may come in any pieces, without a line end, and on both streams."""
        noise = b"Welcome!\n" + bytes(range(256)) * 8192 + b"no line end: tservice-"
        for at in range(0, len(noise), 65_537):
            self.child.say(noise[at : at + 65_537])
        for byte in MARK + b"own\n":
            self.child.say(bytes([byte]))
        self.child.complain(b"stty: standard input: Inappropriate ioctl\n" + MARK + b"mine\n")
        self.child.end_stream(3)
        whole = RemoteResult(status=3, out=b"own\n", errors="mine")
        self.assertEqual(whole, self.successResultOf(self.running))

    def test_output_of_a_shell_that_starts_no_program_is_quoted(self) -> None:
        self.child.say(b"\nThis account is currently not available.\n")
        self.child.end_stream(1)
        self.assertEqual(
            "no POSIX shell found on the host: This account is currently not available.",
            self.why(),
        )

    def test_output_after_the_mark_is_the_answer(self) -> None:
        self.child.say(MARK)
        self.child.say(b"x" * MAX_ANSWER)
        self.child.end_stream(3)
        whole = RemoteResult(status=3, out=b"x" * MAX_ANSWER, errors="")
        self.assertEqual(whole, self.successResultOf(self.running))

    def test_oversized_answer_is_an_error(self) -> None:
        """That is what is told of it, whatever stands on its standard error."""
        self.child.complain(b"Warning: permanently added")
        self.child.say(MARK + b"x" * (MAX_ANSWER + 1))
        self.assertTrue(self.child.over)
        self.assertEqual("it said more than 1048576 bytes", self.why())

    def test_unanswered_command_times_out(self) -> None:
        self.clock.advance(RUN_TIMEOUT)
        self.assertTrue(self.child.over)
        self.assertEqual("it did not answer in time", self.why())

    def test_ended_connection_is_an_error(self) -> None:
        self.child.end_stream(CUT)
        self.assertEqual("its connection ended", self.why())

    def test_error_output_of_a_lost_connection_is_given(self) -> None:
        self.child.complain(b"Connection refused\n")
        self.child.end_stream(CUT)
        self.assertEqual("Connection refused", self.why())
