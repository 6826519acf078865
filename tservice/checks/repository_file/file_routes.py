"""Routes of the files with checks that repositories bring (protocol-checks-file)."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from tservice.checks.model import FailurePolicy, check_attempts, check_definitions
from tservice.checks.repository_file.file_model import (
    CheckFile,
    CheckFileContent,
    FileState,
    InvalidCheckFile,
)
from tservice.checks.repository_file.service import CheckFileService
from tservice.checks.repository_file.strict_yaml import load_strict_yaml
from tservice.checks.responses import CheckResponse, ChecksEmptyResponse, make_check_responses
from tservice.checks.routes import CaseChecksBody
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_FILES
from tservice.core.values.payload import Payload, omit_if_none
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.body import validate_data
from tservice.http.validation.body_limits import MAX_VALUES
from tservice.http.validation.models import RequestBody

_ERRORS = (ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED)
_CASES = OperationFields(tag="Cases", access=AccessRule.USER, errors=_ERRORS)
_SESSIONS = OperationFields(tag="Cases", access=AccessRule.OWNER, errors=_ERRORS)
_FOR_PEOPLE = "A person decides which commands of a repository run later."


class CheckFileApprovalBody(RequestBody):
    """Approval of a file's content: the C{hash} that the answer about the file had."""

    hash: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class CheckFileResponse(Payload):
    """File C{.tservice.yaml} of a workspace, and the content of it that was approved.

    @ivar hash: SHA-256 of the file.
    @ivar checks: checks of the file, as it is now.
    @ivar problem: reason why the file is invalid.
    @ivar approved_at: Unix milliseconds.
    @ivar diff: unified diff from the approved text to that of the file.
    """

    state: FileState
    hash: str | None = omit_if_none()
    text: str | None = omit_if_none()
    checks: list[CheckResponse]
    on_failure: FailurePolicy | None = omit_if_none()
    max_attempts: int | None = omit_if_none()
    problem: str | None = omit_if_none()
    approved_hash: str | None = omit_if_none()
    approved_text: str | None = omit_if_none()
    approved_at: int | None = omit_if_none()
    approved_by: str | None = omit_if_none()
    diff: str | None = omit_if_none()


class CheckFileRoutes:
    """Routes of files with checks."""

    def __init__(self, files: CheckFileService) -> None:
        self._files = files

    @operation(
        "GET", "/api/cases/{name}/checks/file", _CASES, errors=(ErrorCode.INVALID_INPUT,),
        scope=Scope.SESSIONS_READ, scope_reason=READS_FILES,
    )  # fmt: skip
    async def get_case_check_file(self, call: OperationCall) -> CheckFileResponse:
        """Get the file with checks of a case's folder, and whether it was approved."""
        folder = await self._files.find_case_folder(call.path["name"], call.caller)
        return make_file_response(await self._files.read_file(folder))

    @operation(
        "PUT", "/api/cases/{name}/checks/file", _CASES, errors=(ErrorCode.FORBIDDEN,),
        scope=None, scope_reason=_FOR_PEOPLE,
    )  # fmt: skip
    async def approve_case_check_file(
        self, call: OperationCall, body: CheckFileApprovalBody
    ) -> CheckFileResponse:
        """Approve the content of a case's file, so that its checks run in the folder."""
        folder = await self._files.find_case_folder(call.path["name"], call.caller)
        return make_file_response(await self._files.approve_file(folder, body.hash, call.caller))

    @operation(
        "DELETE", "/api/cases/{name}/checks/file", _CASES,
        errors=(ErrorCode.FORBIDDEN, ErrorCode.INVALID_INPUT),
        scope=None, scope_reason=_FOR_PEOPLE,
    )  # fmt: skip
    async def withdraw_case_check_file(self, call: OperationCall) -> ChecksEmptyResponse:
        """Withdraw the approval of a case's file."""
        folder = await self._files.find_case_folder(call.path["name"], call.caller)
        call.caller.reauthorize()
        self._files.withdraw_approval(folder, call.caller)
        return ChecksEmptyResponse()

    @operation(
        "GET", "/api/sessions/{id}/checks/file", _SESSIONS,
        scope=Scope.SESSIONS_READ, scope_reason=READS_FILES,
    )  # fmt: skip
    async def get_session_check_file(self, call: OperationCall) -> CheckFileResponse:
        """Get the file with checks of a session's folder, and whether it was approved."""
        folder = self._files.find_session_folder(call.id)
        return make_file_response(await self._files.read_file(folder))

    @operation(
        "PUT", "/api/sessions/{id}/checks/file", _SESSIONS, errors=(ErrorCode.FORBIDDEN,),
        scope=None, scope_reason=_FOR_PEOPLE,
    )  # fmt: skip
    async def approve_session_check_file(
        self, call: OperationCall, body: CheckFileApprovalBody
    ) -> CheckFileResponse:
        """Approve the content of a session's file, so that its checks run in the folder."""
        folder = self._files.find_session_folder(call.id)
        return make_file_response(await self._files.approve_file(folder, body.hash, call.caller))

    @operation(
        "DELETE", "/api/sessions/{id}/checks/file", _SESSIONS, errors=(ErrorCode.FORBIDDEN,),
        scope=None, scope_reason=_FOR_PEOPLE,
    )  # fmt: skip
    async def withdraw_session_check_file(self, call: OperationCall) -> ChecksEmptyResponse:
        """Withdraw the approval of a session's file."""
        self._files.withdraw_approval(self._files.find_session_folder(call.id), call.caller)
        return ChecksEmptyResponse()


def parse_check_file(text: str) -> CheckFileContent:
    """Return the checks that a file describes, by the rules for those of a case.

    @raise ServiceError: a field breaks a rule, which the message names.
    @raise InvalidCheckFile: it is not YAML, or no mapping.
    """
    data = load_strict_yaml(text)
    if not isinstance(data, dict):
        raise InvalidCheckFile("it must be a mapping with the field checks")
    body = validate_data(data, CaseChecksBody, optional=False, values=MAX_VALUES)
    return CheckFileContent(
        checks=check_definitions([each.to_check() for each in body.checks]),
        on_failure=body.on_failure,
        max_attempts=check_attempts(body.max_attempts),
    )


def make_file_response(found: CheckFile) -> CheckFileResponse:
    """Return a file with checks as a response."""
    content, approval = found.content, found.approval
    return CheckFileResponse(
        state=found.state,
        hash=found.hash or None,
        text=found.text or None,
        checks=[] if content is None else make_check_responses(content.checks),
        on_failure=None if content is None else content.on_failure,
        max_attempts=None if content is None else content.max_attempts,
        problem=found.problem,
        approved_hash=None if approval is None else approval.hash,
        approved_text=None if approval is None else approval.text,
        approved_at=None if approval is None else approval.approved_at,
        approved_by=None if approval is None else approval.approved_by or None,
        diff=found.diff or None,
    )
