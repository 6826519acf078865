"""What events tell (protocol-events).

Where an event tells a whole record of a feature, here stands the part of it that others may rely
on; the feature's own answer is made of it, and is what goes out.
"""

from __future__ import annotations

from typing import Any, Literal

from tservice.core.payload import Payload, absent, absent_if_false


class Nothing(Payload):
    """That it happened says it all."""


class Happened(Payload):
    """To what, and when in Unix milliseconds."""

    id: str
    at: int


class InputLostTold(Payload):
    """How many inputs that were kept were not typed, and why the first of them was not."""

    id: str
    at: int
    chunks: int
    reason: str


class DroppedTold(Payload):
    """How many attempts there were since, and when the next one is."""

    id: str
    attempt: int
    next_at: int


class WakingTold(Payload):
    """By what a remote host is woken."""

    host_id: str
    method: Literal["mac", "command"]


class WakeFailedTold(Payload):
    """Why a remote host was woken in vain."""

    host_id: str
    reason: str


class SessionTold(Payload):
    """A session."""

    id: str
    detached: bool = absent_if_false()


class ExitTold(Payload):
    """How a session's process ended; an unknown status is left out."""

    id: str
    status: int | None = absent()


class OutputTold(Payload):
    """Output of a terminal; C{offset} is that of its first byte."""

    id: str
    offset: int
    data: str


class NameTold(Payload):
    """The name that holds now, and who chose it."""

    id: str
    name: str
    name_source: str


class PinTold(Payload):
    """Whether a session is pinned now."""

    id: str
    pinned: bool


class OrderTold(Payload):
    """All sessions of one owner, in the order that holds now."""

    order: list[str]


class PauseTold(Happened):
    """When a session goes on, in Unix milliseconds, and the words of the limit."""

    resume_at: int
    reason: str


class CommandTold(Happened):
    """A command was sent at so many tokens."""

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
    """What a status line said of a session; what it did not say is left out."""

    session_id: str
    five_hour: WindowTold | None = absent()
    seven_day: WindowTold | None = absent()
    context_used_percentage: float | None = absent()
    cost_usd: float | None = absent()
    model_display_name: str | None = absent()


class HookTold(Payload):
    """What a hook said, reduced (protocol-hooks)."""

    session_id: str
    at: int
    data: dict[str, Any]


class ApprovalTold(Payload):
    """What waits for a person."""

    id: str
    session_id: str
    session_name: str
    kind: str


class ResolvedTold(Payload):
    """An item of the inbox that waits no more, and why."""

    id: str
    session_id: str
    kind: str
    resolution: str


class JobsTold(Payload):
    """The jobs that the hearer may see."""


class RunTold(Payload):
    """A run of a job."""

    id: str
    session_id: str | None
    session_name: str | None
    status: str
    error_message: str | None = absent()


class BuildTold(Payload):
    """An image that is built for a host of containers."""

    host_id: str
    image: str


class BuildProgressTold(BuildTold):
    """How far it is, where the engine tells, and what it printed last."""

    percent: int | None
    line: str


class BuildFailedTold(BuildTold):
    """Why it was not built."""

    error: str


class CaseTold(Payload):
    """A case."""

    name: str


class CaseGoneTold(Payload):
    """The name of what was a case."""

    name: str


class CaseOrderTold(Payload):
    """All cases of one owner, in the order that holds now."""

    order: tuple[str, ...]


class CloneProgressTold(CaseGoneTold):
    """How far a clone is; C{percent} of this phase, where git tells it."""

    phase: str
    percent: int | None


class TunnelTold(Payload):
    """The address of the tunnel."""

    url: str


class TroubleTold(Payload):
    """What went wrong."""

    error: str


class CodeTold(Payload):
    """A QR code as inline SVG, what it leads to, and until when in Unix milliseconds."""

    svg: str
    url: str
    expires_at: int | None


class CodeUseTold(Payload):
    """Who used a code; C{timestamp} in Unix milliseconds."""

    ip: str
    ua: str
    timestamp: int


class CliTold(Payload):
    """An entry of the registry, and whether it is gone."""

    id: str
    deleted: bool


class InstallTold(Payload):
    """The CLI that is installed."""

    id: str


class InstallOutputTold(InstallTold):
    """What the install command printed."""

    data: str


class InstallEndTold(InstallTold):
    """Whether it worked; C{status} is C{null} where the command has no exit status, C{path} is
    where the program is now."""

    ok: bool
    status: int | None
    path: str | None = absent()


class SettingsTold(Payload):
    """Every setting."""


class WebhookTold(Payload):
    """The webhook."""


class SyncTold(Payload):
    """What a sync of MCP servers did."""


class OfferTold(Payload):
    """How many sessions can be brought back."""

    sessions: int


class ProgressTold(Payload):
    """The session that is being brought back, after C{done} of C{total}."""

    session_id: str
    done: int
    total: int


class ReportTold(Payload):
    """How many sessions were brought back, and how many not."""

    restored: int
    skipped: int


class EndpointsTold(Payload):
    """Every model endpoint."""


class SessionNamed(Payload):
    """A session that a model is pushed out from under."""

    id: str
    name: str


class SwapTold(Payload):
    """The model that an endpoint has loaded no more, and its owner's live sessions that use it."""

    endpoint_id: str
    model_id: str
    sessions: list[SessionNamed]


class StateTold(Payload):
    """The state that a client begins with (protocol-state)."""


class Beat(Payload):
    """The time of writing, in Unix milliseconds."""

    t: int
