"""Which places there are: each kind is known by somebody of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Protocol, TypeVar

from tservice.core.errors import failed
from tservice.core.places.place import Outage, Place, PlaceId, PlaceKind
from tservice.core.users.osuser import nobody

_T = TypeVar("_T")

Tenant = Callable[[PlaceId], str | None]
"""What somebody has in a place, in words; C{None}: nothing."""

_CLOSED = {PlaceKind.REMOTE: "remote", PlaceKind.CONTAINER: "docker"}
"""What clients are told of workspaces that nothing looks into (protocol-git-status)."""


class Resident(Protocol):
    """Whoever has a place of their own: an account, as C{core.identity} tells of it."""

    @property
    def place(self) -> PlaceId:
        """Where its sessions live that say nothing else."""

    @property
    def os_user(self) -> str | None:
        """The OS user that it names."""


class PlaceProvider(Protocol):
    """Knows the places of one kind."""

    async def ask(self, known: PlaceId) -> None:
        """Have at hand what the others answer from.

        @raise ServiceError: 422: it does not answer; 429: too much is asked.
        """

    async def meet(self, known: PlaceId) -> None:
        """As L{ask}, for what runs there: nobody is waited for who is known not to answer.

        @raise ServiceError: 422: it does not answer; 429: too much is asked.
        """

    async def ready(self, known: PlaceId) -> None:
        """As L{ask}, with the place fit for something new: a container that stood still runs.

        @raise ServiceError: as L{ask}; 422: it cannot be made so.
        """

    def find(self, known: PlaceId) -> Place | None:
        """That place, fit for anything or not; C{None}: there is none."""

    def recall(self, known: PlaceId) -> Place:
        """The place that something was started in, whatever became of it: what runs, runs on."""

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        """The place, for something new.

        @param os_user: the OS user that the account names whose it will be.
        @raise ServiceError: 422: nothing may be started there.
        """


class PlaceWay(Protocol):
    """What lies between this machine and the places of one kind, where it can be cut."""

    def outage(self, known: PlaceId) -> Outage | None:
        """What is known of a place that cannot be reached now; C{None}: it can."""

    def wanted(self, known: PlaceId) -> None:
        """Somebody wants something there: have it reached, and woken where it sleeps."""


class Places:
    """Asks whoever knows the kind; a kind that nobody knows is out of reach.

    @param kinds: who knows which kind.
    """

    def __init__(self, kinds: Mapping[PlaceKind, PlaceProvider]) -> None:
        self._kinds = dict(kinds)
        self._tenants: list[Tenant] = []
        self._ways: dict[PlaceKind, PlaceWay] = {}

    def join(
        self, kind: PlaceKind, known_by: PlaceProvider, *, way: PlaceWay | None = None
    ) -> None:
        """Let C{known_by} answer for a kind that nobody has answered for.

        @param way: what is between, where something is.
        """
        if kind in self._kinds:
            raise ValueError(f"{kind} is known already")
        self._kinds[kind] = known_by
        if way is not None:
            self._ways[kind] = way

    def inhabit(self, tenant: Tenant) -> None:
        """Let C{tenant} say what of its own is in a place."""
        self._tenants.append(tenant)

    def tenant(self, known: PlaceId) -> str | None:
        """What keeps a place from being given up, in words; C{None}: nothing."""
        return next((found for each in self._tenants if (found := each(known))), None)

    def outage(self, known: PlaceId) -> Outage | None:
        """See L{PlaceWay.outage}."""
        way = self._ways.get(known.kind)
        return None if way is None else way.outage(known)

    def wanted(self, known: PlaceId) -> None:
        """See L{PlaceWay.wanted}; nothing where nothing is between."""
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
        """Whether anybody answers for places of that kind."""
        return kind in self._kinds

    def find(self, known: PlaceId) -> Place | None:
        """See L{PlaceProvider.find}."""
        return self._of(known).find(known)

    def recall(self, known: PlaceId) -> Place:
        """See L{PlaceProvider.recall}."""
        return self._of(known).recall(known)

    def of(self, caller: Resident) -> Place:
        """Where new things of an account's are, and what is looked at for it.

        @raise ServiceError: 422 naming C{osUser}: nothing can be done there now.
        """
        return self.judge(caller.place, caller.os_user)

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        """See L{PlaceProvider.judge}."""
        return self._of(known).judge(known, os_user)

    def _of(self, known: PlaceId) -> PlaceProvider:
        return self._kinds.get(known.kind, _UNKNOWN)


class _Unreachable:
    """Of a kind that nobody here knows."""

    def act(self, work: Callable[[], _T], /) -> _T:
        raise OSError("its files are out of reach")

    def find(self, names: Sequence[str], /) -> Path | None:
        return None

    def command(self, argv: Sequence[str], /) -> list[str]:
        raise OSError("nothing can be run there")

    def environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return {}

    def search_path(self) -> str:
        return ""


class _UnknownKind:
    """Of what was made by a service that knew more: it is left alone."""

    async def ask(self, known: PlaceId) -> None:
        """Nobody could tell."""

    async def meet(self, known: PlaceId) -> None:
        """Nor here."""

    async def ready(self, known: PlaceId) -> None:
        """Whoever judges it says that nothing may be started there."""

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
        raise failed(f"this service knows no place of kind {known.kind}")


_UNKNOWN = _UnknownKind()
