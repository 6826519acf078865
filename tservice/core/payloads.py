"""Payloads of the events (protocol-events).

If an event carries a complete record of a feature, the class here has only the fields that other
packages may rely on.  The feature's response model extends it, and that model is sent.
"""

from __future__ import annotations

from typing import Any, Literal

from tservice.core.payload import Payload, absent, absent_if_false


class Nothing(Payload):
    """That it happened says it all."""


class Happened(Payload):
    """Subject of the event, and its time in Unix milliseconds."""

    id: str
    at: int


class InputLostTold(Payload):
    """Number of stored inputs that were not typed, and the reason for the first of them."""

    id: str
    at: int
    chunks: int
    reason: str


class DroppedTold(Payload):
    """Number of reconnection attempts so far, and the time of the next one."""

    id: str
    attempt: int
    next_at: int


class WakingTold(Payload):
    """Method by which a remote host is woken."""

    host_id: str
    method: Literal["mac", "command"]


class WakeFailedTold(Payload):
    """Reason why a remote host did not wake."""

    host_id: str
    reason: str


class SessionTold(Payload):
    """Session that was created or changed."""

    id: str
    detached: bool = absent_if_false()


class ExitTold(Payload):
    """Exit status of a session's process; an unknown status is omitted."""

    id: str
    status: int | None = absent()


class OutputTold(Payload):
    """Terminal output; C{offset} is that of its first byte."""

    id: str
    offset: int
    data: str


class NameTold(Payload):
    """Current name of a session, and who chose it."""

    id: str
    name: str
    name_source: str


class PinTold(Payload):
    """Current pinned state of a session."""

    id: str
    pinned: bool


class OrderTold(Payload):
    """Current order of all sessions of one owner."""

    order: list[str]


class PauseTold(Happened):
    """Time at which a session resumes, in Unix milliseconds, and the text of the limit."""

    resume_at: int
    reason: str


class CommandTold(Happened):
    """Token count at which a command was sent."""

    tokens: int


class WindowTold(Payload):
    """How much of one rate-limit window is used; C{reset_at} in Unix milliseconds."""

    used_percentage: float
    reset_at: int | None = absent()


class PlanUsageTold(Payload):
    """What is used of the plan's limits, as told last, C{at} Unix milliseconds."""

    five_hour: WindowTold | None = absent()
    seven_day: WindowTold | None = absent()
    at: int


class TelemetryTold(Payload):
    """Values that a status line reported for a session; missing values are omitted."""

    session_id: str
    five_hour: WindowTold | None = absent()
    seven_day: WindowTold | None = absent()
    context_used_percentage: float | None = absent()
    cost_usd: float | None = absent()
    model_display_name: str | None = absent()


class HookTold(Payload):
    """Reduced data of a hook (protocol-hooks)."""

    session_id: str
    at: int
    data: dict[str, Any]


class ApprovalTold(Payload):
    """Approval that waits for a person."""

    id: str
    session_id: str
    session_name: str
    kind: str


class ResolvedTold(Payload):
    """Item of the inbox that no longer waits, and the reason."""

    id: str
    session_id: str
    kind: str
    resolution: str


class JobsTold(Payload):
    """Jobs that the receiver may see."""


class RunTold(Payload):
    """Run of a job."""

    id: str
    session_id: str | None
    session_name: str | None
    status: str
    error_message: str | None = absent()


class BuildTold(Payload):
    """Image that is being built for a container host."""

    host_id: str
    image: str


class BuildProgressTold(BuildTold):
    """Progress of a build, if the engine reports it, and its last output."""

    percent: int | None
    line: str


class BuildFailedTold(BuildTold):
    """Reason why a build failed."""

    error: str


class CaseTold(Payload):
    """Case that was created or changed."""

    name: str


class CaseGoneTold(Payload):
    """Name of a removed case."""

    name: str


class CaseOrderTold(Payload):
    """Current order of all cases of one owner."""

    order: tuple[str, ...]


class CloneProgressTold(CaseGoneTold):
    """Progress of a clone; C{percent} of the current phase, if git reports it."""

    phase: str
    percent: int | None


class TunnelTold(Payload):
    """Address of the tunnel."""

    url: str


class TroubleTold(Payload):
    """Description of an error."""

    error: str


class CodeTold(Payload):
    """QR code as inline SVG, its target, and its expiry in Unix milliseconds."""

    svg: str
    url: str
    expires_at: int | None


class CodeUseTold(Payload):
    """User of a code; C{timestamp} in Unix milliseconds."""

    ip: str
    ua: str
    timestamp: int


class CliTold(Payload):
    """Entry of the registry; a flag says that it was removed."""

    id: str
    deleted: bool


class InstallTold(Payload):
    """CLI that is being installed."""

    id: str


class InstallOutputTold(InstallTold):
    """Output of the install command."""

    data: str


class InstallEndTold(InstallTold):
    """Result of an installation; C{status} is C{null} if the command has no exit status, C{path} is
    the program's path.
    """

    ok: bool
    status: int | None
    path: str | None = absent()


class SettingsTold(Payload):
    """Complete settings."""


class WebhookTold(Payload):
    """Webhook of the event."""


class SyncTold(Payload):
    """Result of a sync of MCP servers."""


class OfferTold(Payload):
    """Number of sessions that can be restored."""

    sessions: int


class ProgressTold(Payload):
    """Session that is being restored, after C{done} of C{total}."""

    session_id: str
    done: int
    total: int


class ReportTold(Payload):
    """Numbers of sessions that were restored and that failed."""

    restored: int
    skipped: int


class EndpointsTold(Payload):
    """Every model endpoint."""


class SessionNamed(Payload):
    """A session that a model is pushed out from under."""

    id: str
    name: str


class SwapTold(Payload):
    """Model that an endpoint has unloaded, and the owner's live sessions that use it."""

    endpoint_id: str
    model_id: str
    sessions: list[SessionNamed]


class StateTold(Payload):
    """Initial state of a client (protocol-state)."""


class Beat(Payload):
    """Time of sending, in Unix milliseconds."""

    t: int
