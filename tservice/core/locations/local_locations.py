"""Locations on this machine: the service's user, and other OS users (protocol-os-users)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from tservice.core.locations.location import HookAccess, Location, LocationId, make_os_user_location
from tservice.core.locations.workspace_bounds import make_user_changed_error
from tservice.core.users.os_users import OsUser, OsUserId, OsUsers, build_user_environment

_T = TypeVar("_T")

ProgramFinder = Callable[[Sequence[str]], Path | None]
"""Callable that returns the path of the first program in a list of names that can be run."""

GetSearchPath = Callable[[], str]
"""Callable that returns the C{PATH} for child processes, with the folders of version managers."""


@frozen(kw_only=True)
class OwnOperations:
    """Location operations with the rights of this process's user.

    @ivar environ: the environment that the service was started with.
    @ivar programs: finds programs that this process can run.
    @ivar path: returns the search path.  C{None} to use the C{PATH} of C{environ}.
    """

    environ: Mapping[str, str]
    programs: ProgramFinder
    path: GetSearchPath | None = None

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        return work()

    def find_program(self, names: Sequence[str], /) -> Path | None:
        return self.programs(names)

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        return [*argv]

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return self.environ

    def get_search_path(self) -> str:
        return self.environ.get("PATH", "") if self.path is None else self.path()


@frozen
class OwnLocationProvider:
    """Provider of the service's own location; accounts with an OS user are refused."""

    location: Location

    async def refresh_location(self, known: LocationId) -> None:
        """Do nothing, since the location is always available."""

    async def refresh_if_reachable(self, known: LocationId) -> None:
        """Do nothing, since the location is always available."""

    async def prepare_location(self, known: LocationId) -> None:
        """Do nothing, since the location is always ready."""

    def find_location(self, known: LocationId) -> Location:
        return self.location

    def find_earlier_location(self, known: LocationId) -> Location:
        return self.location

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        if os_user is not None:
            raise make_user_changed_error()
        return self.location


@frozen(kw_only=True)
class OsUserOperations:
    """Location operations with the rights of an OS user, without the service's environment.

    @ivar programs: finds programs that C{user} can run; called with that user's rights.
    @ivar path: returns the search path; called with that user's rights.
    @ivar prefix: returns the command prefix that runs a program as the user; raises C{OSError} if
        that is not possible.
    """

    user: OsUser
    users: OsUsers
    environ: Mapping[str, str]
    programs: ProgramFinder
    path: GetSearchPath
    prefix: Callable[[OsUser], Sequence[str]]

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        return self.users.act_as_user(self.user, work)

    def find_program(self, names: Sequence[str], /) -> Path | None:
        return self.users.act_as_user(self.user, lambda: self.programs(names))

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        return [*self.prefix(self.user), *argv]

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        return build_user_environment(self.user, self.environ, named)

    def get_search_path(self) -> str:
        return self.users.act_as_user(self.user, self.path)


@frozen(kw_only=True)
class OsUserLocationProvider:
    """Provider of OS users' locations.

    A session keeps its OS user, because its files belong to that user.

    @ivar environ: the environment that the service was started with.
    @ivar programs: returns, for a user, a program finder and a function that returns the C{PATH} of
        the user's child processes.
    @ivar prefix: see L{OsUserOperations}.
    @ivar hooks: returns the data with which a user's hooks reach the service.
    """

    users: OsUsers
    environ: Mapping[str, str]
    programs: Callable[[OsUser], tuple[ProgramFinder, GetSearchPath]]
    prefix: Callable[[OsUser], Sequence[str]]
    hooks: Callable[[OsUser], HookAccess | None]

    async def refresh_location(self, known: LocationId) -> None:
        await self.users.refresh_user(known.name)

    async def refresh_if_reachable(self, known: LocationId) -> None:
        await self.refresh_location(known)

    async def prepare_location(self, known: LocationId) -> None:
        await self.refresh_location(known)

    def find_location(self, known: LocationId) -> Location | None:
        user = self.users.find_user(known.name)
        return (
            None if user is None or known.uid not in (None, user.uid) else self._make_location(user)
        )

    def find_earlier_location(self, known: LocationId) -> Location:
        if known.uid is None:
            raise ValueError(f"the stored location of {known.name!r} has no user id")
        return self._make_location(
            self.users.get_known_user(OsUserId(name=known.name, uid=known.uid))
        )

    def get_usable_location(self, known: LocationId, os_user: str | None) -> Location:
        if os_user != known.name:
            raise make_user_changed_error()
        if known.uid is None:
            return self._make_location(self.users.get_usable_user(known.name))
        return self._make_location(
            self.users.get_usable_known_user(OsUserId(name=known.name, uid=known.uid))
        )

    def _make_location(self, user: OsUser) -> Location:
        find, path = self.programs(user)
        return Location(
            id=make_os_user_location(user.name, user.uid),
            title=user.name,
            home=user.home,
            user=user,
            is_isolated=True,
            hooks=self.hooks(user),
            operations=OsUserOperations(
                user=user,
                users=self.users,
                environ=self.environ,
                programs=find,
                path=path,
                prefix=self.prefix,
            ),
        )
