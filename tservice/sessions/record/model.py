"""Session records and their vocabulary (protocol-session, protocol-status)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from tservice.core.locations.location import (
    OWN_LOCATION,
    LocationId,
    LocationKind,
    make_os_user_location,
)
from tservice.core.users.os_users import OsUserId
from tservice.core.values.numbers import TOKENS_MAX
from tservice.sessions.record.display import ModelSource as ModelSource
from tservice.sessions.record.display import choose_display_model

_HIDDEN = {"hidden": True}
"""Field metadata: the field is never shown to clients."""
_LIVE = {"live": True}
"""Field metadata: the field exists only while the service runs and is not saved."""
_NULL = {"null": True}
"""Field metadata: C{None} is shown as C{null} instead of being left out."""


class SessionStatus(StrEnum):
    """Activity of a session (protocol-status)."""

    IDLE = "idle"
    BUSY = "busy"
    STOPPED = "stopped"
    ERROR = "error"


class ProcessPhase(StrEnum):
    """Phase of a session's process; decides which operations are allowed."""

    CREATED = "created"
    STARTING = "starting"
    RUNNING = "running"
    EXITED = "exited"
    DETACHED = "detached"
    STOPPED = "stopped"
    ERROR = "error"
    """The exit breaker tripped."""
    UNKNOWN = "unknown"
    """The process ran when it was last seen, and its server does not answer now."""


class NameSource(StrEnum):
    """Origin of a session's name."""

    PLACEHOLDER = "placeholder"
    AUTO = "auto"
    MANUAL = "manual"


class SessionColour(StrEnum):
    """Colours that a user can give a session."""

    DEFAULT = "default"
    RED = "red"
    ORANGE = "orange"
    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"
    PURPLE = "purple"
    PINK = "pink"


class SessionLocationKind(StrEnum):
    """Kind of location where the pane runs."""

    LOCAL = "local"
    CONTAINER = "container"
    REMOTE = "remote"


@frozen(kw_only=True)
class AutoCompact:
    """Setting that sends C{/compact} at C{threshold} tokens (protocol-automatic)."""

    enabled: bool = False
    threshold: int = 110_000
    prompt: str | None = None


@frozen(kw_only=True)
class AutoClear:
    """Setting that sends C{/clear} at C{threshold} tokens (protocol-automatic)."""

    enabled: bool = False
    threshold: int = 140_000


@frozen(kw_only=True)
class AutoResume:
    """Setting that continues a session after a usage limit (protocol-automatic).

    C{resume_at} is in Unix milliseconds, and set once the setting is armed.
    """

    enabled: bool = False
    resume_at: int | None = None


@frozen(kw_only=True)
class Snooze:
    """Pause of a session's notices (protocol-notices).

    @ivar until: Unix milliseconds of its end; C{None}: it ends when the session asks something.
    """

    until: int | None = None


@frozen(kw_only=True)
class SessionStall:
    """Sign that the session's agent hangs (protocol-stalls).

    @ivar since: Unix milliseconds.
    @ivar detail: one line for people; may hold a command or a path.
    """

    reason: str
    since: int
    detail: str


@frozen(kw_only=True)
class ProcessPriority:
    """Scheduling priority of the pane's process, -20 (highest) to 19; 0 while disabled."""

    enabled: bool = False
    value: int = 0


@frozen(kw_only=True)
class TokenUsage:
    """Tokens used so far, as the agent reports them. Numbers have no upper limit."""

    input: int = 0
    output: int = 0
    total: int = 0

    @classmethod
    def from_counts(cls, taken: int, given: int) -> TokenUsage:
        """Make the totals from the tokens that an agent consumed and produced, each capped at
        L{TOKENS_MAX}.
        """
        taken, given = min(taken, TOKENS_MAX), min(given, TOKENS_MAX)
        return cls(input=taken, output=given, total=min(taken + given, TOKENS_MAX))


@frozen(kw_only=True)
class EndpointModel:
    """Model of a custom endpoint (protocol-models)."""

    endpoint_id: str
    model_id: str
    label: str | None = None


MODEL_PARAMS = frozenset({"model", "provider"})
"""Launch parameters that select one of the agent's built-in models."""


