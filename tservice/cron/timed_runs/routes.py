"""Operations C{/api/scheduled}."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.values.text import replace_harmful_characters
from tservice.cron.keep_going_model import MAX_MINUTES
from tservice.cron.model import PROMPT_LENGTH
from tservice.cron.timed_runs.responses import (
    TimedRunEnvelope,
    TimedRunResponse,
    TimedRunsResponse,
    make_timed_run_response,
)
from tservice.cron.timed_runs.service import TimedRunService
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, Scope
from tservice.http.validation.models import RequestBody


def _check_prompt(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    if replace_harmful_characters(text) != text:
        raise ValueError("must not hold control characters other than TAB and line ends")
    return text


Prompt = Annotated[
    str, StringConstraints(min_length=1, max_length=PROMPT_LENGTH), AfterValidator(_check_prompt)
]
Folder = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Minutes = Annotated[int, Field(ge=1, le=MAX_MINUTES)]


class TimedRunBody(RequestBody):
    """New timed run (protocol-legacy)."""

    prompt: Prompt
    working_dir: Folder | None = None
    duration_minutes: Minutes


_TIMED_RUNS = OperationFields(
    tag="Timed runs",
    access=AccessRule.USER,
    scope=Scope.CRON,
    scope_reason="Reads and ends your own timed runs.",
    deprecated="timed runs (/api/scheduled)",
)


class TimedRunRoutes:
    """Operations of timed runs; the rules are in L{TimedRunService}."""

    def __init__(self, runs: TimedRunService) -> None:
        self._runs = runs

    @operation("GET", "/api/scheduled", _TIMED_RUNS)
    async def list_runs(self, call: OperationCall) -> TimedRunsResponse:
        """List the timed runs, newest first."""
        return TimedRunsResponse(
            runs=[make_timed_run_response(run) for run in self._runs.list_runs(call.caller)]
        )

    @operation(
        "POST",
        "/api/scheduled",
        _TIMED_RUNS,
        scope_reason=(
            "A timed run starts an agent and types its prompt, even after the token has ended."
        ),
        errors=(ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
    )
    async def start_run(self, call: OperationCall, body: TimedRunBody) -> TimedRunEnvelope:
        """Start an agent and keep it running for a limited time."""
        run = await self._runs.start_run(
            body.prompt, body.working_dir, body.duration_minutes, call.caller
        )
        return TimedRunEnvelope(run=make_timed_run_response(run))

    @operation("GET", "/api/scheduled/{id}", _TIMED_RUNS, errors=(ErrorCode.NOT_FOUND,))
    async def get_run(self, call: OperationCall) -> TimedRunResponse:
        """Get a timed run."""
        return make_timed_run_response(self._runs.get_run(call.id, call.caller))

    @operation(
        "DELETE",
        "/api/scheduled/{id}",
        _TIMED_RUNS,
        audit=AuditMode.EACH,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
    )
    async def end_run(self, call: OperationCall) -> EmptyPayload:
        """End a timed run; its session and its record stay."""
        self._runs.end_run(call.id, call.caller)
        return EmptyPayload()
