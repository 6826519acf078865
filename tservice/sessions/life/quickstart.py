"""A case and a session in one call (protocol-quickstart)."""

from __future__ import annotations

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.identity import Identity
from tservice.sessions.life.create import Creator
from tservice.sessions.life.workspaces import Workspaces
from tservice.sessions.record.display import clean_line
from tservice.sessions.record.model import Session
from tservice.sessions.record.names import check_name
from tservice.sessions.record.requests import CreateRequest

ORIGIN_LENGTH = 64
"""Characters of an agent's origin."""


@frozen(kw_only=True)
class QuickStart:
    """What was asked for.

    @ivar session: the session as far as the body says.
    @ivar parent_hint: C{X-Service-Parent-Session}, used where the body is silent.
    @ivar origin_hint: C{X-Service-Agent-Origin}, likewise.
    """

    case_name: str
    session: CreateRequest
    parent_hint: str | None = None
    origin_hint: str | None = None


class QuickStarter:
    """Prepares the folder and the record; the session is started by the caller of it."""

    def __init__(self, clock: IReactorTime, creator: Creator, workspaces: Workspaces) -> None:
        self._clock = clock
        self._creator = creator
        self._workspaces = workspaces

    def prepare(self, wanted: QuickStart, caller: Identity) -> Session:
        """The record of the session, its folder made where it was missing.

        @raise ServiceError: as L{Creator.record}; 400 for a bad case name.  A folder that was made
            is gone again then.
        """
        check_name(wanted.session.name or "", "sessionName")
        parent = wanted.session.parent_session_id
        if parent is None:
            parent = self._creator.find_parent(wanted.parent_hint, caller)
        origin = wanted.session.agent_origin or _origin(wanted.origin_hint)
        folder, made = self._workspaces.make_case(wanted.case_name, caller)
        request = evolve(
            wanted.session,
            case_name=wanted.case_name,
            working_dir=folder,
            parent_session_id=parent,
            agent_origin=origin,
            start=True,
        )
        try:
            session = self._creator.record(request, caller)
            if made and origin:
                at = now_ms(self._clock)
                self._workspaces.mark_agent_made(folder, caller, origin, parent, at)
        except Exception:
            if made:
                self._workspaces.unmake_case(folder, caller)
            raise
        return session


def _origin(text: str | None) -> str | None:
    """A header's origin, dropped when it is not fit to be kept."""
    if text is None or len(text) > ORIGIN_LENGTH or clean_line(text, ORIGIN_LENGTH) != text:
        return None
    return text or None
