"""Event hub that passes each event to all listeners in this process.

L{EventName} is the one place where an event is declared.  Names are stable (protocol-versioning);
the SSE stream sends them unchanged.  The protocol page and the types of the browser UI are
generated from them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Self

from attrs import Attribute, field, frozen

from tservice.core import event_payloads as told
from tservice.core.listeners import ListenerList
from tservice.core.payload import Payload
from tservice.core.scopes import Scope


class EventAudience(Enum):
    """Group of callers who may see an event in multi-user mode (protocol-sse)."""

    EVERYONE = "everyone"
    OWNER = "owner"
    """The named owner, and admins; without an owner only admins."""
    ADMINS = "admins"
    PERSON = "person"
    """The named owner alone, even if an admin, and never with a token: credentials for signing in
    as a user are neither for other admins nor for programs.
    """


_EVERYONE, _ADMINS, _PERSON = EventAudience.EVERYONE, EventAudience.ADMINS, EventAudience.PERSON
_CASES, _CRON = (EventAudience.OWNER, Scope.SESSIONS_READ), (EventAudience.OWNER, Scope.CRON)


class EventName(StrEnum):
    """Every event (protocol-events), in the order of that page.

    @ivar payload: the type of the payload, or the part of it that listeners may rely on.
    @ivar when: the condition under which it is published, with anything that the payload's fields
        do not say.
    @ivar audience: the callers who may receive it.
    @ivar scope: the scope that a token needs to receive it, in addition to the scope C{events}.
    @ivar bulky: true for the high-volume terminal stream, which clients may filter.
    """

    payload: type[Payload]
    when: str
    audience: EventAudience
    scope: Scope | None
    bulky: bool

    def __new__(
        cls,
        name: str,
        payload: type[Payload],
        when: str,
        audience: EventAudience = EventAudience.OWNER,
        scope: Scope | None = None,
        bulky: bool = False,
    ) -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.payload, member.when = payload, when
        member.audience, member.scope, member.bulky = audience, scope, bulky
        return member

    INIT = (
        "init",
        told.InitialStatePayload,
        "a stream begins, and missed events cannot be sent",
        _EVERYONE,
    )
    SESSION_CREATED = "session:created", told.SessionPayload, "it was made"
    SESSION_UPDATED = "session:updated", told.SessionPayload, "a field of it changed"
    SESSION_DELETED = "session:deleted", told.OccurrencePayload, "it is gone"
    SESSION_IDLE = "session:idle", told.OccurrencePayload, "it rests"
    SESSION_WORKING = "session:working", told.OccurrencePayload, "it works"
    SESSION_STOP = "session:stop", told.OccurrencePayload, "its agent ended a turn"
    SESSION_BLOCKED = "session:blocked", told.OccurrencePayload, "a dialog of its agent waits"
    SESSION_ERROR = (
        "session:error",
        told.OccurrencePayload,
        "it is in error, and not started by itself",
    )
    SESSION_INTERACTIVE = "session:interactive", told.OccurrencePayload, "it has a new process"
    SESSION_EXIT = "session:exit", told.SessionExited, "its process is over"
    SESSION_TERMINAL = (
        "session:terminal", told.SessionOutputPayload, "it printed something, unless left out",
        EventAudience.OWNER, None, True,
    )  # fmt: skip
    SESSION_RENAMED = "session:renamed", told.SessionRenamedPayload, "it has another name"
    SESSION_PINNED = "session:pinned", told.SessionPinnedPayload, "it was pinned or unpinned"
    SESSION_ORDER_CHANGED = (
        "session:orderChanged",
        told.SessionOrderPayload,
        "the list has another order",
    )
    SESSION_INPUT_LOST = (
        "session:inputLost", told.InputLostPayload,
        "what was kept for it while its host was away was not typed",
    )  # fmt: skip
    SESSION_LIMIT_PAUSE_SCHEDULED = (
        "session:limitPauseScheduled", told.LimitPausePayload,
        "a usage limit pauses it, and it resumes by itself",
    )  # fmt: skip
    SESSION_LIMIT_RESUME = (
        "session:limitResume",
        told.OccurrencePayload,
        "it goes on after a usage limit",
    )
    SESSION_LIMIT_RESUME_CANCELLED = (
        "session:limitResumeCancelled", told.OccurrencePayload, "it no longer resumes by itself"
    )  # fmt: skip
    SESSION_AUTO_COMPACT = "session:autoCompact", told.CommandSentPayload, "``/compact`` was sent"
    SESSION_AUTO_CLEAR = "session:autoClear", told.CommandSentPayload, "``/clear`` was sent"
    SESSION_BREAKER_TRIPPED = (
        "session:breakerTripped", told.OccurrencePayload,
        "the exit breaker tripped; ``error`` follows"
    )  # fmt: skip
    SESSION_STATUS_TELEMETRY = (
        "session:statusTelemetry", told.TelemetryPayload,
        "a `status line <agents.rst#protocol-telemetry>`_ reported a change",
    )  # fmt: skip
    HOOK_PERMISSION_PROMPT = (
        "hook:permission_prompt",
        told.HookEventPayload,
        "a hook reported a permission",
    )
    HOOK_ELICITATION_DIALOG = "hook:elicitation_dialog", told.HookEventPayload, "a question"
    HOOK_ELICITATION_COMPLETE = (
        "hook:elicitation_complete",
        told.HookEventPayload,
        "the end of a question",
    )
    HOOK_ELICITATION_RESPONSE = "hook:elicitation_response", told.HookEventPayload, "its answer"
    HOOK_IDLE_PROMPT = "hook:idle_prompt", told.HookEventPayload, "a prompt is awaited"
    HOOK_STOP = "hook:stop", told.HookEventPayload, "the end of a turn"
    HOOK_PROMPT_SUBMITTED = (
        "hook:prompt_submitted",
        told.HookEventPayload,
        "the beginning of a turn",
    )
    HOOK_AGENT_WORKING = "hook:agent_working", told.HookEventPayload, "work"
    HOOK_SESSION_START = (
        "hook:session_start",
        told.HookEventPayload,
        "the beginning of a conversation",
    )
    HOOK_SESSION_END = "hook:session_end", told.HookEventPayload, "the end of a conversation"
    HOOK_TEAMMATE_IDLE = "hook:teammate_idle", told.HookEventPayload, "a teammate that rests"
    HOOK_TASK_COMPLETED = "hook:task_completed", told.HookEventPayload, "a finished task"
    HOOK_TASK_CREATED = "hook:task_created", told.HookEventPayload, "a new task"
    HOOK_TOOL_STARTED = "hook:tool_started", told.HookEventPayload, "a running tool"
    HOOK_TOOL_ENDED = "hook:tool_ended", told.HookEventPayload, "the end of a tool"
    HOOK_PERMISSION_DENIED = "hook:permission_denied", told.HookEventPayload, "a refusal"
    HOOK_SUBAGENT_STARTED = "hook:subagent_started", told.HookEventPayload, "a new subagent"
    HOOK_SUBAGENT_STOPPED = "hook:subagent_stopped", told.HookEventPayload, "the end of a subagent"
    APPROVAL_PENDING = "approval:pending", told.ApprovalPayload, "something waits for a person"
    APPROVAL_UPDATED = "approval:updated", told.ApprovalPayload, "what waits looks different"
    APPROVAL_RESOLVED = "approval:resolved", told.ApprovalResolvedPayload, "it waits no more"
    CRON_JOBS_CHANGED = (
        "cron:jobsChanged", told.CronJobsPayload, "jobs were made, changed or deleted", *_CRON
    )  # fmt: skip
    CRON_JOB_DELETED = (
        "cron:jobDeleted",
        told.OccurrencePayload,
        "one is gone, and its runs",
        *_CRON,
    )
    CRON_RUN_CREATED = "cron:runCreated", told.CronRunPayload, "a run began, or was skipped", *_CRON
    CRON_RUN_UPDATED = "cron:runUpdated", told.CronRunPayload, "a run came further", *_CRON
    CASE_CREATED = "case:created", told.CasePayload, "it was made, or cloned", *_CASES
    CASE_LINKED = "case:linked", told.CasePayload, "a folder or a worktree is a case now", *_CASES
    CASE_DELETED = "case:deleted", told.CaseRemovedPayload, "it is no longer a case", *_CASES
    CASE_ORDER_CHANGED = (
        "case:orderChanged", told.CaseOrderPayload, "they have another order", *_CASES
    )  # fmt: skip
    CASE_CLONE_PROGRESS = (
        "case:cloneProgress", told.CloneProgressPayload,
        "a `clone <workspaces.rst#protocol-cases>`_ came further; 4 times a second at most",
        *_CASES,
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_STARTED = (
        "container:imageBuildStarted", told.ImageBuildPayload, "an image is being built", _ADMINS
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_PROGRESS = (
        "container:imageBuildProgress", told.ImageBuildProgress,
        "it came further; 4 times a second at most", _ADMINS,
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_COMPLETE = (
        "container:imageBuildComplete", told.ImageBuildPayload, "it is there", _ADMINS
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_FAILED = (
        "container:imageBuildFailed", told.ImageBuildFailed, "it failed, or was cancelled", _ADMINS
    )  # fmt: skip
    TUNNEL_STARTED = "tunnel:started", told.TunnelPayload, "the tunnel is up", _ADMINS
    TUNNEL_STOPPED = "tunnel:stopped", told.EmptyPayload, "it was stopped", _ADMINS
    TUNNEL_ERROR = "tunnel:error", told.ErrorTextPayload, "it failed", _ADMINS
    TUNNEL_QR_ROTATED = (
        "tunnel:qrRotated", told.LoginCodePayload, "a new code, to the admin who saw the last",
        _PERSON
    )  # fmt: skip
    TUNNEL_QR_REGENERATED = (
        "tunnel:qrRegenerated", told.LoginCodePayload, "the same, since that admin asked for it",
        _PERSON
    )  # fmt: skip
    TUNNEL_QR_AUTH_USED = (
        "tunnel:qrAuthUsed", told.LoginCodeUsedPayload, "a code was used, worth a warning", _ADMINS
    )  # fmt: skip
    CLI_CHANGED = (
        "cli:changed",
        told.CliEntryPayload,
        "an entry was made, changed or deleted",
        _ADMINS,
    )
    CLI_INSTALL_STARTED = "cli:installStarted", told.CliInstallPayload, "an install began", _ADMINS
    CLI_INSTALL_OUTPUT = "cli:installOutput", told.CliInstallOutput, "it printed", _ADMINS
    CLI_INSTALL_FINISHED = "cli:installFinished", told.CliInstallFinished, "it is over", _ADMINS
    SETTINGS_CHANGED = (
        "settings:changed", told.SettingsPayload, "a setting was changed", _EVERYONE, Scope.SETTINGS
    )  # fmt: skip
    WEBHOOK_CHANGED = "webhook:changed", told.WebhookPayload, "it was changed or tried", _ADMINS
    ADMIN_USERS_CHANGED = "admin:usersChanged", told.EmptyPayload, "an account was changed", _ADMINS
    MCP_SYNCED = "mcp:synced", told.McpSyncPayload, "MCP servers were added to CLIs", _ADMINS
    RESTORE_OFFERED = (
        "restore:offered", told.RestoreOfferPayload,
        "there is more or less to bring back after a reboot"
    )  # fmt: skip
    RESTORE_PROGRESS = (
        "restore:progress",
        told.RestoreProgressPayload,
        "one more is being brought back",
    )
    RESTORE_FINISHED = "restore:finished", told.RestoreReportPayload, "what became of each"
    MODEL_ENDPOINTS_CHANGED = (
        "model:endpointsChanged", told.ModelEndpointsPayload,
        "`endpoints <models.rst#protocol-models>`_ were made, changed, asked or deleted",
        _EVERYONE, Scope.SESSIONS_READ,
    )  # fmt: skip
    MODEL_SWAPPED_OUT = (
        "model:swappedOut", told.ModelSwapPayload,
        "another model pushed out the one that sessions use"
    )  # fmt: skip
    WEBVIEW_CHANGED = (
        "webview:changed", told.EmptyPayload,
        "`web tabs <models.rst#protocol-webtabs>`_ were made, changed or deleted",
    )  # fmt: skip
    REMOTE_SESSION_DROPPED = (
        "remote:sessionDropped", told.HostDroppedPayload,
        "its host is out of reach, or another attempt failed; nothing is known to have ended",
    )  # fmt: skip
    REMOTE_SESSION_RECONNECTED = (
        "remote:sessionReconnected",
        told.OccurrencePayload,
        "its host is back",
    )
    REMOTE_HOST_WAKING = (
        "remote:hostWaking",
        told.HostWakingPayload,
        "a host is being woken",
        _ADMINS,
    )
    REMOTE_HOST_WAKE_FAILED = (
        "remote:hostWakeFailed", told.HostWakeFailedPayload, "it could not be, or was not reached",
        _ADMINS
    )  # fmt: skip
    REMOTE_RECONNECT_EXHAUSTED = (
        "remote:reconnectExhausted", told.OccurrencePayload,
        "its host is no longer tried until a request needs it",
    )  # fmt: skip
    SERVER_SHUTDOWN = (
        "server:shutdown",
        told.EmptyPayload,
        "the service ends; panes go on",
        _EVERYONE,
    )
    SSE_HEARTBEAT = "sse:heartbeat", told.HeartbeatPayload, "every 15 s, and no state", _EVERYONE


def _tells_as_declared(event: Event, _: Attribute[Payload], payload: Payload) -> None:
    if not isinstance(payload, event.name.payload):
        raise TypeError(f"{event.name} tells {event.name.payload.__name__}, not {payload!r}")


@frozen(kw_only=True)
class Event:
    """Occurrence of an event.

    @ivar payload: an instance of the type that its name declares.
    @ivar session_id: the session that it is about, if any.
    @ivar owner: the user to whom an event with that L{EventAudience} belongs.
    """

    name: EventName
    payload: Payload = field(factory=told.EmptyPayload, validator=_tells_as_declared)
    session_id: str | None = None
    owner: str | None = None


Listener = Callable[[Event], None]


class EventHub:
    """Publisher that calls every listener for each event, in the order of subscription.

    An exception of a listener is logged and does not affect the others.
    """

    def __init__(self) -> None:
        self._listeners = ListenerList[Listener]("the events")

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call C{listener} for every further event.

        @return: a function that ends the subscription and may be called twice.
        """
        return self._listeners.add(listener)

    def publish(self, event: Event) -> None:
        """Call every listener with C{event} before returning."""
        self._listeners.notify_all(lambda listener: listener(event))
