"""Records of cases, and the rules for their names (protocol-cases)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

from attrs import frozen

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.values.text import CASE_NAME, cut_between_letters, is_combining_character

NAME_LENGTH = 128
DESCRIPTION_LENGTH = 1000
MAX_CASES = 1000
"""Maximum number of cases of one owner."""
MARKER = ".service-agent-case.json"
"""Marker file in a folder that was created for an agent (protocol-quickstart)."""

_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{NAME_LENGTH}}}")
_KNOWN = re.compile(rf"(?=.{{1,{NAME_LENGTH}}}\Z){CASE_NAME}", re.DOTALL)
_NAME_BYTES = 240
"""Maximum bytes of a worktree's name.  File systems allow 255 for a folder."""
_PREFIX = 48
"""Characters that are kept of the original case's name if the branch name is long."""
_CODE = 8
"""Number of hexadecimal digits of the hash that makes a name unique."""

_T = TypeVar("_T")


class CaseLocation(StrEnum):
    """Kind of a case's folder."""

    LOCAL = "local"
    """A folder in the cases folder."""
    LINKED = "linked"
    """Any other folder on this machine."""
    REMOTE = "remote"
    """A folder on a remote host."""
    CONTAINER = "container"
    """A folder that a container works in."""


@frozen(kw_only=True)
class WorktreeOrigin:
    """Repository and branch of a case that is a worktree.

    @ivar repository: folder of the case whose repository the worktree uses.
    """

    repository: str
    branch: str


@frozen(kw_only=True)
class CaseRow:
    """Stored record of a case.

    @ivar owner: account that owns the case; empty in single-user mode.
    @ivar path: path of the folder; C{None} for a local case.
    @ivar created_at: Unix milliseconds.
    @ivar far: location of the folder, if it is not on this machine.
    """

    owner: str
    name: str
    path: str | None = None
    description: str | None = None
    created_at: int
    worktree: WorktreeOrigin | None = None
    far: LocationId | None = None


@frozen(kw_only=True)
class AgentMarker:
    """Agent for which a folder was created, and the time."""

    created_at: int
    created_by: str
    parent_session_id: str | None = None


@frozen(kw_only=True)
class FolderState:
    """State of a case's folder.

    @ivar there: true if the folder exists and can be entered.
    @ivar has_instructions: true if the folder has a file with instructions for agents.
    """

    there: bool = False
    has_instructions: bool = False
    marker: AgentMarker | None = None


@frozen(kw_only=True)
class CloneStatus:
    """Progress of the clone of a new case; see L{tservice.git.interfaces.CloneProgress}."""

    phase: str
    percent: int | None


@frozen(kw_only=True)
class CaseContainer:
    """Container in which a case's sessions run (protocol-containers).

    @ivar name: name of the container.
    @ivar workdir: path of the case's folder inside the container.
    @ivar warnings: differences from the requested configuration, as sentences.
    """

    host_id: str
    engine: str
    name: str
    workdir: str
    warnings: tuple[str, ...] = ()

    @property
    def place(self) -> LocationId:
        """Location of sessions in this container."""
        return LocationId(kind=LocationKind.CONTAINER, name=self.host_id, part=self.name)


@frozen(kw_only=True)
class ContainerSettings:
    """Settings for the container of a new case.

    C{None} means that the host's setting applies.

    @ivar host_id: id of the container host; C{None} means the host C{default}.
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
    """Case with its current state, as clients see it.

    @ivar unreachable: true if the folder is missing, cannot be entered, or is on a hung mount.
    @ivar live_sessions: number of sessions that have a process and work in the case.
    """

    name: str
    path: str
    location: CaseLocation
    unreachable: bool = False
    marker: AgentMarker | None = None
    description: str | None = None
    created_at: int | None = None
    has_instructions: bool = False
    live_sessions: int = 0
    worktree: WorktreeOrigin | None = None
    cloning: CloneStatus | None = None
    far: LocationId | None = None
    container: CaseContainer | None = None

    @property
    def is_linked(self) -> bool:
        """True if the folder is not in the service's folder of cases."""
        return self.location is not CaseLocation.LOCAL


