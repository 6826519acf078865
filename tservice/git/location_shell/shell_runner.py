"""Runner of shell text in a location that is reached by a child process of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen
from twisted.internet.defer import Deferred, DeferredSemaphore

from tservice.core.locations.location import Location
from tservice.core.process.child import ChildCommand, ChildResult, ChildRunner
from tservice.git.process.runner import GitError
from tservice.mux.preamble import ShellPreambleFilter
from tservice.mux.remote.runner import CUT
from tservice.mux.remote.shell_quoting import MARK

MAX_RUNNING = 4
"""Maximum number of programs at the same time; an ssh connection has ten channels."""


@frozen(kw_only=True)
class ShellOutput:
    """Result of shell text in a location.

    @ivar status: the exit status.
    @ivar is_cut: true if the program was killed because it printed more than the limit.
    @ivar is_timed_out: true if it was killed at its time limit.
    """

    status: int | None
    output: bytes
    errors: str
    is_cut: bool = False
    is_timed_out: bool = False


class LocationShellRunner:
    """Starts shells in locations, and kills their local ends when the service stops."""

    def __init__(self, children: ChildRunner) -> None:
        self._children = children
        self._turns = DeferredSemaphore(MAX_RUNNING)

    @property
    def running(self) -> int:
        """Number of running shells."""
        return self._children.running

    async def run(
        self,
        place: Location,
        program: bytes,
        stdin: bytes = b"",
        *,
        limit: int,
        seconds: float,
        before: Callable[[], object] = lambda: None,
    ) -> ShellOutput:
        """Run C{program}, which is a line of shell text, in C{place}.

        @param limit: maximum bytes of standard output.
        @param seconds: time limit.
        @param before: called just before the start.
        @raise GitError: the location cannot be reached, or has no POSIX shell.
        """
        collector = _FilteredOutput(limit)
        await self._turns.acquire()
        try:
            before()
            command = _make_command(place, program + stdin, seconds)
            done = await self._children.run(command, collector.add_piece)
        except OSError as error:
            raise GitError(f"{place.title}: {error.strerror or error}") from None
        finally:
            self._turns.release()
        errors = collector.preamble.strip_errors(done.errors).decode("utf-8", "replace").strip()
        _check_reached(place, done, collector.preamble, errors)
        return ShellOutput(
            status=done.status,
            output=collector.get_bytes(),
            errors=errors,
            is_cut=done.is_truncated,
            is_timed_out=done.is_timed_out,
        )

    def stop(self) -> Deferred[None]:
        """End all shells.  The result fires after the last one has ended."""
        return self._children.stop()


class _FilteredOutput:
    """Output of a program without that of its login shell, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.preamble = ShellPreambleFilter(MARK)
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def add_piece(self, data: bytes) -> bool:
        """Store the next piece; return false if the limit is exceeded."""
        own = self.preamble.strip_output(data)
        self._pieces.append(own)
        self._size += len(own)
        return self._size <= self._limit

    def get_bytes(self) -> bytes:
        """Return the output, cut at the limit."""
        return b"".join(self._pieces)[: self._limit]


def quote_environment(environ: Mapping[bytes, bytes]) -> Sequence[bytes]:
    """Return the words of C{env} that start a program with only these variables."""
    return [b"env", b"-i", *(name + b"=" + value for name, value in environ.items())]


def encode_environment(environ: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return variables as bytes."""
    return {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}


def _make_command(place: Location, stdin: bytes, seconds: float) -> ChildCommand:
    """Return the child that reaches into C{place}.

    @raise OSError: it cannot be reached.
    """
    if place.find_shell is None:
        raise OSError("no programs can be run there")
    shell = place.find_shell()
    return ChildCommand(argv=shell.argv, env=shell.env, stdin=stdin, seconds=seconds)


def _check_reached(
    place: Location, done: ChildResult, preamble: ShellPreambleFilter, errors: str
) -> None:
    if preamble.has_begun and done.status != CUT:
        return
    said = errors or preamble.last_line
    if done.is_timed_out:
        said = "it did not answer in time"
    raise GitError(f"{place.title} did not run git{said and f': {said}'}")
