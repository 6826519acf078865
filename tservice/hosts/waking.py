"""Service that wakes a sleeping host and connects to it (protocol-wake)."""

from __future__ import annotations

from typing import Literal, Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.tasks import spawn_logged
from tservice.hosts.connection import HostConnection, HostUnreachable
from tservice.hosts.model import RemoteHost
from tservice.hosts.wake_signals import Probe, WakeError, WakeSender

WAKE_SECONDS = 40.0
"""Seconds in which a host must become reachable, counted from the start of the wake attempt."""

POLL_INTERVAL = 2.0
"""Seconds between two probes of a host that was woken."""

WAKE_INTERVAL = 5.0
"""Minimum seconds between the starts of two wake attempts, even for different callers."""

REST_SECONDS = 30.0
"""Seconds after a failed attempt during which typed input does not start another attempt."""


class WakeListener(Protocol):
    """Listener that is notified of wake attempts."""

    def host_waking(self, method: Literal["mac", "command"]) -> None:
        """Handle the start of a wake attempt."""

    def host_wake_failed(self, reason: str) -> None:
        """Handle a wake attempt that failed for this reason."""


class HostWakeService:
    """Service that wakes one host and connects to it.

    An attempt runs a command or broadcasts to the network. Concurrent callers therefore share an
    attempt, as do callers within L{WAKE_INTERVAL} of its start. If an attempt has succeeded and the
    connection is lost again, the next attempt starts without delay.

    @param wake_sender: sends the wake signal.
    @param is_port_open: probes the port of the host.
    @ivar failure_reason: reason why the last attempt failed, or C{None} if it succeeded.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        host: RemoteHost,
        connection: HostConnection,
        wake_sender: WakeSender,
        is_port_open: Probe,
        listener: WakeListener,
    ) -> None:
        self.failure_reason: str | None = None
        self._clock = clock
        self._host = host
        self._connection = connection
        self._wake_sender = wake_sender
        self._is_port_open = is_port_open
        self._listener = listener
        self._wake_task: Deferred[None] | None = None
        self._connect_task: Deferred[None] | None = None
        self._was_sent = False
        self._next_wake_at = 0.0
        self._resting_until = 0.0

    async def wake_host(self) -> bool:
        """Send the wake signal even if the host is reachable. Wait until it is reached or the time
        is up.

        @return: true if the wake signal was sent.
        """
        if self._wake_task is None and self._may_send_wake():
            waking = spawn_logged(self._run_attempt(), self._log, "waking a host")
            self._wake_task = None if waking.called else waking
        if self._wake_task is not None:
            await _wait_without_cancelling(self._wake_task)
        return self._was_sent

    async def connect_waking(self) -> None:
        """Connect to the host. If it does not respond and waking is configured, wake it first.

        @raise HostUnreachable: the host is unreachable.
        """
        if self._connection.is_up:
            return
        if self._host.wake_method == "none":
            await self._connection.wait_for_attempt()
            return
        if self._wake_task is None and await self._is_awake():
            try:
                await self._connection.wait_for_attempt()
                return
            except HostUnreachable:
                if self._host.jump_host is None:
                    raise
        await self.wake_host()
        if not self._connection.is_up:
            raise HostUnreachable(
                self.failure_reason or self._connection.failure_reason or "the host does not answer"
            )

    def request_connection(self) -> None:
        """Start to connect in the background, because a user typed input for a session on the
        host.
        """
        if self._connection.is_up or self._wake_task is not None or self._connect_task is not None:
            return
        if self._host.wake_method == "none" or self._clock.seconds() < self._resting_until:
            self._connection.request_connection()
            return
        wanting = spawn_logged(self._connect_in_background(), self._log, "reaching a host")
        self._connect_task = None if wanting.called else wanting

    def close(self) -> None:
        """Cancel all attempts."""
        for work in (self._connect_task, self._wake_task):
            if work is not None:
                work.cancel()

    # -- inside

    async def _connect_in_background(self) -> None:
        try:
            await self.connect_waking()
        except HostUnreachable as error:
            self._log.info("{host}: {error}", host=self._host.label, error=error)
        finally:
            self._connect_task = None

    def _may_send_wake(self) -> bool:
        lost_again = self._was_sent and self.failure_reason is None and not self._connection.is_up
        return lost_again or self._clock.seconds() >= self._next_wake_at

    async def _run_attempt(self) -> None:
        try:
            await self._send_and_poll()
        finally:
            self._wake_task = None

    async def _send_and_poll(self) -> None:
        begun, self._was_sent = self._clock.seconds(), False
        self._next_wake_at = begun + WAKE_INTERVAL
        self._listener.host_waking("command" if self._host.wake_method == "command" else "mac")
        try:
            await self._wake_sender.send_wake(self._host)
        except WakeError as error:
            self._record_failure(str(error))
            return
        self._was_sent = True
        while (why := await self._try_connect()) is not None:
            if self._clock.seconds() + POLL_INTERVAL > begun + WAKE_SECONDS:
                self._record_failure(why)
                return
            await wait_seconds(self._clock, POLL_INTERVAL)
        self.failure_reason = None

    async def _try_connect(self) -> str | None:
        """Connect if the host is awake. Return the reason if it was not reached, or C{None} if it
        was.
        """
        if self._connection.is_up:
            return None
        if not await self._is_awake():
            return f"port {self._host.port} of {self._host.host} does not answer"
        try:
            await self._connection.wait_for_attempt()
        except HostUnreachable as error:
            return str(error)
        return None

    async def _is_awake(self) -> bool:
        # Only ssh itself can reach a host after a jump host.
        return self._host.jump_host is not None or await self._is_port_open(self._host)

    def _record_failure(self, why: str) -> None:
        self.failure_reason = why
        self._resting_until = self._clock.seconds() + REST_SECONDS
        self._listener.host_wake_failed(why)


async def _wait_without_cancelling(work: Deferred[None]) -> None:
    """Wait for C{work}. Cancelling this wait does not cancel C{work}, for which others wait too."""
    waiter: Deferred[None] = Deferred()
    work.addBoth(lambda _: waiter.callback(None))
    await waiter
