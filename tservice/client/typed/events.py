"""Events: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling


class AutoClearAnswer(TypedDict):
    """Send C{/clear} at C{threshold} tokens (protocol-automatic)."""

    enabled: bool
    threshold: int


class AutoCompactAnswer(TypedDict):
    """Send C{/compact} at C{threshold} tokens (protocol-automatic)."""

    enabled: bool
    threshold: int
    prompt: NotRequired[str]


class AutoResumeAnswer(TypedDict):
    """Go on after a usage limit; C{resume_at} in Unix milliseconds once armed (protocol-
    automatic).
    """

    enabled: bool
    resumeAt: NotRequired[int]


class ContainerAnswer(TypedDict):
    """The container's part (protocol-containers)."""

    hostId: str
    name: str


class CustomModelAnswer(TypedDict):
    """A model of a custom endpoint (protocol-models)."""

    endpointId: str
    modelId: str
    label: NotRequired[str]


class ExitAnswer(TypedDict):
    """How the process ended; all C{None}: nobody knows."""

    status: NotRequired[int]
    signal: NotRequired[str]
    at: int
    reason: NotRequired[str]


class NiceAnswer(TypedDict):
    """Scheduling priority of the pane's process, -20 (most) to 19; 0 while disabled."""

    enabled: bool
    value: int


class PlanUsageTold(TypedDict):
    """What is used of the plan's limits, as told last, C{at} Unix milliseconds."""

    fiveHour: NotRequired[WindowTold]
    sevenDay: NotRequired[WindowTold]
    at: int


class RemoteAnswer(TypedDict):
    """The remote host's part; C{owned} false: attached to, so never killed (protocol-remote)."""

    hostId: str
    name: str
    owned: bool


class SessionAnswer(TypedDict):
    """A session (protocol-session)."""

    id: str
    detached: NotRequired[bool]
    displayModel: str | None
    displayModelSource: NotRequired[
        Literal["custom-endpoint", "statusline", "screen", "config", "launch"]
    ]
    respawnBlocked: NotRequired[bool]
    mode: str
    name: str
    nameSource: Literal["placeholder", "auto", "manual"]
    workingDir: str
    createdAt: int
    lastActivityAt: int
    status: Literal["idle", "busy", "stopped", "error"]
    statusReason: NotRequired[str]
    pid: int | None
    owner: NotRequired[str]
    caseName: NotRequired[str]
    lastSubmitAt: NotRequired[int]
    parentSessionId: NotRequired[str]
    color: Literal["default", "red", "orange", "yellow", "green", "blue", "purple", "pink"]
    pinned: bool
    pinnedAt: NotRequired[int]
    cols: int
    rows: int
    autoCompact: AutoCompactAnswer
    autoClear: AutoClearAnswer
    autoResume: AutoResumeAnswer
    limitPaused: bool
    nice: NiceAnswer
    flickerFilter: bool
    tokens: TokensAnswer
    totalCost: float
    contextUsedPercentage: NotRequired[float]
    params: dict[str, Any]
    customModel: NotRequired[CustomModelAnswer]
    conversationIds: list[str]
    paneExit: NotRequired[ExitAnswer]
    location: Literal["local", "container", "remote"]
    remote: NotRequired[RemoteAnswer]
    container: NotRequired[ContainerAnswer]
    hooksAvailable: bool
    currentTool: NotRequired[str]
    backgroundTasks: NotRequired[int]
    todos: NotRequired[list[TodoAnswer]]
    currentTask: NotRequired[str]


class StatusAnswer(TypedDict):
    """The state that a client begins with: also the C{init} event of the stream. Every field is
    there from the first release, empty where its feature is off.
    """

    version: str
    sessions: list[SessionAnswer]
    cronJobs: NotRequired[int]
    approvals: NotRequired[list[Any]]
    planUsage: NotRequired[PlanUsageTold | None]
    tunnel: NotRequired[TunnelStatus]
    user: UserStatus
    serverTime: int
    timeZone: NotRequired[str]


class TodoAnswer(TypedDict):
    """One line of an agent's to-do list."""

    text: str
    status: Literal["pending", "in_progress", "completed"]
    doing: NotRequired[str]


class TokensAnswer(TypedDict):
    """Tokens used so far; an agent tells them, and no number is too large to be told."""

    input: int
    output: int
    total: int


class TunnelStatus(TypedDict):
    """The managed tunnel."""

    running: NotRequired[bool]
    url: NotRequired[str | None]


class UserStatus(TypedDict):
    """Who the caller is."""

    username: str
    role: Literal["admin", "user"]
    multiUser: bool


class WindowTold(TypedDict):
    """How much of one rate-limit window is used; C{reset_at} in Unix milliseconds."""

    usedPercentage: float
    resetAt: NotRequired[int]


class Events(Calling):
    """Events."""

    async def get_status(self) -> StatusAnswer:
        """The state that a client begins with."""
        found: StatusAnswer = await self.call("GET", "/status")
        return found
