"""Requests to the session service, as plain records."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from tservice.cases.interfaces import CaseWorktreeRequest as CaseWorktreeRequest
from tservice.core.errors import ErrorCode, ServiceError, invalid_field
from tservice.core.identity import Identity
from tservice.core.locations.location import LocationId
from tservice.sessions.record.model import EndpointModel

INPUT_LENGTH = 65_536
"""Maximum characters of one input (protocol-input)."""
CLIENT_ID_LENGTH = 128
SEQ_LIMIT = 2**53 - 1
"""Largest integer that every JSON reader keeps exact."""


@frozen(kw_only=True)
class ModelRequest:
    """Requested model of a custom endpoint, and the questions that were answered with yes
    (protocol-models).
    """

    endpoint_id: str
    model_id: str
    confirmed_context: bool = False
    confirmed_swap: bool = False


@frozen(kw_only=True)
class CreateRequest:
    """Request for a new session (protocol-create).

    @ivar params: launch parameters, including C{model} and C{effort} of the body.
    @ivar parent_session_id: must be a session of the same owner.
    @ivar worktree: the session works in a new worktree of its case.
    @ivar model_wish: the requested model of a custom endpoint.
    @ivar custom_model: the resolved model; see L{ISessions.choose_model}.
    @ivar attach: an existing tmux session, not made by the service, to attach to.
    """

    mode: str | None = None
    name: str | None = None
    working_dir: str | None = None
    case_name: str | None = None
    parent_session_id: str | None = None
    agent_origin: str | None = None
    params: Mapping[str, object] = field(factory=dict)
    env_overrides: Mapping[str, str] = field(factory=dict, repr=False)
    resume_session_id: str | None = None
    statusline_telemetry: bool = False
    model_wish: ModelRequest | None = None
    custom_model: EndpointModel | None = None
    attach: LocationId | None = None
    start: bool = False
    worktree: CaseWorktreeRequest | None = None
    cols: int = 120
    rows: int = 40


@frozen(kw_only=True)
class InputRequest:
    """Request to type an input (protocol-input).

    @ivar use_mux: C{True}: as a prompt; C{False}: as raw bytes; C{None}: decided by the text.
    @ivar client_id: with C{seq}: type it only if the number is above the client's last one.
    @ivar typed: a prompt is typed key by key instead of pasted.
    @ivar longest: maximum characters of C{text}; the service's own prompts may be longer.
    @ivar may_wait: the input may be buffered and typed later if the session's host is out of reach.
    @ivar submitting: called just before the key that submits. Activity of the agent after the call
        belongs to this input.
    @ivar sender: the identity whose permission is checked again just before typing; C{None}: the
        service itself.
    """

    text: str
    use_mux: bool | None = None
    client_id: str | None = None
    seq: int | None = None
    typed: bool = False
    longest: int = INPUT_LENGTH
    may_wait: bool = False
    submitting: Callable[[], None] | None = field(default=None, eq=False, repr=False)
    sender: Identity | None = None


def check_input(request: InputRequest) -> None:
    """Check the limits of an input.

    @raise ServiceError: 413 for more than C{longest} characters; 400 for a C{seq} without a
        C{clientId}, or one out of range.
    """
    if len(request.text) > request.longest:
        message = f"input: at most {request.longest} characters"
        raise ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, message)
    if request.seq is None:
        return
    if request.client_id is None:
        raise invalid_field("seq", "needs a clientId")
    if not 1 <= len(request.client_id) <= CLIENT_ID_LENGTH:
        raise invalid_field("clientId", f"1 to {CLIENT_ID_LENGTH} characters")
    if not 0 <= request.seq <= SEQ_LIMIT:
        raise invalid_field("seq", f"0 to {SEQ_LIMIT}")
