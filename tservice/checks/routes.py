"""Routes of the checks of cases and of their runs in sessions (protocol-checks)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.checks.model import (
    COMMAND_LENGTH,
    MAX_ATTEMPTS,
    MAX_CHECKS,
    MAX_PATHS,
    MAX_SECONDS,
    NAME_LENGTH,
    NAME_PATTERN,
    PATH_LENGTH,
    Check,
    FailurePolicy,
)
from tservice.checks.responses import (
    CaseChecksResponse,
    CheckRunEnvelope,
    ChecksEmptyResponse,
    SessionChecksResponse,
    make_case_checks_response,
    make_check_responses,
    make_run_response,
)
from tservice.checks.service import CaseCheckService
from tservice.checks.supervisor import CheckSupervisor
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_SESSIONS
from tservice.core.values.failfast import FAIL_FAST
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import ENUM_MEMBER, RequestBody

CheckName = Annotated[
    str, StringConstraints(min_length=1, max_length=NAME_LENGTH, pattern=NAME_PATTERN)
]
CommandText = Annotated[
    str, StringConstraints(min_length=1, max_length=COMMAND_LENGTH, pattern=r"\S")
]
PathPattern = Annotated[str, StringConstraints(min_length=1, max_length=PATH_LENGTH)]

_CASES = OperationFields(
    tag="Cases", access=AccessRule.USER,
    errors=(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
)  # fmt: skip
_SESSIONS = OperationFields(
    tag="Cases", access=AccessRule.OWNER, scope=Scope.SESSIONS_MANAGE,
    scope_reason="Starts or ends the commands that a person saved for the case.",
    errors=(ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
)  # fmt: skip


class CheckBody(RequestBody):
    """Command that is green if it exits with status 0.

    C{paths} are patterns such as C{web/*}: the check runs when a matching file changed.
    """

    name: CheckName
    command: CommandText
    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_SECONDS)] = 600
    paths: Annotated[list[PathPattern], Field(max_length=MAX_PATHS), FAIL_FAST] = []

    def to_check(self) -> Check:
        """Return the check of this body."""
        return Check(
            name=self.name, command=self.command, timeout_seconds=self.timeout_seconds,
            paths=tuple(self.paths),
        )  # fmt: skip


class CaseChecksBody(RequestBody):
    """Complete list of the checks of a case, and the step that follows a failure."""

    checks: Annotated[list[CheckBody], Field(max_length=MAX_CHECKS), FAIL_FAST]
    on_failure: Annotated[FailurePolicy, Field(strict=False), ENUM_MEMBER] = FailurePolicy.NOTIFY
    max_attempts: Annotated[int, Field(ge=0, le=MAX_ATTEMPTS)] = 0


class CheckRoutes:
    """Routes of checks."""

    def __init__(self, cases: CaseCheckService, supervisor: CheckSupervisor) -> None:
        self._cases, self._supervisor = cases, supervisor

    @operation(
        "GET", "/api/cases/{name}/checks", _CASES, errors=(ErrorCode.INVALID_INPUT,),
        scope=Scope.SESSIONS_READ, scope_reason=READS_SESSIONS,
    )  # fmt: skip
    async def get_case_checks(self, call: OperationCall) -> CaseChecksResponse:
        """Get the checks of a case."""
        found = await self._cases.get_checks(call.path["name"], call.caller)
        return make_case_checks_response(found)

    @operation(
        "PUT", "/api/cases/{name}/checks", _CASES, errors=(ErrorCode.FORBIDDEN,),
        scope=Scope.CRON, scope_reason="Saves commands that run later, without the caller.",
    )  # fmt: skip
    async def set_case_checks(
        self, call: OperationCall, body: CaseChecksBody
    ) -> CaseChecksResponse:
        """Replace the checks of a case; they run when an agent has ended a turn there."""
        saved = await self._cases.save_checks(
            call.path["name"], [each.to_check() for each in body.checks], body.on_failure,
            body.max_attempts, call.caller,
        )  # fmt: skip
        return make_case_checks_response(saved)

    @operation(
        "GET", "/api/sessions/{id}/checks", _SESSIONS,
        scope=Scope.SESSIONS_READ, scope_reason=READS_SESSIONS,
    )  # fmt: skip
    async def get_session_checks(self, call: OperationCall) -> SessionChecksResponse:
        """Get the checks of a session and the results of their last runs."""
        found = self._supervisor.find_checks(call.id)
        return SessionChecksResponse(
            case_name=None if found is None else found.case_name or None,
            from_file=found is not None and found.file_hash != "",
            checks=[] if found is None else make_check_responses(found.checks),
            running=self._supervisor.is_under_way(call.id),
            runs=[make_run_response(run) for run in self._supervisor.list_runs(call.id)],
        )

    @operation("POST", "/api/sessions/{id}/checks/run", _SESSIONS)
    async def run_checks(self, call: OperationCall) -> CheckRunEnvelope:
        """Run all checks of a session now."""
        return CheckRunEnvelope(run=make_run_response(self._supervisor.request_run(call.id)))

    @operation("DELETE", "/api/sessions/{id}/checks/run", _SESSIONS)
    async def cancel_checks(self, call: OperationCall) -> ChecksEmptyResponse:
        """Cancel the running checks of a session."""
        self._supervisor.cancel_run(call.id)
        return ChecksEmptyResponse()
