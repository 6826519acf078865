"""The channel that waits beside those that are used."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.protocol import ProcessProtocol
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.mux.remote.remote_children import OUT, RemoteChild
from tservice.mux.remote.preopened_channel import MOST_HEARD, WAITS, PreopenedChannel
from tservice.mux.remote.runner import RemoteChannel, RemoteRunner
from tservice.mux.remote.shell_quoting import MARK


class ChannelHeir(ProcessProtocol):
    """Whoever takes it."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def connectionMade(self) -> None:
        self.transport.write(b"line\n")  # type: ignore[union-attr]

    def childDataReceived(self, childFD: int, data: bytes) -> None:
        self.heard.append((childFD, data))

    def childConnectionLost(self, childFD: int) -> None:
        self.heard.append(childFD)

    def processExited(self, reason: Failure) -> None:
        self.heard.append("exited")

    def processEnded(self, reason: Failure) -> None:
        self.heard.append("ended")


class SpareTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.made: list[RemoteChild] = []
        self.failing = False
        processes: Any = self
        self.spare = PreopenedChannel(self.clock, processes, lambda: ["/ssh", "there"], {"A": "b"})
        self.addCleanup(lambda: self.assertEqual([], self.clock.getDelayedCalls()))
        self.addCleanup(self.spare.close)

    def spawnProcess(
        self, protocol: ProcessProtocol, program: str, argv: list[str], env: object, path: str
    ) -> None:
        if self.failing:
            raise OSError(12, "no memory")
        self.assertEqual(("/ssh", ["/ssh", "there"], {"A": "b"}, "/"), (program, argv, env, path))
        self.made.append(RemoteChild(protocol))

    def test_channel_is_not_preopened_before_the_first_use(self) -> None:
        self.assertFalse(self.spare.hand_over_child(ChannelHeir()))
        self.assertEqual([], self.made)

    def test_waiting_channel_is_taken_with_its_output(self) -> None:
        self.spare.start_idle_child()
        self.spare.start_idle_child()
        (child,) = self.made
        child.say(b"welcome")
        heir = ChannelHeir()
        self.assertTrue(self.spare.hand_over_child(heir))
        self.assertEqual(b"line\n", child.written)
        child.say(b"answer")
        child.end_stream()
        self.assertEqual([(OUT, b"welcome"), (OUT, b"answer"), "exited", OUT, "ended"], heir.heard)

    def test_taken_channel_is_replaced(self) -> None:
        self.spare.start_idle_child()
        self.spare.hand_over_child(ChannelHeir())
        self.assertFalse(self.spare.hand_over_child(ChannelHeir()))
        self.clock.advance(0)
        self.assertEqual(2, len(self.made))
        self.assertTrue(self.spare.hand_over_child(ChannelHeir()))

    def test_waiting_channel_ends_after_its_limit(self) -> None:
        self.spare.start_idle_child()
        self.clock.advance(WAITS)
        self.assertTrue(self.made[0].over)
        self.assertFalse(self.spare.hand_over_child(ChannelHeir()))

    def test_ended_channel_is_not_taken(self) -> None:
        self.spare.start_idle_child()
        self.made[0].end_stream()
        self.assertFalse(self.spare.hand_over_child(ChannelHeir()))
        self.spare.start_idle_child()
        self.assertEqual(2, len(self.made))

    def test_channel_that_prints_endlessly_is_ended(self) -> None:
        self.spare.start_idle_child()
        self.made[0].say(b"x" * MOST_HEARD)
        self.assertFalse(self.made[0].over)
        self.made[0].say(b"x")
        self.assertTrue(self.made[0].over)
        self.assertFalse(self.spare.hand_over_child(ChannelHeir()))

    def test_closed_spare_opens_no_channel(self) -> None:
        self.spare.start_idle_child()
        self.spare.hand_over_child(ChannelHeir())
        self.spare.close()
        self.spare.start_idle_child()
        self.assertEqual(1, len(self.made))
        self.assertFalse(self.made[0].over, "it is somebody's")

    def test_failed_preopening_leaves_no_channel(self) -> None:
        self.failing = True
        self.spare.start_idle_child()
        self.assertFalse(self.spare.hand_over_child(ChannelHeir()))

    def test_short_program_uses_the_preopened_channel(self) -> None:
        processes: Any = self
        way = RemoteChannel(
            prefix=lambda: ["/ssh"], takes_shell_text=True, env={}, preopened=self.spare
        )
        self.spare.start_idle_child()
        far = RemoteRunner(self.clock, processes, way)
        answer = Deferred.fromCoroutine(far.run_program(b"line\n", b"data"))
        self.assertEqual(b"line\ndata", self.made[0].written)
        self.made[0].say(b"noise " + MARK + b"said")
        self.made[0].end_stream()
        self.assertEqual(b"said", self.successResultOf(answer).out)
