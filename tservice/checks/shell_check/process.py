"""Process of a check in a location that is reached by a shell."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress

from attrs import frozen
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from tservice.checks.model import Check
from tservice.checks.shell_check.script import TERM_SECONDS, build_program
from tservice.core.kernel.timers import cancel_call
from tservice.core.locations.location import Location
from tservice.core.process.child import ChildCommand, ChildProcess, ChildResult, ChildRunner
from tservice.mux.preamble import ShellPreambleFilter
from tservice.mux.remote.shell_quoting import MARK

REACH_SECONDS = 20.0
"""Seconds in addition to a check's time limit, for the connection and the end of its processes."""
DRAIN_SECONDS = 1.0
"""Seconds for which output is read after the end of a check; a process that escaped may hold it."""
_REPORT_BYTES = 4096
_LOST = "the connection ended before the check did"


@frozen(kw_only=True)
class ShellStart:
    """Check that is to be started.

    @ivar folder: the folder, as the location has it.
    @ivar env: the complete environment.
    """

    location: Location
    folder: str
    check: Check
    env: Mapping[str, str]
    niceness: int


@frozen(kw_only=True)
class ShellEnding:
    """End of a check.

    @ivar result: the result, as if it were a child of this process.
    @ivar problem: the reason why the result is unknown; C{None} if it is known.
    """

    result: ChildResult
    problem: str | None = None


class ShellCheckProcess:
    """Check that runs, and the local end of the way to it.

    The standard input of the supervisor stays open as long as the check may run.
    """

    def __init__(
        self,
        clock: IReactorTime,
        children: ChildRunner,
        start: ShellStart,
        on_output: Callable[[bytes], object],
    ) -> None:
        """Start the check.

        @param on_output: receives what it prints.
        @raise OSError: the location cannot be reached.
        """
        self._clock, self._title = clock, start.location.title
        self._on_output = on_output
        self._mark = f"tservice-check-{secrets.token_hex(8)}"
        self._preamble = ShellPreambleFilter(MARK)
        self._errors = b""
        self._is_stopping = False
        self._timer: IDelayedCall | None = None
        self._input: int | None = None
        self._child = self._start(children, start)

    def stop(self) -> None:
        """End the check.  Do nothing if it has ended."""
        if self._is_stopping or self._child.has_ended:
            return
        self._is_stopping = True
        self._close_input()
        self._end_soon(TERM_SECONDS + REACH_SECONDS / 2)

    async def wait_ended(self) -> ShellEnding:
        """Return the end of the check.  Cancelling does not stop it."""
        result = await self._child.wait_ended()
        cancel_call(self._timer)
        self._close_input()
        return self._describe_ending(result)

    # -- inside

    def _start(self, children: ChildRunner, start: ShellStart) -> ChildProcess:
        if start.location.find_shell is None:
            raise OSError("no commands can be run there")
        shell, check = start.location.find_shell(), start.check
        words = (start.folder, check.command, str(check.timeout_seconds), self._mark,
                 str(start.niceness))  # fmt: skip
        variables = {os.fsencode(name): os.fsencode(value) for name, value in start.env.items()}
        program = build_program(variables, [os.fsencode(word) for word in words])
        reading, self._input = os.pipe()
        try:
            os.set_blocking(self._input, False)
            if os.write(self._input, program) != len(program):
                raise OSError("the command is too long")
            command = ChildCommand(
                argv=shell.argv, env=shell.env, stdin=reading, error_limit=_REPORT_BYTES,
                seconds=check.timeout_seconds + REACH_SECONDS,
            )  # fmt: skip
            return children.start(command, self._receive_output, self._receive_errors)
        except OSError:
            self._close_input()
            raise
        finally:
            os.close(reading)

    def _receive_output(self, data: bytes) -> bool:
        self._on_output(self._preamble.strip_output(data))
        return True

    def _receive_errors(self, data: bytes) -> None:
        self._errors = (self._errors + data)[-_REPORT_BYTES:]
        if self._find_report() is not None:
            self._end_soon(DRAIN_SECONDS)

    def _end_soon(self, seconds: float) -> None:
        cancel_call(self._timer)
        self._timer = self._clock.callLater(seconds, self._child.stop)

    def _close_input(self) -> None:
        if self._input is not None:
            with suppress(OSError):
                os.close(self._input)
            self._input = None

    def _find_report(self) -> tuple[str, str] | None:
        pattern = rb"^%b ([a-z]+) ([a-z0-9]+)\n" % self._mark.encode()
        found = re.search(pattern, self._errors, re.MULTILINE)
        return None if found is None else (found[1].decode(), found[2].decode())

    def _describe_ending(self, result: ChildResult) -> ShellEnding:
        report = self._find_report()
        if report is None:
            is_stopped = result.is_stopped and not self._is_stopping
            if self._is_stopping or is_stopped:
                return ShellEnding(result=ChildResult(status=None, is_stopped=is_stopped))
            return ShellEnding(result=result, problem=self._explain_loss(result))
        why, status = report
        if why == "missing":
            return ShellEnding(
                result=result, problem=f"{self._title} has neither {status} nor perl"
            )
        if why == "stop" and not self._is_stopping and not result.is_stopped:
            return ShellEnding(result=result, problem=f"{self._title}: {_LOST}")
        return ShellEnding(
            result=ChildResult(
                status=int(status),
                is_timed_out=why == "timeout",
                is_stopped=why == "stop" and not self._is_stopping,
            )
        )

    def _explain_loss(self, result: ChildResult) -> str:
        said = self._preamble.strip_errors(self._errors).decode("utf-8", "replace").strip()
        if result.is_timed_out:
            return f"{self._title} did not answer in time"
        line = said.splitlines()[-1] if said else self._preamble.last_line
        text = "".join(sign for sign in line if sign.isprintable())[:200]
        return f"{self._title}: {text or _LOST}"
