"""Search for parts that a checkout lacks because filters and submodules were disabled
(protocol-prepare).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import partial

from tservice.core.locations.location import Location
from tservice.core.workers.thread_runners import RunInLocation
from tservice.git.interfaces import MissingParts
from tservice.git.model import GitRepository
from tservice.git.process.runner import GitError
from tservice.git.search import recognise_repository
from tservice.git.small_files import read_small_file
from tservice.git.status.inspector import RepositoryInspector

SECONDS = 30.0
"""Time limit of one git command in seconds."""
LISTED_BYTES = 64 * 1024 * 1024
"""Maximum bytes of git's output when it lists the files that have a filter."""
READ_FILES = 5000
"""Maximum number of files that are checked for a Git LFS pointer.

If there are more, the checkout is assumed to have pointers.
"""

_FILTERED = (
    "--no-literal-pathspecs", "ls-files", "-z", "--",
    ":(exclude,attr:!filter)", ":(exclude,attr:-filter)",
)  # fmt: skip
_POINTER = b"version https://git-lfs.github.com/spec/"
_MODULES_LIMIT = 1024 * 1024
_MODULE_PATH = re.compile(rb'^[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*$', re.MULTILINE)


class MissingPartsFinder:
    """Finds missing parts of checkouts, as the OS user of their location."""

    def __init__(
        self,
        in_place: RunInLocation,
        inspector_of: Callable[[Location, str | None], RepositoryInspector],
    ) -> None:
        self._in_place = in_place
        self._inspector_of = inspector_of

    async def find_missing_parts(
        self, folder: str, place: Location, owner: str | None
    ) -> MissingParts:
        """Return the missing parts; see L{tservice.git.interfaces.IGitWork.find_missing_parts}."""
        repository = await self._in_place(place, partial(_find_repository, folder), folder, owner)
        if repository is None:
            return MissingParts(unknown=f"{folder} is not a git repository")
        inspector = self._inspector_of(place, owner)
        try:
            visit = await inspector.open_repository(repository, SECONDS)
            listed = await inspector.run_git(visit, _FILTERED, LISTED_BYTES)
        except GitError as error:
            return MissingParts(unknown=str(error))
        read = partial(_read_missing_parts, repository.root, listed.split(b"\0")[:-1])
        return await self._in_place(place, read, repository.folder, owner)


def _find_repository(folder: str) -> GitRepository | None:
    return recognise_repository(os.path.realpath(os.fsencode(folder)))


def _read_missing_parts(root: bytes, filtered: Sequence[bytes]) -> MissingParts:
    """Return the missing parts of the checkout at C{root}.  Blocks.

    @param filtered: paths of the files that have a filter.
    """
    pointers = len(filtered) > READ_FILES or any(_is_pointer(root, path) for path in filtered)
    return MissingParts(
        filters=bool(filtered), pointers=pointers, submodules=_lacks_submodule(root)
    )


def _is_pointer(root: bytes, path: bytes) -> bool:
    text = read_small_file(os.path.join(root, path), 1024, links=False)
    return text is not None and text.startswith(_POINTER)


def _lacks_submodule(root: bytes) -> bool:
    """Return true if the repository at C{root} has a submodule that is not checked out."""
    text = read_small_file(os.path.join(root, b".gitmodules"), _MODULES_LIMIT, links=False) or b""
    paths = _MODULE_PATH.findall(text)
    return any(not os.path.lexists(os.path.join(root, path, b".git")) for path in paths)
