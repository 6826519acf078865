"""Routes below C{/api/cron}."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints

from tservice.core.kernel.clock import LATEST_MS
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.values.payload import omit_if_none
from tservice.core.values.text import CASE_NAME
from tservice.cron.crontab import MAX_EXPRESSION_LENGTH as EXPRESSION_LENGTH
from tservice.cron.explanation import explain_expression
from tservice.cron.keep_going_model import MAX_MINUTES
from tservice.cron.model import (
    INTERVAL_MINUTES,
    LINE_LENGTH,
    NAME_LENGTH,
    PROMPT_LENGTH,
    ConcurrencyPolicy,
    InputMode,
    PromptMode,
    ScheduleType,
    is_single_line,
)
from tservice.cron.responses import JobResponse, RunResponse, make_job_response, make_run_response
from tservice.cron.service import CronService
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, Scope
from tservice.http.validation.models import ENUM_MEMBER, RequestBody, ResponseModel

BODY_LIMIT = 1536 * 1024
"""Maximum bytes of a request body.

A prompt of maximum length fits, even if each character is escaped.
"""


_CLOCK_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


def _check_line(text: str) -> str:
    if not is_single_line(text):
        raise ValueError("must be a single line without control characters")
    return text


def _check_lines(text: str) -> str:
    if not all(map(is_single_line, text.replace("\r\n", "\n").split("\n"))):
        raise ValueError("must not hold control characters other than TAB and line ends")
    return text


def _check_not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _check_no_tab(text: str) -> str:
    if "\t" in text:
        raise ValueError("must not hold a TAB")
    return text


def _check_clock_time(text: str) -> str:
    if not _CLOCK_TIME.fullmatch(text):
        raise ValueError("must be HH:MM, from 00:00 to 23:59")
    return text


def _check_unique_days(days: list[int]) -> list[int]:
    if len(set(days)) < len(days):
        raise ValueError("must not name a day twice")
    return days


Line = AfterValidator(_check_line)
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_LENGTH),
    Line,
    AfterValidator(_check_not_blank),
    AfterValidator(_check_no_tab),
]
Mode = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
CaseName = Annotated[str, StringConstraints(pattern=f"^{CASE_NAME}$", max_length=128)]
Command = Annotated[str, StringConstraints(max_length=LINE_LENGTH), Line]
Prompt = Annotated[
    str,
    StringConstraints(min_length=1, max_length=PROMPT_LENGTH),
    AfterValidator(_check_lines),
    AfterValidator(_check_not_blank),
]
Notes = Annotated[str, StringConstraints(max_length=LINE_LENGTH), AfterValidator(_check_lines)]
At = Annotated[int, Field(gt=0, le=LATEST_MS)]
Minutes = Annotated[int, Field(ge=1, le=INTERVAL_MINUTES)]
KeepGoingMinutes = Annotated[int, Field(ge=1, le=MAX_MINUTES)]
ClockTime = Annotated[str, AfterValidator(_check_clock_time)]
Day = Annotated[int, Field(ge=0, le=6)]
Days = Annotated[list[Day], Field(min_length=1, max_length=7), AfterValidator(_check_unique_days)]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=EXPRESSION_LENGTH), Line]
# Strict models would take only members, and clients send values.
Prompts = Annotated[PromptMode, Field(strict=False), ENUM_MEMBER]
Inputs = Annotated[InputMode, Field(strict=False), ENUM_MEMBER]
Schedules = Annotated[ScheduleType, Field(strict=False), ENUM_MEMBER]
Policy = Annotated[ConcurrencyPolicy, Field(strict=False), ENUM_MEMBER]


class _OptionalJobFields(RequestBody):
    """Fields that are optional, or that only some jobs have; C{null} means absent."""

    case_name: CaseName | None = None
    launch_command: Command | None = None
    prompt_text: Prompt | None = None
    prompt_file_path: Path | None = None
    run_at: At | None = None
    interval_minutes: Minutes | None = None
    daily_time: ClockTime | None = None
    weekly_days: Days | None = None
    weekly_time: ClockTime | None = None
    cron_expression: Expression | None = None
    auto_close_previous_session: bool | None = None
    keep_going_minutes: KeepGoingMinutes | None = None
    notes: Notes | None = None

    def get_given_fields(self) -> dict[str, Any]:
        """Return the fields that are present in the request, by their names in the model."""
        found = {name: getattr(self, name) for name in self.model_fields_set}
        days = found.get("weekly_days")
        return found if days is None else found | {"weekly_days": tuple(sorted(days))}


class JobBody(_OptionalJobFields):
    """New job (protocol-cron-job)."""

    name: Name
    agent_type: Mode
    working_dir: Path | None = None
    prompt_mode: Prompts
    input_mode: Inputs
    schedule_type: Schedules
    enabled: bool
    concurrency_policy: Policy


def _remove_defaults(schema: dict[str, Any]) -> None:
    """Remove the default values from a JSON schema.

    An absent field keeps its value, so clients must not fill in a default.
    """
    for field in schema["properties"].values():
        field.pop("default", None)


class JobPatch(_OptionalJobFields):
    """Changes to a job; C{null} removes an optional field. Absent fields stay as they are, whatever
    the default.
    """

    model_config = ConfigDict(json_schema_extra=_remove_defaults)

    name: Name = ""
    agent_type: Mode = ""
    working_dir: Path = ""
    prompt_mode: Prompts = PromptMode.INLINE
    input_mode: Inputs = InputMode.PASTE
    schedule_type: Schedules = ScheduleType.ONCE
    enabled: bool = False
    concurrency_policy: Policy = ConcurrencyPolicy.WARN


class JobEnabledBody(RequestBody):
    """New enabled state of a job."""

    enabled: bool


class JobEnvelope(ResponseModel):
    """Response with a job."""

    job: JobResponse


class RunNowResponse(ResponseModel):
    """The run, and the number of live sessions of the same mode that do not belong to this job."""

    run: RunResponse
    active_agents: int


class PreviewResponse(ResponseModel):
    """Next times at which the job fires, at most 5, in Unix milliseconds."""

    fires: list[int]
    explanation: str | None = omit_if_none(description="The expression of C{cron} in words")


_STARTS_PROGRAM = "A job starts a program and types its prompt, even after the token has ended."

_CRON = OperationFields(
    tag="Cron",
    access=AccessRule.USER,
    scope=Scope.CRON,
    scope_reason="Reads, enables, disables and deletes your own jobs.",
)


class CronRoutes:
    """Routes of jobs and their runs; the rules are in L{CronService}."""

    def __init__(self, cron: CronService) -> None:
        self._cron = cron

    @operation("GET", "/api/cron/jobs", _CRON)
    async def list_jobs(self, call: OperationCall) -> list[JobResponse]:
        """List the scheduled jobs."""
        return [make_job_response(job) for job in self._cron.list_jobs(call.caller)]

    @operation(
        "POST",
        "/api/cron/jobs",
        _CRON,
        scope_reason=_STARTS_PROGRAM,
        body_limit=BODY_LIMIT,
        errors=(ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
    )
    async def create_job(self, call: OperationCall, body: JobBody) -> JobEnvelope:
        """Create a scheduled job."""
        job = await self._cron.create_job(body.get_given_fields(), call.caller)
        return JobEnvelope(job=make_job_response(job))

    @operation(
        "POST",
        "/api/cron/preview",
        _CRON,
        body_limit=BODY_LIMIT,
        audit=AuditMode.NONE,
        errors=(ErrorCode.FORBIDDEN,),
    )
    async def preview_job(self, call: OperationCall, body: JobBody) -> PreviewResponse:
        """Preview when a job would fire next; nothing is created."""
        fires = await self._cron.preview_fires(body.get_given_fields(), call.caller)
        is_cron = body.schedule_type is ScheduleType.CRON
        words = explain_expression(body.cron_expression or "") if is_cron else None
        return PreviewResponse(fires=fires, explanation=words)

    @operation("GET", "/api/cron/jobs/{id}", _CRON, errors=(ErrorCode.NOT_FOUND,))
    async def get_job(self, call: OperationCall) -> JobResponse:
        """Get a scheduled job."""
        return make_job_response(self._cron.get_job(call.id, call.caller))

    @operation(
        "PUT",
        "/api/cron/jobs/{id}",
        _CRON,
        scope_reason=_STARTS_PROGRAM,
        body_limit=BODY_LIMIT,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
    )
    async def update_job(self, call: OperationCall, body: JobPatch) -> JobEnvelope:
        """Change fields of a job; the merged job is validated."""
        return await self._update_job(call, body.get_given_fields())

    @operation(
        "PUT",
        "/api/cron/jobs/{id}/enabled",
        _CRON,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
    )
    async def enable_job(self, call: OperationCall, body: JobEnabledBody) -> JobEnvelope:
        """Enable or disable a job."""
        return await self._update_job(call, {"enabled": body.enabled})

    async def _update_job(self, call: OperationCall, given: Mapping[str, Any]) -> JobEnvelope:
        job = await self._cron.update_job(call.id, given, call.caller)
        return JobEnvelope(job=make_job_response(job))

    @operation("DELETE", "/api/cron/jobs/{id}", _CRON, errors=(ErrorCode.NOT_FOUND,))
    async def delete_job(self, call: OperationCall) -> EmptyPayload:
        """Delete a job and its runs."""
        self._cron.delete_job(call.id, call.caller)
        return EmptyPayload()

    @operation(
        "POST",
        "/api/cron/jobs/{id}/run",
        _CRON,
        scope_reason=_STARTS_PROGRAM,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.RATE_LIMITED),
    )
    async def run_job(self, call: OperationCall) -> RunNowResponse:
        """Run a job now; its prompt is delivered after the response."""
        run, others = await self._cron.run_now(call.id, call.caller)
        return RunNowResponse(run=make_run_response(run), active_agents=others)

    @operation("GET", "/api/cron/jobs/{id}/runs", _CRON, errors=(ErrorCode.NOT_FOUND,))
    async def list_runs(self, call: OperationCall) -> list[RunResponse]:
        """List the runs of a job."""
        return [make_run_response(run) for run in self._cron.list_job_runs(call.id, call.caller)]

    @operation(
        "POST",
        "/api/cron/runs/{id}/stop",
        _CRON,
        scope_reason="Stops typing into a session; its agent finishes its turn.",
        errors=(ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
    )
    async def stop_run(self, call: OperationCall) -> EmptyPayload:
        """Stop a run that keeps going; its session stays."""
        self._cron.stop_run(call.id, call.caller)
        return EmptyPayload()

    @operation("GET", "/api/cron/runs", _CRON)
    async def list_all_runs(self, call: OperationCall) -> list[RunResponse]:
        """List the runs of all jobs."""
        return [make_run_response(run) for run in self._cron.list_runs(call.caller)]
