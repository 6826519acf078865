"""Interfaces of the session feature for other features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from attrs import field, frozen
from zope.interface import Interface

from tservice.clis.interfaces import LaunchPlan
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.mux.interface import IPane, LeftoverProcess, PaneCapture, TerminalColours
from tservice.sessions.record.model import (
    MODEL_PARAMS,
    EndpointModel,
    ModelSource,
    NameSource,
    ProcessExit,
    ProcessPhase,
    Session,
    SessionLocationKind,
    SessionStall,
    SessionStatus,
    Snooze,
    TodoItem,
    TodoStatus,
    TokenUsage,
)
from tservice.sessions.record.questions import ContextQuestion, SwapQuestion
from tservice.sessions.record.requests import SEQ_LIMIT, CreateRequest, InputRequest, ModelRequest
from tservice.sessions.record.viewport import SizeRequest
from tservice.sessions.record.wire import SessionAnswer

__all__ = [
    "MODEL_PARAMS",
    "SEQ_LIMIT",
    "ActivitySink",
    "ContextQuestion",
    "CreateRequest",
    "EndpointModel",
    "FolderApprovalRequired",
    "IActivitySource",
    "IActivitySources",
    "IChannelLaunch",
    "IConversations",
    "ICustomModels",
    "IInputGate",
    "ILaunchPreparation",
    "ISessions",
    "Identity",
    "InputDelivery",
    "InputRequest",
    "LeftoverProcess",
    "ModelConfirmationRequired",
    "ModelRequest",
    "ModelSource",
    "NameSource",
    "ProcessExit",
    "ProcessPhase",
    "PromptClaim",
    "PromptReport",
    "SavedStateReader",
    "Session",
    "SessionAnswer",
    "SessionLocationKind",
    "SessionStall",
    "SessionStatus",
    "Snooze",
    "SwapQuestion",
    "TerminalColours",
    "TodoItem",
    "TodoStatus",
    "TokenUsage",
    "require_started",
]


@frozen(kw_only=True)
class InputDelivery:
    """Outcome of one input.

    @ivar delivered: true if the input was typed completely.
    @ivar duplicate: true if the input was accepted before, so that it was not typed again.
    @ivar last: the client's last accepted sequence number, if this input is a duplicate. It does
        not count in comparisons.
    @ivar buffered: true if the session's host is out of reach. The input is typed once the host is
        back.
    @ivar dropped: true if the input could not be buffered, because there was no room. Its sequence
        number can be used again.
    @ivar opened: the view that the agent opened because of the input: C{"picker"}
        (protocol-prompts).
    @ivar put_aside: true if an unconfirmed earlier prompt was removed from the composer for this
        one.
    """

    delivered: bool
    duplicate: bool = False
    last: int | None = field(default=None, eq=False)
    buffered: bool = False
    dropped: bool = False
    opened: str | None = None
    put_aside: bool = field(default=False, eq=False)


class ISessions(Interface):
    """Sessions of the service, for other features.

    Every error is a L{ServiceError}; an unknown id is a 404. With a C{caller}, a session of another
    user is a 404 too, unless the caller is an admin. Without a caller, the service itself calls.
    The C{session:} events report changes of a session.
    """

    def get(session_id: str, caller: Identity | None = None) -> Session:
        """Return the record of the session."""

    def list(caller: Identity | None = None) -> list[Session]:
        """Return the records of the sessions that the caller may see, in list order."""

    def describe_session(session_id: str) -> SessionAnswer:
        """Return the session in the form that clients receive (protocol-session)."""

    def get_owner(session_id: str) -> str | None:
        """Return the owner of a session; C{None} in single-user mode."""

    def get_pane(session_id: str) -> IPane | None:
        """Return the session's pane, even after its process ended; C{None} without a pane.

        A new start makes a new pane, which C{session:interactive} announces.
        """

    async def create(request: CreateRequest, caller: Caller) -> Session:
        """Create a session, and start it if the request says so (protocol-create).

        @param caller: authorized again once the location is ready. Before that, a host may have
            had to wake up.
        """

    async def start(
        session_id: str,
        caller: Caller,
        *,
        clear_breaker: bool = False,
        fresh: bool = False,
        resume: str | None = None,
    ) -> Session:
        """Start the session's process, or attach to a detached one.

        @param caller: as for L{create}. It need not own the session.
        @param clear_breaker: true to allow the start although the exit breaker tripped.
        @param resume: the agent's own id of the conversation to continue, if a process has to be
            started. A malformed id, or an id for an agent that cannot resume, is a 400.
        @param fresh: true to begin a new conversation if C{resume} is not given. Otherwise the
            agent continues its last conversation, if one exists (protocol-start).
        """

    async def stop(session_id: str, reason: str) -> Session:
        """End the process and keep the record as C{stopped} (protocol-delete)."""

    async def delete(session_id: str, *, kill: bool = True) -> tuple[LeftoverProcess, ...]:
        """End the process and remove the session.

        @param kill: false to detach from the process instead of ending it.
        @return: the processes that outlive the session, as far as they can be seen.
        """

    def check_sender(session_id: str, sender: Identity | None = None) -> None:
        """Check that C{sender} may drive the running program (protocol-driving).

        Typing methods check this themselves; call it for keys that bypass the input queue.

        @param sender: as L{InputRequest.sender}.
        """

    async def send_input(session_id: str, request: InputRequest) -> InputDelivery:
        """Type an input into the session (protocol-input)."""

    async def send_prompt(session_id: str, text: str, sender: Identity | None = None) -> None:
        """Type C{text} as one prompt and submit it.

        @param sender: as L{InputRequest.sender}.
        """

    async def send_key(session_id: str, key: str, sender: Identity | None = None) -> None:
        """Press one key of C{tservice.mux.keys.KEYS} in order with the inputs.

        @param sender: as L{InputRequest.sender}.
        """

    def observe_input(observer: Callable[[str], object]) -> Callable[[], None]:
        """Call C{observer} with the id of a session when a caller types into it or presses a key.

        Input of the service itself, and answers of a terminal program, do not count.

        @return: a function that ends this and may be called twice.
        """

    async def resize_pane(session_id: str, wish: SizeRequest) -> tuple[int, int]:
        """Request a size and return the size that is now in effect (protocol-size)."""

    def set_viewer_colours(session_id: str, viewer: str, colours: TerminalColours) -> None:
        """Record the colours in which a viewer shows the session (protocol-colours).

        @param viewer: client id of a terminal socket.
        """

    async def remove_viewer(session_id: str, viewer: str) -> None:
        """Remove the viewer of a closed terminal socket.

        Another viewer then decides the session's size and colours (protocol-size).
        """

    def report_model(session_id: str, source: ModelSource, text: str | None) -> None:
        """Record the model name that C{source} reports. C{None} removes the report."""

    def rename_session(session_id: str, name: str, source: NameSource) -> Session:
        """Set the session's name, checked by L{tservice.sessions.record.names.check_name}."""

    def update_record(session_id: str, *, durable: bool = True, **fields: Any) -> Session:
        """Change fields of the record, save it and publish the change.

        @param durable: false for values that an agent reports many times a minute. The write is
            then not flushed to disk.
        """

    def count_by_status() -> Iterable[tuple[str, SessionStatus, int]]:
        """Return the number of sessions by mode and status."""


