"""Where sessions work and cases are, in the words of this feature."""

from __future__ import annotations

from collections.abc import Iterable

from tservice.cases.interfaces import ICases
from tservice.core.identity import Identity
from tservice.git.service import GitWorkspace
from tservice.sessions.interfaces import ISessions, Location, Session


class SessionWorkspaces:
    """Reads them from the sessions."""

    def __init__(self, sessions: ISessions) -> None:
        self._sessions = sessions

    def of(self, session_id: str) -> GitWorkspace:
        """Where that session works.

        @raise ServiceError: 404 for an unknown id.
        """
        session: Session = self._sessions.get(session_id)
        return GitWorkspace(folder=session.working_dir, place=session.place, owner=session.owner)

    def of_containers(self) -> Iterable[str]:
        """The folders of all sessions in containers."""
        return {
            session.working_dir
            for session in self._sessions.list()
            if session.location is Location.CONTAINER
        }


class CaseWorkspaces:
    """Finds them by their names."""

    def __init__(self, cases: ICases) -> None:
        self._cases = cases

    async def of(self, name: str, caller: Identity) -> GitWorkspace:
        """Where that case of C{caller} is.

        @raise ServiceError: 404 for an unknown one, and for one that is not shown to a token that
            is bound to sessions; 422: its folder does not answer.
        """
        if caller.sessions is not None:
            await self._cases.reached(name, caller)
        case = await self._cases.case(name, caller)
        return GitWorkspace(
            folder=case.path, place=case.place or caller.place, owner=caller.username or None
        )
