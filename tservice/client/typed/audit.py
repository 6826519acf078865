"""Audit: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from tservice.client.calling import Calling


class AuditAnswer(TypedDict):
    """A page, the newest first; C{next} is the C{before} of the following one, if any."""

    entries: list[EntryAnswer]
    next: NotRequired[int]


class EntryAnswer(TypedDict):
    """One entry; a later one has a greater C{seq}."""

    seq: int
    at: int
    actor: str
    method: str
    address: str
    action: str
    target: str
    detail: dict[str, Any]


class Audit(Calling):
    """Audit."""

    async def get_admin_audit(
        self,
        *,
        limit: int | None = None,
        actor: str | None = None,
        action: str | None = None,
        path: str | None = None,
        target: str | None = None,
        since: int | None = None,
        until: int | None = None,
        before: int | None = None,
    ) -> AuditAnswer:
        """Who did what, the newest first."""
        found: AuditAnswer = await self.call(
            "GET",
            "/admin/audit",
            query={
                "limit": limit,
                "actor": actor,
                "action": action,
                "path": path,
                "target": target,
                "since": since,
                "until": until,
                "before": before,
            },
        )
        return found
