"""Waking and reaching of a host that may be asleep (protocol-wake)."""

from __future__ import annotations

from typing import Literal, Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import sleep
from tservice.core.tasks import spawn_logged
from tservice.hosts.alarm import CannotWake, IAlarm, Probe
from tservice.hosts.connection import CannotConnect, Connection
from tservice.hosts.model import RemoteHost

BUDGET = 40.0
"""Seconds in which a woken host has to be reached, including the waking."""

POLL_EVERY = 2.0
"""Seconds between two checks of the host."""

RING_EVERY = 5.0
"""Seconds between the starts of two wake attempts, for all callers."""

REST = 30.0
"""Seconds after a failed attempt in which typing does not wake the host again."""


class IHeardWaking(Protocol):
    """Listener to wake attempts."""

    def host_waking(self, method: Literal["mac", "command"]) -> None:
        """Handle the start of an attempt."""

    def host_wake_failed(self, reason: str) -> None:
        """Handle a failed attempt."""


class Waker:
    """Service that wakes one host and connects to it.

    Concurrent callers share an attempt, and so do callers within L{RING_EVERY} of its start, as it
    runs a command or broadcasts to the network.  A host that was reached by it and is lost again is
    woken without delay.

    @param alarm: sends the wake signal.
    @param answers: tests whether the port answers.
    @ivar why: reason for the failure of the last attempt; C{None}: it succeeded.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        host: RemoteHost,
        connection: Connection,
        alarm: IAlarm,
        answers: Probe,
        heard: IHeardWaking,
    ) -> None:
        self.why: str | None = None
        self._clock = clock
        self._host = host
        self._connection = connection
        self._alarm = alarm
        self._answers = answers
        self._heard = heard
        self._waking: Deferred[None] | None = None
        self._wanting: Deferred[None] | None = None
        self._sent = False
        self._next_ring = 0.0
        self._resting_until = 0.0

    async def wake(self) -> bool:
        """Wake the host in any case, and wait until it is reached or the time is up.

        @return: true if the wake signal was sent.
        """
        if self._waking is None and self._may_ring():
            waking = spawn_logged(self._wake(), self._log, "waking a host")
            self._waking = None if waking.called else waking
        if self._waking is not None:
            await _after(self._waking)
        return self._sent

    async def reach(self) -> None:
        """Connect to the host; if it does not answer, wake it where that is configured.

        @raise CannotConnect: it is unreachable.
        """
        if self._connection.up:
            return
        if self._host.wake == "none":
            await self._connection.connected()
            return
        if self._waking is None and await self._is_awake():
            try:
                await self._connection.connected()
                return
            except CannotConnect:
                if self._host.jump_host is None:
                    raise
        await self.wake()
        if not self._connection.up:
            raise CannotConnect(self.why or self._connection.why or "the host does not answer")

    def wanted(self) -> None:
        """Start to connect in the background, because a user typed input for it."""
        if self._connection.up or self._waking is not None or self._wanting is not None:
            return
        if self._host.wake == "none" or self._clock.seconds() < self._resting_until:
            self._connection.wanted()
            return
        wanting = spawn_logged(self._want(), self._log, "reaching a host")
        self._wanting = None if wanting.called else wanting

    def close(self) -> None:
        """Stop all attempts."""
        for work in (self._wanting, self._waking):
            if work is not None:
                work.cancel()

    # -- inside

    async def _want(self) -> None:
        try:
            await self.reach()
        except CannotConnect as error:
            self._log.info("{host}: {error}", host=self._host.label, error=error)
        finally:
            self._wanting = None

    def _may_ring(self) -> bool:
        lost_again = self._sent and self.why is None and not self._connection.up
        return lost_again or self._clock.seconds() >= self._next_ring

    async def _wake(self) -> None:
        try:
            await self._ring()
        finally:
            self._waking = None

    async def _ring(self) -> None:
        begun, self._sent = self._clock.seconds(), False
        self._next_ring = begun + RING_EVERY
        self._heard.host_waking("command" if self._host.wake == "command" else "mac")
        try:
            await self._alarm.ring(self._host)
        except CannotWake as error:
            self._failed(str(error))
            return
        self._sent = True
        while (why := await self._look()) is not None:
            if self._clock.seconds() + POLL_EVERY > begun + BUDGET:
                self._failed(why)
                return
            await sleep(self._clock, POLL_EVERY)
        self.why = None

    async def _look(self) -> str | None:
        """Connect if the host is awake; return the reason if it is not reached."""
        if self._connection.up:
            return None
        if not await self._is_awake():
            return f"port {self._host.port} of {self._host.host} does not answer"
        try:
            await self._connection.connected()
        except CannotConnect as error:
            return str(error)
        return None

    async def _is_awake(self) -> bool:
        # Only ssh itself can reach a host after a jump host.
        return self._host.jump_host is not None or await self._answers(self._host)

    def _failed(self, why: str) -> None:
        self.why = why
        self._resting_until = self._clock.seconds() + REST
        self._heard.host_wake_failed(why)


async def _after(work: Deferred[None]) -> None:
    """Wait for work that others wait for too."""
    waiter: Deferred[None] = Deferred()
    work.addBoth(lambda _: waiter.callback(None))
    await waiter
