"""Locations on this machine: the service's user, and other OS users (protocol-os-users)."""

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
"""Callable that returns the first of some programs that can be run."""

PathOf = Callable[[], str]
"""Callable that returns the C{PATH} of a child, with the program folders."""


@frozen(kw_only=True)
class OwnEffects:
    """Operations as this process's user.

    @ivar environ: the environment that the service was started with.
    @ivar programs: finds programs that this process can run.
    @ivar path: returns the search path; C{None}: the one of C{environ}.
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
    """Provider of the service's location; accounts that name an OS user are refused."""

    place: Place

    async def ask(self, known: PlaceId) -> None:
        """Do nothing, since the location is always available."""

    async def meet(self, known: PlaceId) -> None:
        """Do nothing, since the location is always available."""

    async def ready(self, known: PlaceId) -> None:
        """Do nothing, since the location is always ready."""

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
    """Operations as an OS user, with that user's rights and without the service's environment.

    @ivar programs: finds programs that C{user} can run, when called with that user's rights.
    @ivar path: returns the search path, when called with that user's rights.
    @ivar prefix: returns the words that precede a command to run it as the user; raises C{OSError}
        if it cannot be run.
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
    """Provider of OS users' locations; a session keeps its OS user for good, since its files are
    that user's.

    @ivar environ: the environment that the service was started with.
    @ivar programs: returns a finder for a user, and a function that returns the C{PATH} of the
        user's children.
    @ivar prefix: see L{OsUserEffects}.
    @ivar hooks: returns how a user's hooks reach the service.
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
            raise ValueError(f"the stored location of {known.name!r} has no user id")
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
