"""A folder that nothing leads out of (protocol-files).

A path is walked from descriptor to descriptor, and the kernel follows no link on the way: a link's
text is read from the descriptor of the link itself and walked by the same rules.  So it does not
matter what is exchanged for what meanwhile: each step goes down from a folder that was reached by
steps down, or begins again at the top.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from attrs import evolve, frozen

from tservice.core.errors import invalid
from tservice.core.kernelfiles import open_plain
from tservice.core.places.bounds import ANYWHERE, Inside
from tservice.files.model import check_path, outside, secret

STEPS = 512
"""Parts of a path, those of links included, and those gone through again after C{..}."""

LINKS = 40

_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

FolderId = tuple[int, int]
"""Device and inode."""


@frozen
class Closed:
    """Folders that nobody comes into this way, with all below.

    @ivar free: what is reached all the same, where it is below one of them.
    @ivar inside: what the workspace itself must be in.
    """

    folders: frozenset[FolderId] = frozenset()
    free: frozenset[FolderId] = frozenset()
    inside: Inside = ANYWHERE

    def hides(self, status: os.stat_result) -> bool:
        """Whether that folder is one of them."""
        return _identity(status) in self.folders


@frozen(kw_only=True)
class Spot:
    """What a path came to.

    @ivar names: the way there from the top, links resolved; empty: the top itself.
    @ivar paths: absolute ones by which it is known: as it was asked for, and links resolved.
    @ivar folder: descriptor of the folder that it is in; of a folder, its own.
    @ivar descriptor: of the thing itself, which was not opened (C{O_PATH}); C{None}: there is none.
    """

    names: tuple[bytes, ...]
    folder: int
    descriptor: int | None
    status: os.stat_result | None
    paths: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Its own name."""
        return shown(self.names[-1]) if self.names else ""

    @property
    def path(self) -> str:
        """The way there, as clients see it."""
        return "/".join(map(shown, self.names)) or "."

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.status is not None and stat.S_ISDIR(self.status.st_mode)

    def require(self) -> os.stat_result:
        """Its status.

        @raise FileNotFoundError: there is none.
        """
        if self.status is None:
            raise FileNotFoundError
        return self.status

    def check_regular(self) -> None:
        """Refuse what is no regular file.

        @raise FileNotFoundError: there is nothing.
        @raise ServiceError: 400.
        """
        if not stat.S_ISREG(self.require().st_mode):
            raise invalid("path", "must be a regular file")

    def open(self) -> int:
        """Open the file for reading: the very one that was found.

        @raise FileNotFoundError: there is none.
        @raise ServiceError: 400: no regular file, which is not opened.
        """
        self.check_regular()
        return os.open(f"/proc/self/fd/{self.descriptor}", _READ)

    def open_folder(self) -> int:
        """Open the folder for listing.

        @raise FileNotFoundError: there is none.
        @raise ServiceError: 400: it is none.
        """
        self.require()
        if not self.is_folder:
            raise invalid("path", "must be a folder")
        return os.open(b".", _FOLDER, dir_fd=self.folder)


