"""HTTP operations that create, start and end sessions (protocol-create, protocol-quickstart)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from attrs import evolve
from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode, make_field_error
from tservice.core.kernel.scopes import CHANGES_OWN_SESSIONS, READS_SESSIONS
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.values.text import CASE_NAME, LINE
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import QueryParameters, RequestBody
from tservice.sessions.interfaces import LeftoverProcess, ModelConfirmationRequired
from tservice.sessions.life.quick_start import ORIGIN_LENGTH, QuickStartRequest
from tservice.sessions.record.names import NAME_LENGTH
from tservice.sessions.record.questions import ContextQuestion, SwapQuestion
from tservice.sessions.record.requests import CaseWorktreeRequest, CreateRequest, ModelRequest
from tservice.sessions.record.wire import SessionAnswer, make_session_answer
from tservice.sessions.routes.responses import (
    DeletedSessionResponse,
    DeletedSessionsResponse,
    LeftoverProcessResponse,
    QuickStartResponse,
    SessionEnvelope,
)
from tservice.sessions.service import SessionService

Cols = Annotated[int, Field(ge=1, le=500)]
Rows = Annotated[int, Field(ge=1, le=200)]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=50)]
FolderText = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
SessionId = Annotated[str, StringConstraints(min_length=1, max_length=100)]
TmuxName = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=128, pattern=r"^[^$:.\x00-\x1f\x7f][^:.\x00-\x1f\x7f]*$"
    ),
]
"""Name of a tmux session, without colons and dots. tmux would read a leading dollar sign as an id.
"""
SessionName = Annotated[str, StringConstraints(max_length=NAME_LENGTH)]
CaseName = Annotated[str, StringConstraints(pattern=f"^{CASE_NAME}$", max_length=128)]
RefText = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Origin = Annotated[str, StringConstraints(max_length=ORIGIN_LENGTH, pattern=f"^{LINE}$")]
Params = Annotated[dict[str, str | bool | int], Field(max_length=32)]
EnvOverrides = Annotated[dict[str, str], Field(max_length=64)]

MAKE_BODY_LIMIT = 256 * 1024
"""Maximum bytes of a request body that creates a session.

The environment is the largest part. The system accepts 128 KiB in one variable.
"""


CONVERSATION = r"^(?:[0-9a-fA-F-]{1,100}|ses_[0-9A-Za-z]{1,96})$"
"""Pattern of conversation ids (protocol-create): opencode's begin with C{ses_}."""
_PLACED = ("case_name", "working_dir", "worktree", "resume_session_id", "custom_model")
"""Body fields that select the location or the program of a session."""


class RemoteSessionBody(RequestBody):
    """Existing session of a remote host."""

    host_id: SessionId
    remote_session_name: TmuxName


class CustomModelBody(RequestBody):
    """Model of a custom endpoint, and the confirmations already given."""

    endpoint_id: SessionId
    model_id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    confirmed: bool | None = None
    confirmed_context: bool | None = None
    confirmed_swap: bool | None = None

    def make_model_request(self) -> ModelRequest:
        """Return the model request; C{confirmed} answers both questions."""
        return ModelRequest(
            endpoint_id=self.endpoint_id,
            model_id=self.model_id,
            confirmed_context=bool(self.confirmed or self.confirmed_context),
            confirmed_swap=bool(self.confirmed or self.confirmed_swap),
        )


class NewWorktreeBody(RequestBody):
    """New worktree for the session, of the case or the folder. C{from} is the starting point of a
    new branch.
    """

    branch: RefText
    from_: Annotated[RefText | None, Field(alias="from")] = None


class LaunchBody(RequestBody):
    """Fields shared by both ways of creating a session."""

    case_name: CaseName | None = None
    mode: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    parent_session_id: SessionId | None = None
    env_overrides: EnvOverrides | None = None
    effort: Effort | None = None
    model: ModelName | None = None
    params: Params | None = None
    worktree: NewWorktreeBody | None = None
    custom_model: CustomModelBody | None = None

    def launch_params(self) -> dict[str, object]:
        """Return the launch parameters, including C{model} and C{effort}."""
        named = {"model": self.model, "effort": self.effort}
        given: dict[str, object] = dict(self.params or {})
        return given | {name: value for name, value in named.items() if value is not None}


