"""Listing of a workspace's files and folders as a tree, breadth first (protocol-files)."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from attrs import define, field, frozen

from tservice.core.workers.sliced_sort import sort_in_slices
from tservice.files.confined_path import AccessRules, ConfinedEntry, ConfinedFolder, decode_name
from tservice.files.model import FOLDER_NAMES, TREE_DEPTH, TREE_ENTRIES, UNEXPANDED_FOLDERS

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


Entry = dict[str, Any]


@frozen(kw_only=True)
class TreeRequest:
    """Parameters of a tree listing.

    @ivar depth: number of folder levels to list, from 1. Values out of range are clamped.
    """

    path: str = "."
    depth: int = 3
    show_hidden: bool = False


@frozen
class _PendingFolder:
    """Folder whose entries are still to be listed.

    @ivar steps: path components from the root of the tree, none of which is a link.
    """

    steps: tuple[bytes, ...]
    entry: Entry


@define
class TreeBuilder:
    """Builder of a tree listing with at most L{TREE_ENTRIES} entries."""

    top: ConfinedEntry
    wanted: TreeRequest
    closed: AccessRules
    files: int = 0
    folders: int = 0
    truncated: bool = False
    _waiting: deque[_PendingFolder] = field(factory=deque)

    def build_entries(self) -> list[Entry]:
        """Return the entries of the root folder. Each listed folder contains its own entries."""
        beginning: Entry = {"path": self.top.path}
        self._add_folder_entries(self.top.open_folder(), _PendingFolder((), beginning))
        depth = min(max(self.wanted.depth, 1), TREE_DEPTH)
        while self._waiting:
            folder = self._waiting.popleft()
            if len(folder.steps) < depth:
                self._open_and_list_folder(folder)
        entries: list[Entry] = beginning["children"]
        return entries

    def _open_and_list_folder(self, folder: _PendingFolder) -> None:
        if self._count >= TREE_ENTRIES:
            folder.entry["truncated"] = self.truncated = True
            return
        with suppress(OSError):  # it was removed or replaced, or the user may not read it
            descriptor = self._open_folder(folder.steps)
            if self.closed.denies(os.fstat(descriptor)):
                os.close(descriptor)
                return
            self._add_folder_entries(descriptor, folder)

    def _open_folder(self, steps: tuple[bytes, ...]) -> int:
        at = os.dup(self.top.folder)
        for step in steps[:-1]:
            above, at = at, -1
            try:
                at = os.open(step, _PASS, dir_fd=above)
            finally:
                os.close(above)
        try:
            return os.open(steps[-1], _FOLDER, dir_fd=at)
        finally:
            os.close(at)

    def _add_folder_entries(self, descriptor: int, folder: _PendingFolder) -> None:
        """Add the entries of C{folder} to the tree, and close its C{descriptor}."""
        try:
            room = TREE_ENTRIES - self._count
            names = list(islice(self._list_sorted_names(descriptor), room + 1))
            if len(names) > room:
                folder.entry["truncated"] = self.truncated = True
            prefix = "" if folder.entry["path"] == "." else f"{folder.entry['path']}/"
            folder.entry["children"] = [
                child
                for name in names[:room]
                if (child := self._make_entry(descriptor, name, prefix, folder.steps)) is not None
            ]
        finally:
            os.close(descriptor)

    def _list_sorted_names(self, descriptor: int) -> Iterator[str]:
        """Yield the names in a folder in alphabetical order, ignoring case. Folders come first."""
        folders: list[str] = []
        files: list[str] = []
        with os.scandir(descriptor) as found:
            for each in islice(found, FOLDER_NAMES):
                if each.name.startswith(".") and not self.wanted.show_hidden:
                    continue
                among = folders if each.is_dir(follow_symlinks=False) else files
                among.append(each.name)
        yield from sort_in_slices(folders, str.casefold)
        yield from sort_in_slices(files, str.casefold)

    def _make_entry(
        self, folder: int, each: str, prefix: str, steps: tuple[bytes, ...]
    ) -> Entry | None:
        try:
            status = os.stat(each, dir_fd=folder, follow_symlinks=False)
        except OSError:  # removed in the meantime
            return None
        raw = os.fsencode(each)
        name = decode_name(raw)
        entry: Entry = {"name": name, "path": prefix + name, "type": _entry_kind(status.st_mode)}
        if entry["type"] == "file":
            entry["size"] = status.st_size
        entry["mtimeMs"] = status.st_mtime_ns // 1_000_000
        if entry["type"] == "dir":
            self.folders += 1
            if name not in UNEXPANDED_FOLDERS:
                self._waiting.append(_PendingFolder((*steps, raw), entry))
        else:
            self.files += 1
        return entry

    @property
    def _count(self) -> int:
        return self.files + self.folders


def list_tree(workspace: str, wanted: TreeRequest, closed: AccessRules) -> dict[str, Any]:
    """Return the body of the response to C{GET files}.

    @param workspace: path of the workspace folder.
    @raise ServiceError: 400 if the path is not a folder; 403 if it is outside or inaccessible.
    @raise OSError: the folder is missing or may not be read.
    """
    with ConfinedFolder(workspace, closed) as beneath, beneath.resolve_path(wanted.path) as spot:
        tree = TreeBuilder(spot, wanted, closed)
        entries = tree.build_entries()
        return {
            "root": workspace,
            "path": spot.path,
            "tree": entries,
            "totalFiles": tree.files,
            "totalDirectories": tree.folders,
            "truncated": tree.truncated,
        }


def _entry_kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"
