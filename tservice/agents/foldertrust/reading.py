"""Search of a working folder for files that can make an agent run something.

The search runs in a thread, with the rights of the folder's user. No link is followed, so nothing
leads out of the folder, and all amounts are bounded. A link, content beyond a bound, and unreadable
content count as a finding.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from pathlib import Path

from tservice.agents.foldertrust.counted import (
    FolderFinding,
    compute_digest,
    extract_runnable_parts,
    find_possible_paths,
    is_startup_file,
)
from tservice.clis.interfaces import FolderSource
from tservice.core.disk.kernel_paths import open_without_magic_links
from tservice.core.locations.workspace_bounds import FolderLimit

FILE_BYTES = 1024 * 1024
"""Maximum bytes of one file."""
ALL_BYTES = 8 * FILE_BYTES
"""Maximum total bytes of the files' relevant parts."""
FILES = 400
"""Maximum number of files that are examined, and of further files to which these refer."""
NAMES = 20_000
"""Maximum number of words in these files that are checked, because each may be the path of a file.
"""
DEPTH = 12
"""Maximum depth of nested folders."""

_NOTHING = (errno.ENOENT, errno.ENOTDIR)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC


def examine_working_folder(
    folder: str, sources: Sequence[FolderSource], *, inside: FolderLimit, home: Path, own: Set[str]
) -> FolderFinding:
    """Search C{folder} and the folders above it, and return the finding.

    The home folder belongs to the user, so files in or above it do not count.

    @param sources: the files that configure the agent.
    @param inside: the folder that must contain C{folder}.
    @param own: commands of the service itself, which are ignored.
    @raise OSError: the folder itself cannot be opened.
    @raise ServiceError: the folder is outside of its required parent folder.
    """
    opened = open_without_magic_links(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        real = os.readlink(f"/proc/self/fd/{opened}")
    finally:
        os.close(opened)
    inside.check_resolved_folder(real)
    search = _FolderSearch(own)
    for level, each in enumerate(
        _iterate_parents(Path(real), inside, Path(os.path.realpath(home)))
    ):
        top = os.open(each, _FOLDER | os.O_PATH)
        try:
            for source in sources:
                search.search_source(top, "../" * level, source)
        finally:
            os.close(top)
    return search.build_finding()


def _iterate_parents(real: Path, inside: FolderLimit, home: Path) -> Iterator[Path]:
    """Yield the folder and its parents, because some agents read files in every parent folder."""
    top = inside.resolve_top()
    for folder in (real, *real.parents):
        if folder == home or (top is not None and not folder.is_relative_to(os.fsdecode(top))):
            return
        yield folder


class _FolderSearch:
    """Search in progress, with its findings and the remaining limits."""

    def __init__(self, own: Set[str]) -> None:
        self._own = own
        self._left, self._bytes, self._names = FILES, ALL_BYTES, NAMES
        self._files: dict[str, str | None] = {}
        self._named: dict[str, str | None] = {}

    def build_finding(self) -> FolderFinding:
        """Return the result of the completed search."""
        files, named = sorted(self._files.items()), sorted(self._named.items())
        every = [text for _, text in (*files, *named)]
        return FolderFinding(
            files=tuple(files),
            digest=compute_digest([files, named]) if files else "",
            lasting=None not in every and self._names >= 0 and len(named) <= FILES,
        )

    def search_source(self, top: int, prefix: str, source: FolderSource) -> None:
        """Search an open folder for the files of one source.

        @param top: descriptor of the folder.
        @param prefix: path of the folder relative to the working folder.
        """
        paths = [source.path]
        if source.path.endswith("/"):
            paths = list(self._iterate_files(top, prefix, source.path))
        for path in paths:
            try:
                content = _read_file(top, path) if is_startup_file(source, path) else None
            except OSError as error:
                if error.errno not in _NOTHING:
                    self._files[prefix + path] = None
                continue
            if content is not None:
                self._add_runnable_parts(top, prefix, path, content, source)

    def _iterate_files(
        self, top: int, prefix: str, folder: str, depth: int = DEPTH
    ) -> Iterator[str]:
        try:
            opened = _open_below(top, folder, _FOLDER)
        except OSError as error:
            if error.errno not in _NOTHING:
                self._files[prefix + folder] = None
            return
        try:
            with os.scandir(opened) as entries:
                found = list(islice(entries, max(0, self._left) + 1))
        finally:
            os.close(opened)
        for entry in found:
            path = folder + entry.name
            self._left -= 1
            if entry.is_symlink() or self._left < 0 or depth == 0:
                self._files[prefix + path] = None
            elif entry.is_dir(follow_symlinks=False):
                yield from self._iterate_files(top, prefix, path + "/", depth - 1)
            else:
                yield path

    def _add_runnable_parts(
        self, top: int, prefix: str, path: str, content: bytes, source: FolderSource
    ) -> None:
        self._bytes -= len(content)
        if len(content) > FILE_BYTES or self._bytes < 0:
            self._files[prefix + path] = None
            return
        try:
            text = extract_runnable_parts(source, path, content.decode(), self._own)
        except UnicodeDecodeError:
            # No text, but whole: programs are among these.
            text = f"({len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()})"
        if text is None:
            return
        self._files[prefix + path] = text
        # The files that it names are what runs.
        for name in find_possible_paths(text):
            self._names -= 1
            if self._names < 0 or len(self._named) > FILES:
                return
            try:
                named = _read_file(top, name)
            except OSError as error:
                # Most words are no path at all.
                if error.errno not in (*_NOTHING, errno.EXDEV, errno.ENAMETOOLONG):
                    self._named[prefix + name] = None
                continue
            if named is not None:
                fits = len(named) <= FILE_BYTES
                self._named[prefix + name] = hashlib.sha256(named).hexdigest() if fits else None


def _open_below(top: int, path: str, flags: int) -> int:
    """Open a path below a folder, and return its descriptor.

    @param top: descriptor of the folder.
    @raise OSError: ELOOP: the path contains a link; EXDEV: it leads out of the folder.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise OSError(errno.EXDEV, "leads out of the folder", path)
    at = os.dup(top)
    try:
        for number, part in enumerate(parts, 1):
            below = _open_component(at, part, flags if number == len(parts) else _FOLDER)
            os.close(at)
            at = below
        return os.dup(at)
    finally:
        os.close(at)


def _open_component(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except NotADirectoryError:
        # With O_DIRECTORY the kernel says so of a link, too.
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise OSError(errno.ELOOP, "is a link", name) from None
        raise


def _read_file(top: int, path: str) -> bytes | None:
    """Return the content of a file, at most one byte more than the limit; C{None} for a folder.

    @param top: descriptor of the folder that contains the file.
    @raise OSError: the file cannot be read, or is not a regular file.
    """
    opened = _open_below(top, path, _FILE)
    try:
        mode = os.fstat(opened).st_mode
        if stat.S_ISDIR(mode):
            return None
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "no plain file", path)
        with open(opened, "rb", closefd=False) as stream:
            return stream.read(FILE_BYTES + 1)
    finally:
        os.close(opened)