class CreateBody(LaunchBody):
    """New session; it runs only with C{start}."""

    working_dir: FolderText | None = None
    name: SessionName | None = None
    resume_session_id: Annotated[str, StringConstraints(pattern=CONVERSATION)] | None = None
    attach_remote_session: RemoteSessionBody | None = None
    status_line_telemetry: bool | None = None
    start: bool | None = None
    cols: Cols | None = None
    rows: Rows | None = None


class QuickStartBody(LaunchBody):
    """Case, and a session in it that is started."""

    session_name: SessionName | None = None
    agent_origin: Origin | None = None


class StartBody(RequestBody):
    """Options of a start. C{clearBreaker} allows the start of a session that the exit breaker
    stopped. With C{fresh} the agent begins a new conversation instead of continuing the last
    one.
    """

    clear_breaker: bool | None = None
    fresh: bool | None = None


class DeleteQuery(QueryParameters):
    """Query parameters of a deletion: C{killMux=false} detaches from the process instead of ending
    it.
    """

    kill_mux: bool = True


_READS = OperationFields(
    tag="Sessions",
    scope=Scope.SESSIONS_READ,
    scope_reason=READS_SESSIONS,
)
_STARTS = OperationFields(
    tag="Sessions",
    access=AccessRule.OWNER,
    scope=Scope.SESSIONS_MANAGE,
    scope_reason=(
        "Starts programs with arguments, an environment and a folder that the caller chooses."
    ),
    optional_body=True,
    errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
)
_ENDS = OperationFields(
    tag="Sessions",
    scope=Scope.SESSIONS_MANAGE,
    scope_reason=CHANGES_OWN_SESSIONS,
    errors=(ErrorCode.OPERATION_FAILED,),
)


