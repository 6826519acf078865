"""Location of a session as one value (architecture-place)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeVar

from attrs import field, frozen

from tservice.core.users.os_users import OsUser

_T = TypeVar("_T")


class LocationKind(StrEnum):
    """Kind of a location, which selects its provider.  Features never check it: they ask the
    location.
    """

    LOCAL = "local"
    """This machine, as the service's user."""
    OS_USER = "os-user"
    """This machine, as another user."""
    CONTAINER = "container"
    REMOTE = "remote"


@frozen(kw_only=True)
class LocationId:
    """Stored reference to a location, sufficient to find it again.

    @ivar name: the name within its kind: an OS user's name or the id of a host; empty if there is
        only one.
    @ivar part: the part of that host: the name of a container, or of a foreign tmux session that is
        attached to.
    @ivar uid: the number of an OS user, to detect a name that was given to another user; C{None} if
        only a name is known, or there is none.
    """

    kind: LocationKind = LocationKind.LOCAL
    name: str = ""
    part: str = ""
    uid: int | None = None

    @property
    def tmux_session(self) -> str | None:
        """Foreign tmux session that the location refers to, if any."""
        return self.part or None if self.kind is LocationKind.REMOTE else None

    @property
    def is_on_this_machine(self) -> bool:
        """True if its process ids are those of this machine."""
        return self.kind in (LocationKind.LOCAL, LocationKind.OS_USER)


OWN_LOCATION = LocationId()
"""Location of the service: its machine and its user."""


def location_of_os_user(name: str | None, uid: int | None = None) -> LocationId:
    """Return the location of an OS user; L{OWN_LOCATION} without one."""
    return (
        OWN_LOCATION if name is None else LocationId(kind=LocationKind.OS_USER, name=name, uid=uid)
    )


@frozen(kw_only=True, eq=False)
class HookAccess:
    """Data with which hooks in a location reach this service.

    @ivar secret_file: the path of the secret, as seen in the location.
    @ivar put: writes the secret to that file; raises C{OSError} or L{FileError}.
    @ivar url: the service's address for these hooks; C{None}: the default address.
    """

    secret_file: Path
    put: Callable[[], object]
    url: Callable[[], str] | None = None


class LocationOperations(Protocol):
    """Operations in a location.  C{run_file_work} and C{find_program} may block on a disk."""

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        """Run work on files with the rights that a session has in the location.

        @raise OSError: it cannot be done with those rights.
        """

    def find_program(self, names: Sequence[str], /) -> Path | None:
        """Return the first of these programs (names, or absolute paths) that can be run there."""

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        """Return the command that runs C{argv} in the location as a child of this process; its
        first word is absolute.

        @param argv: the first word is an absolute path in the location.
        @raise OSError: nothing can be run there.
        """

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        """Return the base environment of a child in the location.

        @param named: additional variables that the operator passes through (C{SERVICE_PANE_ENV}).
        """

    def get_search_path(self) -> str:
        """Return the C{PATH} of a session there: the folders that L{find_program} searches.

        Like L{find_program} it may block on a disk.
        """


@frozen(kw_only=True)
class LocationOutage:
    """Unreachable state of a location; its processes may still run.

    @ivar title: the location's name for users.
    @ivar next_at: time of the next automatic attempt, Unix milliseconds; C{None}: an attempt is
        running, or none is planned.
    """

    title: str
    next_at: int | None = None


def _as_it_is(folder: str) -> str:
    return folder


@frozen(kw_only=True)
class Location:
    """Location of sessions: an OS user, machine or container, with its files and programs.

    @ivar title: its name for users.
    @ivar home: the home folder there.
    @ivar user: the user that runs everything there.
    @ivar apart: true if the system isolates it from the service's user: its sessions may use any
        folder that the system allows, its cases are in its home, its agents sign in separately.
    @ivar near: true if its files are on this machine under the same paths, and C{operations.act}
        opens
        them.
    @ivar closed: the reason why its folders are only read on request (C{reason} of
        protocol-git-status); C{None} if they may be read at any time.
    @ivar hooks: how its hooks reach the service; C{None}: they do not.
    @ivar commands: commands that replace the usual program of a mode's CLI.
    @ivar inside: maps a folder of this machine to its path in the location.
    """

    id: LocationId
    title: str
    home: Path
    user: OsUser
    is_isolated: bool = False
    has_local_files: bool = True
    unreadable_reason: str | None = None
    hooks: HookAccess | None = field(default=None, eq=False, repr=False)
    commands: Mapping[str, str] = field(factory=dict, eq=False)
    path_inside: Callable[[str], str] = field(default=_as_it_is, eq=False, repr=False)
    operations: LocationOperations = field(eq=False, repr=False)

    def run_file_work(self, work: Callable[[], _T]) -> _T:
        """See L{LocationOperations.run_file_work}."""
        return self.operations.run_file_work(work)

    def find_program(self, names: Sequence[str]) -> Path | None:
        """See L{LocationOperations.find_program}."""
        return self.operations.find_program(names)

    def build_command(self, argv: Sequence[str]) -> list[str]:
        """See L{LocationOperations.build_command}."""
        return self.operations.build_command(argv)

    def build_environment(self, named: Sequence[str] = ()) -> Mapping[str, str]:
        """See L{LocationOperations.build_environment}."""
        return self.operations.build_environment(named)

    def get_search_path(self) -> str:
        """See L{LocationOperations.get_search_path}."""
        return self.operations.get_search_path()
