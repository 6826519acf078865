"""Search for executables on C{PATH} and in other folders (protocol-clis)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.clis.environments import add_node_folder
from tservice.core.process.program_folders import (
    find_matching_folders,
    find_npm_folder,
    format_search_folders,
    join_path,
    list_folder_patterns,
    list_version_folders,
)

REMEMBERED_SECONDS = 30.0
REMEMBERED = 256
"""Maximum number of cached results. A full cache is cleared."""


@frozen
class _CachedPath:
    path: Path | None
    until: float


class BinaryLookup:
    """Search for executables on C{PATH}, on the login shell's C{PATH}, and in the usual folders of
    installers.

    Relative folders on C{PATH} are skipped: their meaning would depend on the folder in which the
    service was started.
    """

    def __init__(
        self,
        clock: IReactorTime,
        environ: Mapping[str, str],
        home: Path,
        usable: Callable[[Path], bool] | None = None,
    ) -> None:
        """Create a lookup.

        @param usable: returns true if a file may be executed. C{None} checks for this process.
        """
        self._clock = clock
        self._usable = usable or _is_executable
        self._own = join_path(environ.get("PATH", ""))
        self._login = ""
        self._patterns = list_folder_patterns(environ)
        self._home = home
        self._answers: dict[tuple[str, ...], _CachedPath] = {}

    def use_login_path(self, path: str) -> None:
        """Also search the folders in C{path}, the login shell's C{PATH}, after those of the
        service's C{PATH}.
        """
        self._login = path
        self.clear_cache()

    @property
    def login_path(self) -> str:
        """C{PATH} given to L{use_login_path}, or an empty string before the first call."""
        return self._login

    def find_program(self, names: Sequence[str]) -> Path | None:
        """Return the path of the first program in C{names} that exists; C{None} if none does.

        The result is cached for 30 s.

        @param names: file names, or absolute paths.
        """
        key, now = tuple(names), self._clock.seconds()
        answer = self._answers.get(key)
        if answer is None or answer.until <= now:
            if len(self._answers) >= REMEMBERED:
                self._answers.clear()
            answer = _CachedPath(self._search_folders(key), now + REMEMBERED_SECONDS)
            self._answers[key] = answer
        return answer.path

    def clear_cache(self) -> None:
        """Forget cached results, because a program may have been installed."""
        self._answers.clear()

    def build_search_path(self) -> str:
        """Return a value for C{PATH} with the existing folders, in the order in which they are
        searched.
        """
        usual = [str(folder) for folder in self._usual_folders() if _is_folder(folder)]
        return join_path(self._own, self._login, *usual)

    def build_program_path(self, program: str) -> str:
        """Return the value of C{PATH} for a child process that runs C{program}.

        @param program: an absolute path.
        """
        return add_node_folder(
            self.build_search_path(), program, lambda file: self.find_program((file,)) is not None
        )

    def list_searched_folders(self) -> tuple[str, ...]:
        """Return every searched folder, even if it does not exist. A C{*} stands for any
        version.
        """
        usual = format_search_folders((*find_npm_folder(self._home), *self._patterns), self._home)
        return tuple(join_path(self._own, self._login, *usual).split(":"))

    def list_opened_folders(self) -> tuple[str, ...]:
        """Return the folders that a search reads, so that a caller can first check for hung
        mounts.
        """
        usual = list_version_folders(self._patterns, self._home)
        return tuple(join_path(self._own, self._login, str(self._home), *usual).split(":"))

    def _usual_folders(self) -> tuple[Path, ...]:
        return find_matching_folders((*find_npm_folder(self._home), *self._patterns), self._home)

    def _search_folders(self, names: tuple[str, ...]) -> Path | None:
        own = join_path(self._own, self._login).split(":")
        folders = (*map(Path, filter(None, own)), *self._usual_folders())
        for name in names:
            for folder in folders:
                # An absolute name replaces the folder.
                found = folder / name
                if self._usable(found):
                    return found
        return None


def _is_executable(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except PermissionError:  # a parent folder may not be entered
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except PermissionError:
        return False
