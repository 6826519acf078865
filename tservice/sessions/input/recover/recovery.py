"""Continuation of the input that an earlier run of the service began (protocol-exactly-once)."""

from __future__ import annotations

from attrs import frozen
from twisted.logger import Logger

from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ServiceError
from tservice.mux.interface import IPane, MuxError, PaneGone
from tservice.sessions.input.accept.entry_delivery import EntryDelivery, InputContext
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.entry_machine import EntryInputs, EntryState
from tservice.sessions.input.type.prompt_runner import PromptRunner
from tservice.sessions.input.type.typist import PAUSE, NotTyped


@frozen
class InputRecovery:
    """Recovery of one session: its journal entry, its unconfirmed prompts and its pane's mark."""

    _context: InputContext

    _log = Logger()

    async def recover_pending(self) -> None:
        """Load the unconfirmed prompts, and finish the entry that is still in the journal."""
        target, journal = self._context.target, self._context.journal
        entry, pane = journal.find_pending(target.session().id), target.pane()
        over = None if pane is None else await self.import_mark(pane)
        if pane is not None and pane.ending is None:
            self._load_unconfirmed(pane)
        if entry is None:
            return
        delivery = EntryDelivery(self._context, entry)
        if entry.id == over:
            delivery.moves.confirm()
        else:
            await self._finish_pending(entry, delivery)

    def abandon_pending(self) -> None:
        """Drop the entry that is still in the journal, because the process has ended."""
        entry = self._context.journal.find_pending(self._context.target.session().id)
        if entry is not None:
            EntryDelivery(self._context, entry).moves.fail()

    async def import_mark(self, pane: IPane) -> str | None:
        """Save the information in the pane's mark, which later inputs will overwrite.

        @return: the id of a finished journal row that is still on disk; C{None} if there is none.
        """
        session_id, journal = self._context.target.session().id, self._context.journal
        while True:
            try:
                mark = await pane.read_last_mark()
                return None if mark is None else journal.import_mark(session_id, mark.id)
            except PaneGone:
                return None
            except (MuxError, DiskFull) as error:
                self._log.warn("session {id}: mark not read: {error}", id=session_id, error=error)
                await wait_seconds(self._context.clock, PAUSE)

    def _load_unconfirmed(self, pane: IPane) -> None:
        composer = self._context.target.composer()
        if composer is None:
            return

        def restore(entry: JournalEntry) -> tuple[PromptRunner, EntryInputs]:
            delivery = EntryDelivery(self._context, entry, state=EntryState.UNCONFIRMED)
            return delivery.make_prompter(pane, composer), delivery.moves

        self._context.doubts.load_saved(restore, self._context.gate)

    async def _finish_pending(self, entry: JournalEntry, delivery: EntryDelivery) -> None:
        target = self._context.target
        try:
            # The sender is no longer known, so the owner's permission counts.
            target.check_entry_permission(entry)
            pane = target.require_live_pane()
        except ServiceError as error:
            self._log.warn("input {id} was not finished: {error}", id=entry.id, error=error)
            delivery.moves.fail()
            return
        composer = None if entry.kind is InputKind.RAW else target.composer()
        try:
            await delivery.deliver(pane, composer, resumed=True)
        except NotTyped as error:
            self._log.warn("input {id} was not typed: {error}", id=entry.id, error=error)
        except (PaneGone, ServiceError) as error:
            self._log.warn("input {id} was not finished: {error}", id=entry.id, error=error)
