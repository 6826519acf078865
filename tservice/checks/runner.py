"""Execution of the checks of one run, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime

from tservice.checks.launch import NICENESS, CheckPlace
from tservice.checks.model import Check, CheckResult, CheckState
from tservice.checks.output_tail import OUTPUT_BYTES, OutputTail
from tservice.checks.report import clean_output, count_tests
from tservice.checks.shell_check.process import ShellCheckProcess, ShellEnding, ShellStart
from tservice.core.process.child import ChildProcess, ChildResult, ChildRunner


class CheckRunner:
    """Starter of checks.  L{stop} ends their processes."""

    def __init__(self, clock: IReactorTime, children: ChildRunner) -> None:
        self._clock, self._children = clock, children

    @property
    def running(self) -> int:
        """Number of running checks."""
        return self._children.running

    async def run_check(
        self, place: CheckPlace, check: Check, hide: Callable[[str], str]
    ) -> CheckResult:
        """Run a check and return its result, after all its processes have ended.

        Cancelling ends the processes first.

        @param hide: removes secrets from the output.
        """
        begun, tail = self._clock.seconds(), OutputTail()
        result = CheckResult(name=check.name, command=check.command)
        child: ChildProcess | ShellCheckProcess | None = None

        def keep_output(data: bytes) -> bool:
            tail.add_piece(data)
            if tail.is_flooded and child is not None:
                child.stop()
            return True

        try:
            child = self._start(place, check, keep_output)
        except OSError as error:
            why = f"it cannot be started: {error.strerror or error}"
            return evolve(result, state=CheckState.UNAVAILABLE, reason=why)
        ended, problem, is_cancelled = await _wait_or_stop(child)
        output = hide(clean_output(tail.get_bytes()))
        passed, failed = count_tests(output)
        state, reason = describe_ending(ended, check, tail.is_flooded)
        if is_cancelled:
            return evolve(result, state=CheckState.CANCELLED, output=output)
        if problem is not None and not tail.is_flooded:
            return evolve(result, state=CheckState.UNAVAILABLE, output=output, reason=problem)
        return evolve(
            result, state=state, status=ended.status, output=output, passed=passed, failed=failed,
            duration_ms=int((self._clock.seconds() - begun) * 1000), reason=reason,
        )  # fmt: skip

    def _start(
        self, place: CheckPlace, check: Check, keep_output: Callable[[bytes], bool]
    ) -> ChildProcess | ShellCheckProcess:
        if place.location.find_shell is None:
            return self._children.start(place.build_command(check), keep_output, keep_output)
        start = ShellStart(
            location=place.location, folder=place.folder, check=check,
            env=place.build_environment(), niceness=NICENESS,
        )  # fmt: skip
        return ShellCheckProcess(self._clock, self._children, start, keep_output)

    def stop(self) -> Deferred[None]:
        """End all processes.  The result fires after the last one has ended."""
        return self._children.stop()


async def _wait_or_stop(
    child: ChildProcess | ShellCheckProcess,
) -> tuple[ChildResult, str | None, bool]:
    """Wait for the end of a child.

    @return: the result, the reason why it is unknown, and true if the wait was cancelled, which
        stops the child.
    """
    is_cancelled = False
    try:
        ended = await child.wait_ended()
    except CancelledError:
        child.stop()
        is_cancelled = True
        ended = await child.wait_ended()
    if isinstance(ended, ShellEnding):
        return ended.result, ended.problem, is_cancelled
    return ended, None, is_cancelled


def describe_ending(
    ended: ChildResult, check: Check, is_flooded: bool
) -> tuple[CheckState, str | None]:
    """Return the state of a check whose process has ended, and the reason of that state."""
    if is_flooded:
        megabytes = OUTPUT_BYTES // (1024 * 1024)
        return CheckState.FLOODED, f"it printed more than {megabytes} MB"
    if ended.is_timed_out:
        return CheckState.TIMED_OUT, f"it did not end within {check.timeout_seconds} s"
    if ended.is_stopped:
        return CheckState.INTERRUPTED, "the service was stopped"
    if ended.status == 0:
        return CheckState.PASSED, None
    if ended.status is None:
        return CheckState.FAILED, f"signal {ended.signal}" if ended.signal else "it was killed"
    return CheckState.FAILED, None
