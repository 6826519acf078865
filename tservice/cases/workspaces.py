"""Rules for folders in which sessions may work, and for their owners (protocol-sessions,
protocol-quickstart, protocol-cases).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TypeVar

from attrs import frozen

from tservice.cases.case_folders import find_local_name
from tservice.cases.path_rules import FolderBounds
from tservice.core.callers.identity import Identity
from tservice.core.disk.kernel_paths import is_kernel_path, leads_to_kernel
from tservice.core.kernel.errors import make_field_error
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import FolderLimit, make_kernel_folder_error
from tservice.core.users.os_users import can_enter_folder

CASES_FOLDER = "service-cases"
"""Name of the folder of cases in an OS user's home folder (protocol-cases)."""

_T = TypeVar("_T")


@frozen(kw_only=True)
class WorkspaceFolders:
    """Folders of this machine in which a caller's sessions may work.

    Methods that read folders must be called in a thread
    (L{tservice.cases.case_operations.CaseOperations.run_on_folders}).

    Sessions of an account with its own OS user may work in any folder that this user can enter,
    because the operating system isolates them.  The account's cases are in that user's home folder.
    All files are read and created as that user, so that no symbolic link can mislead root.

    @ivar cases_dir: folder of local cases in single-user mode.
    @ivar folder_of: returns the folder of an account's cases in multi-user mode.
    """

    cases_dir: Path
    data_dir: Path
    home: Path
    places: LocationRegistry
    folder_of: Callable[[str], Path]
    multiuser: bool = False

    def get_owner(self, caller: Identity) -> str | None:
        """Return the account that owns what C{caller} creates; C{None} in single-user mode."""
        return caller.username if self.multiuser else None

    def get_location(self, caller: Identity) -> Location:
        """Return the location as whose OS user the caller's folders are read.

        @raise ServiceError: 422 for the field C{osUser}: the location cannot be used now.
        """
        return self.places.get_caller_location(caller)

    def get_cases_folder(self, caller: Identity) -> Path:
        """Return the folder of the caller's local cases."""
        return self._cases_folder(caller, self.get_location(caller))

    def get_home(self, caller: Identity) -> Path:
        """Return the caller's home folder, which C{~} means."""
        return self.get_location(caller).home

    def get_bounds(self, caller: Identity) -> FolderBounds:
        """Return the folders that determine where the caller's cases must not be."""
        homes = dict.fromkeys((self.get_home(caller), self.home))
        cases = dict.fromkeys((self.cases_dir, self.get_cases_folder(caller)))
        return FolderBounds(
            homes=tuple(map(PurePosixPath, homes)),
            data_dir=PurePosixPath(self.data_dir),
            cases=tuple(map(PurePosixPath, cases)),
        )

    def is_unrestricted(self, caller: Identity) -> bool:
        """Return true if the caller may work outside of the caller's folder of cases."""
        return self._is_unrestricted(caller, self.get_location(caller))

    def resolve_folder(self, text: str, caller: Identity, named: str = "workingDir") -> str:
        """Return C{text} as the path of a working directory.

        @param named: the field of the request, for the error.
        @raise ServiceError: 400 if the path is not absolute, is missing, is no folder, cannot be
            entered by the caller's OS user, or leads through a kernel folder
            (L{tservice.core.disk.kernel_paths}); 403 if it is not in the caller's workspace.
        """
        return self._run_as(caller, lambda place: self._resolve_folder(text, caller, place, named))

    def default_folder(self, caller: Identity, chosen: str | None) -> str:
        """Return the working directory of a session whose request has none.

        Use C{chosen} if given, otherwise the caller's folder of cases or home folder.
        """
        return self._run_as(caller, lambda place: self._default_folder(caller, chosen, place))

    def find_local_name(self, name: str, caller: Identity) -> str | None:
        """Return the name of the local case C{name} in its exact spelling; C{None} if there is
        none.

        @raise OSError: the folder of cases cannot be read.
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
            raise make_field_error(named, "must be an absolute path")
        self._refuse_kernel_folder(path, caller, place, named)
        if place.is_isolated and not can_enter_folder(text):
            raise make_field_error(
                named, f"must be an existing folder that {place.user.name} may enter"
            )
        # Check this first, to reveal nothing outside of a user's own folder.
        self._check_inside_workspace(path, caller, place, named)
        if not place.is_isolated and not os.path.isdir(text):
            raise make_field_error(named, "must be an existing folder")
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

    def _refuse_kernel_folder(
        self, path: Path, caller: Identity, place: Location, named: str
    ) -> None:
        """Refuse kernel folders such as C{/proc}.

        Symbolic links outside of a restricted user's own folder are not followed, so that the error
        reveals nothing about them.
        """
        plain = Path(os.path.normpath(path))
        free = self._is_unrestricted(caller, place) or plain.is_relative_to(
            self._cases_folder(caller, place)
        )
        if is_kernel_path(str(path)) or (free and leads_to_kernel(str(path))):
            raise make_kernel_folder_error(named)

    def _check_inside_workspace(
        self, path: Path, caller: Identity, place: Location, named: str
    ) -> None:
        """Check that the path is in the user's workspace, after resolving symbolic links."""
        if not self._is_unrestricted(caller, place):
            FolderLimit(self._cases_folder(caller, place)).check_folder(str(path), named)
