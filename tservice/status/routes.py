"""C{GET /api/status} and C{GET /healthz}."""

from __future__ import annotations

from typing import Any

from tservice.http.models import Answer
from tservice.http.operations import Access, Call, Operation, Reply, Style
from tservice.status.service import StatusService


class TunnelAnswer(Answer):
    """The managed tunnel."""

    running: bool
    url: str | None


class UserAnswer(Answer):
    """Who the caller is (wire 22)."""

    username: str
    role: str
    must_change_password: bool
    multi_user: bool


class StatusAnswer(Answer):
    """The state that a client starts from; a feature that is off is empty."""

    version: str
    sessions: list[dict[str, Any]]
    cron_jobs: int
    approvals: list[dict[str, Any]]
    plan_usage: dict[str, Any] | None
    tunnel: TunnelAnswer
    user: UserAnswer
    server_time: int


class HealthAnswer(Answer):
    """Alone, without an envelope."""

    ok: bool


class StatusRoutes:
    """Answers with what L{StatusService} puts together."""

    def __init__(self, status: StatusService) -> None:
        self._status = status

    async def _read(self, call: Call) -> dict[str, Any]:
        return self._status.describe(call.identity)

    async def _healthy(self, call: Call) -> Reply:
        return Reply(content=b'{"ok": true}', headers={"Cache-Control": "no-store"})

    def operations(self) -> list[Operation]:
        """The routes, for the table."""
        return [
            Operation(
                method="GET",
                path="/healthz",
                access=Access.PUBLIC,
                handler=self._healthy,
                summary="Whether the service answers; tells nobody anything else (wire 26)",
                tag="Status",
                answer=HealthAnswer,
                style=Style.RAW,
            ),
            Operation(
                method="GET",
                path="/api/status",
                access=Access.USER,
                handler=self._read,
                summary="Everything at a glance; an event stream's first event is the same",
                tag="Status",
                answer=StatusAnswer,
            ),
        ]
