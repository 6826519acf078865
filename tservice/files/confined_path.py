"""Access to a folder that no path can leave (protocol-files).

A path is walked from descriptor to descriptor, and the kernel follows no link on the way. The text
of a link is read from its own descriptor, and walked by the same rules.  Concurrent changes
therefore do no harm: each step goes down from a folder that was reached by steps down, or starts
again at the top.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from attrs import evolve, frozen

from tservice.core.errors import invalid_field
from tservice.core.kernel_paths import open_without_magic_links
from tservice.core.locations.workspace_bounds import ANYWHERE, FolderLimit
from tservice.files.model import check_path, outside_refused, secret_refused

STEPS = 512
"""Limit of path parts, including those of links and those repeated after C{..}."""

LINKS = 40

_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

FolderId = tuple[int, int]
"""Device and inode."""


@frozen
class AccessRules:
    """Rules for inaccessible folders, including everything below them.

    @ivar free: folders that stay accessible within an inaccessible one.
    @ivar inside: bounds that the workspace itself must be in.
    """

    folders: frozenset[FolderId] = frozenset()
    exempt: frozenset[FolderId] = frozenset()
    bounds: FolderLimit = ANYWHERE

    def denies(self, status: os.stat_result) -> bool:
        """Return true if this folder is inaccessible."""
        return _folder_id(status) in self.folders


@frozen(kw_only=True)
class ConfinedEntry:
    """Result of resolving a path.

    @ivar names: path from the top with links resolved; empty: the top itself.
    @ivar paths: its absolute paths: as requested, and with links resolved.
    @ivar folder: descriptor of the folder that contains it; for a folder, its own.
    @ivar descriptor: C{O_PATH} descriptor of the entry; C{None}: it does not exist.
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
        """Path from the top, as clients see it."""
        return "/".join(map(decode_name, self.names)) or "."

    @property
    def is_folder(self) -> bool:
        """True for a folder."""
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)

    def require_status(self) -> os.stat_result:
        """Return the status of the entry.

        @raise FileNotFoundError: it does not exist.
        """
        if self.status is None:
            raise FileNotFoundError
        return self.status

    def check_regular(self) -> None:
        """Check that the entry is a regular file.

        @raise FileNotFoundError: it does not exist.
        @raise ServiceError: 400: it is no regular file.
        """
        if not stat.S_ISREG(self.require_status().st_mode):
            raise invalid_field("path", "must be a regular file")

    def open_file(self) -> int:
        """Open exactly the file that was found, for reading.

        @raise FileNotFoundError: it does not exist.
        @raise ServiceError: 400: it is no regular file, and was not opened.
        """
        self.check_regular()
        return os.open(f"/proc/self/fd/{self.descriptor}", _READ)

    def open_folder(self) -> int:
        """Open the folder for listing.

        @raise FileNotFoundError: it does not exist.
        @raise ServiceError: 400: it is no folder.
        """
        self.require_status()
        if not self.is_folder:
            raise invalid_field("path", "must be a folder")
        return os.open(b".", _FOLDER, dir_fd=self.folder)


class ConfinedFolder:
    """Opened workspace that paths cannot leave.

    @ivar real: its path with links resolved.
    """

    def __init__(self, folder: str, closed: AccessRules = AccessRules()) -> None:
        """Open the workspace.

        @raise FileNotFoundError: the folder does not exist.
        @raise ServiceError: 400: it has become a folder of the kernel's; 403: it is inaccessible by
            C{closed}, or was replaced by a link to something that does not belong to the account.
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
        """Close the workspace."""
        os.close(self._top)

    def __enter__(self) -> ConfinedFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def find(self, path: str) -> Iterator[ConfinedEntry]:
        """Resolve C{path}, which is relative, or absolute and inside.

        @raise ServiceError: 400: invalid path, or too many steps or links; 403: it leads outside,
            or into an inaccessible folder.
        @raise OSError: a folder on the way is missing, is no folder, or may not be entered.
        """
        check_path(path)
        words = os.fsencode(path)
        parts = self._relative_parts(words) if words.startswith(b"/") else words.split(b"/")
        walk = _PathWalk(self._top, self._closed, self._relative_parts)
        try:
            spot = walk.resolve_parts(parts)
            asked = os.path.normpath(os.path.join(self._asked, words))
            real = os.path.join(self.real, *spot.names)
            yield evolve(spot, paths=frozenset(map(os.fsdecode, (asked, real))))
        finally:
            walk.close()

    def _relative_parts(self, path: bytes) -> list[bytes]:
        """Return the parts of an absolute path below the top.

        @raise ServiceError: 403: the path is outside.
        """
        for top in (self.real, self._asked):
            if path == top or path.startswith(top.rstrip(b"/") + b"/"):
                return path[len(top) :].split(b"/")
        raise outside_refused()

    def _check_ancestors(self) -> None:
        """Check that no ancestor, with links resolved, is inaccessible."""
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
                    raise secret_refused()
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


class _PathWalk:
    """Walk along one path; it holds two descriptors at most."""

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
                left += self._go_up()
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
                self._enter_folder(found, part, status)
            else:
                self._file = found
                if left:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                self._names.append(part)
                return self._make_entry(found)
        raise invalid_field("path", f"must have at most {STEPS} steps, those of links included")

    def _make_entry(self, descriptor: int | None) -> ConfinedEntry:
        status = None if descriptor is None else os.fstat(descriptor)
        return ConfinedEntry(
            names=tuple(self._names), folder=self._at, descriptor=descriptor, status=status
        )

    def _enter_folder(self, found: int, part: bytes, status: os.stat_result) -> None:
        os.close(self._at)
        self._at = found
        if self._closed.denies(status):
            raise secret_refused()
        self._names.append(part)

    def _go_up(self) -> list[bytes]:
        """Return to the top, and return the parts that lead to the parent folder."""
        if not self._names:
            raise outside_refused()
        again = self._names[:-1]
        self._return_to_top()
        return _reverse_parts(again)

    def _follow_link(self, link: int) -> list[bytes]:
        """Return the parts of a link's target and close the link's descriptor."""
        try:
            target = os.readlink(b"", dir_fd=link)
        finally:
            os.close(link)
        self._links += 1
        if self._links > LINKS:
            raise invalid_field("path", f"must lead over at most {LINKS} links")
        if not target.startswith(b"/"):
            return _reverse_parts(target.split(b"/"))
        parts = self._inside(target)
        self._return_to_top()
        return _reverse_parts(parts)

    def _return_to_top(self) -> None:
        os.close(self._at)
        self._at = os.dup(self._top)
        self._names = []


def _reverse_parts(parts: list[bytes]) -> list[bytes]:
    """Return the parts in reverse order, without empty ones and dots."""
    return [part for part in reversed(parts) if part not in (b"", b".")]


def _folder_id(status: os.stat_result) -> FolderId:
    return status.st_dev, status.st_ino


def find_folder_ids(folder: str | os.PathLike[str]) -> frozenset[FolderId]:
    """Return the identity of C{folder}; empty if it does not exist."""
    with suppress(OSError):
        return frozenset({_folder_id(os.stat(folder))})
    return frozenset()


def decode_name(name: bytes) -> str:
    """Return a name as clients see it, with invalid UTF-8 replaced by U+FFFD."""
    return name.decode("utf-8", "replace")
