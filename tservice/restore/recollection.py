"""Record of the sessions that a reboot ended, and of their saved scrollbacks (protocol-restore)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.clis.interfaces import CliKind, ICliRegistry
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.disk.files import FileError
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.workers.worker_pool import IThreads
from tservice.restore.boot_id import read_boot_id
from tservice.restore.model import may_have_rebooted
from tservice.restore.offer import compute_offer_expiry, find_ended_by_reboot
from tservice.restore.scrollback import SavedScrollback, ScrollbackFolder, make_preface
from tservice.restore.store import RestoreStore
from tservice.sessions.interfaces import SavedScreen, SavedStateReader, Session


@implementer(SavedStateReader)
class RestoreOfferRegistry:
    """Sessions that are offered for restoration, and the expiry of each offer.

    An offer is removed when its session is started in any way, or when a user dismisses it.  Until
    then it survives restarts of the service.

    @param boot_id_file: see C{Config.boot_id_file}.
    @param zone: time zone for the time of saving that is shown in a session.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        store: RestoreStore,
        boot_id_file: Path,
        folder: ScrollbackFolder,
        threads: IThreads,
        clis: ICliRegistry,
        zone: tzinfo,
    ) -> None:
        self._clock, self._store, self._boot_id_file = clock, store, boot_id_file
        self._folder, self._threads = folder, threads
        self._clis, self._zone = clis, zone
        self._entries: dict[str, int] = {}
        self._shown: set[str] = set()

    def accept_records(self, records: Sequence[Session]) -> None:
        now, host = get_unix_ms(self._clock), self._store.find_last_boot()
        boot_id = read_boot_id(self._boot_id_file)
        found: dict[str, int] = {}
        if host is not None and may_have_rebooted(host, boot_id):
            ran = find_ended_by_reboot(records, self._store.load_losses(), host.stopped_at)
            until = compute_offer_expiry(ran, boot_id, now)
            found = {record.id: until for record in ran if until > now}
        self._entries = {**self._store.load_offers(), **found}
        try:
            self._store.record_boot(boot_id, found, now)
        except DiskFull as error:
            # The boot stays unrecorded, so the next start handles it again.
            self._log.error("could not save the restore offer: {error}", error=error)

    async def get_preface(self, session: Session) -> bytes:
        self._shown.discard(session.id)
        if not self.is_offered(session.id):
            return b""
        kept = await self._read_scrollback(session.id)
        if kept is None:
            return b""
        self._shown.add(session.id)
        entry = self._clis.get_entry(session.mode)
        saved = datetime.fromtimestamp(kept.saved, UTC).astimezone(self._zone)
        is_shell = entry is not None and entry.kind is CliKind.SHELL
        return make_preface(kept.rows, saved, (session.cols, session.rows), clear=not is_shell)

    async def find_saved_screen(self, session: Session) -> SavedScreen | None:
        kept = await self._read_scrollback(session.id)
        return None if kept is None else SavedScreen(kept.rows, int(kept.saved * 1000))

    async def _read_scrollback(self, session_id: str) -> SavedScrollback | None:
        try:
            kept: SavedScrollback | None = await self._threads.run(
                partial(self._folder.read_scrollback, session_id)
            )
        except (FileError, ServiceError) as error:
            self._log.warn(
                "{id}: could not read its scrollback: {error}", id=session_id, error=error
            )
            return None
        return kept

    def is_offered(self, session_id: str) -> bool:
        """Return true if the session is offered for restoration."""
        return self._entries.get(session_id, 0) > get_unix_ms(self._clock)

    def was_scrollback_shown(self, session_id: str) -> bool:
        """Return true if the last start of the session showed its saved scrollback."""
        return session_id in self._shown

    def get_offer_expiry(self, session_id: str) -> int:
        """Return the time at which the session's offer expires, Unix milliseconds."""
        return self._entries[session_id]

    def remove_offer(self, session_id: str) -> None:
        """Remove the offer of a session that was started."""
        if self._entries.pop(session_id, None) is not None:
            self._store.remove_offer(session_id)

    def delete_session_records(self, session_id: str) -> None:
        """Remove all records of a deleted session."""
        self._entries.pop(session_id, None)
        self._shown.discard(session_id)

    def dismiss_offers(self, session_ids: Sequence[str]) -> None:
        """Remove the offers that a user dismissed.

        @raise DiskFull: the disk is full; the sessions are still offered.
        """
        self._store.remove_offers(session_ids)
        for session_id in session_ids:
            self._entries.pop(session_id, None)

    def record_loss(self, session_id: str) -> None:
        """Record an abnormal exit of the session's process.

        The machine may be shutting down, so that the session is to be restored.
        """
        self._store.record_loss(session_id, get_unix_ms(self._clock))

    def clear_loss(self, session_id: str) -> None:
        """Remove the record of an abnormal exit, because the session has a process again."""
        self._store.clear_loss(session_id)

    def record_stop(self) -> None:
        """Record the time of a clean stop of the service."""
        self._store.record_stop(get_unix_ms(self._clock))

    async def filter_with_scrollback(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Return those of C{session_ids} that have a saved scrollback."""
        asked = tuple(session_ids)

        def find_ids_with_scrollback() -> frozenset[str]:
            return frozenset(each for each in asked if self._folder.has_scrollback(each))

        found: frozenset[str] = await self._threads.run(find_ids_with_scrollback)
        return found
