"""Channel that is opened before it is needed.

Opening a channel takes sshd two round trips, because it reads no input before the channel's program
runs. So one idle channel waits for its line, and the next program starts after a single round trip.
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

from tservice.core.timers import NamedTimers

WAITS = 60.0
"""Seconds that an idle channel is kept; the remote end holds nothing of ours for longer."""

MOST_HEARD = 16 * 1024
"""Bytes that a login shell may print while the channel is idle; a channel with more is closed."""


class PreopenedChannel:
    """Keeper of at most one idle child. L{open_ahead} opens it, and a new one is opened when it is
    taken.

    @param argv: returns the command of a new child.
    @param env: the environment of the child.
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
        self._timers = NamedTimers(clock)
        self._waiting: _IdleChildProtocol | None = None
        self._closed = False

    def hand_over(self, protocol: ProcessProtocol) -> bool:
        """Hand the idle child to C{protocol}. Return false if there is none.

        The protocol is connected immediately. It receives all output of the child and its end.
        """
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return False
        self._timers.cancel_all()
        waiting.hand_over(protocol)
        self._timers.schedule_call("next", 0, self.open_ahead)
        return True

    def open_ahead(self) -> None:
        """Open an idle child, unless one exists."""
        self._timers.cancel_timer("next")
        if self._closed or self._waiting is not None:
            return
        waiting, argv = _IdleChildProtocol(self._handle_idle_ended), [*self._argv()]
        try:
            self._processes.spawnProcess(waiting, argv[0], argv, dict(self._env), "/")
        except OSError as error:
            self._log.warn("{program}: {why}", program=argv[0], why=error.strerror)
            return
        self._waiting = waiting
        self._timers.schedule_call("over", WAITS, self._close_idle)

    def close(self) -> None:
        """Close the idle child and never open another."""
        self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        self._timers.cancel_all()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.kill_child()

    def _handle_idle_ended(self, waiting: _IdleChildProtocol) -> None:
        if waiting is self._waiting:
            self._waiting = None
            self._timers.cancel_all()


class _IdleChildProtocol(ProcessProtocol):
    """Protocol of an idle child; it buffers output until another protocol takes over.

    @param ended: called once the child is useless, unless it was handed over.
    """

    transport: Any

    def __init__(self, ended: Callable[[_IdleChildProtocol], object]) -> None:
        self._ended = ended
        self._heir: ProcessProtocol | None = None
        self._heard: list[tuple[int, bytes]] = []
        self._size = 0

    def hand_over(self, heir: ProcessProtocol) -> None:
        """Forward everything to C{heir} from now on, beginning with the buffered output."""
        self._heir = heir
        heir.makeConnection(self.transport)
        heard, self._heard = self._heard, []
        for number, data in heard:
            heir.childDataReceived(number, data)

    def kill_child(self) -> None:
        """Kill the child now."""
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
            self.kill_child()

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
