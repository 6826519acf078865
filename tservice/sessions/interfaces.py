"""What other features know of sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from attrs import field, frozen
from zope.interface import Interface

from tservice.clis.interfaces import Launch
from tservice.core.errors import ErrorCode, ServiceError, failed
from tservice.core.identity import Identity
from tservice.mux.interface import Capture, Colours, IPane, Leftover
from tservice.sessions.record.model import (
    MODEL_PARAMS,
    CustomModel,
    Exit,
    Location,
    ModelSource,
    NameSource,
    Phase,
    Session,
    Status,
    Todo,
    TodoStatus,
    Tokens,
)
from tservice.sessions.record.questions import ContextQuestion, SwapQuestion
from tservice.sessions.record.requests import SEQ_LIMIT, CreateRequest, InputRequest, ModelWish
from tservice.sessions.record.viewport import Wish
from tservice.sessions.record.wire import SessionAnswer

__all__ = [
    "MODEL_PARAMS",
    "SEQ_LIMIT",
    "ActivitySink",
    "Again",
    "Claim",
    "Colours",
    "ContextQuestion",
    "CreateRequest",
    "CustomModel",
    "Delivery",
    "Exit",
    "FolderHeld",
    "IActivitySource",
    "IActivitySources",
    "IConversations",
    "ICustomModels",
    "IInputGate",
    "ILaunchPreparation",
    "IRecollection",
    "ISessions",
    "Identity",
    "InputRequest",
    "Leftover",
    "Location",
    "ModelQuestion",
    "ModelSource",
    "ModelWish",
    "NameSource",
    "Phase",
    "Session",
    "SessionAnswer",
    "Status",
    "SwapQuestion",
    "Todo",
    "TodoStatus",
    "Tokens",
    "Told",
    "check_started",
    "lasting",
]

Again = Callable[[], object]
"""Judges once more whoever asked for something, after a wait: raises where a right was lost."""


def lasting() -> None:
    """The judgement of who cannot lose a right, such as the service itself."""


@frozen(kw_only=True)
class Delivery:
    """What became of an input.

    @ivar delivered: it was typed whole.
    @ivar duplicate: it was accepted before, so it was not typed again.
    @ivar last: of a duplicate, the last number that was accepted of its client, whatever became of
        this one: two that fared alike are equal.
    @ivar buffered: its session's host is away: it is typed once that is back.
    @ivar dropped: or it would be, had there been room for it; its number is free.
    @ivar opened: what the agent opened for it that waits for a choice: C{"picker"}
        (protocol-prompts).
    @ivar put_aside: a prompt of before, which was not submitted for sure, stood in the composer and
        was taken out for this one.
    """

    delivered: bool
    duplicate: bool = False
    last: int | None = field(default=None, eq=False)
    buffered: bool = False
    dropped: bool = False
    opened: str | None = None
    put_aside: bool = field(default=False, eq=False)


class ISessions(Interface):
    """The sessions.  Every error is a L{ServiceError}; an unknown id is a 404.

    With a C{caller}, a session of somebody else is a 404 too, unless the caller is an admin;
    without one the caller is the service itself.  What happens to a session is told by the
    C{session:} events.
    """

    def get(session_id: str, caller: Identity | None = None) -> Session:
        """The session."""

    def list(caller: Identity | None = None) -> list[Session]:
        """All that the caller may see, in the order of the list."""

    def describe(session_id: str) -> SessionAnswer:
        """The session as clients see it (protocol-session)."""

    def owner_of(session_id: str) -> str | None:
        """Whose it is; C{None} in single-user mode."""

    def pane_of(session_id: str) -> IPane | None:
        """Its pane, also one whose process is over; C{None} without one.

        A new start is a new pane: C{session:interactive} tells of it.
        """

    async def create(request: CreateRequest, caller: Identity, again: Again = lasting) -> Session:
        """Make a session and start it where the request says so (protocol-create).

        @param again: asked once its place is ready, which may have taken a host's waking.
        """

    async def start(
        session_id: str,
        *,
        granted: bool,
        clear_breaker: bool = False,
        fresh: bool = False,
        resume: str | None = None,
        again: Again = lasting,
    ) -> Session:
        """Start its process, or attach to the one that was let go.

        @param granted: whoever asks may bypass permissions.
        @param resume: the agent's own id of the conversation to go on with, as far as it has a
            process to start; a bad one, or one for an agent that cannot, is a 400.
        @param fresh: without C{resume} the agent begins a conversation; else it goes on with the
            last one, where there is one (protocol-start).
        @param again: as for L{create}.
        """

    async def stop(session_id: str, reason: str) -> Session:
        """End its process and keep the record as C{stopped} (protocol-delete)."""

    async def delete(session_id: str, *, kill: bool = True) -> tuple[Leftover, ...]:
        """End its process and remove it; C{kill} false lets go of it instead.

        @return: the processes that are left of it, as far as they can be seen.
        """

    def judge(session_id: str, sender: Identity | None = None) -> None:
        """Make sure that C{sender} may drive what runs (protocol-driving), as all that types does
        by itself; for keys that go past the inputs.

        @param sender: as L{InputRequest.sender}.
        """

    async def input(session_id: str, request: InputRequest) -> Delivery:
        """Type something (protocol-input)."""

    async def prompt(session_id: str, text: str, sender: Identity | None = None) -> None:
        """Type C{text} as one prompt and submit it.

        @param sender: as L{InputRequest.sender}.
        """

    async def send_key(session_id: str, key: str, sender: Identity | None = None) -> None:
        """Press one key of C{tservice.mux.keys.KEYS}, in turn with the inputs.

        @param sender: as L{InputRequest.sender}.
        """

    async def resize(session_id: str, wish: Wish) -> tuple[int, int]:
        """Ask for a size; the one that holds now (protocol-size)."""

    def show_colours(session_id: str, viewer: str, colours: Colours) -> None:
        """A terminal socket shows the session in these colours (protocol-colours)."""

    async def leave(session_id: str, viewer: str) -> None:
        """A terminal socket is gone: size and colours are whose who is still there
        (protocol-size)."""

    def report_model(session_id: str, source: ModelSource, text: str | None) -> None:
        """What C{source} says about the model; C{None}: nothing any more."""

    def rename(session_id: str, name: str, source: NameSource) -> Session:
        """Give it a name, as checked by L{tservice.sessions.record.names.check_name}."""

    def update(session_id: str, *, durable: bool = True, **fields: Any) -> Session:
        """Change fields of the record, save it and tell of it.

        @param durable: false for what an agent tells many times a minute: it costs no flush.
        """

    def counts() -> Iterable[tuple[str, Status, int]]:
        """How many sessions there are, by mode and status."""


class Told(Enum):
    """What an agent itself told of a prompt, by its hooks and what it keeps of its conversation."""

    SUBMITTED = "it was submitted"
    NOT_YET = "it would have told of it, and has not"
    UNCLEAR = "what it told may be of an equal prompt before"
    NOTHING = "it does not tell"


class Claim(Protocol):
    """One prompt's claim to what its agent tells, all of which is told of one prompt alone."""

    async def told(self) -> Told:
        """What the agent told of it by now."""