class LifecycleRoutes:
    """HTTP operations of C{/api/sessions} and C{/api/quick-start}."""

    def __init__(self, sessions: SessionService) -> None:
        self._sessions = sessions

    @operation("GET", "/api/sessions", _READS, access=AccessRule.USER)
    async def list_sessions(self, call: OperationCall) -> list[SessionAnswer]:
        """List the sessions that you may see, in the order of the list."""
        return [make_session_answer(it) for it in self._sessions.list(call.caller)]

    @operation("GET", "/api/sessions/{id}", _READS, access=AccessRule.OWNER)
    async def get_session(self, call: OperationCall) -> SessionAnswer:
        """Get a session."""
        return make_session_answer(self._sessions.get(call.id))

    @operation(
        "POST",
        "/api/sessions",
        _STARTS,
        access=AccessRule.USER,
        body_limit=MAKE_BODY_LIMIT,
        creates_session=True,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
    )
    async def create_session(
        self, call: OperationCall, body: CreateBody
    ) -> SessionEnvelope | ContextQuestion | SwapQuestion:
        """Create a session; nothing runs unless start is true."""
        warnings: list[str] = []
        request = CreateRequest(
            **_read_shared_fields(body, warnings),
            name=body.name,
            working_dir=body.working_dir,
            resume_session_id=body.resume_session_id,
            attach=_attached_location(body),
            statusline_telemetry=bool(body.status_line_telemetry),
            start=bool(body.start),
            cols=body.cols or 120,
            rows=body.rows or 40,
        )
        try:
            request = await self._sessions.choose_model(request, call.caller)
        except ModelConfirmationRequired as question:
            return question.answer
        call.caller.reauthorize()
        session = await self._sessions.create(request, call.caller)
        return SessionEnvelope(session=make_session_answer(session), warnings=warnings or None)

    @operation(
        "POST",
        "/api/quick-start",
        _STARTS,
        access=AccessRule.USER,
        body_limit=MAKE_BODY_LIMIT,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.NOT_FOUND),
    )
    async def quick_start(
        self, call: OperationCall, body: QuickStartBody
    ) -> QuickStartResponse | ContextQuestion | SwapQuestion:
        """Create a case if it is missing, and start a session in it."""
        warnings: list[str] = []
        shared = _read_shared_fields(body, warnings)
        wanted = QuickStartRequest(
            case_name=body.case_name or "testcase",
            session=CreateRequest(
                **shared, name=body.session_name, agent_origin=body.agent_origin or None
            ),
            parent_hint=call.get_header("x-service-parent-session"),
            origin_hint=call.get_header("x-service-agent-origin"),
        )
        try:
            chosen = await self._sessions.choose_model(wanted.session, call.caller)
        except ModelConfirmationRequired as question:
            return question.answer
        call.caller.reauthorize()
        wanted = evolve(wanted, session=chosen)
        session = await self._sessions.quick_start(wanted, call.caller)
        return QuickStartResponse(
            session_id=session.id,
            case_name=session.case_name or wanted.case_name,
            case_path=session.working_dir,
            warnings=warnings or None,
        )

    @operation("POST", "/api/sessions/{id}/start", _STARTS, errors=(ErrorCode.SESSION_BUSY,))
    @operation("POST", "/api/sessions/{id}/interactive", _STARTS, errors=(ErrorCode.SESSION_BUSY,))
    @operation("POST", "/api/sessions/{id}/shell", _STARTS, errors=(ErrorCode.SESSION_BUSY,))
    async def start_session(self, call: OperationCall, body: StartBody) -> SessionEnvelope:
        """Start the session's process, or attach to the detached one."""
        session = await self._sessions.start(
            call.id,
            call.caller,
            clear_breaker=bool(body.clear_breaker),
            fresh=bool(body.fresh),
        )
        return SessionEnvelope(session=make_session_answer(session))

    @operation("DELETE", "/api/sessions/{id}", _ENDS, access=AccessRule.OWNER)
    async def delete_session(
        self, call: OperationCall, query: DeleteQuery
    ) -> DeletedSessionResponse:
        """End the session and remove it, or detach from its process."""
        kill = query.kill_mux
        return DeletedSessionResponse(
            left=_leftover_responses(await self._sessions.delete(call.id, kill=kill))
        )

    @operation("DELETE", "/api/sessions", _ENDS, access=AccessRule.USER)
    async def delete_own_sessions(self, call: OperationCall) -> DeletedSessionsResponse:
        """End and remove all your sessions."""
        killed, left = await self._sessions.delete_all_own(call.caller)
        return DeletedSessionsResponse(killed=killed, left=_leftover_responses(left))


def _leftover_responses(found: Sequence[LeftoverProcess]) -> list[LeftoverProcessResponse] | None:
    return [LeftoverProcessResponse(pid=each.pid, command=each.command) for each in found] or None


def _read_shared_fields(body: LaunchBody, warnings: list[str]) -> dict[str, Any]:
    """Return the request fields that both ways of creating a session share.

    @param warnings: the function appends warnings about a new worktree to this list.
    """
    return {
        "mode": body.mode,
        "case_name": body.case_name,
        "parent_session_id": body.parent_session_id,
        "params": body.launch_params(),
        "worktree": _worktree_request(body.worktree, warnings),
        "env_overrides": body.env_overrides or {},
        "model_wish": None if body.custom_model is None else body.custom_model.make_model_request(),
    }


def _attached_location(body: CreateBody) -> LocationId | None:
    """Return the location of the tmux session to attach to; C{None} if the body requests none.

    @raise ServiceError: 400: another field also selects the location or program.
    """
    wanted = body.attach_remote_session
    if wanted is None:
        return None
    for name in _PLACED:
        if getattr(body, name) is not None:
            field = CreateBody.model_fields[name].alias or name
            raise make_field_error(field, "cannot be combined with attachRemoteSession")
    return LocationId(
        kind=LocationKind.REMOTE, name=wanted.host_id, part=wanted.remote_session_name
    )


def _worktree_request(
    body: NewWorktreeBody | None, warnings: list[str]
) -> CaseWorktreeRequest | None:
    if body is None:
        return None
    return CaseWorktreeRequest(branch=body.branch, start=body.from_, warn=warnings.append)
