"""Having a host reached that may be asleep (protocol-wake)."""

from __future__ import annotations

from typing import Literal, Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import sleep
from tservice.core.tasks import spawn
from tservice.hosts.alarm import CannotWake, IAlarm, Probe
from tservice.hosts.connection import CannotConnect, Connection
from tservice.hosts.model import RemoteHost

BUDGET = 40.0
"""Seconds until a host that is woken has to be reached, those of the waking included."""

POLL_EVERY = 2.0
"""Seconds between two looks for it."""

RING_EVERY = 5.0
"""Seconds from the begin of one waking to that of the next, whoever asks."""

REST = 30.0
"""Seconds after a vain attempt in which typing alone wakes nobody again."""


class IHeardWaking(Protocol):
    """Hears of it."""

    def host_waking(self, method: Literal["mac", "command"]) -> None:
        """It begins."""

    def host_wake_failed(self, reason: str) -> None:
        """It was in vain."""


class Waker:
    """Wakes one host and connects to it.  Whoever asks meanwhile shares the attempt, and so does
    whoever asks within L{RING_EVERY} of its begin: a command is run for it, or all are shouted at.
    A host that was reached by it and is lost again is woken at once.

    @param alarm: what wakes it.
    @param answers: whether its port does.
    @ivar why: why the last attempt was in vain; C{None}: it was not.
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
        """Wake it, whatever is known of it, and wait until it is reached or the budget is spent.

        @return: whether what wakes it was done.
        """
        if self._waking is None and self._may_ring():
            waking = spawn(self._wake(), self._log, "waking a host")
            self._waking = None if waking.called else waking
        if self._waking is not None:
            await _after(self._waking)
        return self._sent

    async def reach(self) -> None:
        """Have it connected; one that does not answer is woken where that is configured.

        @raise CannotConnect: it is out of reach.
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
            raise CannotConnect(self.why or self._connection.why or "it does not answer")

    def wanted(self) -> None:
        """Somebody typed something for it: have it reached some time."""
        if self._connection.up or self._waking is not None or self._wanting is not None:
            return
        if self._host.wake == "none" or self._clock.seconds() < self._resting_until:
            self._connection.wanted()
            return
        wanting = spawn(self._want(), self._log, "reaching a host")
        self._wanting = None if wanting.called else wanting

    def close(self) -> None:
        """Leave it alone."""
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
        """Connect if it is awake; why it is not reached."""
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
        # Behind a jump host only ssh itself can tell.
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
