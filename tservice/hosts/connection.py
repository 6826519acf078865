"""Connection to a remote host: opening it, detecting its loss, and reconnecting
(protocol-remote).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.listeners import ListenerList
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers

RETRY_DELAYS = (5.0, 15.0, 45.0, 120.0, 300.0, 300.0)
"""Seconds to wait before each automatic reconnection. After the last one, only a user's request
reconnects.
"""

MAX_WAITERS = 1000


class ConnectionState(Enum):
    """State of the connection."""

    DOWN = "down"
    CONNECTING = "connecting"
    UP = "up"


class HostUnreachable(Exception):
    """Error for a host that could not be reached. Its text is one line for users."""


class MasterConnection(Protocol):
    """Process that holds one connection to a host."""

    async def open(self) -> None:
        """Connect to the host.

        @raise HostUnreachable: the connection failed.
        """

    def wait_lost(self) -> Deferred[str]:
        """Return a Deferred that fires with the reason when the open connection is lost."""

    def close(self) -> None:
        """Close the connection if it is open."""


class ConnectionListener(Protocol):
    """Listener that is notified when a connection is opened or lost."""

    def host_connected(self) -> None:
        """Handle a connection that was opened."""

    def host_disconnected(self, attempt: int, next_at: int | None) -> None:
        """Handle a connection that was lost or could not be opened.

        @param attempt: number of attempts since the connection was last open.
        @param next_at: time of the next automatic attempt in Unix milliseconds. C{None} means that
            there is no further attempt.
        """


class HostConnection:
    """Connection to one host, which is opened on request and reopened after a loss.

    @param make_master: creates the L{MasterConnection} of one attempt.
    @param auto_reconnect: returns true if a lost connection must be reopened automatically.
    @ivar failure_reason: reason why the last attempt failed or the connection was lost.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        title: str,
        make_master: Callable[[], MasterConnection],
        auto_reconnect: Callable[[], bool],
    ) -> None:
        self.state = ConnectionState.DOWN
        self.failure_reason: str | None = None
        self.attempt = 0
        self.next_at: int | None = None
        self._clock = clock
        self._title = title
        self._make_master = make_master
        self._auto_reconnect = auto_reconnect
        self._master: MasterConnection | None = None
        self._timers = NamedTimers(clock)
        self._waiters: list[Deferred[None]] = []
        self._attempt_task: Deferred[None] | None = None
        self._listeners = ListenerList[ConnectionListener]("a host")
        self._closed = False

    def add_listener(self, listener: ConnectionListener) -> Callable[[], None]:
        """Notify C{listener} of changes from now on. Return a function that removes it."""
        return self._listeners.add(listener)

    @property
    def is_up(self) -> bool:
        """True while the connection is open."""
        return self.state is ConnectionState.UP

    def request_connection(self) -> None:
        """Start to connect because a user requests it, with the full number of automatic
        retries.
        """
        if self._closed or self.state is not ConnectionState.DOWN:
            return
        self.attempt = 0
        self._start_attempt()

    def connect_unless_attempted(self) -> None:
        """Start to connect, unless there was an attempt already."""
        if self.state is ConnectionState.DOWN and self.attempt == 0 and self.failure_reason is None:
            self.request_connection()

    async def wait_for_attempt(self) -> None:
        """Wait until the connection is open, or the current attempt has failed.

        @raise HostUnreachable: the attempt failed.
        """
        self.request_connection()
        if self._attempt_task is not None:
            waiter: Deferred[None] = Deferred()
            self._attempt_task.addBoth(lambda _: waiter.callback(None))
            await waiter
        if not self.is_up:
            raise HostUnreachable(self.failure_reason or "the connection is closed")

    def wait_until_open(self) -> Deferred[None]:
        """Return a Deferred that fires once the connection is open."""
        waiter: Deferred[None] = Deferred(self._remove_waiter)
        if self.is_up:
            waiter.callback(None)
        elif len(self._waiters) >= MAX_WAITERS:
            waiter.errback(HostUnreachable("too many callers wait for the connection"))
        else:
            self._waiters.append(waiter)
        return waiter

    def close(self) -> None:
        """Close the connection permanently. It is not reopened."""
        self._closed = True
        self._timers.cancel_all()
        if self._attempt_task is not None:
            self._attempt_task.cancel()
        master, self._master = self._master, None
        self.state = ConnectionState.DOWN
        if master is not None:
            master.close()
        for waiter in self._waiters[:]:
            waiter.cancel()

    # -- inside

    def _remove_waiter(self, waiter: Deferred[None]) -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def _start_attempt(self) -> None:
        self._timers.cancel_all()
        self.state, self.next_at = ConnectionState.CONNECTING, None
        master = self._master = self._make_master()
        trying = spawn_logged(self._open_master(master), self._log, "connecting to a host")
        self._attempt_task = None if trying.called else trying

    async def _open_master(self, master: MasterConnection) -> None:
        try:
            await master.open()
        except HostUnreachable as error:
            master.close()
            self._schedule_retry(str(error))
            return
        self.state, self.failure_reason, self.attempt = ConnectionState.UP, None, 0
        self._attempt_task = None
        master.wait_lost().addCallback(self._handle_loss, master)
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.callback(None)
        self._listeners.notify_all(lambda heard: heard.host_connected())

    def _handle_loss(self, why: str, master: MasterConnection) -> None:
        if master is self._master and not self._closed:
            self._log.info("the connection to {title} ended: {why}", title=self._title, why=why)
            self.attempt = 0
            self._schedule_retry(why)

    def _schedule_retry(self, why: str) -> None:
        self._attempt_task = None
        self._master = None
        self.state, self.failure_reason = ConnectionState.DOWN, why
        if self._auto_reconnect() and self.attempt < len(RETRY_DELAYS):
            delay = RETRY_DELAYS[self.attempt]
            self.attempt += 1
            self.next_at = get_unix_ms(self._clock) + int(delay * 1000)
            self._timers.schedule_call("next", delay, self._start_attempt)
        else:
            self.attempt, self.next_at = len(RETRY_DELAYS), None
        attempt, next_at = self.attempt, self.next_at
        self._listeners.notify_all(lambda heard: heard.host_disconnected(attempt, next_at))
