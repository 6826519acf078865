"""The places on this machine: the service's own, and those of OS users (protocol-os-users)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from tservice.core.places.bounds import other_os_user
from tservice.core.places.place import HookAccess, Place, PlaceId, place_of_os_user
from tservice.core.users.osuser import OsUser, OsUserId, OsUsers, environment_of

_T = TypeVar("_T")

Finder = Callable[[Sequence[str]], Path | None]
"""The first of some programs that can be run."""

PathOf = Callable[[], str]
"""The C{PATH} of a child, with the folders where programs are found."""


@frozen(kw_only=True)
class OwnEffects:
    """As this process itself.

    @ivar environ: what the service was started with.
    @ivar programs: finds what this process can run.
    @ivar path: C{None}: the one of C{environ}.
    """

    environ: Mapping[str, str]
    programs: Finder
    path: PathOf | None = None

    def act(self, work: Callable[[], _T], /) -> _T:
        return work()

    def find(self, names: Sequence[str], /) -> Path | None:
        return self.programs(names)

    def command(self, argv: Sequence[str], /) -> list[str]:
        return [*argv]

    def environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return self.environ

    def search_path(self) -> str:
        return self.environ.get("PATH", "") if self.path is None else self.path()


@frozen
class OwnPlace:
    """The only one of its kind; an account that names an OS user starts nothing there."""

    place: Place

    async def ask(self, known: PlaceId) -> None:
        """It is always at hand."""

    async def meet(self, known: PlaceId) -> None:
        """It is always at hand."""

    async def ready(self, known: PlaceId) -> None:
        """It always is."""

    def find(self, known: PlaceId) -> Place:
        return self.place

    def recall(self, known: PlaceId) -> Place:
        return self.place

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        if os_user is not None:
            raise other_os_user()
        return self.place


@frozen(kw_only=True)
class OsUserEffects:
    """As an OS user, with that user's rights and nothing of the service's environment.

    @ivar programs: finds what C{user} can run when it is called with that user's rights.
    @ivar path: to be called with that user's rights, too.
    @ivar prefix: the words before a command of a user's; raises C{OSError} where there are none.
    """

    user: OsUser
    users: OsUsers
    environ: Mapping[str, str]
    programs: Finder
    path: PathOf
    prefix: Callable[[OsUser], Sequence[str]]

    def act(self, work: Callable[[], _T], /) -> _T:
        return self.users.act(self.user, work)

    def find(self, names: Sequence[str], /) -> Path | None:
        return self.users.act(self.user, lambda: self.programs(names))

    def command(self, argv: Sequence[str], /) -> list[str]:
        return [*self.prefix(self.user), *argv]

    def environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return environment_of(self.user, self.environ, named)

    def search_path(self) -> str:
        return self.users.act(self.user, self.path)


@frozen(kw_only=True)
class OsUserPlaces:
    """A session stays its OS user's for good: what it left behind is that user's too.

    @ivar environ: what the service was started with.
    @ivar programs: a finder for a user, and what gives the C{PATH} of that user's children.
    @ivar prefix: see L{OsUserEffects}.
    @ivar hooks: how a user's hooks reach the service.
    """

    users: OsUsers
    environ: Mapping[str, str]
    programs: Callable[[OsUser], tuple[Finder, PathOf]]
    prefix: Callable[[OsUser], Sequence[str]]
    hooks: Callable[[OsUser], HookAccess | None]

    async def ask(self, known: PlaceId) -> None:
        await self.users.ask(known.name)

    async def meet(self, known: PlaceId) -> None:
        await self.ask(known)

    async def ready(self, known: PlaceId) -> None:
        await self.ask(known)

    def find(self, known: PlaceId) -> Place | None:
        user = self.users.find(known.name)
        return None if user is None or known.uid not in (None, user.uid) else self._of(user)

    def recall(self, known: PlaceId) -> Place:
        if known.uid is None:
            raise ValueError(f"nothing was ever started as {known.name!r} without a user id")
        return self._of(self.users.recall(OsUserId(name=known.name, uid=known.uid)))

    def judge(self, known: PlaceId, os_user: str | None) -> Place:
        if os_user != known.name:
            raise other_os_user()
        if known.uid is None:
            return self._of(self.users.judge(known.name))
        return self._of(self.users.judge_again(OsUserId(name=known.name, uid=known.uid)))

    def _of(self, user: OsUser) -> Place:
        find, path = self.programs(user)
        return Place(
            id=place_of_os_user(user.name, user.uid),
            title=user.name,
            home=user.home,
            user=user,
            apart=True,
            hooks=self.hooks(user),
            effects=OsUserEffects(
                user=user,
                users=self.users,
                environ=self.environ,
                programs=find,
                path=path,
                prefix=self.prefix,
            ),
        )
