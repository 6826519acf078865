"""Search for all repositories in a folder that is about to be removed.

No folder is skipped because of its name.  Every function blocks on the file system and must be
called in a thread.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator

from attrs import field, frozen

from tservice.git.model import GitRepository, to_display_text
from tservice.git.search import (
    POINTER_LIMIT,
    is_within,
    recognise_control,
    recognise_repository,
)
from tservice.git.small_files import read_small_file

REPOSITORIES = 200
"""Maximum number of repositories found in one folder.

If there are more, the result is incomplete.
"""
FOLDERS_LIMIT = 250_000
"""Maximum number of folders visited in one search.

The dependencies of a large project have some ten thousand folders.
"""

_CONTROL = b".git"
_MODULES = b"modules"
_BARE = frozenset({b"HEAD", b"objects", b"refs"})


@frozen(kw_only=True)
class NestedRepository:
    """Repository found in a folder.

    @ivar name: the repository's name in error texts.
    """

    repository: GitRepository
    name: str


@frozen(kw_only=True)
class FolderRepositories:
    """Repositories of a folder, at any depth.

    @ivar top: the folder's path, without symbolic links.
    @ivar is_complete: true if the search reached no limit.
    @ivar broken: names of folders whose C{.git} leads to no repository.
    """

    top: bytes
    repositories: tuple[NestedRepository, ...] = ()
    is_complete: bool = True
    broken: tuple[str, ...] = ()
    _going: tuple[bytes, ...] = field(default=())

    def removes_path(self, path: bytes) -> bool:
        """Return true if removing the folder also removes C{path}.

        The main repository holds the state of a linked worktree, including its submodules.  Git
        removes that state together with the worktree.
        """
        return any(is_within(path, folder) for folder in self._going)


def find_repositories(folder: bytes) -> FolderRepositories:
    """Find the repositories at and below C{folder}.  Symbolic links are not followed.

    Submodules that are not checked out, and bare repositories, are included.

    @raise OSError: the folder cannot be read.
    """
    os.close(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    top = os.path.realpath(folder)
    found: list[NestedRepository] = []
    broken: list[str] = []
    ahead = deque([top])
    seen = 0
    while ahead:
        each = ahead.popleft()
        seen += 1
        names, folders = _scan_folder(each)
        repository = recognise_repository(each) if _CONTROL in names else None
        if repository is None and names >= _BARE:
            repository, folders = recognise_control(each), []
        if repository is not None:
            name = repository.path_relative_to(top)
            found.append(
                NestedRepository(repository=repository, name="it" if name == "." else name)
            )
        elif _CONTROL in names and not _is_empty(os.path.join(each, _CONTROL)):
            broken.append(to_display_text(os.path.relpath(each, top)))
        ahead += folders
        full = len(found) > REPOSITORIES or len(broken) > REPOSITORIES
        if full or seen + len(ahead) > FOLDERS_LIMIT:
            return _make_folder_repositories(top, found[:REPOSITORIES], broken, whole=False)
    found += _find_absorbed_submodules(found, top)
    whole = len(found) <= REPOSITORIES
    return _make_folder_repositories(top, found[:REPOSITORIES], broken, whole=whole)


def find_missing_worktree(path: bytes, repository: bytes) -> FolderRepositories:
    """Find the state that a repository still holds for a worktree whose folder is missing.

    @param path: the worktree's former folder.
    @param repository: path of the repository.
    """
    top = os.path.realpath(path)
    owner = recognise_repository(os.path.realpath(repository))
    control = None if owner is None else _find_control_folder(top, owner.common)
    known = None if control is None else recognise_control(control)
    if known is None:
        return FolderRepositories(top=top)
    held = NestedRepository(repository=known, name="it")
    return _make_folder_repositories(
        top, [held, *_find_absorbed_submodules([held], top)][:REPOSITORIES], [], whole=True
    )


def list_worktree_folders(common: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the control folder (in C{.git/worktrees}) and the working tree of each linked worktree.

    @param common: the common control folder of the repository.
    """
    folder = os.path.join(common, b"worktrees")
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        control = os.path.join(folder, name)
        text = read_small_file(os.path.join(control, b"gitdir"), POINTER_LIMIT)
        if text:
            pointer = os.path.join(control, text.strip())
            yield control, os.path.realpath(os.path.dirname(pointer))


def _find_control_folder(top: bytes, common: bytes) -> bytes | None:
    found = (control for control, folder in list_worktree_folders(common) if folder == top)
    control = next(found, None)
    return None if control is None else os.path.realpath(control)


def _make_folder_repositories(
    top: bytes, found: list[NestedRepository], broken: list[str], *, whole: bool
) -> FolderRepositories:
    linked = {
        it.repository.control for it in found if it.repository.control != it.repository.common
    }
    return FolderRepositories(
        top=top,
        repositories=tuple(found),
        is_complete=whole,
        broken=tuple(broken),
        going=(top, *sorted(linked)),
    )


def _find_absorbed_submodules(
    found: Iterable[NestedRepository], top: bytes
) -> list[NestedRepository]:
    """Return submodules that are not checked out, but whose repositories would be removed too."""
    known = {each.repository.control for each in found}
    linked = {each.repository.control for each in found if not _is_main(each.repository)}
    ahead = [control for control in known if control in linked or is_within(control, top)]
    more: list[NestedRepository] = []
    while ahead and len(more) <= REPOSITORIES:
        modules = os.path.join(ahead.pop(), _MODULES)
        for control in _find_module_controls(modules):
            repository = recognise_control(control)
            if repository is None or repository.control in known:
                continue
            known.add(repository.control)
            ahead.append(repository.control)
            name = f"the submodule {to_display_text(os.path.relpath(control, modules))}"
            more.append(NestedRepository(repository=repository, name=name))
    return more


def _find_module_controls(folder: bytes) -> Iterator[bytes]:
    """Yield the submodules' control folders below a C{modules} folder.

    The search is recursive, because the name of a submodule may contain slashes.
    """
    ahead = deque([folder])
    seen = 0
    while ahead and seen < FOLDERS_LIMIT:
        each = ahead.popleft()
        seen += 1
        names, folders = _scan_folder(each)
        if names >= _BARE:
            yield each
        else:
            ahead += folders


def _scan_folder(folder: bytes) -> tuple[set[bytes], list[bytes]]:
    """Return the entries that identify a repository, and the subfolders.

    Both are empty if the folder cannot be read.
    """
    names: set[bytes] = set()
    folders: list[bytes] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == _CONTROL or entry.name in _BARE:
                    names.add(entry.name)
                if entry.name != _CONTROL and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    except OSError:
        # The user cannot read it, so it holds no work of the user.
        return names, sorted(folders)
    return names, sorted(folders)


def _is_main(repository: GitRepository) -> bool:
    return repository.control == repository.common


def _is_empty(path: bytes) -> bool:
    """Return true if C{path} is an empty folder.

    Git does not regard it as a repository.
    """
    try:
        return not os.listdir(path)
    except NotADirectoryError:
        return False
    except OSError:
        return True
