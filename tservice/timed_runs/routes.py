"""Operations C{/api/scheduled}."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from tservice.core.errors import ErrorCode
from tservice.core.event_payloads import EmptyPayload
from tservice.core.text import replace_harmful_characters
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, AuditMode, Operation, OperationCall, Scope
from tservice.timed_runs.model import MAX_MINUTES, PROMPT_LENGTH
from tservice.timed_runs.responses import (
    TimedRunEnvelope,
    TimedRunResponse,
    TimedRunsResponse,
    make_timed_run_response,
)
from tservice.timed_runs.service import TimedRunService


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


class TimedRunRoutes:
    """Operations of timed runs; the rules are in L{TimedRunService}."""

    def __init__(self, runs: TimedRunService) -> None:
        self._runs = runs

    def operations(self) -> list[Operation]:
        """Return the HTTP operations that this class handles."""
        one = "/api/scheduled/{id}"
        return [
            Operation(
                method="GET",
                path="/api/scheduled",
                access=AccessRule.USER,
                scope=Scope.CRON,
                handler=self.list_runs,
                summary="List the timed runs, newest first",
                tag="Timed runs",
                response_model=TimedRunsResponse,
            ),
            Operation(
                method="POST",
                path="/api/scheduled",
                access=AccessRule.USER,
                scope=Scope.CRON,
                handler=self.start_run,
                summary="Start an agent and keep it running for a limited time",
                tag="Timed runs",
                body=TimedRunBody,
                response_model=TimedRunEnvelope,
                errors=(ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
            ),
            Operation(
                method="GET",
                path=one,
                access=AccessRule.USER,
                scope=Scope.CRON,
                handler=self.get_run,
                summary="Get a timed run",
                tag="Timed runs",
                response_model=TimedRunResponse,
                errors=(ErrorCode.NOT_FOUND,),
            ),
            Operation(
                method="DELETE",
                path=one,
                access=AccessRule.USER,
                scope=Scope.CRON,
                audit=AuditMode.EACH,
                handler=self.end_run,
                summary="End a timed run; its session and its record stay",
                tag="Timed runs",
                response_model=EmptyPayload,
                errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
            ),
        ]

    async def list_runs(self, call: OperationCall) -> TimedRunsResponse:
        """Return the runs that the caller may see."""
        return TimedRunsResponse(
            runs=[make_timed_run_response(run) for run in self._runs.list_runs(call.identity)]
        )

    async def start_run(self, call: OperationCall) -> TimedRunEnvelope:
        """Start a timed run."""
        body: TimedRunBody = call.body
        run = await self._runs.start_run(
            body.prompt, body.working_dir, body.duration_minutes, call.identity, call.reauthorize
        )
        return TimedRunEnvelope(run=make_timed_run_response(run))

    async def get_run(self, call: OperationCall) -> TimedRunResponse:
        """Return one run."""
        return make_timed_run_response(self._runs.get_run(call.id, call.identity))

    async def end_run(self, call: OperationCall) -> EmptyPayload:
        """End a run."""
        self._runs.end_run(call.id, call.identity)
        return EmptyPayload()
