"""Run of the tunnel program: it yields the public address, and is ended with its process group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.core.kernel.timers import cancel_call
from tservice.core.process.child import ChildCommand, ChildProcess, ChildResult, ChildRunner
from tservice.tunnel.model import URL_SECONDS, clean_line, find_public_url

LONGEST_LINE = 16 * 1024
"""Maximum number of bytes of a line. Longer lines are cut."""

GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL."""


class TunnelError(Exception):
    """Error for a tunnel that could not be opened or has ended. Its text is safe to show to
    clients.
    """


class LineSplitter:
    """Splitter of a byte stream into lines."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._rest = b""

    def process_bytes(self, data: bytes) -> None:
        """Process the next bytes, and report each completed line."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-LONGEST_LINE:]
        for line in lines:
            self._on_line(line[-LONGEST_LINE:].decode("utf-8", "replace"))


class TunnelProcess:
    """Single run of the tunnel program."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._out, self._err = LineSplitter(self._handle_line), LineSplitter(self._handle_line)
        self._child: ChildProcess | None = None
        self._last = ""
        self._found: str | None = None
        self._failure: TunnelError | None = None
        self._has_ended = False
        self._timer: IDelayedCall | None = None
        self._waiting: list[Deferred[str]] = []

    def start(
        self, children: ChildRunner, argv: tuple[str, ...], env: Mapping[str, str], cwd: Path
    ) -> None:
        """Run the command C{argv}.

        @param argv: program and arguments. The program is an absolute path.
        @raise OSError: the process could not be started.
        """
        command = ChildCommand(
            argv=argv,
            env=env,
            folder=str(cwd),
            is_guarded=True,
            seconds=None,
            term_seconds=GRACE,
            pipe_seconds=GRACE,
        )
        self._child = children.start(command, self._handle_output, self._err.process_bytes)
        self._timer = self._clock.callLater(
            URL_SECONDS, self._fail_waiters, f"it printed no https address within {URL_SECONDS:g} s"
        )
        self._child.wait_ended().addCallback(self._handle_end)

    def wait_url(self) -> Deferred[str]:
        """Return a Deferred that fires with the public address, or fails with L{TunnelError}.

        Cancelling the Deferred does not stop the process.
        """
        if self._failure is not None:
            return fail(self._failure)
        if self._found is not None:
            return succeed(self._found)
        waiter: Deferred[str] = Deferred()
        self._waiting.append(waiter)
        return waiter

    async def wait_ended(self) -> None:
        """Wait until all processes of the tunnel have ended."""
        if self._child is not None:
            await self._child.wait_ended()

    @property
    def reason(self) -> str:
        """Reason why the tunnel ended, for an error text."""
        return "it ended" if self._failure is None else str(self._failure)

    async def terminate(self) -> None:
        """Send SIGTERM to the process group, and SIGKILL 3 s later. Wait until it has ended."""
        if self._child is not None:
            self._child.stop()
        await self.wait_ended()

    def _handle_output(self, data: bytes) -> bool:
        self._out.process_bytes(data)
        return True

    def _handle_end(self, result: ChildResult) -> None:
        cancel_call(self._timer)
        self._has_ended = True
        self._fail_waiters(_describe_end(result))

    def _handle_line(self, line: str) -> None:
        if line.strip():
            self._last = line
        found = None if self._found is not None else find_public_url(line)
        if found is None:
            return
        self._found = found
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(found)

    def _fail_waiters(self, why: str) -> None:
        if self._failure is not None or (self._found is not None and not self._has_ended):
            return
        said = f"; its last output: {clean_line(self._last)}" if self._last else ""
        self._failure = TunnelError(why + said)
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.called:
                waiter.errback(self._failure)


def _describe_end(result: ChildResult) -> str:
    if result.signal is not None:
        return f"it was killed by signal {result.signal}"
    return f"it ended with status {result.status}" if result.status else "it ended"
