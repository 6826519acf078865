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

from tservice.core.kernel import event_payloads as told
from tservice.core.kernel.listeners import ListenerList
from tservice.core.kernel.scopes import Scope
from tservice.core.values.payload import Payload


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
        "init", told.InitialStatePayload, "a stream begins, and missed events cannot be sent again",
        _EVERYONE
    )  # fmt: skip
    SESSION_CREATED = "session:created", told.SessionPayload, "a session was created"
    SESSION_UPDATED = "session:updated", told.SessionPayload, "a field of a session changed"
    SESSION_DELETED = "session:deleted", told.OccurrencePayload, "a session was removed"
    SESSION_IDLE = "session:idle", told.OccurrencePayload, "a session became idle"
    SESSION_WORKING = "session:working", told.OccurrencePayload, "a session became busy"
    SESSION_STOP = "session:stop", told.OccurrencePayload, "an agent ended a turn"
    SESSION_BLOCKED = (
        "session:blocked",
        told.OccurrencePayload,
        "a dialog of an agent waits for an answer",
    )
    SESSION_STALLED = (
        "session:stalled", told.SessionStalledPayload,
        "an agent `seems to hang <agents.rst#protocol-stalls>`_; once for each stall",
    )  # fmt: skip
    SESSION_ERROR = (
        "session:error", told.OccurrencePayload,
        "a session is in error, and is not restarted automatically"
    )  # fmt: skip
    SESSION_INTERACTIVE = (
        "session:interactive",
        told.OccurrencePayload,
        "a session has a new process",
    )
    SESSION_EXIT = "session:exit", told.SessionExited, "a session's process ended"
    SESSION_TERMINAL = (
        "session:terminal", told.SessionOutputPayload,
        "a session printed something; clients can exclude it",
        EventAudience.OWNER, None, True,
    )  # fmt: skip
    SESSION_CONVERSATION = (
        "session:conversation", told.ConversationChangedPayload,
        "a followed `conversation <sessions.rst#protocol-conversation>`_ changed"
    )  # fmt: skip
    SESSION_RENAMED = "session:renamed", told.SessionRenamedPayload, "a session was renamed"
    SESSION_PINNED = "session:pinned", told.SessionPinnedPayload, "a session was pinned or unpinned"
    SESSION_ORDER_CHANGED = (
        "session:orderChanged",
        told.SessionOrderPayload,
        "the order of the list changed",
    )
    SESSION_INPUT_LOST = (
        "session:inputLost", told.InputLostPayload,
        "input that was stored while the host was unreachable was not typed",
    )  # fmt: skip
    SESSION_LIMIT_PAUSE_SCHEDULED = (
        "session:limitPauseScheduled", told.LimitPausePayload,
        "a usage limit pauses a session, which continues automatically",
    )  # fmt: skip
    SESSION_LIMIT_RESUME = (
        "session:limitResume", told.OccurrencePayload, "a session continues after a usage limit"
    )  # fmt: skip
    SESSION_LIMIT_RESUME_CANCELLED = (
        "session:limitResumeCancelled", told.OccurrencePayload,
        "a session no longer continues automatically"
    )  # fmt: skip
    SESSION_AUTO_COMPACT = "session:autoCompact", told.CommandSentPayload, "``/compact`` was sent"
    SESSION_AUTO_CLEAR = "session:autoClear", told.CommandSentPayload, "``/clear`` was sent"
    SESSION_BREAKER_TRIPPED = (
        "session:breakerTripped", told.OccurrencePayload,
        "the exit breaker tripped; ``error`` follows"
    )  # fmt: skip
    SESSION_STATUS_TELEMETRY = (
        "session:statusTelemetry", told.TelemetryPayload,
        "a `status line <agents.rst#protocol-telemetry>`_ reported new values",
    )  # fmt: skip
    SESSION_CHANGES = (
        "session:changes", told.SessionChangesPayload,
        "`what a session changed <review.rst#protocol-changes>`_, or its comments, are other"
        " than before; at most once a second",
        EventAudience.OWNER, Scope.GIT,
    )  # fmt: skip
    SESSION_PULL_REQUESTS = (
        "session:pullRequests", told.SessionPullRequestsPayload,
        "the state of a `pull request <review.rst#protocol-pull-request>`_ was read, and is another"
        " than before",
        EventAudience.OWNER, Scope.SESSIONS_INPUT,
    )  # fmt: skip
    CHECK_STARTED = (
        "check:started", told.ChecksPayload,
        "`checks <checks.rst#protocol-checks>`_ of a session began",
        EventAudience.OWNER, Scope.SESSIONS_READ,
    )  # fmt: skip
    CHECK_FINISHED = (
        "check:finished", told.ChecksPayload,
        "the checks of a session ended, or what follows their end changed",
        EventAudience.OWNER, Scope.SESSIONS_READ,
    )  # fmt: skip
    HOOK_PERMISSION_PROMPT = (
        "hook:permission_prompt", told.HookEventPayload, "a hook reported a permission request"
    )  # fmt: skip
    HOOK_ELICITATION_DIALOG = (
        "hook:elicitation_dialog",
        told.HookEventPayload,
        "a hook reported a question",
    )
    HOOK_ELICITATION_COMPLETE = (
        "hook:elicitation_complete", told.HookEventPayload, "a hook reported the end of a question"
    )  # fmt: skip
    HOOK_ELICITATION_RESPONSE = (
        "hook:elicitation_response", told.HookEventPayload,
        "a hook reported the answer to a question"
    )  # fmt: skip
    HOOK_IDLE_PROMPT = (
        "hook:idle_prompt", told.HookEventPayload,
        "a hook reported that the agent waits for a prompt"
    )  # fmt: skip
    HOOK_STOP = "hook:stop", told.HookEventPayload, "a hook reported the end of a turn"
    HOOK_PROMPT_SUBMITTED = (
        "hook:prompt_submitted", told.HookEventPayload, "a hook reported the beginning of a turn"
    )  # fmt: skip
    HOOK_AGENT_WORKING = (
        "hook:agent_working",
        told.HookEventPayload,
        "a hook reported work of the agent",
    )
    HOOK_SESSION_START = (
        "hook:session_start", told.HookEventPayload,
        "a hook reported the beginning of a conversation"
    )  # fmt: skip
    HOOK_SESSION_END = (
        "hook:session_end", told.HookEventPayload, "a hook reported the end of a conversation"
    )  # fmt: skip
    HOOK_TEAMMATE_IDLE = (
        "hook:teammate_idle",
        told.HookEventPayload,
        "a hook reported an idle teammate",
    )
    HOOK_TASK_COMPLETED = (
        "hook:task_completed",
        told.HookEventPayload,
        "a hook reported a completed task",
    )
    HOOK_TASK_CREATED = "hook:task_created", told.HookEventPayload, "a hook reported a new task"
    HOOK_TOOL_STARTED = (
        "hook:tool_started",
        told.HookEventPayload,
        "a hook reported the start of a tool",
    )
    HOOK_TOOL_ENDED = "hook:tool_ended", told.HookEventPayload, "a hook reported the end of a tool"
    HOOK_PERMISSION_DENIED = (
        "hook:permission_denied", told.HookEventPayload, "a hook reported a denied permission"
    )  # fmt: skip
    HOOK_SUBAGENT_STARTED = (
        "hook:subagent_started", told.HookEventPayload, "a hook reported the start of a subagent"
    )  # fmt: skip
    HOOK_SUBAGENT_STOPPED = (
        "hook:subagent_stopped", told.HookEventPayload, "a hook reported the end of a subagent"
    )  # fmt: skip
    APPROVAL_PENDING = "approval:pending", told.ApprovalPayload, "an item waits for a person"
    APPROVAL_UPDATED = "approval:updated", told.ApprovalPayload, "a waiting item changed"
    APPROVAL_RESOLVED = "approval:resolved", told.ApprovalResolvedPayload, "an item no longer waits"
    APPROVAL_BY_RULE = (
        "approval:byRule", told.RuleAnswerPayload,
        "a rule answered an agent's hook, so there was no item"
    )  # fmt: skip
    NOTICE_SENT = (
        "notice:sent", told.NoticePayload,
        "`rules of the account <features.rst#protocol-notices>`_ announce something on its pages",
        _PERSON,
    )  # fmt: skip
    NOTICE_RULES_CHANGED = (
        "notice:rulesChanged", told.NoticeRulesPayload,
        "the account replaced its `rules <features.rst#protocol-notices>`_", _PERSON,
    )  # fmt: skip
    CRON_JOBS_CHANGED = (
        "cron:jobsChanged", told.CronJobsPayload, "jobs were created, changed or deleted", *_CRON
    )  # fmt: skip
    CRON_JOB_DELETED = (
        "cron:jobDeleted",
        told.OccurrencePayload,
        "a job and its runs were deleted",
        *_CRON,
    )
    CRON_RUN_CREATED = (
        "cron:runCreated",
        told.CronRunPayload,
        "a run started or was skipped",
        *_CRON,
    )
    CRON_RUN_UPDATED = "cron:runUpdated", told.CronRunPayload, "the status of a run changed", *_CRON
    CASE_CREATED = "case:created", told.CasePayload, "a case was created or cloned", *_CASES
    CASE_LINKED = "case:linked", told.CasePayload, "a folder or a worktree became a case", *_CASES
    CASE_DELETED = "case:deleted", told.CaseRemovedPayload, "a case was removed", *_CASES
    CASE_ORDER_CHANGED = (
        "case:orderChanged", told.CaseOrderPayload, "the order of the cases changed", *_CASES
    )  # fmt: skip
    CASE_CLONE_PROGRESS = (
        "case:cloneProgress", told.CloneProgressPayload,
        "a `clone <workspaces.rst#protocol-cases>`_ made progress; at most 4 times a second",
        *_CASES,
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_STARTED = (
        "container:imageBuildStarted", told.ImageBuildPayload, "the build of an image started",
        _ADMINS
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_PROGRESS = (
        "container:imageBuildProgress", told.ImageBuildProgress,
        "a build made progress; at most 4 times a second", _ADMINS,
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_COMPLETE = (
        "container:imageBuildComplete", told.ImageBuildPayload, "a build was completed", _ADMINS
    )  # fmt: skip
    CONTAINER_IMAGE_BUILD_FAILED = (
        "container:imageBuildFailed", told.ImageBuildFailed,
        "a build failed or was cancelled", _ADMINS,
    )  # fmt: skip
    TUNNEL_STARTED = "tunnel:started", told.TunnelPayload, "the tunnel is up", _ADMINS
    TUNNEL_STOPPED = "tunnel:stopped", told.EmptyPayload, "the tunnel was stopped", _ADMINS
    TUNNEL_ERROR = "tunnel:error", told.ErrorTextPayload, "the tunnel failed", _ADMINS
    TUNNEL_QR_ROTATED = (
        "tunnel:qrRotated", told.LoginCodePayload, "a new code replaced the one shown to an admin",
        _PERSON
    )  # fmt: skip
    TUNNEL_QR_REGENERATED = (
        "tunnel:qrRegenerated", told.LoginCodePayload, "an admin requested a new code", _PERSON
    )  # fmt: skip
    TUNNEL_QR_AUTH_USED = (
        "tunnel:qrAuthUsed", told.LoginCodeUsedPayload,
        "a code was used; clients should show a warning", _ADMINS,
    )  # fmt: skip
    CLI_CHANGED = (
        "cli:changed",
        told.CliEntryPayload,
        "an entry was created, changed or deleted",
        _ADMINS,
    )
    CLI_INSTALL_STARTED = (
        "cli:installStarted",
        told.CliInstallPayload,
        "an installation started",
        _ADMINS,
    )
    CLI_INSTALL_OUTPUT = (
        "cli:installOutput", told.CliInstallOutput, "an installation printed something", _ADMINS
    )  # fmt: skip
    CLI_INSTALL_FINISHED = (
        "cli:installFinished", told.CliInstallFinished, "an installation ended", _ADMINS
    )  # fmt: skip
    SETTINGS_CHANGED = (
        "settings:changed", told.SettingsPayload, "a setting was changed", _EVERYONE, Scope.SETTINGS
    )  # fmt: skip
    WEBHOOK_CHANGED = (
        "webhook:changed", told.WebhookPayload, "the webhook was changed or tested", _ADMINS
    )  # fmt: skip
    ADMIN_USERS_CHANGED = "admin:usersChanged", told.EmptyPayload, "an account was changed", _ADMINS
    MCP_SYNCED = "mcp:synced", told.McpSyncPayload, "MCP servers were added to CLIs", _ADMINS
    RESTORE_OFFERED = (
        "restore:offered", told.RestoreOfferPayload,
        "the number of sessions to restore after a reboot changed",
    )  # fmt: skip
    RESTORE_PROGRESS = (
        "restore:progress",
        told.RestoreProgressPayload,
        "a session is being restored",
    )
    RESTORE_FINISHED = "restore:finished", told.RestoreReportPayload, "a restore ended"
    MODEL_ENDPOINTS_CHANGED = (
        "model:endpointsChanged", told.ModelEndpointsPayload,
        "`endpoints <models.rst#protocol-models>`_ were created, changed, queried or deleted",
        _EVERYONE, Scope.SESSIONS_READ,
    )  # fmt: skip
    MODEL_SWAPPED_OUT = (
        "model:swappedOut", told.ModelSwapPayload,
        "an endpoint unloaded a model that sessions use, to load another",
    )  # fmt: skip
    WEBVIEW_CHANGED = (
        "webview:changed", told.EmptyPayload,
        "`web tabs <models.rst#protocol-webtabs>`_ were created, changed or deleted",
    )  # fmt: skip
    REMOTE_SESSION_DROPPED = (
        "remote:sessionDropped", told.HostDroppedPayload,
        "a session's host is unreachable, or another attempt failed; its process may still run",
    )  # fmt: skip
    REMOTE_SESSION_RECONNECTED = (
        "remote:sessionReconnected", told.OccurrencePayload, "a session's host is reachable again"
    )  # fmt: skip
    REMOTE_HOST_WAKING = (
        "remote:hostWaking",
        told.HostWakingPayload,
        "a host is being woken",
        _ADMINS,
    )
    REMOTE_HOST_WAKE_FAILED = (
        "remote:hostWakeFailed", told.HostWakeFailedPayload,
        "a host could not be woken or reached", _ADMINS,
    )  # fmt: skip
    REMOTE_RECONNECT_EXHAUSTED = (
        "remote:reconnectExhausted", told.OccurrencePayload,
        "no more automatic attempts are made; the next request for the host tries again",
    )  # fmt: skip
    SERVER_SHUTDOWN = (
        "server:shutdown", told.EmptyPayload, "the service stops; panes continue", _EVERYONE
    )  # fmt: skip
    SSE_HEARTBEAT = (
        "sse:heartbeat",
        told.HeartbeatPayload,
        "every 15 s; carries no state",
        _EVERYONE,
    )


def _check_payload_type(event: Event, _: Attribute[Payload], payload: Payload) -> None:
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
    payload: Payload = field(factory=told.EmptyPayload, validator=_check_payload_type)
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
        """Call C{listener} for every event that is published from now on.

        @return: a function that ends the subscription and may be called twice.
        """
        return self._listeners.add(listener)

    def publish(self, event: Event) -> None:
        """Call every listener with C{event} before returning."""
        self._listeners.notify_all(lambda listener: listener(event))
