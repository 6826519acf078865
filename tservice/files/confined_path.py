"""Access to files below a folder, such that no path can lead outside (protocol-files).

A path is resolved one component at a time, each with a descriptor, and the kernel never follows a
link. A link's text is read from the link's own descriptor and resolved by the same rules.
Concurrent renames are harmless: each component is opened in a folder that was itself reached from
the top. After C{..} the walk starts again at the top.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from attrs import evolve, frozen

from tservice.core.disk.kernel_paths import LINKS as LINKS
from tservice.core.disk.kernel_paths import open_without_magic_links
from tservice.core.kernel.errors import make_field_error
from tservice.core.locations.workspace_bounds import ANYWHERE, FolderLimit
from tservice.files.model import check_path, make_outside_error, make_secret_error

STEPS = 512
"""Maximum number of path components to resolve. Components of links, and those repeated after
C{..}, count too.
"""

_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

FolderId = tuple[int, int]
"""Device and inode numbers that identify a folder."""


@frozen
class AccessRules:
    """Folders that file operations must not enter.

    @ivar folders: inaccessible folders, including everything below them.
    @ivar exempt: folders within an inaccessible folder that stay accessible.
    @ivar bounds: folders that the workspace itself must be in.
    """

    folders: frozenset[FolderId] = frozenset()
    exempt: frozenset[FolderId] = frozenset()
    bounds: FolderLimit = ANYWHERE

    def denies(self, status: os.stat_result) -> bool:
        """Return true if the folder with this C{status} is inaccessible."""
        return _folder_id(status) in self.folders


@frozen(kw_only=True)
class ConfinedEntry:
    """File, folder or missing entry that a path resolves to.

    @ivar names: path components from the top, with links resolved. An empty tuple means the top
        itself.
    @ivar paths: absolute paths of the entry: the requested one, and the one with links resolved.
    @ivar folder: descriptor of the folder that contains the entry; for a folder, its own
        descriptor.
    @ivar descriptor: C{O_PATH} descriptor of the entry, or C{None} if the entry does not exist.
    """

    names: tuple[bytes, ...]
    folder: int
    descriptor: int | None
    status: os.stat_result | None
    paths: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """File name of the entry."""
        return decode_name(self.names[-1]) if self.names else ""

    @property
    def path(self) -> str:
        """Path of the entry relative to the top, as clients see it."""
        return "/".join(map(decode_name, self.names)) or "."

    @property
    def is_folder(self) -> bool:
        """True if the entry is a folder."""
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)

    def get_status_or_raise(self) -> os.stat_result:
        """Return the C{stat} result of the entry.

        @raise FileNotFoundError: the entry does not exist.
        """
        if self.status is None:
            raise FileNotFoundError
        return self.status

    def check_regular(self) -> None:
        """Check that the entry is a regular file.

        @raise FileNotFoundError: the entry does not exist.
        @raise ServiceError: 400 if it is not a regular file.
        """
        if not stat.S_ISREG(self.get_status_or_raise().st_mode):
            raise make_field_error("path", "must be a regular file")

    def open_file(self) -> int:
        """Open exactly the file that the path resolved to, and return a descriptor for reading.

        @raise FileNotFoundError: the file does not exist.
        @raise ServiceError: 400 if it is not a regular file; such an entry is never opened.
        """
        self.check_regular()
        return os.open(f"/proc/self/fd/{self.descriptor}", _READ)

    def open_folder(self) -> int:
        """Open the folder and return a descriptor for listing it.

        @raise FileNotFoundError: the folder does not exist.
        @raise ServiceError: 400 if it is not a folder.
        """
        self.get_status_or_raise()
        if not self.is_folder:
            raise make_field_error("path", "must be a folder")
        return os.open(b".", _FOLDER, dir_fd=self.folder)


class ConfinedFolder:
    """Open workspace folder, below which paths are resolved without leaving it.

    @ivar real: path of the folder with links resolved.
    """

    def __init__(self, folder: str, closed: AccessRules = AccessRules()) -> None:
        """Open the workspace folder.

        @param closed: rules for folders that must not be entered.
        @raise FileNotFoundError: the folder does not exist.
        @raise ServiceError: 400 if the folder now belongs to the kernel, such as C{/proc}. 403 if
            C{closed} denies access, or if the folder was replaced by a link to one outside the
            account's bounds.
        """
        self._asked = os.fsencode(folder)
        self._closed = closed
        self._top = open_without_magic_links(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            self.real = os.readlink(os.fsencode(f"/proc/self/fd/{self._top}"))
            closed.bounds.check_resolved_folder(os.fsdecode(self.real))
            self._check_ancestors()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the descriptor of the workspace folder."""
        os.close(self._top)

    def __enter__(self) -> ConfinedFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def resolve_path(self, path: str) -> Iterator[ConfinedEntry]:
        """Resolve C{path} and yield the entry, whose descriptors are closed after the block.

        @param path: relative to the workspace, or absolute and inside the workspace.
        @raise ServiceError: 400 for an invalid path, or too many components or links; 403 if the
            path leads outside or into an inaccessible folder.
        @raise OSError: a folder of the path is missing, is not a folder, or may not be entered.
        """
        check_path(path)
        words = os.fsencode(path)
        parts = self._split_below_top(words) if words.startswith(b"/") else words.split(b"/")
        walk = _PathResolution(self._top, self._closed, self._split_below_top)
        try:
            spot = walk.resolve_parts(parts)
            asked = os.path.normpath(os.path.join(self._asked, words))
            real = os.path.join(self.real, *spot.names)
            yield evolve(spot, paths=frozenset(map(os.fsdecode, (asked, real))))
        finally:
            walk.close()

    def _split_below_top(self, path: bytes) -> list[bytes]:
        """Return the components of an absolute path, relative to the top.

        @raise ServiceError: 403 if the path is outside the workspace.
        """
        for top in (self.real, self._asked):
            if path == top or path.startswith(top.rstrip(b"/") + b"/"):
                return path[len(top) :].split(b"/")
        raise make_outside_error()

    def _check_ancestors(self) -> None:
        """Check that the rules deny access to no ancestor of the workspace.

        @raise ServiceError: 403 if an ancestor, with links resolved, is inaccessible.
        """
        if not self._closed.folders:
            return
        at = os.dup(self._top)
        try:
            for _ in range(STEPS):
                status = os.fstat(at)
                here = _folder_id(status)
                if here in self._closed.exempt:
                    return
                if self._closed.denies(status):
                    raise make_secret_error()
                try:
                    above = os.open(b"..", _PATH | os.O_DIRECTORY, dir_fd=at)
                except PermissionError:
                    return
                os.close(at)
                at = above
                if _folder_id(os.fstat(at)) == here:
                    return
        finally:
            os.close(at)


