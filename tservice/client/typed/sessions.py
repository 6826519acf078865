"""Sessions: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted
from tservice.client.typed.events import (
    AutoClearAnswer,
    AutoCompactAnswer,
    AutoResumeAnswer,
    NiceAnswer,
    SessionAnswer,
)
from tservice.client.typed.models import ContextQuestion, SwapQuestion


class AutoClearBody(TypedDict):
    """C{/clear} at C{threshold} tokens."""

    enabled: bool
    threshold: NotRequired[int]


class AutoCompactBody(TypedDict):
    """C{/compact} at C{threshold} tokens."""

    enabled: bool
    threshold: NotRequired[int]
    prompt: NotRequired[str | None]


class AutoResumeBody(TypedDict):
    """Go on after a usage limit."""

    enabled: bool
    resumeAt: NotRequired[int | None]


class ColourAnswer(TypedDict):
    """The colour that holds now."""

    color: Literal["default", "red", "orange", "yellow", "green", "blue", "purple", "pink"]


class ColourBody(TypedDict):
    """One of the eight colours."""

    color: Literal["default", "red", "orange", "yellow", "green", "blue", "purple", "pink"]


class CreateBody(TypedDict):
    """A new session; it runs only with C{start}."""

    caseName: NotRequired[str | None]
    mode: NotRequired[str | None]
    parentSessionId: NotRequired[str | None]
    envOverrides: NotRequired[dict[str, str] | None]
    effort: NotRequired[Literal["low", "medium", "high", "xhigh", "max"] | None]
    model: NotRequired[str | None]
    params: NotRequired[dict[str, str | bool | int] | None]
    worktree: NotRequired[NewWorktreeBody | None]
    customModel: NotRequired[CustomModelBody | None]
    workingDir: NotRequired[str | None]
    name: NotRequired[str | None]
    resumeSessionId: NotRequired[str | None]
    attachRemoteSession: NotRequired[RemoteSessionBody | None]
    statusLineTelemetry: NotRequired[bool | None]
    start: NotRequired[bool | None]
    cols: NotRequired[int | None]
    rows: NotRequired[int | None]


class CustomModelBody(TypedDict):
    """A model of a custom endpoint, and the questions already answered."""

    endpointId: str
    modelId: str
    confirmed: NotRequired[bool | None]
    confirmedContext: NotRequired[bool | None]
    confirmedSwap: NotRequired[bool | None]


class DeletedAnswer(TypedDict):
    """A session was removed, and what is left of it; absent where nothing is."""

    left: NotRequired[list[LeftAnswer]]


class EffortAnswer(TypedDict):
    """The level that the agent told."""

    effort: str


class EffortBody(TypedDict):
    """One of the agent's levels."""

    effort: str


class FlickerAnswer(TypedDict):
    """Whether the flicker filter is on."""

    flickerFilter: bool


class FlickerBody(TypedDict):
    """The flicker filter, on or off."""

    flickerFilter: bool


class FolderTrustAnswer(TypedDict):
    """What a folder brings for the agent of one mode."""

    state: Literal["nothing", "trusted", "asks"]
    workingDir: str
    paths: list[str]
    summary: str
    missing: int


class Killed(TypedDict):
    """How many sessions were removed, and what is left of them."""

    left: NotRequired[list[LeftAnswer]]
    killed: int


class LeftAnswer(TypedDict):
    """A process that outlives its session; C{command} is one line, untrusted and perhaps cut."""

    pid: int
    command: str


class MessageAnswer(TypedDict):
    """Something that one side said."""

    role: Literal["user", "assistant"]
    text: str
    timestamp: int | None


class ModelAnswer(TypedDict):
    """The model as the agent calls it."""

    model: str


class ModelBody(TypedDict):
    """The model, by a name that the agent knows."""

    model: str


class NameAnswer(TypedDict):
    """The name that holds now."""

    name: str


class NameBody(TypedDict):
    """An empty name returns to a generated one."""

    name: str


NewWorktreeBody = TypedDict("NewWorktreeBody", {"branch": "str", "from": "NotRequired[str | None]"})
"""A new worktree of the case, to work in; C{from} is where a new branch begins."""


class NiceBody(TypedDict):
    """The priority of the pane's process."""

    enabled: bool
    value: NotRequired[int]


