"""Missing parts of a checkout that was made without filters and submodules (protocol-prepare)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import partial

from tservice.core.doors.thread_runners import RunInLocation
from tservice.core.places.location import Location
from tservice.git.inspect import Inspector
from tservice.git.interfaces import Incomplete
from tservice.git.locate import recognise
from tservice.git.model import Repository
from tservice.git.runner import GitError
from tservice.git.smallfiles import read_small

SECONDS = 30.0
"""Seconds that one git command may take."""
LISTED_BYTES = 64 * 1024 * 1024
"""Bytes that git may print of the names of files with a filter."""
READ_FILES = 5000
"""Files whose beginning is read; if there are more, pointers are assumed."""

_FILTERED = (
    "--no-literal-pathspecs", "ls-files", "-z", "--",
    ":(exclude,attr:!filter)", ":(exclude,attr:-filter)",
)  # fmt: skip
_POINTER = b"version https://git-lfs.github.com/spec/"
_MODULES_LIMIT = 1024 * 1024
_MODULE_PATH = re.compile(rb'^[ \t]*path[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*$', re.MULTILINE)


class IncompleteCheckouts:
    """Finds missing parts of checkouts, with the rights of their location."""

    def __init__(
        self, in_place: RunInLocation, inspector_of: Callable[[Location, str | None], Inspector]
    ) -> None:
        self._in_place = in_place
        self._inspector_of = inspector_of

    async def look(self, folder: str, place: Location, owner: str | None) -> Incomplete:
        """See L{tservice.git.interfaces.IGitWork.incomplete}."""
        repository = await self._in_place(place, partial(_find, folder), folder, owner)
        if repository is None:
            return Incomplete(unknown=f"{folder} is not a git repository")
        inspector = self._inspector_of(place, owner)
        try:
            visit = await inspector.visit(repository, SECONDS)
            listed = await inspector.ask(visit, _FILTERED, LISTED_BYTES)
        except GitError as error:
            return Incomplete(unknown=str(error))
        read = partial(_read, repository.root, listed.split(b"\0")[:-1])
        return await self._in_place(place, read, repository.folder, owner)


def _find(folder: str) -> Repository | None:
    return recognise(os.path.realpath(os.fsencode(folder)))


def _read(root: bytes, filtered: Sequence[bytes]) -> Incomplete:
    """Find out which parts are missing; blocks.

    @param filtered: paths of files with a filter.
    """
    pointers = len(filtered) > READ_FILES or any(_is_pointer(root, path) for path in filtered)
    return Incomplete(filters=bool(filtered), pointers=pointers, submodules=_lacks_submodule(root))


def _is_pointer(root: bytes, path: bytes) -> bool:
    text = read_small(os.path.join(root, path), 1024, links=False)
    return text is not None and text.startswith(_POINTER)


def _lacks_submodule(root: bytes) -> bool:
    """Return true if a submodule is not checked out."""
    text = read_small(os.path.join(root, b".gitmodules"), _MODULES_LIMIT, links=False) or b""
    paths = _MODULE_PATH.findall(text)
    return any(not os.path.lexists(os.path.join(root, path, b".git")) for path in paths)
