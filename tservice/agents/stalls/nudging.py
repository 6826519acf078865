"""Nudge of an agent that hangs: Escape, and a prompt to go on."""

from __future__ import annotations

from twisted.logger import Logger

from tservice.agents.stalls.model import FoundStall
from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.sessions.interfaces import ISessions, Session

PROMPT = "go on"
ACTION = "stall.nudge"
_HELPED = frozenset({"silent", "api_error"})


class Nudger:
    """Sender of nudges, each of which is recorded in the audit log before it is typed."""

    _log = Logger()

    def __init__(self, sessions: ISessions, audit: IAuditLog) -> None:
        self._sessions = sessions
        self._audit = audit

    def may_help(self, stall: FoundStall) -> bool:
        """Return true if a new turn may end the stall.

        A person must answer a program at the terminal, and an agent that repeats itself would
        repeat itself again.
        """
        return stall.reason in _HELPED

    def nudge(self, session: Session, stall: FoundStall) -> None:
        """Interrupt the agent and let it go on."""
        entry = AuditEntry(
            action=ACTION,
            actor=session.owner or "",
            target=session.id,
            detail={"reason": stall.reason},
        )
        self._audit.record_entry(entry)
        spawn_logged(self._type_nudge(session.id), self._log, "a nudge")

    async def _type_nudge(self, session_id: str) -> None:
        try:
            await self._sessions.send_key(session_id, "Escape")
            await self._sessions.send_prompt(session_id, PROMPT)
        except ServiceError as error:
            self._log.warn("{id}: not nudged: {error}", id=session_id, error=error)
