"""Connection to a host: opening, losing and reopening (protocol-remote)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms
from tservice.core.listeners import ListenerList
from tservice.core.tasks import spawn_logged
from tservice.core.timers import NamedTimers

RETRY_DELAYS = (5.0, 15.0, 45.0, 120.0, 300.0, 300.0)
"""Seconds before each automatic attempt; after the last one only a user's request starts again."""

MAX_WAITERS = 1000


class ConnectionState(Enum):
    """State of the connection."""

    DOWN = "down"
    CONNECTING = "connecting"
    UP = "up"


class HostUnreachable(Exception):
    """The host was not reached; the text is one line for people."""


class MasterConnection(Protocol):
    """Holder of a connection."""

    async def open(self) -> None:
        """Connect.

        @raise HostUnreachable: the connection failed.
        """

    def wait_lost(self) -> Deferred[str]:
        """Return a Deferred that fires with the reason once an open connection has ended."""

    def close(self) -> None:
        """Close the connection, if any."""


class ConnectionListener(Protocol):
    """Listener to state changes of a connection."""

    def host_up(self) -> None:
        """Handle an opened connection."""

    def host_down(self, attempt: int, next_at: int | None) -> None:
        """Handle a closed connection; the next automatic attempt is at C{next_at} (Unix
        milliseconds).

        C{None}: there is no further attempt.
        """


class HostConnection:
    """Connection to one host.

    @param fresh: creates an L{MasterConnection}.
    @param by_itself: returns true if it reconnects automatically.
    @ivar why: reason for the last failure or the end of the connection.
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
        """Notify C{heard} from now on; return a function that stops this."""
        return self._listeners.add(listener)

    @property
    def is_up(self) -> bool:
        """True while the connection is open."""
        return self.state is ConnectionState.UP

    def request_connection(self) -> None:
        """Connect now at the request of a user, and restart the count of attempts."""
        if self._closed or self.state is not ConnectionState.DOWN:
            return
        self.attempt = 0
        self._start_attempt()

    def connect_first(self) -> None:
        """Connect unless an attempt was made already."""
        if self.state is ConnectionState.DOWN and self.attempt == 0 and self.failure_reason is None:
            self.request_connection()

    async def wait_connected(self) -> None:
        """Wait until the connection is open.

        @raise HostUnreachable: the connection failed.
        """
        self.request_connection()
        if self._attempt_task is not None:
            waiter: Deferred[None] = Deferred()
            self._attempt_task.addBoth(lambda _: waiter.callback(None))
            await waiter
        if not self.is_up:
            raise HostUnreachable(self.failure_reason or "the connection is closed")

    def wait_ready(self) -> Deferred[None]:
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
        """Close the connection for good."""
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
        self._listeners.notify_all(lambda heard: heard.host_up())

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
            self.next_at = now_ms(self._clock) + int(delay * 1000)
            self._timers.schedule_call("next", delay, self._start_attempt)
        else:
            self.attempt, self.next_at = len(RETRY_DELAYS), None
        attempt, next_at = self.attempt, self.next_at
        self._listeners.notify_all(lambda heard: heard.host_down(attempt, next_at))
