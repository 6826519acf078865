"""Saver of scrollbacks, which saves sessions while they print output (protocol-restore)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from tservice.core.disk.files import FileError
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location import LocationId
from tservice.core.workers.worker_pool import IThreads
from tservice.mux.interface import IPane, MuxError
from tservice.restore.scrollback import LINES, ScrollbackFolder, serialize_rows
from tservice.sessions.interfaces import ISessions, Session
from tservice.settings.interfaces import ISettings, Settings

EVERY = 60.0
"""Minimum seconds between two saves of a session."""

_Position = tuple[str, int]
"""Position in a terminal's output: epoch of its log, and byte offset."""


class ScrollbackSaver:
    """Saves the scrollbacks of sessions that have printed output since their last save.

    In each location, sessions are saved one after another.

    @param threads: worker pool for files.
    @param offered: returns true if a session is offered for restoration.  Its saved scrollback is
        then not replaced.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        hub: EventHub,
        settings: ISettings,
        threads: IThreads,
        folder: ScrollbackFolder,
        offered: Callable[[str], bool],
    ) -> None:
        self._sessions, self._hub, self._settings = sessions, hub, settings
        self._threads, self._folder, self._offered = threads, folder, offered
        self._saved: dict[str, _Position] = {}
        self._loop = LoopingCall(self._save_due_sessions)
        self._loop.clock = clock
        self._ended: Deferred[LoopingCall] | None = None
        self._ends: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Delete the scrollbacks of deleted sessions, and begin to save others regularly."""
        self._ends = [
            self._hub.subscribe(self._handle_event),
            self._settings.add_observer(self._handle_settings_change),
        ]
        await self._delete_unknown()
        self._ended = self._loop.start(EVERY, now=False)

    async def stop(self) -> None:
        """Save all changed sessions a last time.  Call this while the panes still exist."""
        for end in self._ends:
            end()
        if self._ended is not None:
            self._loop.stop()
            await self._ended
        saves = (self.save_session(each.id) for each in self._find_due())
        await gatherResults([spawn_logged(each, self._log, "saving") for each in saves])

    async def save_session(self, session_id: str) -> None:
        """Save a session's scrollback.

        A failure is logged, and the next regular save retries.
        """
        try:
            pane = self._sessions.get_pane(session_id)
            if pane is None:
                return
            capture = await pane.capture_content(LINES)
            await self._threads.run(
                lambda: self._folder.write_scrollback(session_id, serialize_rows(capture))
            )
        except (MuxError, OSError, FileError, ServiceError) as error:
            self._log.info("{id}: scrollback not saved: {error}", id=session_id, error=error)
            return
        if self._session_exists(session_id):
            self._saved[session_id] = (capture.epoch, capture.offset)
        else:
            await self._threads.run(partial(self._folder.delete_scrollback, session_id))

    async def _save_due_sessions(self) -> None:
        # A location that does not answer delays only its own sessions.
        places: defaultdict[LocationId, list[str]] = defaultdict(list)
        for session in self._find_due():
            places[session.location_id].append(session.id)
        rounds = (self._save_sessions_in_turn(ids) for ids in places.values())
        await gatherResults([spawn_logged(each, self._log, "a round of saving") for each in rounds])

    async def _save_sessions_in_turn(self, ids: Sequence[str]) -> None:
        # An error raised here would end the LoopingCall permanently.
        for session_id in ids:
            await spawn_logged(self.save_session(session_id), self._log, "saving a scrollback")

    def _find_due(self) -> list[Session]:
        if not self._settings.get().keep_scrollback_enabled:
            return []
        found = self._sessions.list()
        return [it for it in found if not self._offered(it.id) and self._has_printed(it.id)]

    def _has_printed(self, session_id: str) -> bool:
        pane = self._sessions.get_pane(session_id)
        return pane is not None and self._saved.get(session_id) != _log_position(pane)

    def _session_exists(self, session_id: str) -> bool:
        return any(session.id == session_id for session in self._sessions.list())

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED and event.session_id is not None:
            self._saved.pop(event.session_id, None)
            self._in_thread(partial(self._folder.delete_scrollback, event.session_id))

    def _handle_settings_change(self, before: Settings, after: Settings) -> None:
        if before.keep_scrollback_enabled and not after.keep_scrollback_enabled:
            self._saved.clear()
            self._in_thread(lambda: self._folder.delete_others(()))

    async def _delete_unknown(self) -> None:
        kept = self._settings.get().keep_scrollback_enabled
        known = [session.id for session in self._sessions.list()] if kept else []
        await self._in_thread(lambda: self._folder.delete_others(known))

    def _in_thread(self, work: Callable[[], None]) -> Deferred[None]:
        async def run_work() -> None:
            try:
                await self._threads.run(work)
            except OSError as error:
                self._log.warn("could not delete scrollbacks: {why}", why=str(error))

        return spawn_logged(run_work(), self._log, "deleting scrollbacks")


def _log_position(pane: IPane) -> _Position:
    return pane.log.epoch, pane.log.end
