"""A host that is asleep, woken and reached (protocol-wake)."""

from __future__ import annotations

import signal
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FakeProcesses, FakeTransport
from tests.unit.hosts.fakes import FakeMaster
from tservice.hosts.connection import HostConnection, HostUnreachable
from tservice.hosts.model import RemoteHost
from tservice.hosts.wake_signals import COMMAND_TIMEOUT, HostWaker, WakeError, build_magic_packet
from tservice.hosts.waking import (
    POLL_INTERVAL,
    REST_SECONDS,
    WAKE_INTERVAL,
    WAKE_SECONDS,
    HostWakeService,
)

HOST = RemoteHost(id="h", label="H", host="h.lan", username="me", wake_command="/bin/wake")


class FakeAlarm:
    """Rings as the test says."""

    def __init__(self) -> None:
        self.rung: list[Deferred[None]] = []

    async def send_wake(self, host: RemoteHost) -> None:
        self.rung.append(Deferred())
        await self.rung[-1]


class WakerTests(SynchronousTestCase):
    """L{HostWakeService}."""

    def setUp(self) -> None:
        self.clock, self.alarm = Clock(), FakeAlarm()
        self.masters: list[FakeMaster] = []
        self.told: list[tuple[str, ...]] = []
        self.awake = False
        self.looks = 0
        self.waker = self.make(HOST)

    def make(self, host: RemoteHost) -> HostWakeService:
        self.way = HostConnection(self.clock, "there", self.fresh, lambda: False)
        return HostWakeService(self.clock, host, self.way, self.alarm, self.answers, self)

    def fresh(self) -> FakeMaster:
        self.masters.append(FakeMaster())
        return self.masters[-1]

    async def answers(self, host: RemoteHost) -> bool:
        self.looks += 1
        return self.awake

    def host_waking(self, method: str) -> None:
        self.told.append(("waking", method))

    def host_wake_failed(self, reason: str) -> None:
        self.told.append(("failed", reason))

    def reach(self) -> Deferred[None]:
        return Deferred.fromCoroutine(self.waker.connect_waking())

    def spend(self, seconds: float) -> None:
        self.clock.pump([0.5] * int(seconds * 2))

    def test_connected_host_is_not_woken(self) -> None:
        self.way.request_connection()
        self.masters[0].opening.callback(None)
        self.successResultOf(self.reach())
        self.assertEqual([], self.alarm.rung)

    def test_answering_host_is_connected_and_not_woken(self) -> None:
        self.awake = True
        waiting = self.reach()
        self.masters[0].opening.callback(None)
        self.successResultOf(waiting)
        self.assertEqual([], self.alarm.rung)

    def test_answering_host_that_refuses_is_not_woken(self) -> None:
        """A key that changed is no sleep."""
        self.awake = True
        waiting = self.reach()
        self.masters[0].opening.errback(HostUnreachable("another key"))
        self.assertEqual(
            "another key", self.failureResultOf(waiting, HostUnreachable).getErrorMessage()
        )
        self.assertEqual([], self.alarm.rung)

    def test_host_without_wake_settings_is_only_connected(self) -> None:
        self.waker = self.make(evolve(HOST, wake_command=None))
        waiting = self.reach()
        self.assertEqual((1, 0), (len(self.masters), self.looks))
        self.masters[0].opening.errback(HostUnreachable("no route"))
        self.failureResultOf(waiting, HostUnreachable)
        self.assertEqual([], self.told)

    def test_sleeping_host_is_woken_once_for_all_callers(self) -> None:
        waiting: list[Deferred[Any]] = [self.reach(), self.reach()]
        waiting.append(Deferred.fromCoroutine(self.waker.wake_host()))
        self.assertEqual(1, len(self.alarm.rung))
        self.alarm.rung[0].callback(None)
        self.spend(10)
        self.assertEqual([], self.masters, "its port does not answer yet")
        self.awake = True
        self.spend(POLL_INTERVAL)
        self.masters[0].opening.callback(None)
        self.assertEqual([None, None, True], [self.successResultOf(each) for each in waiting])
        self.assertEqual([("waking", "command")], self.told)

    def test_time_budget_includes_the_wake(self) -> None:
        waiting = self.reach()
        self.spend(8)
        self.alarm.rung[0].callback(None)
        self.spend(WAKE_SECONDS - 8 - POLL_INTERVAL)
        self.assertNoResult(waiting)
        self.spend(POLL_INTERVAL)
        why = self.failureResultOf(waiting, HostUnreachable).getErrorMessage()
        self.assertEqual("port 22 of h.lan does not answer", why)
        self.assertEqual([("waking", "command"), ("failed", why)], self.told)

    def test_wake_that_used_the_budget_leaves_one_probe(self) -> None:
        waiting = self.reach()
        self.spend(WAKE_SECONDS + 1)
        before = self.looks
        self.alarm.rung[0].callback(None)
        self.assertEqual(before + 1, self.looks)
        self.failureResultOf(waiting, HostUnreachable)

    def test_failed_wake_is_reported_immediately(self) -> None:
        waiting = Deferred.fromCoroutine(self.waker.wake_host())
        self.alarm.rung[0].errback(WakeError("no network"))
        self.assertFalse(self.successResultOf(waiting))
        self.assertEqual(("failed", "no network"), self.told[-1])

    def test_repeated_wake_shares_the_recent_result(self) -> None:
        """A command that fails at once, or a host that is up, is no reason to run it in a loop."""
        asked = [Deferred.fromCoroutine(self.waker.wake_host())]
        self.alarm.rung[0].errback(WakeError("no network"))
        asked += [Deferred.fromCoroutine(self.waker.wake_host()) for _ in range(100)]
        self.assertEqual({False}, {self.successResultOf(each) for each in asked})
        why = self.failureResultOf(self.reach(), HostUnreachable).getErrorMessage()
        self.assertEqual(("no network", 1), (why, len(self.alarm.rung)))
        self.spend(WAKE_INTERVAL)
        again = Deferred.fromCoroutine(self.waker.wake_host())
        self.assertEqual(2, len(self.alarm.rung))
        self.alarm.rung[1].errback(WakeError("no network"))
        self.assertFalse(self.successResultOf(again))

    def test_host_lost_again_is_woken_again(self) -> None:
        """It has just been woken, and what was done for that was not in vain."""
        waiting = self.reach()
        self.awake = True
        self.alarm.rung[0].callback(None)
        self.masters[0].opening.callback(None)
        self.successResultOf(waiting)
        self.successResultOf(Deferred.fromCoroutine(self.waker.wake_host()))
        self.assertEqual(1, len(self.alarm.rung), "it is up")
        self.awake = False
        self.masters[0].gone.callback("it sleeps")
        waiting = self.reach()
        self.assertEqual(2, len(self.alarm.rung))
        self.alarm.rung[1].errback(WakeError("no network"))
        self.failureResultOf(waiting, HostUnreachable)

    def test_typing_wakes_the_host_once(self) -> None:
        self.waker.request_connection()
        self.waker.request_connection()
        self.assertEqual(1, len(self.alarm.rung))
        self.alarm.rung[0].errback(WakeError("no network"))
        self.waker.request_connection()
        self.assertEqual((1, 1), (len(self.alarm.rung), len(self.masters)), "it connects alone")
        self.masters[0].opening.errback(HostUnreachable("no"))
        self.spend(REST_SECONDS)
        self.waker.request_connection()
        self.assertEqual(2, len(self.alarm.rung))
        self.waker.close()
        self.assertEqual([], [call for call in self.clock.getDelayedCalls() if call.active()])

    def test_host_behind_a_jump_host_is_probed_by_ssh(self) -> None:
        self.waker = self.make(evolve(HOST, jump_host="j.lan"))
        waiting = self.reach()
        self.masters[0].opening.errback(HostUnreachable("timed out"))
        self.alarm.rung[0].callback(None)
        self.masters[1].opening.callback(None)
        self.successResultOf(waiting)
        self.assertEqual(0, self.looks)


