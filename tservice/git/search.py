"""Search for the repositories of a workspace without running git (protocol-git-status).

Every function blocks on the file system and must be called in a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from attrs import field, frozen

from tservice.git.model import FoundRepositories, GitRepository
from tservice.git.small_files import read_small_file

DEPTH = 2
"""Number of folder levels below the workspace that are searched (protocol-git-status)."""
FOUND_LIMIT = 51
"""Maximum number of repositories found.

This is one more than any request may ask for, so that C{reposTruncated} can be set.
"""
FOLDERS_LIMIT = 20_000
"""Maximum number of folders visited in one search.

The result then says that it is incomplete.
"""
SKIPPED = frozenset(
    {b"node_modules", b"dist", b"build", b"target", b"vendor", b"venv", b"__pycache__"}
)

_CONTROL, _COMMON, _PARTS = b".git", b"commondir", (b"objects", b"refs")
_GITFILE = b"gitdir: "
POINTER_LIMIT = 8192
"""Maximum size in bytes of a file that names the folder of a repository."""


@frozen(kw_only=True)
class SearchBounds:
    """Bounds of a search for repositories.

    @ivar home: the user's home folder.  A repository at or above it counts only if the workspace is
        the repository's root.
    @ivar forbidden: workspaces of containers; nothing at or inside one is read.
    @ivar top: folder that must contain all parts of a repository; C{None} means that they may be
        anywhere.
    """

    home: bytes
    forbidden: frozenset[bytes] = field(factory=frozenset)
    top: bytes | None = None

    def is_allowed(self, repository: GitRepository, workspace: bytes) -> bool:
        """Return true if C{repository} may be read for that workspace."""
        if self.is_in_container(repository) or self.is_outside(repository):
            return False
        return repository.root == workspace or not is_within(self.home, repository.root)

    def is_in_container(self, repository: GitRepository) -> bool:
        """Return true if any part of the repository is shared with a container."""
        return any(self.is_forbidden(path) for path in _repository_paths(repository))

    def is_outside(self, repository: GitRepository) -> bool:
        """Return true if any part of the repository is outside of L{top}."""
        top = self.top
        return top is not None and not all(
            is_within(path, top) for path in _repository_paths(repository)
        )

    def is_forbidden(self, folder: bytes) -> bool:
        """Return true if C{folder} is at or inside a container's workspace."""
        return any(is_within(folder, other) for other in self.forbidden)


def find_repositories(workspace: bytes, bounds: SearchBounds) -> FoundRepositories:
    """Find the repository that contains C{workspace}, or else those up to L{DEPTH} levels below it.

    @param workspace: an absolute path without symbolic links.
    @raise OSError: the workspace is no readable folder.
    """
    os.close(os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    around = _find_enclosing_repository(workspace, bounds)
    if around is not None:
        return FoundRepositories(repositories=(around,))
    return _find_repositories_below(workspace, bounds)


def recognise_repository(folder: bytes, top: bytes | None = None) -> GitRepository | None:
    """Return the repository whose working tree has its top at C{folder}; C{None} if there is none.

    The repository can be a plain one, a worktree or a submodule.

    @param top: the folder that must contain all parts (see L{SearchBounds}); nothing outside is
        read.
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

    Such repositories are bare ones, submodules that are not checked out, and worktrees whose folder
    is missing.

    @param top: the folder that must contain all parts (see L{SearchBounds}); nothing outside is
        read.
    """
    control = os.path.realpath(folder)
    if top is not None and not is_within(control, top):
        return None
    common = _find_common_folder(control)
    if common is None:
        return None
    return GitRepository(root=control, control=control, common=common, bare=True)


def find_current_repository(
    repository: GitRepository, top: bytes | None = None
) -> GitRepository | None:
    """Find the repository that is now at the path of C{repository}.

    The result is equal to C{repository} if nothing has changed.

    @param top: the folder that must contain all parts (see L{SearchBounds}); nothing outside is
        read.
    """
    look = recognise_control if repository.bare else recognise_repository
    return look(repository.root, top)


def has_symlink_in_path(repository: GitRepository) -> bool:
    """Return true if the path of the working tree now contains a symbolic link."""
    return os.path.realpath(repository.root) != repository.root


def _find_common_folder(control: bytes) -> bytes | None:
    """Return the folder with the shared references and configuration for the control folder
    C{control}.

    C{None} means that C{control} is not a control folder.
    """
    pointer = os.path.join(control, _COMMON)
    common = _read_pointer(pointer, b"", control) if os.path.lexists(pointer) else control
    if common is None or not _is_control(control, common):
        return None
    return os.path.realpath(common)


def _is_control(control: bytes, common: bytes) -> bool:
    """Return true if C{HEAD}, objects and references exist, which is git's own test."""
    wanted = (os.path.join(common, name) for name in _PARTS)
    return os.path.lexists(os.path.join(control, b"HEAD")) and all(map(os.path.isdir, wanted))


def _read_pointer(file: bytes, prefix: bytes, base: bytes) -> bytes | None:
    """Return the path that C{file} contains after C{prefix}, resolved relative to C{base}.

    C{None} means that there is no such file, or that it is a symbolic link or has other content.
    """
    text = read_small_file(file, POINTER_LIMIT, links=False)
    if text is None or not text.startswith(prefix):
        return None
    target = text[len(prefix) :].rstrip(b"\r\n")
    return os.path.join(base, target) if target and b"\0" not in target else None


def _find_enclosing_repository(workspace: bytes, bounds: SearchBounds) -> GitRepository | None:
    for folder in _iterate_with_parents(workspace):
        found = recognise_repository(folder, bounds.top)
        if found is not None and bounds.is_allowed(found, workspace):
            return found
    return None


def _find_repositories_below(workspace: bytes, bounds: SearchBounds) -> FoundRepositories:
    """Find repositories below C{workspace}, sorted by depth and path."""
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
    """Return at most C{budget} folders in C{parent}, sorted by name; and true if these are all of
    them.
    """
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


def _iterate_with_parents(folder: bytes) -> Iterator[bytes]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _repository_paths(repository: GitRepository) -> Iterable[bytes]:
    return {repository.root, repository.control, repository.common}


def is_within(path: bytes, folder: bytes) -> bool:
    """Return true if C{path} is C{folder} or inside it.

    Both must be free of symbolic links.
    """
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def find_owners(repository: GitRepository) -> frozenset[int]:
    """Return the ids of the users that own the control files of a repository.

    @raise OSError: a part of the repository is missing.
    """
    entry = () if repository.bare else (os.path.join(repository.root, _CONTROL),)
    paths = {*_repository_paths(repository), *entry}
    return frozenset(os.lstat(path).st_uid for path in paths)


def find_group(repository: GitRepository) -> int:
    """Return the id of the group that owns the root of the working tree.

    @raise OSError: the root is missing.
    """
    status = os.lstat(repository.root)
    return status.st_gid if stat.S_ISDIR(status.st_mode) else -1
