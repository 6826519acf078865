"""Assembly of the locations on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from twisted.internet.interfaces import IReactorTime

from tservice.access import hooksecret
from tservice.clis.lookup import BinaryLookup
from tservice.core.places.near import Finder, OsUserPlaces, OwnEffects, OwnPlace, PathOf
from tservice.core.places.place import OWN, HookAccess, Place, PlaceKind
from tservice.core.places.places import Places
from tservice.core.users.osuser import OsUser, OsUsers, can_run, environment_of


class OsUserSources(Protocol):
    """Parts that the locations of OS users depend on."""

    @property
    def users(self) -> OsUsers:
        """Checks and looks up OS users."""

    @property
    def hooks(self) -> Callable[[OsUser], HookAccess]:
        """Function that returns how a user's hooks reach the service."""

    @property
    def prefix(self) -> Callable[[OsUser], Sequence[str]]:
        """Function that returns the words that precede a command to run it as a user."""


def near_places(
    *,
    clock: IReactorTime,
    environ: Mapping[str, str],
    own: Place,
    os_users: OsUserSources,
) -> Places:
    """Return the registry with the service's location, and one for each OS user that an account
    names.
    """

    def programs(user: OsUser) -> tuple[Finder, PathOf]:
        # Not cached: a lookup happens once per start, and costs less than starting the processes.
        def lookup() -> BinaryLookup:
            return BinaryLookup(clock, environment_of(user, environ), user.home, can_run)

        return lambda names: lookup().find(names), lambda: lookup().path()

    others = OsUserPlaces(
        users=os_users.users,
        environ=environ,
        programs=programs,
        prefix=os_users.prefix,
        hooks=os_users.hooks,
    )
    return Places({PlaceKind.LOCAL: OwnPlace(own), PlaceKind.OS_USER: others})


def own_place(
    data_dir: Path,
    environ: Mapping[str, str],
    home: Path,
    programs: Finder,
    uid: int | None = None,
    path: PathOf | None = None,
) -> Place:
    """Return the service's location.

    @param path: returns the C{PATH} for its programs; C{None}: the one of C{environ}.
    @param uid: of its user; C{None}: this process's.
    """
    user = OsUser(
        name=environ.get("USER", ""),
        uid=os.geteuid() if uid is None else uid,
        gid=os.getegid(),
        groups=tuple(sorted({os.getegid(), *os.getgroups()})),
        home=home,
        shell=environ.get("SHELL", ""),
    )
    return Place(
        id=OWN,
        title="the service's own user",
        home=home,
        user=user,
        hooks=HookAccess(secret_file=data_dir / hooksecret.FILE_NAME, put=_is_there),
        effects=OwnEffects(environ=environ, programs=programs, path=path),
    )


def _is_there() -> None:
    """Do nothing, since the service wrote the secret at its start."""
