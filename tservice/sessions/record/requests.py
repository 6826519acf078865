"""Requests to the session service, as plain records."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from tservice.cases.interfaces import CaseWorktreeRequest as CaseWorktreeRequest
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.locations.location import LocationId
from tservice.sessions.record.model import EndpointModel
from tservice.terminal.terminal_reports import is_terminal_report

INPUT_LENGTH = 65_536
"""Maximum characters of one input (protocol-input)."""
CLIENT_ID_LENGTH = 128
SEQ_LIMIT = 2**53 - 1
"""Largest integer that every JSON reader keeps exact."""


@frozen(kw_only=True)
class ModelRequest:
    """Request for a model of a custom endpoint, with the confirmations already given
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
    @ivar parent_session_id: id of the parent, which must be a session of the same owner.
    @ivar worktree: the new worktree of the case in which the session works; C{None} for none.
    @ivar model_wish: the requested model of a custom endpoint.
    @ivar custom_model: the model to which C{model_wish} resolved; see
        L{ICustomModels.choose_model}.
    @ivar attach: an existing tmux session to attach to, which the service did not create.
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

    @ivar use_mux: C{True} types a prompt, C{False} raw bytes; C{None} decides by the text.
    @ivar client_id: id of the client. With C{seq}, the input is typed only if the number is above
        the client's last one.
    @ivar typed: true to type a prompt key by key instead of pasting it.
    @ivar longest: maximum characters of C{text}. The service's own prompts may be longer.
    @ivar may_wait: true if the input may be buffered while the session's host is out of reach.
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

    @property
    def is_typed_by_caller(self) -> bool:
        """True if neither the service itself nor a terminal program made this input."""
        is_report = self.use_mux is not True and is_terminal_report(
            self.text.encode("utf-8", "replace")
        )
        return self.sender is not None and not is_report


def check_input(request: InputRequest) -> None:
    """Check the length and the sequence number of an input.

    @raise ServiceError: 413 for more than C{longest} characters; 400 for a C{seq} without a
        C{clientId}, or one out of range.
    """
    if len(request.text) > request.longest:
        message = f"input: at most {request.longest} characters"
        raise ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, message)
    if request.seq is None:
        return
    if request.client_id is None:
        raise make_field_error("seq", "needs a clientId")
    if not 1 <= len(request.client_id) <= CLIENT_ID_LENGTH:
        raise make_field_error("clientId", f"1 to {CLIENT_ID_LENGTH} characters")
    if not 0 <= request.seq <= SEQ_LIMIT:
        raise make_field_error("seq", f"0 to {SEQ_LIMIT}")
