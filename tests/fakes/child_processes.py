"""Child processes that a test plays; exit and end come in the order of real Twisted."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from twisted.internet.error import ProcessDone, ProcessExitedAlready, ProcessTerminated
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.process.child import ChildRunner, ChildTools

FIRST_PID = 4000


class FakeTransport:
    """A process that a test ends by hand."""

    def __init__(self, protocol: ProcessProtocol, pid: int) -> None:
        self.protocol = protocol
        self.pid: int | None = pid
        self.stdin_closed = False
        self.pipes_open = True
        self.signals: list[int] = []
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def closeStdin(self) -> None:
        self.stdin_closed = True

    def signalProcess(self, number: int) -> None:
        if self.pid is None:
            raise ProcessExitedAlready
        self.signals.append(number)

    def loseConnection(self) -> None:
        self.close_pipes()

    def exit(self, status: int | None = 0, signal: int | None = None) -> None:
        """End the process; others may hold its pipes."""
        self.pid = None
        self._reason = Failure(
            ProcessDone(0) if not status and signal is None else ProcessTerminated(status, signal)
        )
        self.protocol.processExited(self._reason)

    def close_pipes(self) -> None:
        """Let nobody hold the pipes any longer."""
        if self.pipes_open and self.pid is None:
            self.pipes_open = False
            self.protocol.processEnded(self._reason)

    def finish(self, status: int | None = 0, signal: int | None = None) -> None:
        """Exit and close in one."""
        self.exit(status, signal)
        self.close_pipes()


@implementer(IReactorProcess)
class FakeProcesses:
    """Spawns L{FakeTransport}s, and plays the kernel for their signals.

    @ivar spawned: the processes in the order of their start.
    @ivar calls: the arguments of each start.
    @ivar error: raised by the next starts.
    @ivar sent: signals that were sent to groups.
    @ivar has_group: false if no process group exists, as before the child has made its own.
    @ivar refusal: raised by signals to groups and changes of priority.
    @ivar obeys_kill: false if a process does not end by SIGKILL.
    """

    def __init__(self) -> None:
        self.spawned: list[FakeTransport] = []
        self.calls: list[dict[str, Any]] = []
        self.error: OSError | None = None
        self.sent: list[tuple[int, int]] = []
        self.niced: list[tuple[int, int]] = []
        self.has_group = self.obeys_kill = True
        self.refusal: OSError | None = None

    def spawnProcess(
        self,
        processProtocol: Any,
        executable: Any,
        args: Any = (),
        env: Mapping[Any, Any] | None = None,
        path: Any = None,
        uid: Any = None,
        gid: Any = None,
        usePTY: Any = 0,
        childFDs: Any = None,
    ) -> Any:
        if self.error is not None:
            raise self.error
        self.calls.append({"args": args, "env": env, "path": path, "fds": childFDs})
        transport = FakeTransport(processProtocol, FIRST_PID + len(self.spawned))
        self.spawned.append(transport)
        processProtocol.makeConnection(transport)
        return transport

    def make_runner(self, clock: IReactorTime, tools: ChildTools | None = None) -> ChildRunner:
        """Return a starter of these processes."""
        return ChildRunner(
            clock,
            self,
            tools or ChildTools(),
            kill_group=self.kill_group,
            set_priority=self.set_priority,
        )

    def set_priority(self, which: int, pid: int, value: int) -> None:
        """Play C{os.setpriority}."""
        if self.refusal is not None:
            raise self.refusal
        self.niced.append((pid, value))

    def kill_group(self, group: int, number: int) -> None:
        """Play C{os.killpg}."""
        if self.refusal is not None:
            raise self.refusal
        if not self.has_group:
            raise ProcessLookupError
        if number:
            self.sent.append((group, number))
        process = self.spawned[group - FIRST_PID]
        if number == signal.SIGKILL and process.pid is not None and self.obeys_kill:
            process.finish(None, number)