@frozen(kw_only=True)
class ProcessExit:
    """End of the process. All fields are C{None} if the cause is unknown.

    @ivar at: Unix milliseconds when it was noticed.
    @ivar reason: the fate of the container that it ran in: C{oom-killed}, C{container-stopped},
        C{container-killed}, C{container-removed}.
    """

    status: int | None = None
    signal: str | None = None
    at: int
    reason: str | None = None

    @property
    def has_failed(self) -> bool:
        """True if the process is known to have failed."""
        return self.signal is not None or (self.status is not None and self.status != 0)


@frozen(kw_only=True)
class RemoteTarget:
    """Fields of a session on a remote host (protocol-remote). If C{owned} is false, the session was
    attached to and is never killed.
    """

    host_id: str
    name: str
    owned: bool


@frozen(kw_only=True)
class ContainerTarget:
    """Fields of a session in a container (protocol-containers)."""

    host_id: str
    name: str


@frozen(kw_only=True)
class ForegroundProgram:
    """Program that a shell runs in the foreground.

    @ivar name: name of the program, or of the script that an interpreter runs.
    @ivar since: start time in Unix milliseconds.
    """

    name: str
    since: int


class TodoStatus(StrEnum):
    """Status of a to-do."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


@frozen(kw_only=True)
class TodoItem:
    """Line of an agent's to-do list.

    @ivar doing: the same in the form for the time when it is in progress.
    """

    text: str
    status: TodoStatus = TodoStatus.PENDING
    doing: str | None = None


@frozen(kw_only=True)
class Session:
    """Session record. A field is a database column unless it is live, and part of the answer unless
    it is hidden.

    @ivar pid: the process of the session, C{None} without one.
    @ivar position: its position in the list of all sessions; smaller comes first.
    @ivar turn_open: a prompt was submitted to its agent, and no end of the turn was reported yet.
    @ivar models: the report of each source; L{record.display.choose_display_model} ranks them.
    @ivar params: launch parameters of its mode (protocol-clis), including C{model} and C{effort}.
    @ivar conversation_ids: the agent's own ids, oldest first.
    @ivar cost_unknown: true if some tokens have no known price, so that C{total_cost} lacks them;
        C{None} otherwise.
    @ivar current_tool: one line about the tool that runs in the turn, from the agent's hooks; not
        kept on disk.
    @ivar background_tasks: number of tasks that run in parallel to its turns, as of the last turn's
        end; not kept on disk.
    @ivar todos: its to-do list. C{current_task} is the item in progress. Not kept on disk.
    @ivar last_answer: one line: the end of the agent's last answer. Not kept on disk.
    @ivar stall: sign that its agent hangs; C{None} while it moves. Not kept on disk.
    @ivar foreground: the program that runs in a shell; C{None} at its prompt. Not kept on disk.
    @ivar last_exit_status: exit status of a shell's last command; C{None} if it is unknown or a
        program runs. Not kept on disk.
    @ivar server_ports: TCP ports on which the session's programs listen, in ascending order. Not
        kept on disk.
    @ivar status_conflict: one line: the status that its agent reports and that of the screen, while
        they differ. Not kept on disk.
    @ivar os_user: the OS user of its panes, which never changes; C{None}: the service's own user.
    @ivar env_overrides: environment of the pane; the values are never part of an answer.
    """

    id: str
    mode: str
    name: str
    name_source: NameSource
    working_dir: str
    created_at: int
    last_activity_at: int
    phase: ProcessPhase = field(default=ProcessPhase.CREATED, metadata=_HIDDEN)
    status: SessionStatus = SessionStatus.IDLE
    status_reason: str | None = None
    pid: int | None = field(default=None, metadata=_NULL)
    owner: str | None = None
    case_name: str | None = None
    last_submit_at: int | None = None
    turn_open: bool = field(default=False, metadata=_HIDDEN)
    parent_session_id: str | None = None
    agent_origin: str | None = field(default=None, metadata=_HIDDEN)
    position: int = field(default=0, metadata=_HIDDEN)
    colour: SessionColour = field(default=SessionColour.DEFAULT, metadata={"named": "color"})
    pinned: bool = False
    pinned_at: int | None = None
    cols: int = 120
    rows: int = 40
    auto_compact: AutoCompact = field(factory=AutoCompact)
    auto_clear: AutoClear = field(factory=AutoClear)
    auto_resume: AutoResume = field(factory=AutoResume)
    limit_paused: bool = False
    nice: ProcessPriority = field(factory=ProcessPriority)
    flicker_filter: bool = False
    snooze: Snooze | None = None
    tokens: TokenUsage = field(factory=TokenUsage)
    total_cost: float = 0.0
    cost_unknown: bool | None = None
    context_used_percentage: float | None = None
    models: Mapping[str, str] = field(factory=dict, metadata=_HIDDEN)
    params: Mapping[str, Any] = field(factory=dict)
    env_overrides: Mapping[str, str] = field(factory=dict, repr=False, metadata=_HIDDEN)
    custom_model: EndpointModel | None = None
    conversation_ids: tuple[str, ...] = ()
    pane_exit: ProcessExit | None = None
    location: SessionLocationKind = SessionLocationKind.LOCAL
    remote: RemoteTarget | None = None
    container: ContainerTarget | None = None
    hooks_available: bool = False
    statusline_telemetry: bool = field(default=False, metadata=_HIDDEN)
    os_user: OsUserId | None = field(default=None, metadata=_HIDDEN)
    current_tool: str | None = field(default=None, metadata=_LIVE)
    background_tasks: int | None = field(default=None, metadata=_LIVE)
    todos: tuple[TodoItem, ...] | None = field(default=None, metadata=_LIVE)
    current_task: str | None = field(default=None, metadata=_LIVE)
    stall: SessionStall | None = field(default=None, metadata=_LIVE)
    last_answer: str | None = field(default=None, metadata=_LIVE)
    foreground: ForegroundProgram | None = field(default=None, metadata=_LIVE)
    last_exit_status: int | None = field(default=None, metadata=_LIVE)
    server_ports: tuple[int, ...] | None = field(default=None, metadata=_LIVE)
    status_conflict: str | None = field(default=None, metadata=_LIVE)

    @property
    def location_id(self) -> LocationId:
        """Location of the session; L{location_fields} is the inverse."""
        if self.location is SessionLocationKind.LOCAL:
            known = self.os_user
            return OWN_LOCATION if known is None else make_os_user_location(known.name, known.uid)
        kind = LocationKind(self.location.value)
        found = self.remote or self.container
        if found is None:
            return LocationId(kind=kind)
        return LocationId(kind=kind, name=found.host_id, part=found.name)

    @property
    def is_owned(self) -> bool:
        """True if the service created the session. Other sessions are only attached to, and never
        ended.
        """
        return self.remote is None or self.remote.owned

    @property
    def detached(self) -> bool:
        """True if the service detached without ending the process. A start attaches again
        (protocol-delete).
        """
        return self.phase is ProcessPhase.DETACHED

    @property
    def respawn_blocked(self) -> bool:
        """True if the exit breaker tripped. Then only a start with C{clearBreaker} is allowed."""
        return self.phase is ProcessPhase.ERROR

    @property
    def display_model(self) -> str | None:
        """Display name of the model from the most trusted source."""
        found = choose_display_model(self.models)
        return None if found is None else found[0]

    @property
    def display_model_source(self) -> ModelSource | None:
        """Source of the model name in L{display_model}; C{None} without a report."""
        found = choose_display_model(self.models)
        return None if found is None else found[1]


def location_fields(place: LocationId) -> dict[str, Any]:
    """Return the values of the L{Session} fields that describe the location C{place}."""
    if place.is_on_this_machine:
        known = None if place.uid is None else OsUserId(name=place.name, uid=place.uid)
        return {"os_user": known}
    if place.kind is LocationKind.CONTAINER:
        container = ContainerTarget(host_id=place.name, name=place.part)
        return {"location": SessionLocationKind.CONTAINER, "container": container}
    owned = place.tmux_session is None
    remote = RemoteTarget(host_id=place.name, name=place.part, owned=owned)
    return {"location": SessionLocationKind.REMOTE, "remote": remote}
