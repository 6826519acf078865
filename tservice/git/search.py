"""Search for the repositories of a workspace, without a process (protocol-git-status).

Everything here blocks on the file system: call it in a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from attrs import field, frozen
from dulwich.repo import COMMONDIR, CONTROLDIR, OBJECTDIR, REFSDIR

from tservice.git.model import FoundRepositories, GitRepository
from tservice.git.small_files import read_small

DEPTH = 2
"""Levels below the workspace that are searched (protocol-git-status)."""
FOUND_LIMIT = 51
"""Repositories found at most: one more than any request may ask for, so that C{reposTruncated} can
be set.
"""
FOLDERS_LIMIT = 20_000
"""Folders visited in one search; after that it is cut short, and reports so."""
SKIPPED = frozenset(
    {b"node_modules", b"dist", b"build", b"target", b"vendor", b"venv", b"__pycache__"}
)

_CONTROL = CONTROLDIR.encode()
_COMMON = os.fsencode(COMMONDIR)
_GITFILE = b"gitdir: "
_POINTER_LIMIT = 8192


@frozen(kw_only=True)
class SearchBounds:
    """Bounds of a search.

    @ivar home: a repository there or above counts only if the workspace is its root.
    @ivar forbidden: workspaces of containers; nothing at or inside one is read.
    @ivar top: the folder that must hold all parts of a repository; C{None}: they may be anywhere.
    """

    home: bytes
    forbidden: frozenset[bytes] = field(factory=frozenset)
    top: bytes | None = None

    def is_allowed(self, repository: GitRepository, workspace: bytes) -> bool:
        """Return true if that repository may be inspected for that workspace."""
        if self.is_in_container(repository) or self.is_outside(repository):
            return False
        return repository.root == workspace or not is_within(self.home, repository.root)

    def is_in_container(self, repository: GitRepository) -> bool:
        """Return true if a container shares any part of it."""
        return any(self.is_forbidden(path) for path in _repository_paths(repository))

    def is_outside(self, repository: GitRepository) -> bool:
        """Return true if any part of it is outside of L{top}."""
        top = self.top
        return top is not None and not all(
            is_within(path, top) for path in _repository_paths(repository)
        )

    def is_forbidden(self, folder: bytes) -> bool:
        """Return true if C{folder} is at or inside a container's workspace."""
        return any(is_within(folder, other) for other in self.forbidden)


