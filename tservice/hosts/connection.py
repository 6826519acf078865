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

DELAYS = (5.0, 15.0, 45.0, 120.0, 300.0, 300.0)
"""Seconds before each automatic attempt; after the last one only a user's request starts again."""

MOST_WAITERS = 1000


class State(Enum):
    """State of the connection."""

    DOWN = "down"
    CONNECTING = "connecting"
    UP = "up"


class CannotConnect(Exception):
    """The host was not reached; the text is one line for people."""


class IMaster(Protocol):
    """Holder of a connection."""

    async def open(self) -> None:
        """Connect.

        @raise CannotConnect: the connection failed.
        """

    def lost(self) -> Deferred[str]:
        """Return a Deferred that fires with the reason once an open connection has ended."""

    def close(self) -> None:
        """Close the connection, if any."""


class IHeard(Protocol):
    """Listener to state changes of a connection."""

    def hostUp(self) -> None:
        """Handle an opened connection."""

    def hostDown(self, attempt: int, next_at: int | None) -> None:
        """Handle a closed connection; the next automatic attempt is at C{next_at} (Unix
        milliseconds).

        C{None}: there is no further attempt.
        """


class Connection:
    """Connection to one host.

    @param fresh: creates an L{IMaster}.
    @param by_itself: returns true if it reconnects automatically.
    @ivar why: reason for the last failure or the end of the connection.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        title: str,
        fresh: Callable[[], IMaster],
        by_itself: Callable[[], bool],
    ) -> None:
        self.state = State.DOWN
        self.why: str | None = None
        self.attempt = 0
        self.next_at: int | None = None
        self._clock = clock
        self._title = title
        self._fresh = fresh
        self._by_itself = by_itself
        self._master: IMaster | None = None
        self._timers = NamedTimers(clock)
        self._waiters: list[Deferred[None]] = []
        self._trying: Deferred[None] | None = None
        self._listeners = ListenerList[IHeard]("a host")
        self._closed = False

    def listen(self, heard: IHeard) -> Callable[[], None]:
        """Notify C{heard} from now on; return a function that stops this."""
        return self._listeners.add(heard)

    @property
    def up(self) -> bool:
        """True while the connection is open."""
        return self.state is State.UP

    def wanted(self) -> None:
        """Connect now at the request of a user, and restart the count of attempts."""
        if self._closed or self.state is not State.DOWN:
            return
        self.attempt = 0
        self._connect()

    def begin(self) -> None:
        """Connect unless an attempt was made already."""
        if self.state is State.DOWN and self.attempt == 0 and self.why is None:
            self.wanted()

    async def connected(self) -> None:
        """Wait until the connection is open.

        @raise CannotConnect: the connection failed.
        """
        self.wanted()
        if self._trying is not None:
            waiter: Deferred[None] = Deferred()
            self._trying.addBoth(lambda _: waiter.callback(None))
            await waiter
        if not self.up:
            raise CannotConnect(self.why or "the connection is closed")

    def ready(self) -> Deferred[None]:
        """Return a Deferred that fires once the connection is open."""
        waiter: Deferred[None] = Deferred(self._drop)
        if self.up:
            waiter.callback(None)
        elif len(self._waiters) >= MOST_WAITERS:
            waiter.errback(CannotConnect("too many callers wait for the connection"))
        else:
            self._waiters.append(waiter)
        return waiter

    def close(self) -> None:
        """Close the connection for good."""
        self._closed = True
        self._timers.cancel_all()
        if self._trying is not None:
            self._trying.cancel()
        master, self._master = self._master, None
        self.state = State.DOWN
        if master is not None:
            master.close()
        for waiter in self._waiters[:]:
            waiter.cancel()

    # -- inside

    def _drop(self, waiter: Deferred[None]) -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def _connect(self) -> None:
        self._timers.cancel_all()
        self.state, self.next_at = State.CONNECTING, None
        master = self._master = self._fresh()
        trying = spawn_logged(self._open(master), self._log, "connecting to a host")
        self._trying = None if trying.called else trying

    async def _open(self, master: IMaster) -> None:
        try:
            await master.open()
        except CannotConnect as error:
            master.close()
            self._failed(str(error))
            return
        self.state, self.why, self.attempt = State.UP, None, 0
        self._trying = None
        master.lost().addCallback(self._lost, master)
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.callback(None)
        self._listeners.notify_all(lambda heard: heard.hostUp())

    def _lost(self, why: str, master: IMaster) -> None:
        if master is self._master and not self._closed:
            self._log.info("the connection to {title} ended: {why}", title=self._title, why=why)
            self.attempt = 0
            self._failed(why)

    def _failed(self, why: str) -> None:
        self._trying = None
        self._master = None
        self.state, self.why = State.DOWN, why
        if self._by_itself() and self.attempt < len(DELAYS):
            delay = DELAYS[self.attempt]
            self.attempt += 1
            self.next_at = now_ms(self._clock) + int(delay * 1000)
            self._timers.schedule_call("next", delay, self._connect)
        else:
            self.attempt, self.next_at = len(DELAYS), None
        attempt, next_at = self.attempt, self.next_at
        self._listeners.notify_all(lambda heard: heard.hostDown(attempt, next_at))
