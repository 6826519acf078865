"""Registry of locations, with one provider for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

from tservice.core.kernel.errors import make_failure_error
from tservice.core.locations.location import Location, LocationId, LocationKind, LocationOutage
from tservice.core.users.os_users import make_missing_user

_T = TypeVar("_T")

UsageCheck = Callable[[LocationId], str | None]
"""Callable that returns a text describing what uses a location.  C{None} if nothing uses it."""

_UNREADABLE_REASONS = {LocationKind.REMOTE: "remote", LocationKind.CONTAINER: "docker"}
"""Reasons that clients see for workspaces that are read only on request (protocol-git-status)."""


class LocationUser(Protocol):
    """User of locations; L{Identity<tservice.core.callers.identity.Identity>} implements it."""

    @property
    def location_id(self) -> LocationId:
        """Default location of the user's sessions."""

    @property
    def os_user(self) -> str | None:
        """OS user of the account; C{None} if its record names none."""


class LocationProvider(Protocol):
    """Provider of the locations of one kind."""

    async def refresh_location(self, known: LocationId) -> None:
        """Load the data of the location that the other methods need.

        @raise ServiceError: 422: the location does not answer; 429: too many requests are waiting.
        """

    async def refresh_if_reachable(self, known: LocationId) -> None:
        """Load the data as L{refresh_location} does, but skip a location that is known to be
        unreachable.

        This is for running sessions, which must not wait for an unreachable location.

        @raise ServiceError: 422: the location does not answer; 429: too many requests are waiting.
        """

    async def prepare_location(self, known: LocationId) -> None:
        """Load the data as L{refresh_location} does, and start the location if it is stopped.

        Call this before something new runs in the location: it starts a stopped container.

        @raise ServiceError: as for L{refresh_location}; 422: the location cannot be started.
        """

    def find_location(self, known: LocationId) -> Location | None:
        """Return the location, usable or not; C{None} if it does not exist."""

    def find_earlier_location(self, known: LocationId) -> Location:
        """Return the location of something that was started earlier, even if it was removed since.

        Sessions in a removed location keep running.
        """

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        """Return the location if something new may be started in it.

        @param os_user: the OS user of the account that will own the new object.
        @raise ServiceError: 422: nothing may be started in the location.
        """


class LocationLink(Protocol):
    """Connection from this machine to the locations of one kind, if such connections can fail."""

    def find_outage(self, known: LocationId) -> LocationOutage | None:
        """Return the outage of a location that is currently unreachable; C{None} if it is
        reachable.
        """

    def request_connection(self, known: LocationId) -> None:
        """Request a connection to the location, and wake its host if it sleeps."""


class LocationRegistry:
    """Registry that passes each call to the provider of the location's kind.

    A location whose kind has no provider is unreachable.

    @param kinds: the provider of each kind.
    """

    def __init__(self, kinds: Mapping[LocationKind, LocationProvider]) -> None:
        self._kinds = dict(kinds)
        self._tenants: list[UsageCheck] = []
        self._ways: dict[LocationKind, LocationLink] = {}

    def register_provider(
        self, kind: LocationKind, known_by: LocationProvider, *, way: LocationLink | None = None
    ) -> None:
        """Register the provider of a further kind.

        @param known_by: the provider.
        @param way: the connection to the locations of this kind.  C{None} if it cannot fail.
        """
        if kind in self._kinds:
            raise ValueError(f"{kind} already has a provider")
        self._kinds[kind] = known_by
        if way is not None:
            self._ways[kind] = way

    def register_usage_check(self, tenant: UsageCheck) -> None:
        """Register a function that reports what uses a location; L{find_usage} calls it.

        @param tenant: the function.
        """
        self._tenants.append(tenant)

    def find_usage(self, known: LocationId) -> str | None:
        """Return a text describing what uses the location and prevents its removal.

        @return: C{None} if nothing uses the location.
        """
        return next((found for each in self._tenants if (found := each(known))), None)

    def find_outage(self, known: LocationId) -> LocationOutage | None:
        """See L{LocationLink.find_outage}."""
        way = self._ways.get(known.kind)
        return None if way is None else way.find_outage(known)

    def request_connection(self, known: LocationId) -> None:
        """See L{LocationLink.request_connection}; does nothing if the kind has no connection."""
        way = self._ways.get(known.kind)
        if way is not None:
            way.request_connection(known)

    async def refresh_location(self, known: LocationId) -> None:
        """See L{LocationProvider.refresh_location}."""
        await self._get_provider(known).refresh_location(known)

    async def refresh_if_reachable(self, known: LocationId) -> None:
        """See L{LocationProvider.refresh_if_reachable}."""
        await self._get_provider(known).refresh_if_reachable(known)

    async def prepare_location(self, known: LocationId) -> None:
        """See L{LocationProvider.prepare_location}."""
        await self._get_provider(known).prepare_location(known)

    def has_provider(self, kind: LocationKind) -> bool:
        """Return whether that kind has a provider."""
        return kind in self._kinds

    def find_location(self, known: LocationId) -> Location | None:
        """See L{LocationProvider.find_location}."""
        return self._get_provider(known).find_location(known)

    def find_earlier_location(self, known: LocationId) -> Location:
        """See L{LocationProvider.find_earlier_location}."""
        return self._get_provider(known).find_earlier_location(known)

    def get_caller_location(self, caller: LocationUser) -> Location:
        """Return the default location of the caller's new sessions.

        The service also accesses files for the caller in this location.

        @raise ServiceError: 422 naming C{osUser}: the location cannot be used now.
        """
        return self.get_usable_location(caller.location_id, caller.os_user)

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        """See L{LocationProvider.get_usable_location}."""
        return self._get_provider(known).get_usable_location(known, os_user)

    def _get_provider(self, known: LocationId) -> LocationProvider:
        return self._kinds.get(known.kind, _UNKNOWN)


class _UnreachableOperations:
    """Operations of a location whose kind has no provider; all of them fail."""

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        raise OSError("the files of this location are unreachable")

    def find_program(self, names: Sequence[str], /) -> Path | None:
        return None

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        raise OSError("no program can be run in this location")

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return {}

    def get_search_path(self) -> str:
        return ""


class _UnknownKindProvider:
    """Provider for locations of an unknown kind, stored by a newer version of the service.

    Their records are kept unchanged.
    """

    async def refresh_location(self, known: LocationId) -> None:
        """Do nothing, since there is nothing to query."""

    async def refresh_if_reachable(self, known: LocationId) -> None:
        """Do nothing, since there is nothing to query."""

    async def prepare_location(self, known: LocationId) -> None:
        """Do nothing; L{get_usable_location} refuses any use."""

    def find_location(self, known: LocationId) -> Location | None:
        return self.find_earlier_location(known)

    def find_earlier_location(self, known: LocationId) -> Location:
        user = make_missing_user(known.name)
        return Location(
            id=known,
            title=known.part or known.name,
            home=user.home,
            user=user,
            is_isolated=True,
            has_local_files=False,
            unreadable_reason=_UNREADABLE_REASONS.get(known.kind, known.kind.value),
            operations=_UnreachableOperations(),
        )

    def get_usable_location(self, known: LocationId, os_user: str | None) -> NoReturn:
        raise make_failure_error(f"this service does not support locations of kind {known.kind}")


_UNKNOWN = _UnknownKindProvider()
