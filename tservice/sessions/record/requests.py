"""What callers ask of sessions, as plain records."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import field, frozen

from tservice.cases.interfaces import WorktreeWish as WorktreeWish
from tservice.core.errors import ErrorCode, ServiceError, invalid
from tservice.core.identity import Identity
from tservice.core.places.place import PlaceId
from tservice.sessions.record.model import CustomModel

INPUT_LENGTH = 65_536
"""Characters of one input (protocol-input)."""
CLIENT_ID_LENGTH = 128
SEQ_LIMIT = 2**53 - 1
"""The largest integer that every JSON reader keeps exact."""


@frozen(kw_only=True)
class ModelWish:
    """A model of a custom endpoint, and which questions were answered with yes
    (protocol-models)."""

    endpoint_id: str
    model_id: str
    confirmed_context: bool = False
    confirmed_swap: bool = False


@frozen(kw_only=True)
class CreateRequest:
    """A session to be made (protocol-create).

    @ivar params: launch parameters; C{model} and C{effort} of the body are among them.
    @ivar parent_session_id: must be a session of the same owner.
    @ivar worktree: the session works in a new worktree of its case.
    @ivar model_wish: what was asked for of a custom endpoint.
    @ivar custom_model: what came of it; see L{ISessions.choose_model}.
    @ivar attach: the tmux session of somebody else's to attach to.
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
    model_wish: ModelWish | None = None
    custom_model: CustomModel | None = None
    attach: PlaceId | None = None
    start: bool = False
    worktree: WorktreeWish | None = None
    cols: int = 120
    rows: int = 40


@frozen(kw_only=True)
class InputRequest:
    """Something to be typed (protocol-input).

    @ivar use_mux: C{True}: as a prompt; C{False}: as raw bytes; C{None}: by what it looks like.
    @ivar client_id: with C{seq}: type it only if the number is above the last one seen from there.
    @ivar typed: a prompt is typed key by key instead of pasted.
    @ivar longest: characters that C{text} may have; the service's own prompts may be longer.
    @ivar may_wait: it may be kept and typed later where the session's host is away.
    @ivar submitting: called just before the key that submits: what the agent does from then on
        belongs to this input.
    @ivar sender: whose right to type is looked at again just before it is typed; C{None}: the
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
    """Refuse what may not be typed.

    @raise ServiceError: 413 for more than C{longest} characters; 400 for a C{seq} without a
        C{clientId}, or one out of range.
    """
    if len(request.text) > request.longest:
        message = f"input: at most {request.longest} characters"
        raise ServiceError(ErrorCode.PAYLOAD_TOO_LARGE, message)
    if request.seq is None:
        return
    if request.client_id is None:
        raise invalid("seq", "needs a clientId")
    if not 1 <= len(request.client_id) <= CLIENT_ID_LENGTH:
        raise invalid("clientId", f"1 to {CLIENT_ID_LENGTH} characters")
    if not 0 <= request.seq <= SEQ_LIMIT:
        raise invalid("seq", f"0 to {SEQ_LIMIT}")
