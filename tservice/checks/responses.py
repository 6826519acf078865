"""Responses of the routes of checks (protocol-checks)."""

from __future__ import annotations

from collections.abc import Sequence

from tservice.checks.model import (
    CaseChecks,
    Check,
    CheckResult,
    CheckRun,
    CheckState,
    FailurePolicy,
    FollowUp,
    RunState,
    RunTrigger,
)
from tservice.core.values.payload import Payload, omit_if_false, omit_if_none


class CheckResponse(Payload):
    """Command of a case that checks the workspace; C{paths} are patterns of the files that it is
    about.
    """

    name: str
    command: str
    timeout_seconds: int
    paths: list[str]


class CaseChecksResponse(Payload):
    """Checks of a case; C{updatedAt} in Unix milliseconds, omitted if none were ever saved."""

    checks: list[CheckResponse]
    on_failure: FailurePolicy
    max_attempts: int
    updated_at: int | None = omit_if_none()
    updated_by: str | None = omit_if_none()


class CheckResultResponse(Payload):
    """Result of a check: its state, exit status, time in milliseconds, and the end of its output.

    @ivar kept: the result is that of an earlier run, because no file changed that it is about.
    """

    name: str
    command: str
    state: CheckState
    status: int | None = omit_if_none()
    duration_ms: int | None = omit_if_none()
    passed: int | None = omit_if_none()
    failed: int | None = omit_if_none()
    output: str
    reason: str | None = omit_if_none()
    kept: bool = omit_if_false()


class CheckRunResponse(Payload):
    """Run of a session's checks; times in Unix milliseconds."""

    id: str
    state: RunState
    trigger: RunTrigger
    follow_up: FollowUp
    attempt: int
    reason: str | None = omit_if_none()
    created_at: int
    finished_at: int | None = omit_if_none()
    results: list[CheckResultResponse]


class SessionChecksResponse(Payload):
    """Checks that apply to a session, and their runs, newest first.

    @ivar case_name: the case that has the checks; omitted without one.
    @ivar from_file: the checks are those of the approved file of the repository.
    """

    case_name: str | None = omit_if_none()
    from_file: bool = omit_if_false()
    checks: list[CheckResponse]
    running: bool
    runs: list[CheckRunResponse]


class CheckRunEnvelope(Payload):
    """Run that was started."""

    run: CheckRunResponse


class ChecksEmptyResponse(Payload):
    """Empty response."""


def make_case_checks_response(found: CaseChecks) -> CaseChecksResponse:
    """Return the checks of a case as a response."""
    return CaseChecksResponse(
        checks=make_check_responses(found.checks),
        on_failure=found.on_failure,
        max_attempts=found.max_attempts,
        updated_at=found.updated_at or None,
        updated_by=found.updated_by or None,
    )


def make_check_responses(checks: Sequence[Check]) -> list[CheckResponse]:
    """Return checks as responses."""
    return [
        CheckResponse(
            name=each.name, command=each.command, timeout_seconds=each.timeout_seconds,
            paths=[*each.paths],
        )
        for each in checks
    ]  # fmt: skip


def make_run_response(run: CheckRun) -> CheckRunResponse:
    """Return a run as a response."""
    return CheckRunResponse(
        id=run.id, state=run.state, trigger=run.trigger, follow_up=run.follow_up,
        attempt=run.attempt, reason=run.reason, created_at=run.created_at,
        finished_at=run.finished_at, results=[_make_result_response(each) for each in run.results],
    )  # fmt: skip


def _make_result_response(result: CheckResult) -> CheckResultResponse:
    return CheckResultResponse(
        name=result.name, command=result.command, state=result.state, status=result.status,
        duration_ms=result.duration_ms, passed=result.passed, failed=result.failed,
        output=result.output, reason=result.reason, kept=result.is_kept,
    )  # fmt: skip