class IInputGate(Interface):
    """Keeps input back while it would land in the wrong place, such as a trust dialog."""

    async def ready(session: Session) -> None:
        """Return once input may be typed; nothing was accepted yet.

        @raise ServiceError: it will not come to that (422).
        """

    def asks(session: Session, capture: Capture, typed: str) -> str | None:
        """What the screen asks for in one line, where a prompt's Enter would be the answer.

        @param typed: the prompt that was typed, which may look like a dialog; C{""}: none yet.
        """

    def opened(session: Session, capture: Capture) -> str | None:
        """What a command of the agent's own opened on its screen: C{"picker"}."""

    def rests(session: Session, capture: Capture) -> bool:
        """Return whether the screen shows a composer, and that nothing works."""

    def claim(session: Session, text: str, *, caught_up: bool) -> Claim:
        """Enter is pressed next for a prompt, for the first time, or was by the service before this
        one; C{session.last_submit_at} says when.

        @param caught_up: the agent has read everything that was typed before.
        """


class ILaunchPreparation(Interface):
    """Puts in place what an agent reads when it starts."""

    async def prepare(session: Session, env: Mapping[str, str]) -> None:
        """Its process is about to start, with this environment.

        @raise FolderHeld: it may not start before somebody has answered.
        """


class FolderHeld(ServiceError):
    """A session is not started: its folder brings what runs, and somebody is asked (409)."""

    def __init__(self, what_to_do: str) -> None:
        super().__init__(ErrorCode.CONFLICT, f"the folder is not trusted yet: {what_to_do}")


