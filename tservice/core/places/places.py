"""Registry of locations, with one provider for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

from tservice.core.errors import failed
from tservice.core.places.place import Outage, Place, PlaceId, PlaceKind
from tservice.core.users.osuser import nobody

_T = TypeVar("_T")

Tenant = Callable[[PlaceId], str | None]
"""Callable that describes what uses a location, in words; C{None}: nothing."""

_CLOSED = {PlaceKind.REMOTE: "remote", PlaceKind.CONTAINER: "docker"}
"""Reasons that clients see for workspaces that are not read unasked (protocol-git-status)."""


class Resident(Protocol):
    """User of locations: an account, as described by C{core.identity}."""

    @property
    def place(self) -> PlaceId:
        """Default location of its sessions."""

    @property
    def os_user(self) -> str | None:
        """OS user that its record names."""


class PlaceProvider(Protocol):
    """Provider of the locations of one kind."""

    async def ask(self, known: PlaceId) -> None:
        """Load the data that the other methods need.

        @raise ServiceError: 422: the location does not answer; 429: too many requests.
        """

    async def meet(self, known: PlaceId) -> None:
        """Load the data as L{ask} does, for running sessions: do not wait for a location that is
        known to be unreachable.

        @raise ServiceError: 422: the location does not answer; 429: too many requests.
        """

    async def ready(self, known: PlaceId) -> None:
        """Load the data as L{ask} does, and prepare the location for something new: start a stopped
        container.

        @raise ServiceError: as L{ask}; 422: it cannot be prepared.
        """

    def find(self, known: PlaceId) -> Place | None:
        """Return the location, usable or not; C{None} if there is none."""

    def recall(self, known: PlaceId) -> Place:
        """Return the location that something was started in, even if it was removed since: sessions
        there keep running.
        """

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        """Return the location if something new may be started there.

        @param os_user: the OS user of the account that will own it.
        @raise ServiceError: 422: nothing may be started there.
        """


class PlaceWay(Protocol):
    """Connection between this machine and the locations of one kind, for kinds whose connection can
    fail.
    """

    def outage(self, known: PlaceId) -> Outage | None:
        """Return the outage of a location that is unreachable now; C{None} if it is reachable."""

    def wanted(self, known: PlaceId) -> None:
        """Request a connection to the location, and wake its host if it sleeps."""


class Places:
    """Registry that passes each call to the provider of the kind; a kind without provider is
    unreachable.

    @param kinds: the provider of each kind.
    """

    def __init__(self, kinds: Mapping[PlaceKind, PlaceProvider]) -> None:
        self._kinds = dict(kinds)
        self._tenants: list[Tenant] = []
        self._ways: dict[PlaceKind, PlaceWay] = {}

    def join(
        self, kind: PlaceKind, known_by: PlaceProvider, *, way: PlaceWay | None = None
    ) -> None:
        """Register the provider of a further kind.

        @param way: the connection to its locations, if it can fail.
        """
        if kind in self._kinds:
            raise ValueError(f"{kind} already has a provider")
        self._kinds[kind] = known_by
        if way is not None:
            self._ways[kind] = way

    def inhabit(self, tenant: Tenant) -> None:
        """Register a callable that reports what uses a location."""
        self._tenants.append(tenant)

    def tenant(self, known: PlaceId) -> str | None:
        """Return what uses the location and prevents its removal, in words; C{None}: nothing."""
        return next((found for each in self._tenants if (found := each(known))), None)

    def outage(self, known: PlaceId) -> Outage | None:
        """See L{PlaceWay.outage}."""
        way = self._ways.get(known.kind)
        return None if way is None else way.outage(known)

    def wanted(self, known: PlaceId) -> None:
        """See L{PlaceWay.wanted}; does nothing if the kind has no connection."""
        way = self._ways.get(known.kind)
        if way is not None:
            way.wanted(known)

    async def ask(self, known: PlaceId) -> None:
        """See L{PlaceProvider.ask}."""
        await self._of(known).ask(known)

    async def meet(self, known: PlaceId) -> None:
        """See L{PlaceProvider.meet}."""
        await self._of(known).meet(known)

    async def ready(self, known: PlaceId) -> None:
        """See L{PlaceProvider.ready}."""
        await self._of(known).ready(known)

    def knows(self, kind: PlaceKind) -> bool:
        """Return whether that kind has a provider."""
        return kind in self._kinds

    def find(self, known: PlaceId) -> Place | None:
        """See L{PlaceProvider.find}."""
        return self._of(known).find(known)

    def recall(self, known: PlaceId) -> Place:
        """See L{PlaceProvider.recall}."""
        return self._of(known).recall(known)

    def of(self, caller: Resident) -> Place:
        """Return the default location of the caller's new sessions, also used to access files for
        it.

        @raise ServiceError: 422 naming C{osUser}: the location cannot be used now.
        """
        return self.judge(caller.place, caller.os_user)

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        """See L{PlaceProvider.judge}."""
        return self._of(known).judge(known, os_user)

    def _of(self, known: PlaceId) -> PlaceProvider:
        return self._kinds.get(known.kind, _UNKNOWN)


class _Unreachable:
    """Operations of a location whose kind has no provider: each one fails."""

    def act(self, work: Callable[[], _T], /) -> _T:
        raise OSError("the files of this location are unreachable")

    def find(self, names: Sequence[str], /) -> Path | None:
        return None

    def command(self, argv: Sequence[str], /) -> list[str]:
        raise OSError("no program can be run in this location")

    def environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return {}

    def search_path(self) -> str:
        return ""


class _UnknownKind:
    """Provider of records from a newer version of the service: these are left alone."""

    async def ask(self, known: PlaceId) -> None:
        """Do nothing, since there is nothing to query."""

    async def meet(self, known: PlaceId) -> None:
        """Do nothing, since there is nothing to query."""

    async def ready(self, known: PlaceId) -> None:
        """Do nothing; L{judge} refuses any use."""

    def find(self, known: PlaceId) -> Place | None:
        return self.recall(known)

    def recall(self, known: PlaceId) -> Place:
        user = nobody(known.name)
        return Place(
            id=known,
            title=known.part or known.name,
            home=user.home,
            user=user,
            apart=True,
            near=False,
            closed=_CLOSED.get(known.kind, known.kind.value),
            effects=_Unreachable(),
        )

    def judge(self, known: PlaceId, os_user: str | None) -> NoReturn:
        raise failed(f"this service does not support locations of kind {known.kind}")


_UNKNOWN = _UnknownKind()
