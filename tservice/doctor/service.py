"""Service of the doctor, which runs the child process.

Callers that wait at the same time share one child process and its report.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.process.child import ChildCommand, ChildRunner
from tservice.doctor.catalogue import ExaminedCli
from tservice.doctor.child_launch import (
    REPORT_LIMIT,
    TIME_LIMIT,
    encode_child_request,
    make_child_command,
    make_child_environment,
    parse_report,
)
from tservice.doctor.model import ReportRow, ToolCategory, prepend_rows

ERROR_LIMIT = 2000
"""Maximum bytes of standard error that are kept for the log."""

Report = dict[str, Any]


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
        children: ChildRunner,
        environ: Mapping[str, str],
        home: Path,
        clis: Callable[[], Iterable[ExaminedCli]],
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
        self._children = children
        self._environ = environ
        self._home = home
        self._clis = clis
        self._argv = argv
        self._runs: dict[ToolCategory | None, SharedWork[Report | None]] = {}

    async def examine_host(self, category: ToolCategory | None) -> Report:
        """Return the report on one category; C{None} means all categories.

        Cancelling stops the wait, but not the child process.

        @raise ServiceError: 500: the child process printed no report.
        """
        login = await self._login()
        run = self._runs.get(category)
        if run is None:
            run = self._runs[category] = SharedWork(self._run_child(category, login))
            run.finished.addCallback(lambda result: self._runs.pop(category, None))
        found = await run.wait_for_result()
        if found is None:
            raise ServiceError(ErrorCode.INTERNAL_ERROR, "the doctor gave no report")
        if category not in (None, ToolCategory.CORE):
            return found
        return prepend_rows(found, await self._own())

    @property
    def running(self) -> int:
        """Number of running child processes."""
        return self._children.running

    def stop(self) -> Deferred[None]:
        """Kill all child processes.  The result fires after all of them have ended."""
        return self._children.stop()

    async def _run_child(self, category: ToolCategory | None, login: str) -> Report | None:
        command = ChildCommand(
            argv=self._argv(),
            env=make_child_environment(self._environ),
            stdin=encode_child_request(category, self._clis(), self._home, login),
            seconds=TIME_LIMIT,
            output_limit=REPORT_LIMIT,
            error_limit=ERROR_LIMIT,
        )
        try:
            result = await self._children.run(command)
        except OSError as error:
            self._log.error("the doctor could not be started: {error}", error=error.strerror)
            raise ServiceError(
                ErrorCode.INTERNAL_ERROR, "the doctor could not be started"
            ) from error
        report = None if result.is_truncated else parse_report(result.output)
        if report is None:
            self._log.error("the doctor gave no report: {errors}", errors=result.error_text)
        return report
