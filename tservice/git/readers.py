"""Selection of the OS user that reads a workspace: the user of its session's location
(protocol-os-users).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from tservice.core.kernel.errors import make_field_error
from tservice.core.locations.location import OWN_LOCATION, Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.git.interfaces import WorkingCopy
from tservice.git.location_shell.location_copy import LocationCopies
from tservice.git.model import ChangeKind, GitOptions
from tservice.git.service import GitService, GitWorkspace

MAX_READERS = 50
"""Maximum number of services whose caches are kept.

The least recently used is dropped first.
"""

ServiceOf = Callable[[Location, str | None], GitService]
"""Returns a new service that reads as the OS user of a location, for an account."""


class GitReaderRegistry:
    """Set of L{GitService}s, one for each location and account.

    An account therefore never sees cached data that only another account may read.  A slow reading
    delays only its own account.
    """

    def __init__(
        self, service_of: ServiceOf, places: LocationRegistry, far: LocationCopies
    ) -> None:
        """@param far: opens working copies in containers and on remote hosts."""
        self._service_of = service_of
        self._places = places
        self._far = far
        self._own = service_of(places.find_earlier_location(OWN_LOCATION), None)
        self._others: OrderedDict[tuple[Location, str | None], GitService] = OrderedDict()

    async def get_status(self, workspace: GitWorkspace, options: GitOptions) -> dict[str, Any]:
        """Return the status of a workspace; see L{GitService.get_status}."""
        place = await self._resolve_location(workspace)
        if place.unreadable_reason is not None:
            return self._own.make_unsupported_response(place.unreadable_reason)
        return await self._get_reader(place, workspace.owner).get_status(workspace, options)

    async def get_diff(
        self, workspace: GitWorkspace, repo: str, path: str, kind: ChangeKind, options: GitOptions
    ) -> dict[str, Any]:
        """Return the diff of one file; see L{GitService.get_diff}.

        @raise ServiceError: also 400 for a workspace in which git must not be run.
        """
        place = await self._resolve_location(workspace)
        if place.unreadable_reason is not None:
            raise make_field_error("id", f"no diffs of {place.unreadable_reason} sessions")
        return await self._get_reader(place, workspace.owner).get_diff(
            workspace, repo, path, kind, options
        )

    async def open_working_copies(self, workspace: GitWorkspace) -> Sequence[WorkingCopy]:
        """Return the working copies of a workspace; see L{GitService.open_working_copies}.

        A location is never started or woken for this.

        @raise ServiceError: also 400 for a workspace in which git must not be run; 422 if the
            location cannot be reached.
        """
        await self._places.refresh_if_reachable(workspace.place)
        place = self._places.find_earlier_location(workspace.place)
        if place.find_shell is not None:
            return await self._far.open_working_copies(
                place, workspace.folder, workspace.owner, GitOptions().max_repos
            )
        if place.unreadable_reason is not None:
            raise make_field_error("id", f"no changes of {place.unreadable_reason} sessions")
        return await self._get_reader(place, workspace.owner).open_working_copies(workspace)

    async def _resolve_location(self, workspace: GitWorkspace) -> Location:
        await self._places.refresh_location(workspace.place)
        return self._places.find_earlier_location(workspace.place)

    def _get_reader(self, place: Location, owner: str | None) -> GitService:
        if place.id == OWN_LOCATION and owner is None:
            return self._own
        key = (place, owner)
        found = self._others.pop(key, None) or self._service_of(place, owner)
        self._others[key] = found
        while len(self._others) > MAX_READERS:
            self._others.popitem(last=False)
        return found
