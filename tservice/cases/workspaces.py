"""Folders in which sessions may work, and their owners (protocol-sessions, protocol-quickstart,
protocol-cases).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TypeVar

from attrs import frozen

from tservice.cases.case_folders import find_local_name
from tservice.cases.path_rules import FolderBounds
from tservice.core.errors import invalid_field
from tservice.core.identity import Identity
from tservice.core.kernel_paths import is_kernel_path, leads_to_kernel
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import FolderLimit, kernel_folder_error
from tservice.core.users.os_users import can_enter

CASES_FOLDER = "service-cases"
"""Folder of an OS user's cases, below its home (protocol-cases)."""

_T = TypeVar("_T")


@frozen(kw_only=True)
class WorkspaceFolders:
    """Folders of this machine.

    Methods that read folders are called in a thread
    (L{tservice.cases.case_operations.CaseOperations.run_on_folders}).

    Sessions of an account with an OS user work in any folder that this user may enter: the system
    isolates them.  Its cases are in that user's home.  Everything is read and made as that user, so
    that no link misleads root.

    @ivar cases_dir: the folder of local cases.
    @ivar folder_of: returns the folder of an account's cases in multi-user mode.
    """

    cases_dir: Path
    data_dir: Path
    home: Path
    places: LocationRegistry
    folder_of: Callable[[str], Path]
    multiuser: bool = False

    def get_owner(self, caller: Identity) -> str | None:
        """Return the owner of things that C{caller} makes."""
        return caller.username if self.multiuser else None

    def get_location(self, caller: Identity) -> Location:
        """Return the location in which the caller's folders are read.

        @raise ServiceError: 422 naming C{osUser}: the location cannot be used now.
        """
        return self.places.get_caller_location(caller)

    def get_cases_folder(self, caller: Identity) -> Path:
        """Return the folder of the caller's local cases."""
        return self._cases_folder(caller, self.get_location(caller))

    def get_home(self, caller: Identity) -> Path:
        """Return the folder that C{~} means."""
        return self.get_location(caller).home

    def get_bounds(self, caller: Identity) -> FolderBounds:
        """Return the folders in which no case of the caller may be."""
        homes = dict.fromkeys((self.get_home(caller), self.home))
        cases = dict.fromkeys((self.cases_dir, self.get_cases_folder(caller)))
        return FolderBounds(
            homes=tuple(map(PurePosixPath, homes)),
            data_dir=PurePosixPath(self.data_dir),
            cases=tuple(map(PurePosixPath, cases)),
        )

    def is_unrestricted(self, caller: Identity) -> bool:
        """Return true if the caller may work outside of its case folder."""
        return self._is_unrestricted(caller, self.get_location(caller))

    def resolve_folder(self, text: str, caller: Identity, named: str = "workingDir") -> str:
        """Return C{text} as a working directory.

        @raise ServiceError: 400: not absolute, missing, no folder, closed to the caller's OS user,
            or reached through a folder of the kernel (L{tservice.core.kernel_paths}); 403: not the
            caller's.
        """
        return self._run_as(caller, lambda place: self._resolve_folder(text, caller, place, named))

    def default_folder(self, caller: Identity, chosen: str | None) -> str:
        """Return the folder of a session that names none: C{chosen}, the user's cases, or home."""
        return self._run_as(caller, lambda place: self._default_folder(caller, chosen, place))

    def find_local_name(self, name: str, caller: Identity) -> str | None:
        """Return the exact name of the local case C{name}; C{None}: there is none.

        @raise OSError: the folder of the cases cannot be read.
        """
        return self._run_as(
            caller, lambda place: find_local_name(self._cases_folder(caller, place), name)
        )

    # -- inside, with the rights of the caller's place

    def _run_as(self, caller: Identity, work: Callable[[Location], _T]) -> _T:
        place = self.get_location(caller)
        return place.run_file_work(lambda: work(place))

    def _is_unrestricted(self, caller: Identity, place: Location) -> bool:
        return not self.multiuser or caller.admin or place.is_isolated

    def _resolve_folder(self, text: str, caller: Identity, place: Location, named: str) -> str:
        path = Path(text)
        if "\0" in text or not path.is_absolute():
            raise invalid_field(named, "must be an absolute path")
        self._check_kernel(path, caller, place, named)
        if place.is_isolated and not can_enter(text):
            raise invalid_field(
                named, f"must be an existing folder that {place.user.name} may enter"
            )
        # Check this first, to reveal nothing outside of a user's own folder.
        self._check_own(path, caller, place, named)
        if not place.is_isolated and not os.path.isdir(text):
            raise invalid_field(named, "must be an existing folder")
        return os.path.normpath(path)

    def _default_folder(self, caller: Identity, chosen: str | None, place: Location) -> str:
        if place.is_isolated:
            return str(place.home)
        if self.multiuser and not caller.admin:
            cases = self._cases_folder(caller, place)
            cases.mkdir(parents=True, exist_ok=True)
            return str(cases)
        return self._resolve_folder(chosen or str(self.home), caller, place, "workingDir")

    def _cases_folder(self, caller: Identity, place: Location) -> Path:
        if place.is_isolated:
            return place.home / CASES_FOLDER
        return self.folder_of(caller.username) if self.multiuser else self.cases_dir

    def _check_kernel(self, path: Path, caller: Identity, place: Location, named: str) -> None:
        """Refuse kernel folders; links outside of a user's own folder are not followed, to reveal
        nothing.
        """
        plain = Path(os.path.normpath(path))
        free = self._is_unrestricted(caller, place) or plain.is_relative_to(
            self._cases_folder(caller, place)
        )
        if is_kernel_path(str(path)) or (free and leads_to_kernel(str(path))):
            raise kernel_folder_error(named)

    def _check_own(self, path: Path, caller: Identity, place: Location, named: str) -> None:
        """Check that the path is in the user's workspace, after resolving symbolic links."""
        if not self._is_unrestricted(caller, place):
            FolderLimit(self._cases_folder(caller, place)).check_folder(str(path), named)
