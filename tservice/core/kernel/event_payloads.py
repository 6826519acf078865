"""Payloads of the events (protocol-events).

If an event carries a complete record of a feature, the class here has only the fields that other
packages may rely on.  The feature's response model extends it, and that model is sent.
"""

from __future__ import annotations

from typing import Any, Literal

from tservice.core.values.payload import Payload, omit_if_false, omit_if_none


class EmptyPayload(Payload):
    """Empty payload; the event itself is the information."""


class OccurrencePayload(Payload):
    """Subject of the event, and its time in Unix milliseconds."""

    id: str
    at: int


class InputLostPayload(Payload):
    """Number of stored inputs that were not typed, and the reason for the first of them."""

    id: str
    at: int
    chunks: int
    reason: str


class HostDroppedPayload(Payload):
    """Number of reconnection attempts so far, and the time of the next one."""

    id: str
    attempt: int
    next_at: int


class HostWakingPayload(Payload):
    """Method by which a remote host is woken."""

    host_id: str
    method: Literal["mac", "command"]


class HostWakeFailedPayload(Payload):
    """Reason why a remote host did not wake."""

    host_id: str
    reason: str


class SessionStalledPayload(Payload):
    """Reason why an agent seems to hang, and the time in Unix milliseconds since when it does."""

    id: str
    reason: str
    since: int
    detail: str


class SessionPayload(Payload):
    """Session that was created or changed."""

    id: str
    detached: bool = omit_if_false()


class SessionExited(Payload):
    """Exit status of a session's process; an unknown status is omitted."""

    id: str
    status: int | None = omit_if_none()


class SessionOutputPayload(Payload):
    """Terminal output; C{offset} is that of its first byte."""

    id: str
    offset: int
    data: str


class ConversationChangedPayload(Payload):
    """Items of a followed conversation that are new or changed, at most the newest 50.

    @ivar branch: the sub-agent whose conversation it is; omitted for the main one.
    @ivar cursor: cursor after the change; empty if the session has another conversation now.
    """

    id: str
    branch: str | None = omit_if_none()
    cursor: str
    changed: list[str]


class SessionRenamedPayload(Payload):
    """Current name of a session, and who chose it."""

    id: str
    name: str
    name_source: str


class SessionPinnedPayload(Payload):
    """Current pinned state of a session."""

    id: str
    pinned: bool


class SessionOrderPayload(Payload):
    """Current order of all sessions of one owner."""

    order: list[str]


class LimitPausePayload(OccurrencePayload):
    """Time at which a session resumes, in Unix milliseconds, and the text of the limit."""

    resume_at: int
    reason: str


class CommandSentPayload(OccurrencePayload):
    """Token count at which a command was sent."""

    tokens: int


class RateLimitWindow(Payload):
    """Used share of one rate-limit window; C{reset_at} in Unix milliseconds."""

    used_percentage: float
    reset_at: int | None = omit_if_none()


class PlanUsagePayload(Payload):
    """Used share of the plan's limits, as last reported; C{at} in Unix milliseconds."""

    five_hour: RateLimitWindow | None = omit_if_none()
    seven_day: RateLimitWindow | None = omit_if_none()
    at: int


class TelemetryPayload(Payload):
    """Values that a status line reported for a session; missing values are omitted."""

    session_id: str
    five_hour: RateLimitWindow | None = omit_if_none()
    seven_day: RateLimitWindow | None = omit_if_none()
    context_used_percentage: float | None = omit_if_none()
    cost_usd: float | None = omit_if_none()
    model_display_name: str | None = omit_if_none()


class ChangeTotalsPayload(Payload):
    """Numbers of changed files, and of added and removed lines."""

    files: int
    added: int
    removed: int


class CommentCountsPayload(Payload):
    """Numbers of comments that wait to be sent, and of those that the agent has."""

    open: int
    sent: int


class SessionChangesPayload(Payload):
    """Numbers of what a session changed, and of the comments on it."""

    id: str
    totals: ChangeTotalsPayload
    comments: CommentCountsPayload


class PullRequestMarkPayload(Payload):
    """State of a pull request, of all its checks together, and the number of failed ones."""

    repo: str
    number: int
    state: str
    checks: str
    checks_failed: int


class SessionPullRequestsPayload(Payload):
    """Pull requests of the branches in a session's workspace, as far as they are known."""

    id: str
    pull_requests: list[PullRequestMarkPayload]


class CheckOutcomePayload(Payload):
    """Name and state of a check, and the numbers of its tests if its output ends with them."""

    name: str
    state: str
    passed: int | None = omit_if_none()
    failed: int | None = omit_if_none()


