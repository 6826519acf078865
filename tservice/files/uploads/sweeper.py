"""Hourly removal of old uploads in all workspaces (protocol-uploads)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen
from twisted.internet.defer import DeferredLock
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from tservice.core.disk.files import FileError, read_json, write_private_file
from tservice.core.kernel.clock import get_unix_seconds
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location import LocationId, LocationKind
from tservice.files.model import SWEEP_SECONDS, UPLOADS, Workspace
from tservice.files.uploads.upload_removal import remove_old_workspace_uploads
from tservice.files.workers import WorkspaceWorkers

MOST = 1000
"""Maximum number of remembered workspaces. A further one replaces the least recently used."""

LIMIT = 8 * 1024 * 1024


@frozen
class _SweptFolder:
    folder: str
    place: LocationId

    @classmethod
    def from_workspace(cls, workspace: Workspace) -> _SweptFolder:
        return cls(workspace.folder, workspace.place)


SHARED_OWNER = "the sweep"
"""Name under which folders without an account share one quota. No account has this name."""


class UploadSweeper:
    """Hourly remover of old uploads, also in folders whose sessions no longer exist.

    @param file: path of the file that stores the workspaces with uploads.
    @param workspaces: returns the workspaces of the current sessions.
    @param more: removes other old files; called with the time in Unix seconds.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        workers: WorkspaceWorkers,
        file: Path,
        workspaces: Callable[[], Iterable[Workspace]],
        sweep_more: Callable[[float], Any] = lambda now: None,
    ) -> None:
        self._clock, self._workers, self._file = clock, workers, file
        self._workspaces, self._more = workspaces, sweep_more
        self._known: dict[_SweptFolder, None] = {}
        self._is_file_damaged = False
        self._saving = DeferredLock()
        self._loop = LoopingCall(self._sweep_and_reschedule)
        self._loop.clock = clock

    def start(self) -> None:
        """Remove old uploads now, and then every hour."""
        self._known = dict.fromkeys(self._read_known()) | self._known
        self._loop.start(SWEEP_SECONDS)

    def stop(self) -> None:
        """Cancel the hourly removal."""
        if self._loop.running:
            self._loop.stop()

    def remember_workspace(self, workspace: Workspace) -> None:
        """Remember a workspace that is about to receive an upload, so that its old uploads are
        removed later.
        """
        spot = _SweptFolder.from_workspace(workspace)
        known = spot in self._known
        self._known.pop(spot, None)
        self._known[spot] = None
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        if not known:
            self._save_known()

    def _sweep_and_reschedule(self) -> Any:
        return spawn_logged(self.remove_old_uploads(), self._log, "sweeping uploads")

    async def remove_old_uploads(self) -> int:
        """Remove old uploads in all workspaces, and return the number of removed files."""
        now, gone = get_unix_seconds(self._clock), 0
        present = {_SweptFolder.from_workspace(each): each for each in self._workspaces()}
        remembered = {
            each: Workspace(
                session_id="sweep", folder=each.folder, place=each.place, owner=SHARED_OWNER
            )
            for each in self._known
            if each not in present
        }
        for spot, workspace in {**present, **remembered}.items():
            # Do not delay the session's own transfers.
            quiet = evolve(workspace, session_id="sweep")
            gone += await self._remove_old_uploads_of(quiet, now, forget=spot in remembered)
        await self._run_further_sweep(now)
        if gone:
            self._log.info("swept {gone} old uploads", gone=gone)
        return gone

    async def _remove_old_uploads_of(self, workspace: Workspace, now: float, forget: bool) -> int:
        def sweep_in_thread() -> tuple[int, bool]:
            gone = remove_old_workspace_uploads(workspace.folder, now)
            return gone, (Path(workspace.folder) / UPLOADS).is_dir()

        try:
            worker = await self._workers.get_worker(workspace)
            gone, left = await worker.run_work(sweep_in_thread)
        except (ServiceError, OSError) as error:
            self._log.debug("{folder} not swept: {why}", folder=workspace.folder, why=str(error))
            return 0
        if forget and not left:
            self._known.pop(_SweptFolder.from_workspace(workspace), None)
            self._save_known()
        return gone

    async def _run_further_sweep(self, now: float) -> None:
        with suppress(ServiceError, OSError):
            await self._workers.files.run(lambda: self._more(now), "sweep")

    def _read_known(self) -> list[_SweptFolder]:
        try:
            found = read_json(self._file, private=True, limit=LIMIT)
            return [_parse_entry(each) for each in found][:MOST]
        except FileNotFoundError:
            return []
        except (FileError, OSError, KeyError, TypeError, ValueError) as error:
            # Keep the damaged file as it is, so that it can be repaired.
            self._is_file_damaged = True
            self._log.warn(
                "the list of upload folders cannot be read, and is not saved: {why}", why=str(error)
            )
            return []

    def _save_known(self) -> None:
        if self._is_file_damaged:
            return
        kept = [{"folder": spot.folder, "place": asdict(spot.place)} for spot in self._known]
        spawn_logged(
            self._write_file(json.dumps(kept)), self._log, "saving the list of upload folders"
        )

    async def _write_file(self, text: str) -> None:
        await self._saving.acquire()
        try:
            await self._workers.files.run(lambda: write_private_file(self._file, text), "sweep")
        except (ServiceError, OSError) as error:
            # Folders with sessions are swept all the same.
            self._log.warn("the list of upload folders was not saved: {why}", why=str(error))
        finally:
            self._saving.release()


def _parse_entry(entry: Any) -> _SweptFolder:
    known = entry["place"]
    kind = LocationKind(known["kind"])
    uid = int(known["uid"]) if kind is LocationKind.OS_USER else None
    place = LocationId(kind=kind, name=str(known["name"]), part=str(known["part"]), uid=uid)
    return _SweptFolder(str(entry["folder"]), place)
