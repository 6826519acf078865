"""Followed folders in which agents keep the status of each of their processes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import define, field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location import Location
from tservice.core.workers.thread_runners import RunInLocation

READ_BYTES = 64 * 1024
"""Maximum size of a status file; a larger one is ignored."""
RETRY = 5.0
"""Seconds until a folder that could not be watched is tried again, if a screen changes then."""

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Stamp = tuple[int, int, int]
WatchFolder = Callable[[int, Callable[[], None]], Callable[[], None]]
"""See L{tservice.core.locations.folder_watches.FolderWatches.watch_folder}."""


@frozen(kw_only=True)
class StatusFile:
    """Status file of one process.

    @ivar folder: the folder that contains it.
    @ivar name: its name in that folder.
    @ivar owner: the account of the session in which the process runs.
    """

    place: Location
    folder: Path
    name: str
    pid: int
    owner: str | None


@frozen(kw_only=True)
class _Content:
    stamp: Stamp | None
    content: bytes


@define(eq=False)
class _Folder:
    file: StatusFile
    sessions: dict[int, str] = field(factory=dict)
    names: dict[int, str] = field(factory=dict)
    stamps: dict[int, Stamp | None] = field(factory=dict)
    stop: Callable[[], None] | None = None
    next_try: float = 0.0
    is_busy: bool = False
    is_dirty: bool = False


class StatusFolders:
    """Registry of the followed files, by their folders: a change is noticed once for a folder.

    @param run: runs blocking work in a thread, with the rights of the sessions in a location.
    @param tell: called with a session, its process and the new content of the file; C{b""} if the
        file is gone.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        watch: WatchFolder,
        run: RunInLocation,
        tell: Callable[[str, int, bytes], None],
    ) -> None:
        self._clock = clock
        self._watch = watch
        self._run = run
        self._tell = tell
        self._folders: dict[tuple[object, Path], _Folder] = {}
        self._files: dict[str, StatusFile] = {}
        self._work: set[Deferred[None]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._files)

    def follow_file(self, session_id: str, file: StatusFile) -> None:
        """Follow the file of a session's process from now on, instead of any other."""
        if self._files.get(session_id) != file:
            self.drop_session(session_id)
            key = (file.place.id, file.folder)
            folder = self._folders.setdefault(key, _Folder(file))
            folder.sessions[file.pid] = session_id
            folder.names[file.pid] = file.name
            folder.stamps[file.pid] = None
            self._files[session_id] = file
            folder.next_try = 0.0
            self._check_folder(folder)
            return
        folder = self._folders[(file.place.id, file.folder)]
        if folder.stop is None and self._clock.seconds() >= folder.next_try:
            self._check_folder(folder)

    def drop_session(self, session_id: str) -> None:
        """Follow the session's file no longer."""
        file = self._files.pop(session_id, None)
        if file is None:
            return
        key = (file.place.id, file.folder)
        folder = self._folders[key]
        del folder.sessions[file.pid], folder.names[file.pid], folder.stamps[file.pid]
        if not folder.sessions:
            del self._folders[key]
            if folder.stop is not None:
                folder.stop()

    def close(self) -> None:
        """Follow nothing any longer."""
        self._closed = True
        for session_id in tuple(self._files):
            self.drop_session(session_id)
        for work in tuple(self._work):
            work.cancel()

    # -- internal

    def _check_folder(self, folder: _Folder) -> None:
        """Read the changed files of a folder; a change while this runs is read afterwards."""
        if folder.is_busy:
            folder.is_dirty = True
            return
        work = spawn_logged(self._read_folder(folder), self._log, "reading the status of agents")
        if not work.called:
            self._work.add(work)
            work.addBoth(lambda _: self._work.discard(work))

    async def _read_folder(self, folder: _Folder) -> None:
        folder.is_busy, folder.is_dirty = True, False
        try:
            if folder.stop is None:
                await self._watch_folder(folder)
            await self._read_changed(folder)
        except (OSError, ServiceError) as error:
            self._log.debug("no status of agents: {error}", error=error)
        finally:
            folder.is_busy = False
        if folder.is_dirty and folder.sessions and not self._closed:
            self._check_folder(folder)

    async def _watch_folder(self, folder: _Folder) -> None:
        folder.next_try = self._clock.seconds() + RETRY
        path = folder.file.folder
        opened = await self._run(
            folder.file.place, lambda: os.open(path, _FOLDER_FLAGS), str(path), folder.file.owner
        )
        try:
            if folder.sessions:
                folder.stop = self._watch(opened, lambda: self._check_folder(folder))
        finally:
            os.close(opened)

    async def _read_changed(self, folder: _Folder) -> None:
        stamps, path = dict(folder.stamps), folder.file.folder
        files = {pid: path / name for pid, name in folder.names.items()}
        found = await self._run(
            folder.file.place, lambda: _read_changes(files, stamps), str(path), folder.file.owner
        )
        for pid, change in found.items():
            session_id = folder.sessions.get(pid)
            if session_id is not None and folder.stamps[pid] == stamps[pid]:
                folder.stamps[pid] = change.stamp
                self._tell(session_id, pid, change.content)


def _read_changes(
    files: Mapping[int, Path], stamps: Mapping[int, Stamp | None]
) -> dict[int, _Content]:
    """Return the files that differ from their stamps, by process."""
    found = {}
    for pid, before in stamps.items():
        path = files[pid]
        stamp = _get_stamp(path)
        if stamp != before:
            found[pid] = _Content(stamp=stamp, content=b"" if stamp is None else _read_file(path))
    return found


def _get_stamp(path: Path) -> Stamp | None:
    try:
        known = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return known.st_mtime_ns, known.st_ino, known.st_size


def _read_file(path: Path) -> bytes:
    """Return the content of a regular file; C{b""} if it cannot be read or is too large."""
    try:
        opened = os.open(path, _FILE_FLAGS)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return b""
        content = os.read(opened, READ_BYTES + 1)
        return content if len(content) <= READ_BYTES else b""
    finally:
        os.close(opened)
