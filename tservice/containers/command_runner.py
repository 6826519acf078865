"""Runner of engine commands, with limits on their time and output."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Protocol

from attrs import frozen
from twisted.internet.defer import Deferred, DeferredSemaphore

from tservice.core.process.child import ChildCommand, ChildFamily, ChildResult, ChildRunner

TIME_LIMIT = 30.0
"""Default time limit of an engine command in seconds.

Pulling and building have longer ones.
"""
OUTPUT_LIMIT = 4 << 20
"""Maximum bytes of output.  A command that prints more counts as failed."""
ERRORS_LIMIT = 16 * 1024
"""Number of trailing bytes of standard error that are kept."""
CAUSE_LENGTH = 1000
"""Maximum characters of a reported cause.  A longer one is cut in the middle."""
MAX_RUNNING = 4
"""Maximum number of commands that run at the same time.  Others wait."""

_HELP = re.compile(r"\(?(?:See|Run) '.*--help'|Usage:")
_ACCOMPANYING_LINE = re.compile(
    r"(?:Error: )?failed to start containers?: |WARN(?:ING)?\b|DEPRECATED:|time=\S+ level=(?!error)"
)
"""Matches lines of error output that are not the cause: warnings, and consequences of the cause."""
_ERROR = re.compile(r"(?:docker: )?Error\b", re.IGNORECASE)


@frozen(kw_only=True)
class EngineCommandResult:
    """Result of an engine command.

    @ivar status: exit code; C{None} if the command was killed by a signal or its time limit.
    @ivar error_text: the cause from standard error; it may be shown to a client.
    """

    status: int | None
    output: str
    error_text: str

    @property
    def is_success(self) -> bool:
        """True if the command succeeded."""
        return self.status == 0


class EngineRunner(Protocol):
    """Runner of engine commands."""

    async def run(self, argv: Sequence[str], *, seconds: float = TIME_LIMIT) -> EngineCommandResult:
        """Run C{argv} and return its result.

        @param argv: the command, whose first element is an absolute path.
        @param seconds: time after which the command is killed.
        """


class EngineProcessRunner:
    """Runs engine commands as child processes.

    @param environ: environment of the commands.
    """

    def __init__(self, children: ChildRunner, environ: Mapping[str, str]) -> None:
        self._children, self._environ = children, environ
        self._places = DeferredSemaphore(MAX_RUNNING)

    async def run(self, argv: Sequence[str], *, seconds: float = TIME_LIMIT) -> EngineCommandResult:
        """Run a command; see L{EngineRunner}."""
        await self._places.acquire()
        try:
            done = await self._children.run(make_engine_command(argv, self._environ, seconds))
        except OSError as error:
            return EngineCommandResult(
                status=None, output="", error_text=f"{argv[0]}: {error.strerror}"
            )
        finally:
            self._places.release()
        return EngineCommandResult(
            # A command that printed too much may have ended before it was killed.
            status=None if done.is_truncated else done.status,
            output=done.output.decode(errors="replace"),
            error_text=describe_failure(done, seconds),
        )

    def stop(self) -> Deferred[None]:
        """Kill all running commands.  The result fires after they have ended."""
        return self._children.stop()


def make_engine_command(
    argv: Sequence[str], environ: Mapping[str, str], seconds: float | None
) -> ChildCommand:
    """Return an engine command, which is killed without the processes that it started.

    The processes of containers belong to the engine.

    @param seconds: time limit; C{None} means none.
    """
    return ChildCommand(
        argv=argv,
        env=environ,
        family=ChildFamily.ALONE,
        seconds=seconds,
        output_limit=OUTPUT_LIMIT,
        error_limit=ERRORS_LIMIT,
    )


def describe_failure(done: ChildResult, seconds: float) -> str:
    """Return the cause of a failure, which may be shown to a client.

    The output of a command that was too slow describes its progress, not the cause.
    """
    if done.is_timed_out:
        return f"it did not finish in {seconds:g} s"
    if done.is_truncated:
        return f"it printed more than {OUTPUT_LIMIT} bytes"
    return extract_cause(done.errors)


def extract_cause(errors: bytes) -> str:
    """Return the cause of a failure from a command's standard error, as one printable line.

    Engines print the cause first, followed by consequences or a hint how to get help.
    """
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines()]
    said = list(takewhile(lambda line: not _HELP.match(line), filter(None, lines)))
    told = [line for line in said if not _ACCOMPANYING_LINE.match(line)] or said or lines
    begin = max((at for at, line in enumerate(told) if _ERROR.match(line)), default=-1)
    text = "".join(char for char in " ".join(told[begin:]) if char.isprintable())
    if len(text) <= CAUSE_LENGTH:
        return text
    # The beginning names the failed step, and the end names the cause.
    half = CAUSE_LENGTH // 2
    return f"{text[:half]} […] {text[-half:]}"
