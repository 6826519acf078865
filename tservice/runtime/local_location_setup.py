"""Assembly of the locations on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from twisted.internet.interfaces import IReactorTime

from tservice.access import hook_secret
from tservice.clis.binary_lookup import BinaryLookup
from tservice.core.locations.local_locations import (
    GetSearchPath,
    OsUserLocationProvider,
    OwnLocationProvider,
    OwnOperations,
    ProgramFinder,
)
from tservice.core.locations.location import OWN_LOCATION, HookAccess, Location, LocationKind
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.users.os_users import OsUser, OsUsers, build_user_environment, can_run_program


class OsUserSources(Protocol):
    """Objects that the locations of OS users depend on."""

    @property
    def users(self) -> OsUsers:
        """Object that looks up and checks OS users."""

    @property
    def hooks(self) -> Callable[[OsUser], HookAccess]:
        """Function that returns the data with which a user's hooks reach the service."""

    @property
    def prefix(self) -> Callable[[OsUser], Sequence[str]]:
        """Function that returns the command prefix that runs a program as a user."""


def build_local_locations(
    *,
    clock: IReactorTime,
    environ: Mapping[str, str],
    own: Location,
    os_users: OsUserSources,
) -> LocationRegistry:
    """Return the registry with the service's own location, and the locations of OS users.

    @param own: the service's own location.
    """

    def make_user_finder(user: OsUser) -> tuple[ProgramFinder, GetSearchPath]:
        # Not cached: a lookup happens once per start, and costs less than starting the processes.
        def make_lookup() -> BinaryLookup:
            return BinaryLookup(
                clock, build_user_environment(user, environ), user.home, can_run_program
            )

        return lambda names: make_lookup().find_program(
            names
        ), lambda: make_lookup().build_search_path()

    others = OsUserLocationProvider(
        users=os_users.users,
        environ=environ,
        programs=make_user_finder,
        prefix=os_users.prefix,
        hooks=os_users.hooks,
    )
    return LocationRegistry(
        {LocationKind.LOCAL: OwnLocationProvider(own), LocationKind.OS_USER: others}
    )


def build_own_location(
    data_dir: Path,
    environ: Mapping[str, str],
    home: Path,
    programs: ProgramFinder,
    uid: int | None = None,
    path: GetSearchPath | None = None,
) -> Location:
    """Return the service's own location.

    @param programs: finds programs that the service's user can run.
    @param uid: id of the service's user.  C{None} for this process's user.
    @param path: returns the C{PATH} for programs of the location.  C{None} to use the C{PATH} of
        C{environ}.
    """
    user = OsUser(
        name=environ.get("USER", ""),
        uid=os.geteuid() if uid is None else uid,
        gid=os.getegid(),
        groups=tuple(sorted({os.getegid(), *os.getgroups()})),
        home=home,
        shell=environ.get("SHELL", ""),
    )
    return Location(
        id=OWN_LOCATION,
        title="the service's own user",
        home=home,
        user=user,
        hooks=HookAccess(secret_file=data_dir / hook_secret.FILE_NAME, put=_do_nothing),
        operations=OwnOperations(environ=environ, programs=programs, path=path),
    )


def _do_nothing() -> None:
    """Do nothing, because the service wrote the hook secret at its start."""
