"""Run of one command of a CLI, whose last output is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import frozen
from twisted.internet.defer import Deferred

from tservice.core.process.child import ChildCommand, ChildFamily, ChildResult, ChildRunner

TIME_LIMIT = 300.0
"""Seconds after which a command is terminated (protocol-clis)."""
GRACE = 3.0
"""Seconds between SIGTERM and SIGKILL. The same time is allowed for pipes that other processes keep
open after the command has exited.
"""
OUTPUT_LIMIT = 16 * 1024
"""Number of bytes that are kept from the end of the output."""


@frozen(kw_only=True)
class CommandResult:
    """Result of a command.

    @ivar status: exit status, or C{None} if a signal ended the command.
    @ivar was_terminated: true if the service ended the command, because of the time limit or a
        shutdown.
    @ivar output: the last L{OUTPUT_LIMIT} bytes of both output streams, decoded.
    """

    status: int | None
    was_terminated: bool
    output: str


def ignore_output(data: bytes) -> None:
    """Ignore a chunk of output, because only the complete output is used."""


class CliCommand:
    """Single run of a command, without a shell. After its regular end, processes that it started
    live on.
    """

    def __init__(
        self,
        children: ChildRunner,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        cwd: Path,
        *,
        on_output: Callable[[bytes], None] = ignore_output,
        seconds: float = TIME_LIMIT,
        is_guarded: bool = False,
    ) -> None:
        """Start the command.

        @param argv: program and arguments. The program is an absolute path.
        @param seconds: time limit.
        @param is_guarded: true if its processes end with the service; see L{ChildCommand}.
        @raise OSError: the process could not be started.
        """
        self._on_output = on_output
        self._kept = b""
        command = ChildCommand(
            argv=argv,
            env=env,
            folder=str(cwd),
            family=ChildFamily.GROUP,
            is_guarded=is_guarded,
            seconds=seconds,
            term_seconds=GRACE,
            pipe_seconds=GRACE,
        )
        self._child = children.start(command, self._keep_output, self._keep_output)

    def wait_ended(self) -> Deferred[CommandResult]:
        """Return a Deferred that fires with the result when the command has ended.

        Cancelling the Deferred does not stop the command.
        """
        return self._child.wait_ended().addCallback(self._make_result)

    def terminate(self) -> None:
        """Send SIGTERM to the process group, and SIGKILL 3 s later. Do nothing if the command has
        ended.
        """
        self._child.stop()

    def _keep_output(self, data: bytes) -> bool:
        self._kept = (self._kept + data)[-OUTPUT_LIMIT:]
        self._on_output(data)
        return True

    def _make_result(self, ended: ChildResult) -> CommandResult:
        return CommandResult(
            status=ended.status,
            was_terminated=ended.is_stopped or ended.is_timed_out,
            output=self._kept.decode(errors="replace"),
        )
