"""Select the rights with which a workspace is read: those of its session's location
(protocol-os-users).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tservice.core.errors import invalid
from tservice.core.places.place import OWN, Place
from tservice.core.places.places import Places
from tservice.git.model import ChangeKind, GitOptions
from tservice.git.service import GitService, GitWorkspace

KEPT = 50
"""Readers whose lists and statuses are cached; the least recently used is dropped first."""

ServiceOf = Callable[[Place, str | None], GitService]
"""Returns a new service that reads with the rights of a place, for an account."""


class GitReaders:
    """Set of L{GitService}s, one for each place and each account.

    A cache therefore never shows an account what only another may read, and no account waits for
    another's stalled reading.
    """

    def __init__(self, service_of: ServiceOf, places: Places) -> None:
        self._service_of = service_of
        self._places = places
        self._own = service_of(places.recall(OWN), None)
        self._others: OrderedDict[tuple[Place, str | None], GitService] = OrderedDict()

    async def status(self, workspace: GitWorkspace, options: GitOptions) -> dict[str, Any]:
        """See L{GitService.status}."""
        place = await self._place(workspace)
        if place.closed is not None:
            return self._own.unsupported(place.closed)
        return await self._reader(place, workspace.owner).status(workspace, options)

    async def diff(
        self, workspace: GitWorkspace, repo: str, path: str, kind: ChangeKind, options: GitOptions
    ) -> dict[str, Any]:
        """See L{GitService.diff}.

        @raise ServiceError: also 400 for a workspace that is never read.
        """
        place = await self._place(workspace)
        if place.closed is not None:
            raise invalid("id", f"no diffs of {place.closed} sessions")
        return await self._reader(place, workspace.owner).diff(workspace, repo, path, kind, options)

    async def _place(self, workspace: GitWorkspace) -> Place:
        await self._places.ask(workspace.place)
        return self._places.recall(workspace.place)

    def _reader(self, place: Place, owner: str | None) -> GitService:
        if place.id == OWN and owner is None:
            return self._own
        key = (place, owner)
        found = self._others.pop(key, None) or self._service_of(place, owner)
        self._others[key] = found
        while len(self._others) > KEPT:
            self._others.popitem(last=False)
        return found
