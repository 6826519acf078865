"""Finding the repositories of a workspace, without a process (protocol-git-status).

Everything here blocks on the file system: it belongs into a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from attrs import field, frozen
from dulwich.repo import COMMONDIR, CONTROLDIR, OBJECTDIR, REFSDIR

from tservice.git.model import FoundRepositories, Repository
from tservice.git.smallfiles import read_small

DEPTH = 2
"""Levels below the workspace that are searched (protocol-git-status)."""
FOUND_LIMIT = 51
"""One more than any request may ask for, so that C{reposTruncated} can be told."""
FOLDERS_LIMIT = 20_000
"""Folders looked at in one search; behind that it is cut short, and says so."""
SKIPPED = frozenset(
    {b"node_modules", b"dist", b"build", b"target", b"vendor", b"venv", b"__pycache__"}
)

_CONTROL = CONTROLDIR.encode()
_COMMON = os.fsencode(COMMONDIR)
_GITFILE = b"gitdir: "
_POINTER_LIMIT = 8192


@frozen(kw_only=True)
class SearchBounds:
    """What a search may look at.

    @ivar home: a repository there or above counts only when the workspace is its root.
    @ivar forbidden: workspaces of containers; nothing at or inside one is looked at.
    @ivar top: what all of a repository must be in; C{None}: it may be anywhere.
    """

    home: bytes
    forbidden: frozenset[bytes] = field(factory=frozenset)
    top: bytes | None = None

    def allow(self, repository: Repository, workspace: bytes) -> bool:
        """Whether that repository may be inspected for that workspace."""
        if self.encloses(repository) or self.leaves(repository):
            return False
        return repository.root == workspace or not within(self.home, repository.root)

    def encloses(self, repository: Repository) -> bool:
        """Whether a container shares any part of it."""
        return any(self.forbids(path) for path in _places(repository))

    def leaves(self, repository: Repository) -> bool:
        """Whether any part of it is outside of L{top}."""
        top = self.top
        return top is not None and not all(within(path, top) for path in _places(repository))

    def forbids(self, folder: bytes) -> bool:
        """Whether C{folder} is at or inside a container's workspace."""
        return any(within(folder, other) for other in self.forbidden)


