"""Conversion of sessions and cases to workspaces for git."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zope.interface import implementer

from tservice.cases.interfaces import ICases
from tservice.core.callers.identity import Identity
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import WorkspaceBounds
from tservice.git.interfaces import IWorkingCopies, WorkingCopy
from tservice.git.readers import GitReaderRegistry
from tservice.git.service import GitWorkspace
from tservice.sessions.interfaces import ISessions, Session, SessionLocationKind


class SessionWorkspaces:
    """Finds the workspaces of sessions."""

    def __init__(self, sessions: ISessions, bounds: WorkspaceBounds) -> None:
        self._sessions, self._bounds = sessions, bounds

    def get_workspace(self, session_id: str) -> GitWorkspace:
        """Return the workspace of that session.

        @raise ServiceError: 404 for an unknown id; 422 for the field C{osUser} if the account now
            has another OS user.
        """
        session: Session = self._sessions.get(session_id)
        owner, place = session.owner, session.location_id
        self._bounds.check_os_user(owner, place)
        inside = self._bounds.get_folder_limit(owner, place)
        return GitWorkspace(folder=session.working_dir, place=place, owner=owner, inside=inside)

    def list_container_folders(self) -> Iterable[str]:
        """Return the working directories of all sessions in containers."""
        return {
            session.working_dir
            for session in self._sessions.list()
            if session.location is SessionLocationKind.CONTAINER
        }


@implementer(IWorkingCopies)
class SessionWorkingCopies:
    """Implementation of L{IWorkingCopies}."""

    def __init__(self, workspaces: SessionWorkspaces, readers: GitReaderRegistry) -> None:
        self._workspaces, self._readers = workspaces, readers

    async def open_working_copies(self, session_id: str) -> Sequence[WorkingCopy]:
        """See L{IWorkingCopies}."""
        return await self._readers.open_working_copies(self._workspaces.get_workspace(session_id))


class CaseWorkspaces:
    """Finds the workspaces of cases."""

    def __init__(self, cases: ICases, bounds: WorkspaceBounds, places: LocationRegistry) -> None:
        self._cases, self._bounds, self._places = cases, bounds, places

    async def get_workspace(self, name: str, caller: Identity) -> GitWorkspace:
        """Return the workspace of the case C{name} that C{caller} may use.

        @raise ServiceError: 404 for an unknown case, and for one that is hidden from a token
            limited to sessions; 422 if its folder is not reachable, or the account's OS user no
            longer exists.
        """
        if caller.sessions is not None:
            await self._cases.check_visible(name, caller)
        case = await self._cases.resolve_case(name, caller)
        owner, place = caller.username or None, case.place
        if place is None:
            await self._places.refresh_location(caller.location_id)
            place = self._places.get_caller_location(caller).id
        inside = self._bounds.get_folder_limit(owner, place)
        return GitWorkspace(folder=case.path, place=place, owner=owner, inside=inside)