class _PathResolution:
    """Resolution of one path. At most two descriptors are open at a time."""

    def __init__(
        self, top: int, closed: AccessRules, inside: Callable[[bytes], list[bytes]]
    ) -> None:
        self._top, self._closed, self._inside = top, closed, inside
        self._at = os.dup(top)
        self._file: int | None = None
        self._names: list[bytes] = []
        self._links = 0

    def close(self) -> None:
        for descriptor in (self._at, self._file):
            if descriptor is not None:
                os.close(descriptor)

    def resolve_parts(self, parts: list[bytes]) -> ConfinedEntry:
        left = _reverse_parts(parts)
        for _ in range(STEPS):
            if not left:
                return self._make_entry(self._at)
            part = left.pop()
            if part == b"..":
                left += self._restart_for_parent()
                continue
            try:
                found = os.open(part, _PATH, dir_fd=self._at)
            except FileNotFoundError:
                if left:
                    raise
                self._names.append(part)
                return self._make_entry(None)
            status = os.fstat(found)
            if stat.S_ISLNK(status.st_mode):
                left += self._follow_link(found)
            elif stat.S_ISDIR(status.st_mode):
                self._enter_or_follow(found, part, status)
            else:
                self._file = found
                if left:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                self._names.append(part)
                return self._make_entry(found)
        raise make_field_error("path", f"must have at most {STEPS} steps, those of links included")

    def _make_entry(self, descriptor: int | None) -> ConfinedEntry:
        status = None if descriptor is None else os.fstat(descriptor)
        return ConfinedEntry(
            names=tuple(self._names), folder=self._at, descriptor=descriptor, status=status
        )

    def _enter_or_follow(self, found: int, part: bytes, status: os.stat_result) -> None:
        os.close(self._at)
        self._at = found
        if self._closed.denies(status):
            raise make_secret_error()
        self._names.append(part)

    def _restart_for_parent(self) -> list[bytes]:
        """Restart the walk at the top, and return the components that lead to the parent folder."""
        if not self._names:
            raise make_outside_error()
        again = self._names[:-1]
        self._reset_to_top()
        return _reverse_parts(again)

    def _follow_link(self, link: int) -> list[bytes]:
        """Return the components of a link's target, and close the link's descriptor."""
        try:
            target = os.readlink(b"", dir_fd=link)
        finally:
            os.close(link)
        self._links += 1
        if self._links > LINKS:
            raise make_field_error("path", f"must lead over at most {LINKS} links")
        if not target.startswith(b"/"):
            return _reverse_parts(target.split(b"/"))
        parts = self._inside(target)
        self._reset_to_top()
        return _reverse_parts(parts)

    def _reset_to_top(self) -> None:
        os.close(self._at)
        self._at = os.dup(self._top)
        self._names = []


def _reverse_parts(parts: list[bytes]) -> list[bytes]:
    """Return the components in reverse order, without empty ones and C{.}."""
    return [part for part in reversed(parts) if part not in (b"", b".")]


def _folder_id(status: os.stat_result) -> FolderId:
    return status.st_dev, status.st_ino


def find_folder_ids(folder: str | os.PathLike[str]) -> frozenset[FolderId]:
    """Return a set with the identity of C{folder}. The set is empty if the folder does not
    exist.
    """
    with suppress(OSError):
        return frozenset({_folder_id(os.stat(folder))})
    return frozenset()


def decode_name(name: bytes) -> str:
    """Return a name as clients see it, with invalid UTF-8 replaced by U+FFFD."""
    return name.decode("utf-8", "replace")