def locate(workspace: bytes, bounds: SearchBounds) -> FoundRepositories:
    """The repository around C{workspace}, else those up to L{DEPTH} levels below it.

    @param workspace: an absolute path without symlinks.
    @raise OSError: the workspace is no folder that can be read.
    """
    os.close(os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    around = _around(workspace, bounds)
    if around is not None:
        return FoundRepositories(repositories=(around,))
    return _below(workspace, bounds)


def recognise(folder: bytes, top: bytes | None = None) -> Repository | None:
    """The repository whose working tree begins at C{folder}: a plain one, a worktree, a
    submodule; C{None} when there is none.

    @param top: as of L{SearchBounds}; nothing outside of it is read.
    """
    entry = os.path.join(folder, _CONTROL)
    control = _pointed(entry, _GITFILE, folder) if os.path.isfile(entry) else entry
    if control is None or not os.path.isdir(control):
        return None
    control = os.path.realpath(control)
    if top is not None and not within(control, top):
        return None
    common = _common_of(control)
    return None if common is None else Repository(root=folder, control=control, common=common)


def recognise_control(folder: bytes, top: bytes | None = None) -> Repository | None:
    """Return the repository whose control folder is C{folder}, without a working tree.

    Such are bare ones, submodules that are not checked out, and worktrees whose folder is gone.

    @param top: as of L{SearchBounds}; nothing outside of it is read.
    """
    control = os.path.realpath(folder)
    if top is not None and not within(control, top):
        return None
    common = _common_of(control)
    if common is None:
        return None
    return Repository(root=control, control=control, common=common, bare=True)


def find_again(repository: Repository, top: bytes | None = None) -> Repository | None:
    """Return what is where C{repository} was found; equal to it where nothing has changed.

    @param top: as of L{SearchBounds}; nothing outside of it is read.
    """
    look = recognise_control if repository.bare else recognise
    return look(repository.root, top)


def is_moved(repository: Repository) -> bool:
    """Whether a symlink has come into its path since it was found."""
    return os.path.realpath(repository.root) != repository.root


def _common_of(control: bytes) -> bytes | None:
    """Where C{control} shares references with others; C{None}: it is no control folder."""
    pointer = os.path.join(control, _COMMON)
    common = _pointed(pointer, b"", control) if os.path.lexists(pointer) else control
    if common is None or not _is_control(control, common):
        return None
    return os.path.realpath(common)


def _is_control(control: bytes, common: bytes) -> bool:
    """The test that git itself makes: C{HEAD}, objects and references are there."""
    wanted = (os.path.join(common, os.fsencode(name)) for name in (OBJECTDIR, REFSDIR))
    return os.path.lexists(os.path.join(control, b"HEAD")) and all(map(os.path.isdir, wanted))


def _pointed(file: bytes, prefix: bytes, base: bytes) -> bytes | None:
    """The path that C{file}, which is no link, holds behind C{prefix}, relative to C{base}."""
    text = read_small(file, _POINTER_LIMIT, links=False)
    if text is None or not text.startswith(prefix):
        return None
    target = text[len(prefix) :].rstrip(b"\r\n")
    return os.path.join(base, target) if target and b"\0" not in target else None


def _around(workspace: bytes, bounds: SearchBounds) -> Repository | None:
    for folder in _upwards(workspace):
        found = recognise(folder, bounds.top)
        if found is not None and bounds.allow(found, workspace):
            return found
    return None


def _below(workspace: bytes, bounds: SearchBounds) -> FoundRepositories:
    """Nearest first, then by path."""
    found: list[Repository] = []
    level, budget, cut = [workspace], FOLDERS_LIMIT, False
    for _ in range(DEPTH):
        folders = []
        for parent in level:
            inside, whole = _folders(parent, budget)
            budget -= len(inside)
            cut = cut or not whole
            folders += inside
        level = []
        for folder in folders:
            if bounds.forbids(folder):
                continue
            repository = recognise(folder, bounds.top)
            if repository is None:
                level.append(folder)
            elif bounds.allow(repository, workspace):
                found.append(repository)
        if len(found) >= FOUND_LIMIT:
            break
    return FoundRepositories(
        repositories=tuple(found[:FOUND_LIMIT]), scanned=True, more=cut or len(found) > FOUND_LIMIT
    )


def _folders(parent: bytes, budget: int) -> tuple[list[bytes], bool]:
    """At most C{budget} folders in C{parent}, by name, and whether that is all of them."""
    found: list[bytes] = []
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                if not _searched(entry):
                    continue
                if len(found) >= budget:
                    return sorted(found), False
                found.append(entry.path)
    except OSError:
        return [], True  # not ours to read, or gone: nothing to see in it
    return sorted(found), True


def _searched(entry: os.DirEntry[bytes]) -> bool:
    if entry.name.startswith(b".") or entry.name in SKIPPED:
        return False
    return entry.is_dir(follow_symlinks=False)


def _upwards(folder: bytes) -> Iterator[bytes]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _places(repository: Repository) -> Iterable[bytes]:
    return {repository.root, repository.control, repository.common}


def within(path: bytes, folder: bytes) -> bool:
    """Whether C{path} is C{folder} or inside it; both are real paths."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def owners(repository: Repository) -> frozenset[int]:
    """The user ids that own what decides about a repository.

    @raise OSError: part of it is gone.
    """
    entry = () if repository.bare else (os.path.join(repository.root, _CONTROL),)
    paths = {*_places(repository), *entry}
    return frozenset(os.lstat(path).st_uid for path in paths)


def group_of(repository: Repository) -> int:
    """The group that owns the working tree's root.

    @raise OSError: it is gone.
    """
    status = os.lstat(repository.root)
    return status.st_gid if stat.S_ISDIR(status.st_mode) else -1
