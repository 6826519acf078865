"""Routes that agents themselves call (protocol-hooks)."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from pydantic import Field

from tservice.agents.model import HookEvent
from tservice.core.callers.identity import Identity
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, RawReply, ResponseStyle
from tservice.http.validation.models import ENUM_MEMBER, RequestBody

HOOK_BODY_LIMIT = 8 * 1024 * 1024
"""Maximum bytes of a hook's body, which contains whole prompts and whole files that a tool is about
to write.
"""

TELEMETRY_BODY_LIMIT = 256 * 1024
"""Maximum bytes of a status line's body, which usually has about two thousand."""

SessionId = Annotated[str, Field(min_length=1, max_length=64)]


class HookBody(RequestBody):
    """Hook event. C{data} is the hook's payload; protocol-hooks lists the fields that are kept."""

    event: Annotated[HookEvent, Field(strict=False), ENUM_MEMBER]
    session_id: SessionId
    data: dict[str, Any] | None = None


class DecisionBody(RequestBody):
    """Permission dialog of an agent. C{data} is the payload of the agent's C{PermissionRequest}."""

    session_id: SessionId
    data: dict[str, Any] | None = None


class TelemetryBody(RequestBody):
    """Input of a status line. Every field of C{data} may be missing or null."""

    session_id: SessionId
    data: dict[str, Any] | None = None


class HookHandler(Protocol):
    """Handler of hook events."""

    def handle_hook_event(
        self, event: HookEvent, session_id: str, data: Any, caller: Identity | None
    ) -> object: ...


class DecisionHandler(Protocol):
    """Handler of hooks that wait for a decision."""

    async def wait_for_decision(
        self, session_id: str, data: Any, caller: Identity | None
    ) -> bytes: ...


class TelemetryHandler(Protocol):
    """Handler of status line reports."""

    def handle_telemetry_report(
        self, session_id: str, data: Any, caller: Identity | None
    ) -> str: ...


_AGENTS = OperationFields(
    tag="Hooks",
    access=AccessRule.HOOK,
    scope_reason="Agents report with the hook secret. A report gives no permission.",
)


class HookRoutes:
    """Operations that receive hooks and telemetry."""

    def __init__(
        self, hooks: HookHandler, telemetry: TelemetryHandler, decisions: DecisionHandler
    ) -> None:
        self._hooks, self._telemetry, self._decisions = hooks, telemetry, decisions

    @operation("POST", "/api/hook-event", _AGENTS, body_limit=HOOK_BODY_LIMIT)
    async def handle_hook(self, call: OperationCall, body: HookBody) -> EmptyPayload:
        """Report a hook event of an agent."""
        self._hooks.handle_hook_event(body.event, body.session_id, body.data, call.caller)
        return EmptyPayload()

    @operation(
        "POST",
        "/api/hook-event/decision",
        _AGENTS,
        scope_reason="An agent waits with the hook secret for the answer to its own dialog.",
        style=ResponseStyle.RAW,
        waits=True,
        body_limit=HOOK_BODY_LIMIT,
    )
    async def wait_for_decision(self, call: OperationCall, body: DecisionBody) -> RawReply:
        """Report a permission dialog of an agent, and wait for the answer to it."""
        decision = await self._decisions.wait_for_decision(body.session_id, body.data, call.caller)
        return RawReply(content=decision)

    @operation(
        "POST",
        "/api/status-telemetry",
        _AGENTS,
        style=ResponseStyle.RAW,
        body_limit=TELEMETRY_BODY_LIMIT,
    )
    async def handle_report(self, call: OperationCall, body: TelemetryBody) -> RawReply:
        """Report the figures of a status line; returns the line to show."""
        line = self._telemetry.handle_telemetry_report(body.session_id, body.data, call.caller)
        return RawReply(content=line.encode(), content_type="text/plain; charset=utf-8")
