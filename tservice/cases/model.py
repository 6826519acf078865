"""Cases as records, and the rules on their names (protocol-cases).  Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

from attrs import frozen

from tservice.core.errors import ErrorCode, ServiceError, invalid
from tservice.core.places.place import PlaceId, PlaceKind
from tservice.core.text import CASE_NAME, cut_between, is_mark

NAME_LENGTH = 128
DESCRIPTION_LENGTH = 1000
MOST_CASES = 1000
"""Cases of one owner; one more is refused."""
MARKER = ".service-agent-case.json"
"""Tells that an agent had the folder made (protocol-quickstart)."""

_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{NAME_LENGTH}}}")
_KNOWN = re.compile(rf"(?=.{{1,{NAME_LENGTH}}}\Z){CASE_NAME}", re.DOTALL)
_NAME_BYTES = 240
"""Bytes of a worktree's name: file systems take 255 for a folder's."""
_PREFIX = 48
"""Characters kept of a case's name where the branch needs the room."""
_CODE = 8
"""Digits of the hash that makes a name unlike any other."""

_T = TypeVar("_T")


class CaseLocation(StrEnum):
    """Where a case is."""

    LOCAL = "local"
    """A folder of the cases folder."""
    LINKED = "linked"
    """Any other folder of this machine."""
    REMOTE = "remote"
    """A folder of a remote host."""
    CONTAINER = "container"
    """A folder that a container works in."""


@frozen(kw_only=True)
class Worktree:
    """What a case was made from that is a worktree.

    @ivar repository: the folder of the case whose repository it is.
    """

    repository: str
    branch: str


@frozen(kw_only=True)
class CaseRow:
    """What is kept of a case.

    @ivar owner: empty where there are no accounts.
    @ivar path: C{None} for a local one.
    @ivar created_at: Unix milliseconds.
    @ivar far: where its folder is, if not on this machine.
    """

    owner: str
    name: str
    path: str | None = None
    description: str | None = None
    created_at: int
    worktree: Worktree | None = None
    far: PlaceId | None = None


@frozen(kw_only=True)
class Marker:
    """Which agent had a folder made, and when."""

    created_at: int
    created_by: str
    parent_session_id: str | None = None


@frozen(kw_only=True)
class FolderLook:
    """What a look at the folder told.

    @ivar there: it is a folder that can be entered.
    @ivar has_instructions: there is something for agents to read in it.
    """

    there: bool = False
    has_instructions: bool = False
    marker: Marker | None = None


@frozen(kw_only=True)
class Cloning:
    """How far the clone is that a case comes from; see L{tservice.git.interfaces.CloneProgress}."""

    phase: str
    percent: int | None


@frozen(kw_only=True)
class CaseContainer:
    """The container that a case's sessions live in (protocol-containers).

    @ivar name: the container's.
    @ivar workdir: where the case's folder is inside.
    @ivar warnings: what is not as it was asked for, in sentences.
    """

    host_id: str
    engine: str
    name: str
    workdir: str
    warnings: tuple[str, ...] = ()

    @property
    def place(self) -> PlaceId:
        """Where the sessions live."""
        return PlaceId(kind=PlaceKind.CONTAINER, name=self.host_id, part=self.name)


@frozen(kw_only=True)
class ContainerWish:
    """How the container of a new case is to be made; C{None}: as its host says.

    @ivar host_id: C{None}: the host C{default}.
    @ivar credentials: C{mounted}, C{copied} or C{none}.
    """

    host_id: str | None = None
    image: str | None = None
    network: str | None = None
    memory: str | None = None
    cpus: float | None = None
    credentials: str | None = None


@frozen(kw_only=True)
class Case:
    """A case as clients see it.

    @ivar unreachable: its folder is gone, closed, or does not answer.
    @ivar live_sessions: sessions with a process that work in it.
    """

    name: str
    path: str
    location: CaseLocation
    unreachable: bool = False
    marker: Marker | None = None
    description: str | None = None
    created_at: int | None = None
    has_instructions: bool = False
    live_sessions: int = 0
    worktree: Worktree | None = None
    cloning: Cloning | None = None
    far: PlaceId | None = None
    container: CaseContainer | None = None

    @property
    def linked(self) -> bool:
        """Whether its folder is none of the service's."""
        return self.location is not CaseLocation.LOCAL


def check_case_name(name: str, named: str = "name") -> str:
    """@raise ServiceError: 400: it is none."""
    if _NAME.fullmatch(name) is None:
        raise invalid(named, f"1 to {NAME_LENGTH} letters, digits, _ and -")
    return name


def check_known_name(name: str, named: str) -> str:
    """Check the name of a case that may be there: those of worktrees have letters of any script.

    @raise ServiceError: 400: it can be none.
    """
    if _KNOWN.fullmatch(name) is None:
        raise invalid(named, f"1 to {NAME_LENGTH} letters, digits, _ and -")
    return name


def is_case_name(name: str) -> bool:
    """Whether a folder of that name is a case."""
    return _NAME.fullmatch(name) is not None


def same(one: str, other: str) -> bool:
    """Whether two names collide: also when only their case differs."""
    return one.lower() == other.lower()


def named(name: str, names: Iterable[str]) -> str | None:
    """Which of C{names} is meant by C{name}: itself, else one that differs in case alone."""
    known = list(names)
    if name in known:
        return name
    return next((each for each in known if same(each, name)), None)


def taken(name: str) -> ServiceError:
    """A 409: the owner has such a case, of whatever kind."""
    return ServiceError(ErrorCode.ALREADY_EXISTS, f"There is a case {name} already")


def worktree_names(name: str, branch: str) -> tuple[str, str]:
    """Return what the case of a worktree may be called: the readable name, and one for the branch.

    The first is C{<name>-<branch>}, as far as a name can say it; branches may share it.  The second
    has a hash of the branch at its end: it is for a branch whose readable name another one has.
    """
    part = _part(branch)
    code = hashlib.sha256(f"{name}\0{branch}".encode("utf-8", "replace")).hexdigest()[:_CODE]
    whole = f"{name}-{part}" if part else ""
    base = whole or name
    if not _fits(base, _CODE + 1):
        base = f"{name[:_PREFIX]}-{part}" if part else name[:_PREFIX]
        while not _fits(base, _CODE + 1):
            base = cut_between(base, len(base) - 1)
    unique = f"{base.rstrip('-')}-{code}"
    return (whole if whole and _fits(whole) else unique), unique


def _part(branch: str) -> str:
    """The letters of any script that C{branch} has, with a C{-} for what is between them."""
    kept = ""
    # One spelling for letters that can be written with their accents apart.
    for each in unicodedata.normalize("NFC", branch):
        goes_on = is_mark(each) and kept[-1:].strip(" -_") != ""
        kept += each if each.isalnum() or each in "_-" or goes_on else " "
    return "-".join(kept.split()).strip("-")


def _fits(name: str, more: int = 0) -> bool:
    return len(name) + more <= NAME_LENGTH and len(name.encode()) + more <= _NAME_BYTES


def in_order(cases: Iterable[Case], order: Sequence[str]) -> list[Case]:
    """As the owner put them, the rest by name."""
    places = {name.lower(): place for place, name in enumerate(order)}
    last = len(places)
    return sorted(
        cases, key=lambda case: (places.get(case.name.lower(), last), case.name.lower(), case.name)
    )