class FakeMachine:
    """Starts commands and sends packets, as far as it is told to."""

    def __init__(self) -> None:
        self.clock, self.processes = Clock(), FakeProcesses()
        self.sent: list[tuple[bytes, tuple[str, int]]] = []
        self.broadcasts = self.closed = False

    def listenUDP(self, *arguments: object) -> FakeMachine:
        return self

    def setBroadcastAllowed(self, allowed: bool) -> None:
        self.broadcasts = allowed

    def write(self, packet: bytes, address: tuple[str, int]) -> None:
        if not self.broadcasts:
            raise PermissionError(13, "Permission denied")
        self.sent.append((packet, address))

    def stopListening(self) -> None:
        self.closed = True

    def ring(self, host: RemoteHost) -> Deferred[None]:
        alarm = HostWaker(self.processes.make_runner(self.clock), self, {})  # type: ignore[arg-type]
        return Deferred.fromCoroutine(alarm.send_wake(host))


class AlarmTests(SynchronousTestCase):
    """L{HostWaker}."""

    def setUp(self) -> None:
        self.machine = FakeMachine()

    @property
    def command(self) -> FakeTransport:
        return self.machine.processes.spawned[0]

    def test_each_address_gets_a_packet(self) -> None:
        host = evolve(HOST, wake_command=None, wake_mac="01:02:03:04:05:06, AA-BB-CC-DD-EE-FF")
        self.successResultOf(self.machine.ring(host))
        there = ("255.255.255.255", 9)
        first = b"\xff" * 6 + b"\1\2\3\4\5\6" * 16
        second = b"\xff" * 6 + b"\xaa\xbb\xcc\xdd\xee\xff" * 16
        self.assertEqual([(first, there), (second, there)], self.machine.sent)
        self.assertTrue(self.machine.closed)
        self.assertEqual(102, len(build_magic_packet("01:02:03:04:05:06")))

    def test_wake_command_takes_precedence_and_has_no_arguments(self) -> None:
        ringing = self.machine.ring(evolve(HOST, wake_mac="01:02:03:04:05:06"))
        [call] = self.machine.processes.calls
        self.assertEqual((["/bin/wake"], "/"), (call["args"], call["path"]))
        self.command.finish(0)
        self.successResultOf(ringing)
        self.assertEqual([], self.machine.sent)
        self.assertEqual([], self.machine.clock.getDelayedCalls())

    def test_failed_wake_command_gives_its_status(self) -> None:
        ringing = self.machine.ring(HOST)
        self.command.finish(3)
        why = self.failureResultOf(ringing, WakeError).getErrorMessage()
        self.assertEqual("wakeCommand ended with status 3", why)

    def test_hanging_wake_command_is_killed(self) -> None:
        ringing = self.machine.ring(HOST)
        self.machine.clock.advance(COMMAND_TIMEOUT)
        self.assertEqual([signal.SIGKILL], self.command.signals)
        self.command.finish(None, signal.SIGKILL)
        why = self.failureResultOf(ringing, WakeError).getErrorMessage()
        self.assertEqual("wakeCommand took more than 10 s", why)
