"""C{GET /healthz} and C{GET /api/status} (protocol-state; protocol-metrics)."""

from __future__ import annotations

from typing import Any, Literal

from tservice.http.models import Answer
from tservice.http.operations import Access, Call, Operation, Reply, Scope, Style
from tservice.http.sse import Status


class UserStatus(Answer):
    """Who the caller is."""

    username: str
    role: Literal["admin", "user"]
    multi_user: bool


class TunnelStatus(Answer):
    """The managed tunnel."""

    running: bool = False
    url: str | None = None


class StatusAnswer(Answer):
    """The state that a client begins with: also the C{init} event of the stream.

    Every field is there from the first release, empty where its feature is off.

    @ivar cron_jobs: how many there are.
    @ivar server_time: Unix milliseconds.
    @ivar time_zone: where the service's clocks are, an IANA name or an offset: scheduled jobs are
        planned in it.
    """

    version: str
    sessions: list[dict[str, Any]] = []
    cron_jobs: int = 0
    approvals: list[dict[str, Any]] = []
    plan_usage: dict[str, Any] | None = None
    tunnel: TunnelStatus = TunnelStatus()
    user: UserStatus
    server_time: int
    time_zone: str = "UTC"


class HealthAnswer(Answer):
    """The process answers; nothing else is told to strangers."""

    ok: Literal[True] = True


class StatusRoutes:
    """Health for a supervisor, state for a client."""

    def __init__(self, status: Status) -> None:
        """
        @param status: makes the L{StatusAnswer} for a caller.
        """
        self._status = status

    async def health(self, call: Call) -> object:
        """C{{"ok": true}}, and no more."""
        return Reply(content=HealthAnswer(), headers={"Cache-Control": "no-store"})

    async def status(self, call: Call) -> object:
        """The whole state, as far as the caller may see it."""
        return self._status(call.identity)

    def operations(self) -> list[Operation]:
        """The routes, for the table."""
        return [
            Operation(
                method="GET",
                path="/healthz",
                access=Access.PUBLIC,
                handler=self.health,
                summary="Whether the service answers",
                tag="Diagnostics",
                answer=HealthAnswer,
                style=Style.RAW,
            ),
            Operation(
                method="GET",
                path="/api/status",
                access=Access.USER,
                scope=Scope.SESSIONS_READ,
                handler=self.status,
                summary="The state that a client begins with",
                tag="Events",
                answer=StatusAnswer,
            ),
        ]