class Beneath:
    """One workspace, opened.

    @ivar real: where it is, links resolved.
    """

    def __init__(self, folder: str, closed: Closed = Closed()) -> None:
        """
        @raise FileNotFoundError: there is no such folder.
        @raise ServiceError: 400: it has become a folder of the kernel's; 403: it is in one of
            C{closed}, or was exchanged for a link to something that is not the account's.
        """
        self._asked = os.fsencode(folder)
        self._closed = closed
        self._top = open_plain(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            self.real = os.readlink(os.fsencode(f"/proc/self/fd/{self._top}"))
            closed.inside.check_real(os.fsdecode(self.real))
            self._check_above()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of it."""
        os.close(self._top)

    def __enter__(self) -> Beneath:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def find(self, path: str) -> Iterator[Spot]:
        """What C{path} leads to: relative, or absolute and inside.

        @raise ServiceError: 400: no path, too many steps or links; 403: it leads out, or into a
            closed folder.
        @raise OSError: a folder on the way is missing, is none, or may not be entered.
        """
        check_path(path)
        words = os.fsencode(path)
        parts = self._inside(words) if words.startswith(b"/") else words.split(b"/")
        walk = _Walk(self._top, self._closed, self._inside)
        try:
            spot = walk.go(parts)
            asked = os.path.normpath(os.path.join(self._asked, words))
            real = os.path.join(self.real, *spot.names)
            yield evolve(spot, paths=frozenset(map(os.fsdecode, (asked, real))))
        finally:
            walk.close()

    def _inside(self, path: bytes) -> list[bytes]:
        """The parts of an absolute path behind the top.

        @raise ServiceError: 403.
        """
        for top in (self.real, self._asked):
            if path == top or path.startswith(top.rstrip(b"/") + b"/"):
                return path[len(top) :].split(b"/")
        raise outside()

    def _check_above(self) -> None:
        """Whether a closed folder is above, links resolved."""
        if not self._closed.folders:
            return
        at = os.dup(self._top)
        try:
            for _ in range(STEPS):
                status = os.fstat(at)
                here = _identity(status)
                if here in self._closed.free:
                    return
                if self._closed.hides(status):
                    raise secret()
                try:
                    above = os.open(b"..", _PATH | os.O_DIRECTORY, dir_fd=at)
                except PermissionError:
                    return
                os.close(at)
                at = above
                if _identity(os.fstat(at)) == here:
                    return
        finally:
            os.close(at)


class _Walk:
    """One path, step by step; holds two descriptors at most."""

    def __init__(self, top: int, closed: Closed, inside: Callable[[bytes], list[bytes]]) -> None:
        self._top, self._closed, self._inside = top, closed, inside
        self._at = os.dup(top)
        self._file: int | None = None
        self._names: list[bytes] = []
        self._links = 0

    def close(self) -> None:
        for descriptor in (self._at, self._file):
            if descriptor is not None:
                os.close(descriptor)

    def go(self, parts: list[bytes]) -> Spot:
        left = _steps(parts)
        for _ in range(STEPS):
            if not left:
                return self._spot(self._at)
            part = left.pop()
            if part == b"..":
                left += self._up()
                continue
            try:
                found = os.open(part, _PATH, dir_fd=self._at)
            except FileNotFoundError:
                if left:
                    raise
                self._names.append(part)
                return self._spot(None)
            status = os.fstat(found)
            if stat.S_ISLNK(status.st_mode):
                left += self._follow(found)
            elif stat.S_ISDIR(status.st_mode):
                self._enter(found, part, status)
            else:
                self._file = found
                if left:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                self._names.append(part)
                return self._spot(found)
        raise invalid("path", f"must have at most {STEPS} steps, those of links included")

    def _spot(self, descriptor: int | None) -> Spot:
        status = None if descriptor is None else os.fstat(descriptor)
        return Spot(names=tuple(self._names), folder=self._at, descriptor=descriptor, status=status)

    def _enter(self, found: int, part: bytes, status: os.stat_result) -> None:
        os.close(self._at)
        self._at = found
        if self._closed.hides(status):
            raise secret()
        self._names.append(part)

    def _up(self) -> list[bytes]:
        """What is to be walked again from the top to come to the folder above."""
        if not self._names:
            raise outside()
        again = self._names[:-1]
        self._begin_again()
        return _steps(again)

    def _follow(self, link: int) -> list[bytes]:
        """The parts that a link stands for; its descriptor is let go of."""
        try:
            target = os.readlink(b"", dir_fd=link)
        finally:
            os.close(link)
        self._links += 1
        if self._links > LINKS:
            raise invalid("path", f"must lead over at most {LINKS} links")
        if not target.startswith(b"/"):
            return _steps(target.split(b"/"))
        parts = self._inside(target)
        self._begin_again()
        return _steps(parts)

    def _begin_again(self) -> None:
        os.close(self._at)
        self._at = os.dup(self._top)
        self._names = []


def _steps(parts: list[bytes]) -> list[bytes]:
    """The first one last."""
    return [part for part in reversed(parts) if part not in (b"", b".")]


def _identity(status: os.stat_result) -> FolderId:
    return status.st_dev, status.st_ino


def identity(folder: str | os.PathLike[str]) -> frozenset[FolderId]:
    """What to know C{folder} by; empty where there is none."""
    with suppress(OSError):
        return frozenset({_identity(os.stat(folder))})
    return frozenset()


def shown(name: bytes) -> str:
    """A name as clients see it: what is not UTF-8 in it is U+FFFD."""
    return name.decode("utf-8", "replace")