def check_case_name(name: str, named: str = "name") -> str:
    """Return the name unchanged if it is valid for a new case.

    @param named: the field of the request, for the error.
    @raise ServiceError: 400: the name is not valid.
    """
    if _NAME.fullmatch(name) is None:
        raise make_field_error(named, f"1 to {NAME_LENGTH} letters, digits, _ and -")
    return name


def check_known_name(name: str, named: str) -> str:
    """Return the name unchanged if it is valid for an existing case.

    The rule for new names is stricter: names of worktrees may contain letters of any script.

    @param named: the field of the request, for the error.
    @raise ServiceError: 400: the name is not valid.
    """
    if _KNOWN.fullmatch(name) is None:
        raise make_field_error(named, f"1 to {NAME_LENGTH} letters, digits, _ and -")
    return name


def is_valid_folder_name(name: str) -> bool:
    """Return true if a folder of that name, in a folder of cases, counts as a case."""
    return _NAME.fullmatch(name) is not None


def is_same_name(one: str, other: str) -> bool:
    """Return true if two names are equal, apart from upper and lower case."""
    return one.lower() == other.lower()


def match_name(name: str, names: Iterable[str]) -> str | None:
    """Return the element of C{names} that equals C{name}, or else differs in letter case only.

    C{None} means that there is none.
    """
    known = list(names)
    if name in known:
        return name
    return next((each for each in known if is_same_name(each, name)), None)


def make_taken_error(name: str) -> ServiceError:
    """Return a 409, which says that the owner already has a case of that name."""
    return ServiceError(ErrorCode.ALREADY_EXISTS, f"There is already a case {name}")


def make_folder_case_name(folder: str) -> str:
    """Return a valid name of a case for a folder that is not a case."""
    return _make_name_part(folder.rstrip("/").rpartition("/")[2])[:_PREFIX] or "repository"


def make_worktree_names(name: str, branch: str) -> tuple[str, str]:
    """Return a readable name and a unique name for the case of a worktree.

    The readable name is C{<name>-<branch>}, as far as its characters are allowed; several branches
    may have the same.  The unique name ends with a hash of the branch, for a branch whose readable
    name is taken.
    """
    part = _make_name_part(branch)
    code = hashlib.sha256(f"{name}\0{branch}".encode("utf-8", "replace")).hexdigest()[:_CODE]
    whole = f"{name}-{part}" if part else ""
    base = whole or name
    if not _fits_name(base, _CODE + 1):
        base = f"{name[:_PREFIX]}-{part}" if part else name[:_PREFIX]
        while not _fits_name(base, _CODE + 1):
            base = cut_between_letters(base, len(base) - 1)
    unique = f"{base.rstrip('-')}-{code}"
    return (whole if whole and _fits_name(whole) else unique), unique


def _make_name_part(text: str) -> str:
    """Return the letters and digits of C{text}, with a C{-} in place of other characters."""
    kept = ""
    # NFC joins letters and separate accents.
    for each in unicodedata.normalize("NFC", text):
        goes_on = is_combining_character(each) and kept[-1:].strip(" -_") != ""
        kept += each if each.isalnum() or each in "_-" or goes_on else " "
    return "-".join(kept.split()).strip("-")


def _fits_name(name: str, more: int = 0) -> bool:
    return len(name) + more <= NAME_LENGTH and len(name.encode()) + more <= _NAME_BYTES


def sort_cases(cases: Iterable[Case], order: Sequence[str]) -> list[Case]:
    """Sort cases in the owner's order, followed by the others sorted by name."""
    places = {name.lower(): place for place, name in enumerate(order)}
    last = len(places)
    return sorted(
        cases, key=lambda case: (places.get(case.name.lower(), last), case.name.lower(), case.name)
    )
