"""Where sessions work, in the words of this feature."""

from __future__ import annotations

from collections.abc import Iterable

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
        return GitWorkspace(folder=session.working_dir, place=session.place)

    def of_containers(self) -> Iterable[str]:
        """The folders of all sessions in containers."""
        return {
            session.working_dir
            for session in self._sessions.list()
            if session.location is Location.CONTAINER
        }
