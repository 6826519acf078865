"""Store of the sessions' injection folders. Each folder is accessed with the rights of its
owner.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.clis.interfaces import Injection
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location import Location, LocationId
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.worker_pool import IThreads
from tservice.models import injection_folders
from tservice.sessions.interfaces import Session

PAUSES = (1.0, 5.0, 20.0)
"""Seconds to wait before each check that a removed folder has not been created again.

Processes of an agent may run on for a moment, and write to the folder.
"""


class InjectionStore:
    """Store with one folder for each session that uses a custom model, until the session is
    removed.
    """

    _log = Logger()

    def __init__(
        self, data_dir: Path, threads: IThreads, places: LocationRegistry, clock: IReactorTime
    ) -> None:
        self._base = data_dir / injection_folders.FOLDER
        self._clock = clock
        self._threads = threads
        self._places = places
        self._known: dict[str, Session] = {}
        self._removing: set[Deferred[None]] = set()
        self._pauses: set[Deferred[None]] = set()
        self._closing = False

    def get_folder(self, session: Session) -> Path:
        """Return the path of the session's folder, which may not exist."""
        return self._folder_path(
            session.id, self._places.find_earlier_location(session.location_id)
        )

    async def write_injection(self, session: Session, injection: Injection) -> Path:
        """Write the files of C{injection} into the session's folder, and return the folder.

        @raise ServiceError: 422 if a file cannot be written.
        """
        place = await self._get_location(session.location_id)
        folder = self._folder_path(session.id, place)
        self._known[session.id] = session
        work = partial(injection_folders.write_injection, folder, injection, session.working_dir)
        await self._threads.run(
            partial(place.run_file_work, work), at=str(folder), owner=session.owner
        )
        return folder

    def remove_folder(self, session_id: str) -> None:
        """Start to remove the folder of a session, if it has one. L{wait_settled} waits for the
        end.
        """
        if session_id not in self._known:
            return
        work = self._remove_until_gone(self._known.pop(session_id))
        task = spawn_logged(work, self._log, f"removing the model folder of {session_id}")
        self._removing.add(task)
        task.addCallback(lambda _: self._removing.discard(task))

    async def restore_folders(self, sessions: Iterable[Session]) -> None:
        """Register the folders of C{sessions} after a start of the service, and remove all other
        folders.
        """
        known = list(sessions)
        self._known |= {each.id: each for each in known if each.custom_model is not None}
        kept = [each.id for each in known]
        for folder in await self._threads.run(
            partial(injection_folders.find_orphaned_folders, self._base, kept)
        ):
            await self._threads.run(partial(injection_folders.remove_folder, folder))

    def wait_settled(self) -> Deferred[list[None]]:
        """Return a Deferred that fires once all removals are done.

        Folders already removed are not checked again.
        """
        self._closing = True
        for pause in tuple(self._pauses):
            pause.cancel()
        return gatherResults(tuple(self._removing))

    async def _remove_until_gone(self, session: Session) -> None:
        place = await self._get_location(session.location_id)
        folder = self._folder_path(session.id, place)
        work = partial(place.run_file_work, partial(injection_folders.remove_folder, folder))
        for pause in PAUSES:
            with suppress(OSError):
                await self._threads.run(work, at=str(folder), owner=session.owner)
            if not await self._sleep_interruptibly(pause) or session.id in self._known:
                return
        await self._threads.run(work, at=str(folder), owner=session.owner)

    async def _sleep_interruptibly(self, seconds: float) -> bool:
        """Sleep for this many seconds. Return false if L{wait_settled} ended the sleep early."""
        if self._closing:
            return False
        pause = wait_seconds(self._clock, seconds)
        self._pauses.add(pause)
        try:
            await pause
        except CancelledError:
            return False
        finally:
            self._pauses.discard(pause)
        return True

    async def _get_location(self, known: LocationId) -> Location:
        await self._places.refresh_location(known)
        return self._places.find_earlier_location(known)

    def _folder_path(self, session_id: str, place: Location) -> Path:
        base = place.home / injection_folders.GUEST_FOLDER if place.is_isolated else self._base
        return base / session_id
