"""Remote channel that is opened before a program needs it.

Opening a channel takes sshd two round trips, because it reads no input before the channel's program
runs. So one idle channel waits for its command line, and the next program starts after one round
trip.
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

from tservice.core.kernel.timers import NamedTimers

WAITS = 60.0
"""Seconds that an idle channel is kept open."""

MOST_HEARD = 16 * 1024
"""Maximum bytes that a login shell may print while the channel is idle. A channel with more output
is closed.
"""


class PreopenedChannel:
    """Keeps at most one idle child process with an open channel.

    L{start_idle_child} opens the channel. Once the child is handed over, a new one is opened.

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

    def hand_over_child(self, protocol: ProcessProtocol) -> bool:
        """Hand the idle child to C{protocol}. Return false if no child is idle.

        The protocol is connected immediately. It receives all output and the exit of the child.
        """
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return False
        self._timers.cancel_all()
        waiting.hand_over(protocol)
        self._timers.schedule_call("next", 0, self.start_idle_child)
        return True

    def start_idle_child(self) -> None:
        """Start an idle child with an open channel, unless one exists."""
        self._timers.cancel_timer("next")
        if self._closed or self._waiting is not None:
            return
        waiting, argv = _IdleChildProtocol(self._forget_ended_idle_child), [*self._argv()]
        try:
            self._processes.spawnProcess(waiting, argv[0], argv, dict(self._env), "/")
        except OSError as error:
            self._log.warn("{program}: {why}", program=argv[0], why=error.strerror)
            return
        self._waiting = waiting
        self._timers.schedule_call("over", WAITS, self._close_idle)

    def close(self) -> None:
        """Kill the idle child. No other child is started afterwards."""
        self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        self._timers.cancel_all()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.kill_child()

    def _forget_ended_idle_child(self, waiting: _IdleChildProtocol) -> None:
        if waiting is self._waiting:
            self._waiting = None
            self._timers.cancel_all()


class _IdleChildProtocol(ProcessProtocol):
    """Protocol of an idle child. It buffers output until another protocol takes over.

    @param ended: called once the child can no longer be used, unless it was handed over.
    """

    transport: Any

    def __init__(self, ended: Callable[[_IdleChildProtocol], object]) -> None:
        self._ended = ended
        self._heir: ProcessProtocol | None = None
        self._heard: list[tuple[int, bytes]] = []
        self._size = 0

    def hand_over(self, heir: ProcessProtocol) -> None:
        """Forward all events to C{heir} from now on, beginning with the buffered output."""
        self._heir = heir
        heir.makeConnection(self.transport)
        heard, self._heard = self._heard, []
        for number, data in heard:
            heir.childDataReceived(number, data)

    def kill_child(self) -> None:
        """Kill the child process immediately."""
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
