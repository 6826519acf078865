"""A channel that is open before anybody wants it.

To open one takes sshd two round trips: it reads no input of a channel before its program runs.  So
one waits for its line beside those that are used, and what is started next is there after one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from twisted.internet.error import ProcessExitedAlready
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.timers import Timers

WAITS = 60.0
"""Seconds that it waits for a use; the far end holds nothing of ours for longer than that."""

MOST_HEARD = 16 * 1024
"""Bytes that a login shell may print by itself meanwhile; more ends it."""


class Spare:
    """At most one child that waits; made by L{keep}, and a new one whenever it is taken.

    @param argv: what runs a child of the way, made anew for each.
    @param env: its environment.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        processes: IReactorProcess,
        argv: Callable[[], Sequence[str]],
        env: Mapping[str, str],
    ) -> None:
        self._processes = processes
        self._argv = argv
        self._env = env
        self._timers = Timers(clock)
        self._waiting: _Waiting | None = None
        self._closed = False

    def take(self, protocol: ProcessProtocol) -> bool:
        """Let C{protocol} have the child that waits; false: none does.

        It is connected at once, and hears all that the child prints and how it ends.
        """
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return False
        self._timers.clear()
        waiting.hand_to(protocol)
        self._timers.set("next", 0, self.keep)
        return True

    def keep(self) -> None:
        """Have one wait from now on, unless one does."""
        self._timers.stop("next")
        if self._closed or self._waiting is not None:
            return
        waiting, argv = _Waiting(self._ended), [*self._argv()]
        try:
            self._processes.spawnProcess(waiting, argv[0], argv, dict(self._env), "/")
        except OSError as error:
            self._log.warn("{program}: {why}", program=argv[0], why=error.strerror)
            return
        self._waiting = waiting
        self._timers.set("over", WAITS, self._drop)

    def close(self) -> None:
        """End the one that waits, and make none any more."""
        self._closed = True
        self._drop()

    def _drop(self) -> None:
        self._timers.clear()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.end()

    def _ended(self, waiting: _Waiting) -> None:
        if waiting is self._waiting:
            self._waiting = None
            self._timers.clear()


class _Waiting(ProcessProtocol):
    """Listens to a child until somebody else does.

    @param ended: told once the child is of no use to anybody, unless it was handed on.
    """

    transport: Any

    def __init__(self, ended: Callable[[_Waiting], object]) -> None:
        self._ended = ended
        self._heir: ProcessProtocol | None = None
        self._heard: list[tuple[int, bytes]] = []
        self._size = 0

    def hand_to(self, heir: ProcessProtocol) -> None:
        """Let C{heir} hear everything from now on, and what was printed so far."""
        self._heir = heir
        heir.makeConnection(self.transport)
        heard, self._heard = self._heard, []
        for number, data in heard:
            heir.childDataReceived(number, data)

    def end(self) -> None:
        """End the child now."""
        with suppress(ProcessExitedAlready):
            self.transport.signalProcess("KILL")
        self.transport.loseConnection()

    def childDataReceived(self, childFD: int, data: bytes) -> None:
        if self._heir is not None:
            self._heir.childDataReceived(childFD, data)
            return
        self._heard.append((childFD, data))
        self._size += len(data)
        if self._size > MOST_HEARD:
            self._ended(self)
            self.end()

    def childConnectionLost(self, childFD: int) -> None:
        if self._heir is not None:
            self._heir.childConnectionLost(childFD)
        else:
            self._ended(self)

    def processExited(self, reason: Failure) -> None:
        if self._heir is not None:
            self._heir.processExited(reason)
        else:
            self._ended(self)

    def processEnded(self, reason: Failure) -> None:
        if self._heir is not None:
            self._heir.processEnded(reason)
