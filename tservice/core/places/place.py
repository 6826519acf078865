"""Where a session lives, as one value (architecture-place)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeVar

from attrs import field, frozen

from tservice.core.users.osuser import OsUser

_T = TypeVar("_T")


class PlaceKind(StrEnum):
    """Who knows a place.  Features never ask for it: they ask the place."""

    LOCAL = "local"
    """This machine, as the service's own user."""
    OS_USER = "os-user"
    """This machine, as another user."""
    CONTAINER = "container"
    REMOTE = "remote"


@frozen(kw_only=True)
class PlaceId:
    """What is remembered of a place: enough to find it again.

    @ivar name: which of its kind: an OS user's name, the id of a host; empty where there is one.
    @ivar part: which part of that host: the name of a container, or of a tmux session of somebody
        else's that is attached to.
    @ivar uid: the number of an OS user, so that a name that was given to somebody else is noticed;
        C{None} where only a name is known, or there is none.
    """

    kind: PlaceKind = PlaceKind.LOCAL
    name: str = ""
    part: str = ""
    uid: int | None = None

    @property
    def tmux_session(self) -> str | None:
        """The tmux session, not of this service's making, that it is."""
        return self.part or None if self.kind is PlaceKind.REMOTE else None

    @property
    def on_this_machine(self) -> bool:
        """Whether the numbers of its processes are this machine's."""
        return self.kind in (PlaceKind.LOCAL, PlaceKind.OS_USER)


OWN = PlaceId()
"""The service's own: its machine and its user."""


def place_of_os_user(name: str | None, uid: int | None = None) -> PlaceId:
    """The place of an OS user; L{OWN} without one."""
    return OWN if name is None else PlaceId(kind=PlaceKind.OS_USER, name=name, uid=uid)


@frozen(kw_only=True, eq=False)
class HookAccess:
    """How hooks in a place reach this service.

    @ivar secret_file: where they find their secret, by the name that it has there.
    @ivar put: has the secret in that file; raises C{OSError} or L{FileError}.
    @ivar url: where they find the service; C{None}: where everybody does.
    """

    secret_file: Path
    put: Callable[[], object]
    url: Callable[[], str] | None = None


class PlaceEffects(Protocol):
    """What is done in a place.  C{act} and C{find} may wait for a disk."""

    def act(self, work: Callable[[], _T], /) -> _T:
        """Do work on files with the rights that a session has there.

        @raise OSError: it cannot be done with those rights.
        """

    def find(self, names: Sequence[str], /) -> Path | None:
        """The first of these programs (names, or absolute paths) that can be run there."""

    def command(self, argv: Sequence[str], /) -> list[str]:
        """What runs C{argv} there, as a child of this process; its first word is absolute.

        @param argv: the first word is an absolute path there.
        @raise OSError: nothing can be run there.
        """

    def environment(self, named: Sequence[str] = (), /) -> Mapping[str, str]:
        """What a child there starts from.

        @param named: names that the operator lets through all the same (C{SERVICE_PANE_ENV}).
        """

    def search_path(self) -> str:
        """Return the C{PATH} of a session there: the folders that L{find} looks through.

        Like L{find} it may wait for a disk.
        """


@frozen(kw_only=True)
class Outage:
    """A place that cannot be reached now, whatever runs there.

    @ivar title: how people are told of the place.
    @ivar next_at: when it is tried next by itself, Unix milliseconds; C{None}: it is being tried,
        or is not.
    """

    title: str
    next_at: int | None = None


def _as_it_is(folder: str) -> str:
    return folder


@frozen(kw_only=True)
class Place:
    """What features ask, in place of who somebody is or where something runs.

    @ivar title: how people are told of it.
    @ivar home: the home folder there.
    @ivar user: as whom everything runs there.
    @ivar apart: the system keeps it apart from the service's own user: its sessions work wherever
        it lets them, its cases are in its home, its agents sign in by themselves.
    @ivar near: its files are this machine's, by the same paths, and C{effects.act} opens them.
    @ivar closed: why nothing looks into its folders unasked (C{reason} of protocol-git-status);
        C{None} where that may be done.
    @ivar hooks: how its hooks reach the service; C{None}: they do not.
    @ivar commands: what to run there for a mode, in place of its CLI's usual program.
    @ivar inside: by which path what runs there knows a folder of this machine's.
    """

    id: PlaceId
    title: str
    home: Path
    user: OsUser
    apart: bool = False
    near: bool = True
    closed: str | None = None
    hooks: HookAccess | None = field(default=None, eq=False, repr=False)
    commands: Mapping[str, str] = field(factory=dict, eq=False)
    inside: Callable[[str], str] = field(default=_as_it_is, eq=False, repr=False)
    effects: PlaceEffects = field(eq=False, repr=False)

    def act(self, work: Callable[[], _T]) -> _T:
        """See L{PlaceEffects.act}."""
        return self.effects.act(work)

    def find(self, names: Sequence[str]) -> Path | None:
        """See L{PlaceEffects.find}."""
        return self.effects.find(names)

    def command(self, argv: Sequence[str]) -> list[str]:
        """See L{PlaceEffects.command}."""
        return self.effects.command(argv)

    def environment(self, named: Sequence[str] = ()) -> Mapping[str, str]:
        """See L{PlaceEffects.environment}."""
        return self.effects.environment(named)

    def search_path(self) -> str:
        """See L{PlaceEffects.search_path}."""
        return self.effects.search_path()