class OneSession(TypedDict):
    """A session, wrapped."""

    session: SessionAnswer
    warnings: NotRequired[list[str]]


class OrderAnswer(TypedDict):
    """Every session that the caller sees, in order."""

    order: list[str]


class OrderBody(TypedDict):
    """Session ids in their new order; those not named stay where they are."""

    order: list[str]


class PermissionModeAnswer(TypedDict):
    """The mode that the screen shows."""

    permissionMode: str


class PermissionModeBody(TypedDict):
    """One of the agent's modes."""

    permissionMode: str


class PinAnswer(TypedDict):
    """Whether it is pinned."""

    pinned: bool


class PinBody(TypedDict):
    """Pinned or not."""

    pinned: bool


class QuickStartAnswer(TypedDict):
    """The session that was started, and where."""

    sessionId: str
    caseName: str
    casePath: str
    warnings: NotRequired[list[str]]


class QuickStartBody(TypedDict):
    """A case and a session in it, which is started."""

    caseName: NotRequired[str | None]
    mode: NotRequired[str | None]
    parentSessionId: NotRequired[str | None]
    envOverrides: NotRequired[dict[str, str] | None]
    effort: NotRequired[Literal["low", "medium", "high", "xhigh", "max"] | None]
    model: NotRequired[str | None]
    params: NotRequired[dict[str, str | bool | int] | None]
    worktree: NotRequired[NewWorktreeBody | None]
    customModel: NotRequired[CustomModelBody | None]
    sessionName: NotRequired[str | None]
    agentOrigin: NotRequired[str | None]


class RemoteSessionBody(TypedDict):
    """An existing session of a remote host."""

    hostId: str
    remoteSessionName: str


class ResponseAnswer(TypedDict):
    """The agent's last answer; an empty text and no time before the first."""

    text: str
    timestamp: int | None
    messages: NotRequired[list[MessageAnswer]]


class StartBody(TypedDict):
    """C{clearBreaker} gets a session started that the exit breaker stopped; with C{fresh} its
    agent begins a conversation in place of going on with the last one.
    """

    clearBreaker: NotRequired[bool | None]
    fresh: NotRequired[bool | None]