class PromptReport(Enum):
    """Evidence from the agent itself, by its hooks and its transcript, that a prompt was
    submitted.
    """

    SUBMITTED = "it was submitted"
    NOT_YET = "the agent would have reported it, and has not"
    UNCLEAR = "the report may belong to an equal earlier prompt"
    NOTHING = "the agent does not report prompts"


class PromptClaim(Protocol):
    """Claim of one prompt to the agent's reports of submitted prompts. Each report counts for one
    prompt.
    """

    async def get_report(self) -> PromptReport:
        """Return the agent's report of this prompt so far."""


class IInputGate(Interface):
    """Holds input back while it would go to a screen that is not the composer, such as a trust
    dialog.
    """

    async def wait_until_ready(session: Session) -> None:
        """Wait until input may be typed. The input is not accepted before that.

        @raise ServiceError: 422: input will never become possible.
        """

    def describe_dialog(session: Session, capture: PaneCapture, typed: str) -> str | None:
        """Return one line that describes the dialog that Enter would answer; C{None} if none is
        open.

        @param typed: the typed prompt, which may look like a dialog; C{""} if nothing was typed
            yet.
        """

    def find_opened_view(session: Session, capture: PaneCapture) -> str | None:
        """Return the kind of view that the agent's own command opened on the screen.

        The only kind is C{"picker"}. C{None} means that no such view is open.
        """

    def is_at_rest(session: Session, capture: PaneCapture) -> bool:
        """Return true if the screen shows a composer and the agent is not working."""

    def claim_prompt(session: Session, text: str, *, caught_up: bool) -> PromptClaim:
        """Register the claim of a prompt just before its first Enter, or after a restart.

        If an earlier run of the service pressed Enter, C{session.last_submit_at} is the time of
        that Enter.

        @param caught_up: true if the agent has read everything that was typed before.
        """


class ILaunchPreparation(Interface):
    """Prepares the files that an agent reads when it starts."""

    async def prepare_launch(session: Session, env: Mapping[str, str]) -> None:
        """Prepare files for a process that is about to start with the environment C{env}.

        @raise FolderApprovalRequired: the process must not start before a person has answered.
        """