def find_repositories(workspace: bytes, bounds: SearchBounds) -> FoundRepositories:
    """Find the repository around C{workspace}, or else those up to L{DEPTH} levels below it.

    @param workspace: an absolute path without symlinks.
    @raise OSError: the workspace is no folder that can be read.
    """
    os.close(os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    around = _find_around(workspace, bounds)
    if around is not None:
        return FoundRepositories(repositories=(around,))
    return _find_below(workspace, bounds)


def recognise_repository(folder: bytes, top: bytes | None = None) -> GitRepository | None:
    """Return the repository whose working tree begins at C{folder}, or C{None}.

    It can be a plain repository, a worktree or a submodule.

    @param top: as of L{SearchBounds}; nothing outside of it is read.
    """
    entry = os.path.join(folder, _CONTROL)
    control = _read_pointer(entry, _GITFILE, folder) if os.path.isfile(entry) else entry
    if control is None or not os.path.isdir(control):
        return None
    control = os.path.realpath(control)
    if top is not None and not is_within(control, top):
        return None
    common = _find_common_folder(control)
    return None if common is None else GitRepository(root=folder, control=control, common=common)


def recognise_control(folder: bytes, top: bytes | None = None) -> GitRepository | None:
    """Return the repository whose control folder is C{folder}, without a working tree.

    These are bare ones, submodules that are not checked out, and worktrees whose folder is missing.

    @param top: as of L{SearchBounds}; nothing outside of it is read.
    """
    control = os.path.realpath(folder)
    if top is not None and not is_within(control, top):
        return None
    common = _find_common_folder(control)
    if common is None:
        return None
    return GitRepository(root=control, control=control, common=common, bare=True)


def find_again(repository: GitRepository, top: bytes | None = None) -> GitRepository | None:
    """Return the repository that is now at C{repository}'s path; equal to it if nothing has
    changed.

    @param top: as of L{SearchBounds}; nothing outside of it is read.
    """
    look = recognise_control if repository.bare else recognise_repository
    return look(repository.root, top)


def is_moved(repository: GitRepository) -> bool:
    """Return true if a symlink has appeared in its path since it was found."""
    return os.path.realpath(repository.root) != repository.root


def _find_common_folder(control: bytes) -> bytes | None:
    """Return the folder with the references that C{control} shares; C{None}: it is no control
    folder.
    """
    pointer = os.path.join(control, _COMMON)
    common = _read_pointer(pointer, b"", control) if os.path.lexists(pointer) else control
    if common is None or not _is_control(control, common):
        return None
    return os.path.realpath(common)


def _is_control(control: bytes, common: bytes) -> bool:
    """Return true if C{HEAD}, objects and references exist, as git itself tests."""
    wanted = (os.path.join(common, os.fsencode(name)) for name in (OBJECTDIR, REFSDIR))
    return os.path.lexists(os.path.join(control, b"HEAD")) and all(map(os.path.isdir, wanted))


def _read_pointer(file: bytes, prefix: bytes, base: bytes) -> bytes | None:
    """Return the path in C{file} after C{prefix}, relative to C{base}; C{file} must be no link."""
    text = read_small(file, _POINTER_LIMIT, links=False)
    if text is None or not text.startswith(prefix):
        return None
    target = text[len(prefix) :].rstrip(b"\r\n")
    return os.path.join(base, target) if target and b"\0" not in target else None


def _find_around(workspace: bytes, bounds: SearchBounds) -> GitRepository | None:
    for folder in _walk_upwards(workspace):
        found = recognise_repository(folder, bounds.top)
        if found is not None and bounds.is_allowed(found, workspace):
            return found
    return None


def _find_below(workspace: bytes, bounds: SearchBounds) -> FoundRepositories:
    """Find repositories below C{workspace}, nearest first, then by path."""
    found: list[GitRepository] = []
    level, budget, cut = [workspace], FOLDERS_LIMIT, False
    for _ in range(DEPTH):
        folders = []
        for parent in level:
            inside, whole = _list_folders(parent, budget)
            budget -= len(inside)
            cut = cut or not whole
            folders += inside
        level = []
        for folder in folders:
            if bounds.is_forbidden(folder):
                continue
            repository = recognise_repository(folder, bounds.top)
            if repository is None:
                level.append(folder)
            elif bounds.is_allowed(repository, workspace):
                found.append(repository)
        if len(found) >= FOUND_LIMIT:
            break
    return FoundRepositories(
        repositories=tuple(found[:FOUND_LIMIT]), scanned=True, more=cut or len(found) > FOUND_LIMIT
    )


def _list_folders(parent: bytes, budget: int) -> tuple[list[bytes], bool]:
    """Return at most C{budget} folders in C{parent}, sorted by name, and whether these are all."""
    found: list[bytes] = []
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                if not _is_searched(entry):
                    continue
                if len(found) >= budget:
                    return sorted(found), False
                found.append(entry.path)
    except OSError:
        return [], True  # it is unreadable or was removed
    return sorted(found), True


def _is_searched(entry: os.DirEntry[bytes]) -> bool:
    if entry.name.startswith(b".") or entry.name in SKIPPED:
        return False
    return entry.is_dir(follow_symlinks=False)


def _walk_upwards(folder: bytes) -> Iterator[bytes]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _repository_paths(repository: GitRepository) -> Iterable[bytes]:
    return {repository.root, repository.control, repository.common}


def is_within(path: bytes, folder: bytes) -> bool:
    """Return true if C{path} is C{folder} or inside it; both are real paths."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def find_owners(repository: GitRepository) -> frozenset[int]:
    """Return the user ids that own the control files of a repository.

    @raise OSError: part of it is missing.
    """
    entry = () if repository.bare else (os.path.join(repository.root, _CONTROL),)
    paths = {*_repository_paths(repository), *entry}
    return frozenset(os.lstat(path).st_uid for path in paths)


def find_group(repository: GitRepository) -> int:
    """Return the group that owns the working tree's root.

    @raise OSError: it is missing.
    """
    status = os.lstat(repository.root)
    return status.st_gid if stat.S_ISDIR(status.st_mode) else -1