class ModelQuestion(Exception):
    """Somebody has to answer before a model is used; nothing was changed (protocol-models).

    @ivar answer: the question, as it is answered to the caller.
    """

    def __init__(self, answer: ContextQuestion | SwapQuestion) -> None:
        super().__init__("a question on a custom model")
        self.answer = answer


class IAgentTokens(Interface):
    """Tokens for agents (protocol-agent-tokens)."""

    def give(session: str, owner: str) -> Path | None:
        """The file of a new token of that session, if it gets one."""


class ICustomModels(Interface):
    """Models of custom endpoints, for the agents in the panes."""

    async def choose(mode: str, wish: ModelWish, caller: Identity) -> CustomModel:
        """What C{wish} comes to for a session of that mode.

        @raise ModelQuestion: it has to be answered first.
        @raise ServiceError: 403: the feature is off; 404: no such endpoint; 400: not with that
            model id, or not in that mode.
        """

    async def inject(session: Session, plan: Launch) -> Launch:
        """C{plan}, less what would lead the agent elsewhere, and with what leads it to the
        session's model; C{plan} itself for a session without one.

        @raise ServiceError: 422: it cannot be used now.
        """


class IConversations(Interface):
    """What agents keep of their conversations."""

    async def last(session: Session) -> str | None:
        """The agent's own id of the session's last conversation that it can go on with."""

    async def check(session: Session, conversation: str) -> None:
        """Judge one that somebody names for the session to go on with.

        @raise ServiceError: 403: it is of another account; 422: that cannot be told.
        """


@frozen
class KeptScreen:
    """Lines of a terminal, separated by CR LF, and when they were saved in Unix milliseconds."""

    lines: bytes
    at: int


class IRecollection(Interface):
    """What is known of sessions from before the machine went down."""

    def recalled(records: Sequence[Session]) -> None:
        """The records as they are on the disk, before anything is asked of their panes."""

    async def preface(session: Session) -> bytes:
        """What stands above the first line of its next process; never keeps it from starting."""

    async def screen(session: Session) -> KeptScreen | None:
        """What is kept of a session that runs where it cannot be asked; C{None}: nothing is."""


class ActivitySink(Protocol):
    """Who is told what a session does."""

    def working(self, reason: str) -> None:
        """It began to work; C{reason} is one line for C{statusReason}."""

    def idle(self, reason: str) -> None:
        """It is done, or just came up."""

    def noted(self, reason: str) -> None:
        """The status is what it was; C{reason} is newer evidence of it.  No signal is given."""


class IActivitySource(Interface):
    """Finds out what one session does, as long as its process runs."""

    def start() -> None:
        """Begin."""

    def submitting(text: str | None) -> bool:
        """Enter is pressed next.

        @param text: the prompt that it submits; C{None}: somebody presses it, or types it at a
            terminal.
        @return: whether an C{idle} will tell that what it submits is over.
        """

    def stop() -> None:
        """The process is over or let go; tell nothing any more.  May be called twice."""


def check_started(session: Session) -> None:
    """Refuse to go on with a session that was made but waits for an answer (L{FolderHeld}).

    @raise ServiceError: 422.
    """
    if session.pid is None:
        raise failed(session.status_reason or "the session has not started")


class IActivitySources(Interface):
    """Chooses how to find out."""

    def source(
        session: Session, pane: IPane, sink: ActivitySink, fresh: bool, resumed: bool
    ) -> IActivitySource:
        """A new source for that session's mode, not started yet.

        @param fresh: the process was just started, not taken up again.
        @param resumed: so it was, to go on with a conversation.
        """