class IChannelLaunch(Interface):
    """Adds the agent's channel to a launch."""

    async def add_channel(session: Session, plan: LaunchPlan) -> LaunchPlan:
        """Return the plan that starts the agent with its channel; C{plan} itself without one."""


class FolderApprovalRequired(ServiceError):
    """Raised (409) if a session's folder contains settings that run programs, until a person
    approves.
    """

    def __init__(self, what_to_do: str) -> None:
        super().__init__(ErrorCode.CONFLICT, f"the folder is not trusted yet: {what_to_do}")


class ModelConfirmationRequired(Exception):
    """Raised if the caller must confirm before a model is used. Nothing was changed
    (protocol-models).

    @ivar answer: the question, in the form of the HTTP response.
    """

    def __init__(self, answer: ContextQuestion | SwapQuestion) -> None:
        super().__init__("the use of a custom model needs a confirmation")
        self.answer = answer


class IAgentTokens(Interface):
    """Issuer of API tokens for agents (protocol-agent-tokens)."""

    def issue_token(session: str, owner: str) -> Path | None:
        """Create a token for a session. Return the file with the token; C{None} if the session gets
        none.
        """


class ICustomModels(Interface):
    """Models of custom endpoints, for the agents in the panes."""

    async def choose_model(mode: str, wish: ModelRequest, caller: Identity) -> EndpointModel:
        """Return the custom model that C{wish} requests, for a session of that mode.

        @raise ModelConfirmationRequired: the caller must answer a question first.
        @raise ServiceError: 403: the feature is off; 404: no such endpoint; 400: the endpoint does
            not offer that model id, or not in that mode.
        """

    async def inject_model(session: Session, plan: LaunchPlan) -> LaunchPlan:
        """Return C{plan} with the settings that make the agent use the session's custom model.

        Settings for other endpoints are removed. For a session without a custom model, C{plan} is
        returned unchanged.

        @raise ServiceError: 422: the model cannot be used now.
        """


class IConversations(Interface):
    """Access to the stored conversations of agents."""

    async def find_last_conversation(session: Session) -> str | None:
        """Return the agent's own id of the session's last conversation; C{None} if none can be
        continued.
        """

    async def check_conversation(session: Session, conversation: str) -> None:
        """Check that the session may continue the conversation that a caller named.

        @raise ServiceError: 403: it belongs to another account; 422: the owner cannot be
            determined.
        """


@frozen
class SavedScreen:
    """Lines of a terminal, separated by CR LF, with the time of saving in Unix milliseconds."""

    lines: bytes
    at: int


class SavedStateReader(Interface):
    """Saved data about sessions from before a restart of the machine."""

    def accept_records(records: Sequence[Session]) -> None:
        """Process the session records that were read from disk, before their panes are queried."""

    async def get_preface(session: Session) -> bytes:
        """Return saved output to print above the next process's first line. Errors do not prevent
        the start.
        """

    async def find_saved_screen(session: Session) -> SavedScreen | None:
        """Return the saved screen of a session whose host cannot be queried; C{None} if none was
        saved.
        """


class ActivitySink(Protocol):
    """Receiver of a session's activity."""

    def report_working(self, reason: str) -> None:
        """Report that the session began to work; C{reason} is one line for C{statusReason}."""

    def report_idle(self, reason: str) -> None:
        """Report that the session finished its work, or just started.

        @param reason: one line for C{statusReason}.
        """

    def report_evidence(self, reason: str) -> None:
        """Report newer evidence for the unchanged status. No signal is given.

        @param reason: one line for C{statusReason}.
        """


class IActivitySource(Interface):
    """Detector of the activity of one session while its process runs."""

    def start() -> None:
        """Start to observe the session."""

    def announce_submit(text: str | None) -> bool:
        """Announce that Enter is pressed next.

        @param text: the prompt that Enter submits; C{None}: a key press, or typing at a terminal.
        @return: true if an C{idle} report will follow at the end of the submitted work.
        """

    def stop() -> None:
        """Stop reporting, because the process ended or was detached.  May be called twice."""


def require_started(session: Session) -> None:
    """Raise an error if a new session was not started, because it waits for an answer
    (L{FolderApprovalRequired}).

    @raise ServiceError: 422.
    """
    if session.pid is None:
        raise make_failure_error(session.status_reason or "the session has not started")


class IActivitySources(Interface):
    """Factory of activity sources."""

    def make_source(
        session: Session, pane: IPane, sink: ActivitySink, fresh: bool, resumed: bool
    ) -> IActivitySource:
        """Return a new activity source for the session's mode. The caller starts it.

        @param fresh: true if the process was just started, false if it was adopted.
        @param resumed: true if the process was started to continue a conversation.
        """
