"""As whom a workspace is read: the service's own user, or the OS user of its session
(protocol-os-users)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tservice.core.users.osuser import OsUser, OsUsers
from tservice.git.model import Kind, Options
from tservice.git.service import GitService, Workspace

KEPT = 50
"""OS users whose lists and statuses are kept; the one asked least lately is forgotten first."""


class GitReaders:
    """One L{GitService} for each user, so that no cache tells one what another may read.

    @param service_of: a new service that reads as a user; C{None}: as the service's own.
    """

    def __init__(
        self, service_of: Callable[[OsUser | None], GitService], os_users: OsUsers
    ) -> None:
        self._service_of = service_of
        self._os_users = os_users
        self._own = service_of(None)
        self._others: OrderedDict[OsUser, GitService] = OrderedDict()

    async def status(self, workspace: Workspace, options: Options) -> dict[str, Any]:
        """See L{GitService.status}."""
        return await (await self._reader(workspace)).status(workspace, options)

    async def diff(
        self, workspace: Workspace, repo: str, path: str, kind: Kind, options: Options
    ) -> dict[str, Any]:
        """See L{GitService.diff}."""
        return await (await self._reader(workspace)).diff(workspace, repo, path, kind, options)

    async def _reader(self, workspace: Workspace) -> GitService:
        known = workspace.os_user
        await self._os_users.ask(None if known is None else known.name)
        user = self._os_users.recall(workspace.os_user)
        if user is None:
            return self._own
        found = self._others.pop(user, None) or self._service_of(user)
        self._others[user] = found
        while len(self._others) > KEPT:
            self._others.popitem(last=False)
        return found
