"""Restore: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling


class DismissalAnswer(TypedDict):
    """How many sessions are not offered any more."""

    dismissed: int


class OfferAnswer(TypedDict):
    """What can be brought back; times in Unix milliseconds."""

    sessions: list[OfferedAnswer]
    expiresAt: int | None
    restoring: bool


class OfferedAnswer(TypedDict):
    """One session that can be brought back."""

    id: str
    name: str
    workingDir: str
    mode: str
    owner: NotRequired[str]
    lastActivityAt: int
    resumes: bool
    scrollback: bool


class RebuiltAnswer(TypedDict):
    """One session's outcome; C{scrollbackRestored} when what it showed stands above what it
    shows now.
    """

    sessionId: str
    outcome: Literal[
        "restored",
        "already-live",
        "capacity-reached",
        "workspace-missing",
        "workspace-forbidden",
        "agent-failed",
    ]
    scrollbackRestored: NotRequired[bool]


class ReportAnswer(TypedDict):
    """What became of each."""

    restored: int
    skipped: int
    entries: list[RebuiltAnswer]


class RestoreBody(TypedDict):
    """Which of the sessions that are offered; all when absent."""

    sessionIds: NotRequired[list[str] | None]


class Restore(Calling):
    """Restore."""

    async def get_reboot_restore(self) -> OfferAnswer:
        """The sessions that a reboot ended and that can be brought back."""
        found: OfferAnswer = await self.call("GET", "/reboot-restore")
        return found

    async def post_reboot_restore_restore(self, body: RestoreBody | None = None) -> ReportAnswer:
        """Start them again, one at a time; answers when all are done."""
        found: ReportAnswer = await self.call("POST", "/reboot-restore/restore", body=body)
        return found

    async def post_reboot_restore_dismiss(self) -> DismissalAnswer:
        """Forget the offer; the sessions stay in the list."""
        found: DismissalAnswer = await self.call("POST", "/reboot-restore/dismiss")
        return found
