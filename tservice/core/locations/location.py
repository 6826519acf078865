"""Location of a session as one value object (architecture-place)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeVar

from attrs import field, frozen

from tservice.core.users.os_users import OsUser

_T = TypeVar("_T")


class LocationKind(StrEnum):
    """Kind of a location, which selects its provider.

    Features never check the kind.  They use the properties and operations of L{Location}.
    """

    LOCAL = "local"
    """This machine, as the service's user."""
    OS_USER = "os-user"
    """This machine, as another user."""
    CONTAINER = "container"
    REMOTE = "remote"


@frozen(kw_only=True)
class LocationId:
    """Stored reference to a location, from which a provider can find the location again.

    @ivar name: the name within its kind: an OS user's name or the id of a host.  Empty if the kind
        has a single location.
    @ivar part: the container on that host, or the foreign tmux session that the service attaches
        to.
    @ivar uid: the id of an OS user, to detect a name that was given to another user.  C{None} if
        only a name is known, or the location is not an OS user.
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
        """True if process ids in the location are process ids of this machine."""
        return self.kind in (LocationKind.LOCAL, LocationKind.OS_USER)


OWN_LOCATION = LocationId()
"""Location of the service itself: this machine and the service's user."""


def make_os_user_location(name: str | None, uid: int | None = None) -> LocationId:
    """Return the location of an OS user, or L{OWN_LOCATION} if C{name} is C{None}."""
    return (
        OWN_LOCATION if name is None else LocationId(kind=LocationKind.OS_USER, name=name, uid=uid)
    )


@frozen(kw_only=True, eq=False)
class HookAccess:
    """Data with which hooks in a location reach this service.

    @ivar secret_file: the path of the secret's file inside the location.
    @ivar put: writes the secret to that file; raises C{OSError} or L{FileError}.
    @ivar url: the service's address for these hooks.  C{None} for the default address.
    """

    secret_file: Path
    put: Callable[[], object]
    url: Callable[[], str] | None = None


class LocationOperations(Protocol):
    """Operations in a location.

    C{run_file_work} and C{find_program} may block on a disk, so call them in a worker thread.
    """

    def run_file_work(self, work: Callable[[], _T], /) -> _T:
        """Call C{work}, which accesses files, with the rights that sessions have in the location.

        @raise OSError: C{work} cannot be run with those rights.
        """

    def find_program(self, names: Sequence[str], /) -> Path | None:
        """Return the path of the first of these programs that can be run in the location.

        @param names: names of programs, or absolute paths.
        @return: C{None} if none of them can be run.
        """

    def build_command(self, argv: Sequence[str], /) -> list[str]:
        """Return the command that runs C{argv} in the location as a child of this process.

        @param argv: the command; its program is an absolute path in the location.
        @return: the command; its program is an absolute path on this machine.
        @raise OSError: no program can be run in the location.
        """

    def build_environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        """Return the base environment of a child in the location.

        @param named: additional variables that the operator passes through (C{SERVICE_PANE_ENV}).
        """

    def get_search_path(self) -> str:
        """Return the C{PATH} of a session in the location, which L{find_program} searches.

        May block on a disk, as L{find_program} does.
        """


@frozen(kw_only=True)
class LocationOutage:
    """State of a location that cannot be reached; its processes may still run.

    @ivar title: the location's name for users.
    @ivar next_at: time of the next automatic connection attempt in Unix milliseconds.  C{None} if
        an attempt is running, or none is planned.
    """

    title: str
    next_at: int | None = None


@frozen(kw_only=True)
class LocationShell:
    """Child process of this machine that reads one line of shell text, and runs it in a location.

    What follows the line on its standard input is the input of the program.

    @ivar argv: the command; its program is an absolute path on this machine.
    @ivar env: the environment of that program, which the location does not see.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(repr=False)


def _keep_path(folder: str) -> str:
    return folder


@frozen(kw_only=True)
class Location:
    """Location of sessions: an OS user, machine or container, with its files and programs.

    @ivar title: the location's name for users.
    @ivar home: the home folder in the location.
    @ivar user: the OS user that runs all processes of the location.
    @ivar is_isolated: true if the system isolates the location from the service's user.  Its
        sessions may use any folder that the system allows.  Its cases are in its home folder, and
        its agents sign in separately.
    @ivar has_local_files: true if the location's files are on this machine under the same paths,
        and C{operations.run_file_work} can open them.
    @ivar unreadable_reason: reason why folders are read only on explicit request (C{reason} of
        protocol-git-status).  C{None} if the service may read them at any time.
    @ivar hooks: data with which hooks in the location reach the service.  C{None} if they cannot.
    @ivar commands: commands that replace the default program of a CLI, by mode.
    @ivar path_inside: maps the path of a folder on this machine to its path in the location.
    @ivar find_shell: returns the way to run programs in a location for which
        L{LocationOperations.build_command} cannot; raises C{OSError} if there is none now.  C{None}
        for other locations.
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
    path_inside: Callable[[str], str] = field(default=_keep_path, eq=False, repr=False)
    find_shell: Callable[[], LocationShell] | None = field(default=None, eq=False, repr=False)
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
