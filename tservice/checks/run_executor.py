"""Execution of one run of a session's checks, with a bound on those that run at a time."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve
from twisted.internet.defer import CancelledError, DeferredSemaphore
from twisted.internet.interfaces import IReactorTime

from tservice.checks.launch import CheckPlaces, ChecksUnavailable
from tservice.checks.model import (
    CaseChecks,
    CheckResult,
    CheckRun,
    CheckState,
    RunState,
    conclude_run,
)
from tservice.checks.runner import CheckRunner
from tservice.checks.store import CheckStore
from tservice.core.kernel.clock import get_unix_ms
from tservice.sessions.interfaces import Session

MAX_AT_A_TIME = 4
"""Maximum number of sessions whose checks run at the same time."""
MAX_OF_ONE = 2
"""Maximum number of those sessions of one account."""

INTERRUPTED_REASON = "the service ended while the checks ran"

_ENDS = frozenset({CheckState.CANCELLED, CheckState.INTERRUPTED})


class CheckRunExecutor:
    """Executor of runs, which writes down each step before the next."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        store: CheckStore,
        places: CheckPlaces,
        runner: CheckRunner,
        hide: Callable[[str], str],
    ) -> None:
        """@param hide: removes secrets from the output of a check."""
        self._clock, self._store = clock, store
        self._places, self._runner, self._hide = places, runner, hide
        self._all = DeferredSemaphore(MAX_AT_A_TIME)
        self._owners: dict[str | None, DeferredSemaphore] = {}
        self._is_stopping = False

    def stop(self) -> None:
        """Count runs that are cancelled from now on as interrupted by the end of the service."""
        self._is_stopping = True

    def close_cancelled(self, run: CheckRun) -> CheckRun:
        """Return a run that was cancelled before it began."""
        return self._finish(evolve(run, state=RunState.CANCELLED))

    async def execute_run(self, run: CheckRun, session: Session, checks: CaseChecks) -> CheckRun:
        """Execute a run, and return it with its results.

        Cancelling ends the running check; the result is then a cancelled run.
        """
        turns = self._owners.setdefault(session.owner, DeferredSemaphore(MAX_OF_ONE))
        try:
            await turns.acquire()
        except CancelledError:
            return self.close_cancelled(run)
        try:
            await self._all.acquire()
        except CancelledError:
            turns.release()
            return self.close_cancelled(run)
        try:
            return await self._execute_in_turn(run, session, checks)
        finally:
            self._all.release()
            turns.release()
            if turns.tokens == turns.limit:
                self._owners.pop(session.owner, None)

    async def _execute_in_turn(
        self, run: CheckRun, session: Session, checks: CaseChecks
    ) -> CheckRun:
        try:
            place = await self._places.find_place(session, checks)
        except ChecksUnavailable as error:
            return self._finish(evolve(run, state=RunState.UNAVAILABLE, reason=str(error)))
        except CancelledError:
            return self.close_cancelled(run)
        run = self._save(evolve(run, state=RunState.RUNNING))
        for number, check in enumerate(checks.checks):
            result = run.results[number]
            if result.is_kept:
                continue
            run = self._save(run.with_result(number, evolve(result, state=CheckState.RUNNING)))
            done = await self._runner.run_check(place, check, self._hide)
            run = self._save(run.with_result(number, done))
            if done.state in _ENDS:
                break
        return self._finish(evolve(run, state=conclude_run(run.results)))

    def _save(self, run: CheckRun) -> CheckRun:
        # It is on disk before the process starts, so that a restart knows of it.
        self._store.save_run(run)
        return run

    def _finish(self, run: CheckRun) -> CheckRun:
        """Return the ended run; checks that did not run share the fate of the run."""
        if self._is_stopping and run.state is RunState.CANCELLED:
            run = evolve(run, state=RunState.INTERRUPTED, reason=INTERRUPTED_REASON)
        fate = CheckState(run.state.value) if run.state in _FATES else CheckState.CANCELLED
        results = [_close_result(each, fate) for each in run.results]
        return self._save(evolve(run, results=tuple(results), finished_at=get_unix_ms(self._clock)))


_FATES = frozenset({RunState.CANCELLED, RunState.INTERRUPTED, RunState.UNAVAILABLE})


def _close_result(result: CheckResult, fate: CheckState) -> CheckResult:
    is_open = result.state in (CheckState.WAITING, CheckState.RUNNING)
    return evolve(result, state=fate) if is_open else result


def close_interrupted(run: CheckRun, at: int) -> CheckRun:
    """Return a run that an earlier process of the service did not end.

    @param at: Unix milliseconds.
    """
    results = [_close_result(each, CheckState.INTERRUPTED) for each in run.results]
    return evolve(
        run, state=RunState.INTERRUPTED, reason=INTERRUPTED_REASON,
        finished_at=at, results=tuple(results),
    )  # fmt: skip