class Sessions(Calling):
    """Sessions."""

    async def get_folder_trust(
        self, *, mode: str, caseName: str | None = None, workingDir: str | None = None
    ) -> FolderTrustAnswer:
        """What a new session's folder brings that runs."""
        found: FolderTrustAnswer = await self.call(
            "GET",
            "/folder-trust",
            query={"mode": mode, "caseName": caseName, "workingDir": workingDir},
        )
        return found

    async def put_sessions_id_model(self, id: str, body: ModelBody) -> ModelAnswer:
        """Another model for a running agent."""
        found: ModelAnswer = await self.call("PUT", f"/sessions/{quoted(id)}/model", body=body)
        return found

    async def put_sessions_id_effort(self, id: str, body: EffortBody) -> EffortAnswer:
        """Another effort of it."""
        found: EffortAnswer = await self.call("PUT", f"/sessions/{quoted(id)}/effort", body=body)
        return found

    async def put_sessions_id_permission_mode(
        self, id: str, body: PermissionModeBody
    ) -> PermissionModeAnswer:
        """Another permission mode of it."""
        found: PermissionModeAnswer = await self.call(
            "PUT", f"/sessions/{quoted(id)}/permission-mode", body=body
        )
        return found

    async def get_sessions_id_last_response(
        self, id: str, *, context: Literal["full"] | None = None
    ) -> ResponseAnswer:
        """The agent's last answer, from its own transcript."""
        found: ResponseAnswer = await self.call(
            "GET", f"/sessions/{quoted(id)}/last-response", query={"context": context}
        )
        return found

    async def get_sessions(self) -> list[SessionAnswer]:
        """The sessions that the caller may see, in the order of the list."""
        found: list[SessionAnswer] = await self.call("GET", "/sessions")
        return found

    async def post_sessions(
        self, body: CreateBody | None = None
    ) -> OneSession | ContextQuestion | SwapQuestion:
        """Make a session; nothing runs unless start is true."""
        found: OneSession | ContextQuestion | SwapQuestion = await self.call(
            "POST", "/sessions", body=body
        )
        return found

    async def delete_sessions(self) -> Killed:
        """End and remove every session of the caller."""
        found: Killed = await self.call("DELETE", "/sessions")
        return found

    async def get_sessions_id(self, id: str) -> SessionAnswer:
        """One session."""
        found: SessionAnswer = await self.call("GET", f"/sessions/{quoted(id)}")
        return found

    async def delete_sessions_id(self, id: str, *, killMux: bool | None = None) -> DeletedAnswer:
        """End the session and remove it, or let go of its process."""
        found: DeletedAnswer = await self.call(
            "DELETE", f"/sessions/{quoted(id)}", query={"killMux": killMux}
        )
        return found

    async def post_quick_start(
        self, body: QuickStartBody | None = None
    ) -> QuickStartAnswer | ContextQuestion | SwapQuestion:
        """Make a case where it is missing, and start a session in it."""
        found: QuickStartAnswer | ContextQuestion | SwapQuestion = await self.call(
            "POST", "/quick-start", body=body
        )
        return found

    async def post_sessions_id_start(self, id: str, body: StartBody | None = None) -> OneSession:
        """Start the session's process, or attach to the one that was let go."""
        found: OneSession = await self.call("POST", f"/sessions/{quoted(id)}/start", body=body)
        return found

    async def post_sessions_id_interactive(
        self, id: str, body: StartBody | None = None
    ) -> OneSession:
        """Start the session's process, or attach to the one that was let go."""
        found: OneSession = await self.call(
            "POST", f"/sessions/{quoted(id)}/interactive", body=body
        )
        return found

    async def post_sessions_id_shell(self, id: str, body: StartBody | None = None) -> OneSession:
        """Start the session's process, or attach to the one that was let go."""
        found: OneSession = await self.call("POST", f"/sessions/{quoted(id)}/shell", body=body)
        return found

    async def put_sessions_id_name(self, id: str, body: NameBody) -> NameAnswer:
        """Rename the session."""
        found: NameAnswer = await self.call("PUT", f"/sessions/{quoted(id)}/name", body=body)
        return found

    async def put_sessions_id_color(self, id: str, body: ColourBody) -> ColourAnswer:
        """Give it a colour."""
        found: ColourAnswer = await self.call("PUT", f"/sessions/{quoted(id)}/color", body=body)
        return found

    async def put_sessions_id_pin(self, id: str, body: PinBody) -> PinAnswer:
        """Pin it, or not."""
        found: PinAnswer = await self.call("PUT", f"/sessions/{quoted(id)}/pin", body=body)
        return found

    async def put_sessions_id_nice(self, id: str, body: NiceBody) -> NiceAnswer:
        """Renice its process."""
        found: NiceAnswer = await self.call("PUT", f"/sessions/{quoted(id)}/nice", body=body)
        return found

    async def put_sessions_id_flicker_filter(self, id: str, body: FlickerBody) -> FlickerAnswer:
        """Flicker filter on or off."""
        found: FlickerAnswer = await self.call(
            "PUT", f"/sessions/{quoted(id)}/flicker-filter", body=body
        )
        return found

    async def put_sessions_id_auto_compact(
        self, id: str, body: AutoCompactBody
    ) -> AutoCompactAnswer:
        """Automatic /compact."""
        found: AutoCompactAnswer = await self.call(
            "PUT", f"/sessions/{quoted(id)}/auto-compact", body=body
        )
        return found

    async def put_sessions_id_auto_clear(self, id: str, body: AutoClearBody) -> AutoClearAnswer:
        """Automatic /clear."""
        found: AutoClearAnswer = await self.call(
            "PUT", f"/sessions/{quoted(id)}/auto-clear", body=body
        )
        return found

    async def put_sessions_id_auto_resume(self, id: str, body: AutoResumeBody) -> AutoResumeAnswer:
        """Automatic resume."""
        found: AutoResumeAnswer = await self.call(
            "PUT", f"/sessions/{quoted(id)}/auto-resume", body=body
        )
        return found

    async def put_session_order(self, body: OrderBody) -> OrderAnswer:
        """Put the caller's sessions into an order."""
        found: OrderAnswer = await self.call("PUT", "/session-order", body=body)
        return found