class ChecksPayload(Payload):
    """Run of a session's checks; C{at} in Unix milliseconds.

    @ivar state: C{waiting}, C{running}, C{green}, C{red}, C{cancelled}, C{interrupted} or
        C{unavailable}.
    @ivar follow_up: C{sending} or C{sent} if the agent gets the failure, C{notified} if a person
        has to look, else C{none}.
    @ivar attempt: number of times in a row that the agent was asked before.
    @ivar needs_person: true if a person has to be notified now.
    """

    session_id: str
    run_id: str
    state: str
    trigger: str
    follow_up: str
    attempt: int
    needs_person: bool
    at: int
    checks: list[CheckOutcomePayload]

    @property
    def is_final(self) -> bool:
        """True if nothing follows before the next turn."""
        return self.follow_up in ("none", "notified") and self.state != "cancelled"


class HookEventPayload(Payload):
    """Reduced data of a hook (protocol-hooks)."""

    session_id: str
    at: int
    data: dict[str, Any]


class ApprovalPayload(Payload):
    """Approval that waits for a person."""

    id: str
    session_id: str
    session_name: str
    kind: str


class ApprovalResolvedPayload(Payload):
    """Item of the inbox that no longer waits, and the reason; C{rule} is the name of the rule that
    answered it.
    """

    id: str
    session_id: str
    kind: str
    resolution: str
    rule: str | None = omit_if_none()


class RuleAnswerPayload(Payload):
    """Answer of a rule to an agent's hook, before there was an item.

    C{answer} is C{allowed} or C{denied}, C{rule} the name of the rule.
    """

    session_id: str
    tool: str
    answer: str
    rule: str


class NoticePayload(Payload):
    """Notice for the open pages of an account, as its own rules decided.

    @ivar kind: kind of the event, or C{digest} for several.
    @ivar session_id: session that the notice opens; empty if there is none.
    """

    kind: str
    urgency: Literal["critical", "warning", "info"]
    session_id: str
    session_name: str
    title: str
    body: str
    at: int


class NoticeRulesPayload(Payload):
    """True if the account has rules of its own."""

    custom: bool


class CronJobsPayload(Payload):
    """Jobs that the receiver may see."""


class CronRunPayload(Payload):
    """Run of a job."""

    id: str
    session_id: str | None
    session_name: str | None
    status: str
    error_message: str | None = omit_if_none()


class ImageBuildPayload(Payload):
    """Image that is being built for a container host."""

    host_id: str
    image: str


class ImageBuildProgress(ImageBuildPayload):
    """Progress of a build, if the engine reports it, and its last output."""

    percent: int | None
    line: str


class ImageBuildFailed(ImageBuildPayload):
    """Reason why a build failed."""

    error: str


class CasePayload(Payload):
    """Case that was created or changed."""

    name: str


class CaseRemovedPayload(Payload):
    """Name of a removed case."""

    name: str


class CaseOrderPayload(Payload):
    """Current order of all cases of one owner."""

    order: tuple[str, ...]


class CloneProgressPayload(CaseRemovedPayload):
    """Progress of a clone; C{percent} of the current phase, if git reports it."""

    phase: str
    percent: int | None


class TunnelPayload(Payload):
    """Address of the tunnel."""

    url: str


class ErrorTextPayload(Payload):
    """Description of an error."""

    error: str


class LoginCodePayload(Payload):
    """QR code as inline SVG, its target, and its expiry in Unix milliseconds."""

    svg: str
    url: str
    expires_at: int | None


class LoginCodeUsedPayload(Payload):
    """User of a code; C{timestamp} in Unix milliseconds."""

    ip: str
    ua: str
    timestamp: int


class CliEntryPayload(Payload):
    """Entry of the registry; a flag says that it was removed."""

    id: str
    deleted: bool


class CliInstallPayload(Payload):
    """CLI that is being installed."""

    id: str


class CliInstallOutput(CliInstallPayload):
    """Output of the install command."""

    data: str


class CliInstallFinished(CliInstallPayload):
    """Result of an installation; C{status} is C{null} if the command has no exit status, C{path} is
    the program's path.
    """

    ok: bool
    status: int | None
    path: str | None = omit_if_none()


class SettingsPayload(Payload):
    """Complete settings."""


class WebhookPayload(Payload):
    """Webhook of the event."""


class McpSyncPayload(Payload):
    """Result of a sync of MCP servers."""


class RestoreOfferPayload(Payload):
    """Number of sessions that can be restored."""

    sessions: int


class RestoreProgressPayload(Payload):
    """Session that is being restored, after C{done} of C{total}."""

    session_id: str
    done: int
    total: int


class RestoreReportPayload(Payload):
    """Numbers of sessions that were restored and that failed."""

    restored: int
    skipped: int


class ModelEndpointsPayload(Payload):
    """List of every model endpoint."""


class AffectedSession(Payload):
    """Session whose model was unloaded."""

    id: str
    name: str


class ModelSwapPayload(Payload):
    """Model that an endpoint has unloaded, and the owner's live sessions that use it."""

    endpoint_id: str
    model_id: str
    sessions: list[AffectedSession]


class InitialStatePayload(Payload):
    """Initial state of a client (protocol-state)."""


class HeartbeatPayload(Payload):
    """Time of sending, in Unix milliseconds."""

    t: int
