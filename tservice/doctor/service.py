"""Service of the doctor, which runs the child process.

Callers that wait at the same time share one child process and its report.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.core.errors import ErrorCode, ServiceError
from tservice.doctor.catalogue import ExaminedCli
from tservice.doctor.child_launch import (
    encode_child_request,
    make_child_command,
    make_child_environment,
)
from tservice.doctor.child_process import DoctorProcess
from tservice.doctor.model import ReportRow, ToolCategory, prepend_rows

Report = dict[str, Any]


@frozen
class _DoctorRun:
    process: DoctorProcess
    waiting: list[Deferred[Report | None]]


async def _no_rows() -> Sequence[ReportRow]:
    return ()


async def _no_login_path() -> str:
    return ""


class DoctorService:
    """Service that runs at most one child process for each category, and one for all categories."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        environ: Mapping[str, str],
        home: Path,
        clis: Callable[[], Iterable[ExaminedCli]],
        make: Callable[[IReactorTime], DoctorProcess] = DoctorProcess,
        argv: Callable[[], list[str]] = make_child_command,
        own: Callable[[], Awaitable[Sequence[ReportRow]]] = _no_rows,
        login: Callable[[], Awaitable[str]] = _no_login_path,
    ) -> None:
        """@param login: returns the C{PATH} of the user's login shell; empty if unknown.
        @param argv: command line of the child process.
        @param own: returns rows on faults of the service itself, which belong to the category core.
        """
        self._own = own
        self._login = login
        self._clock = clock
        self._processes = processes
        self._environ = environ
        self._home = home
        self._clis = clis
        self._make = make
        self._argv = argv
        self._runs: dict[ToolCategory | None, _DoctorRun] = {}
        self._ending: set[DoctorProcess] = set()

    async def examine_host(self, category: ToolCategory | None) -> Report:
        """Return the report on one category; C{None} means all categories.

        Cancelling stops the wait, but not the child process.

        @raise ServiceError: 500: the child process printed no report.
        """
        login = await self._login()
        run = self._runs.get(category) or self._start_child(category, login)
        waiter: Deferred[Report | None] = Deferred()
        run.waiting.append(waiter)
        found = await waiter
        if found is None:
            raise ServiceError(ErrorCode.INTERNAL_ERROR, "the doctor gave no report")
        if category not in (None, ToolCategory.CORE):
            return found
        return prepend_rows(found, await self._own())

    @property
    def running(self) -> int:
        """Number of running child processes."""
        return len(self._ending)

    def stop(self) -> Deferred[list[None]]:
        """Kill all child processes.  The result fires after all of them have ended."""
        ending = [process.ended for process in self._ending]
        for process in tuple(self._ending):
            process.kill_group()
        return gatherResults(ending)

    def _start_child(self, category: ToolCategory | None, login: str) -> _DoctorRun:
        process = self._make(self._clock)
        process.set_request(encode_child_request(category, self._clis(), self._home, login))
        argv = self._argv()
        try:
            self._processes.spawnProcess(
                process, argv[0], argv, env=make_child_environment(self._environ), path="/"
            )
        except OSError as error:
            self._log.error("the doctor could not be started: {error}", error=error.strerror)
            raise ServiceError(
                ErrorCode.INTERNAL_ERROR, "the doctor could not be started"
            ) from error
        run = _DoctorRun(process, [])
        self._runs[category] = run
        self._ending.add(process)
        process.report.addCallback(self._handle_report, category, run)
        process.ended.addCallback(self._remove_ended_child, process)
        return run

    def _handle_report(
        self, report: Report | None, category: ToolCategory | None, run: _DoctorRun
    ) -> None:
        del self._runs[category]
        if report is None:
            errors = run.process.errors.decode("utf-8", "replace")
            self._log.error("the doctor gave no report: {errors}", errors=errors)
        for waiter in run.waiting:
            if not waiter.called:
                waiter.callback(report)

    def _remove_ended_child(self, result: None, process: DoctorProcess) -> None:
        self._ending.discard(process)
