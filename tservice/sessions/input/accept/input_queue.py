"""Input queue of a session: each accepted input is typed exactly once (protocol-exactly-once).

The queue orders the inputs. L{InputAcceptance} decides about an input when its turn comes. So at
most one input of a session is unfinished at any time. After a crash, the mark on the pane shows
which part is missing.

A prompt that waits at the input gate is not decided yet.  Keys and raw bytes overtake it, because a
person uses them to answer the dialog that the prompt waits for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ServiceError, make_field_error
from tservice.mux.interface import PaneGone
from tservice.mux.keys import KEYS
from tservice.sessions.input.accept.acceptance import InputAcceptance
from tservice.sessions.input.accept.classify import classify_request
from tservice.sessions.input.accept.entry_delivery import InputContext
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.accept.offline_buffer import BufferedInput, OfflineInputBuffer
from tservice.sessions.input.accept.serial_queue import SerialQueue, Work
from tservice.sessions.input.accept.target import InputTarget, no_process_error
from tservice.sessions.input.entry import InputKind
from tservice.sessions.input.recover.recovery import InputRecovery
from tservice.sessions.input.recover.unconfirmed_prompt_store import UnconfirmedPromptStore
from tservice.sessions.input.recover.unconfirmed_prompts import UnconfirmedPrompts
from tservice.sessions.input.type.typist import PAUSE, NotTyped
from tservice.sessions.interfaces import IInputGate, InputDelivery
from tservice.sessions.record.requests import InputRequest

_T = TypeVar("_T")


class InputQueue:
    """Queue of the inputs of one session."""

    _log = Logger()

    def __init__(
        self, *, clock: IReactorTime, journal: InputJournal, buffer: OfflineInputBuffer,
        gate: IInputGate, target: InputTarget, new_id: Callable[[], str],
        doubts: UnconfirmedPromptStore,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._buffer = buffer
        self._target = target
        self._queue = SerialQueue()
        self._passing = SerialQueue()
        self._context = InputContext(
            clock=clock, journal=journal, gate=gate, target=target,
            doubts=UnconfirmedPrompts(doubts, target.session),
        )  # fmt: skip
        self._acceptance = InputAcceptance(self._context, new_id, self._wait_beside_keys)
        self._recovery = InputRecovery(self._context)
        self._holding = False
        self._catching_up = False
        # Waiting inputs by client. Inputs without a client id count only if they are raw.
        self._waiting: dict[str, int] = {}

    async def deliver_input(self, request: InputRequest) -> InputDelivery:
        """Type C{request} when its turn comes.

        @raise ServiceError: 400, 413: see L{classify_request}; 403: the permission to type ended;
            409: no process, or an earlier input of this client failed (both numbers are free
            again); 422: not typed, not submitted, or unknown, as the text says; 429: too many
            inputs wait.
        """
        classified = classify_request(request)
        self._target.require_live_pane()
        self._target.check_text(classified)
        if self._is_idle:
            self._acceptance.forget_failures()
        work = self._acceptance.prepare_input(classified)
        return await self._enqueue(request.client_id, classified.kind is InputKind.RAW, work)

    def buffer_input(self, request: InputRequest) -> InputDelivery:
        """Buffer C{request} until the session's host is reachable again.

        @raise ServiceError: 400, 403, 413: as for L{deliver_input}; 409: no process; 422: disk
            full.
        """
        classified = classify_request(request)
        self._target.check_drivable(request.sender)
        self._target.check_text(classified)
        session = self._target.session()
        if session.pid is None:
            raise no_process_error()
        last = self._acceptance.find_last_seq(request)
        if request.seq is not None and request.client_id is not None:
            buffered = self._buffer.last_seq(session.id, request.client_id)
            last = max((it for it in (last, buffered) if it is not None), default=None)
        if request.seq is not None and last is not None and request.seq <= last:
            return InputDelivery(delivered=False, duplicate=True, last=last)
        fits = self._buffer.put(session.id, request)
        return InputDelivery(delivered=False, buffered=True, dropped=not fits)

    def type_buffered(self) -> None:
        """Type the buffered inputs before any later input."""
        session_id = self._target.session().id
        if self._catching_up or self._buffer.get_first(session_id) is None:
            return
        self._catching_up = True
        self._queue.put(lambda _: self._type_all_buffered(), bounded=False).addErrback(
            lambda why: self._log.failure("buffered input was not typed", why)
        )

    async def press_key(self, key: str, sender: Identity | None = None) -> None:
        """Press a named key when its turn comes.

        @param sender: as L{InputRequest.sender}.
        @raise ServiceError: 400: no such key; 403: the permission ended while the key waited; 409:
            no process; 422: no answer, or the key was refused; 429: too many inputs wait.
        """
        if key not in KEYS:
            raise make_field_error("key", f"one of {' '.join(KEYS)}")
        self._target.require_live_pane()
        await self._enqueue(None, True, lambda _: self._acceptance.press_key(key, sender))

    def recover_input(self) -> None:
        """Finish the input that an earlier run of the service began. Call this once the pane is
        adopted.
        """
        # While the queue is busy, the pending entry is the one that it types.
        if self._is_idle:
            self._queue.put(lambda _: self._recovery.recover_pending()).addErrback(
                lambda why: self._log.failure("an unfinished input was not completed", why)
            )
        self.type_buffered()

    def abandon_input(self) -> None:
        """Drop the unfinished input, because the process has ended.

        Its sequence number stays used, because it may have been typed into the old process.
        """
        self._context.doubts.clear()
        self._buffer.clear_session(self._target.session().id)
        if not self._is_idle:
            return
        self._recovery.abandon_pending()
        pane = self._target.pane()
        if pane is not None:
            self._queue.put(lambda _: self._recovery.import_mark(pane)).addErrback(
                lambda why: self._log.failure("the mark of the last input could not be read", why)
            )

    def close(self) -> None:
        """Stop typing after the current step. The journal keeps the unfinished input."""
        self._queue.close()
        self._passing.close()
        self._context.journal.forget_session(self._target.session().id)

    # -- order

    @property
    def _is_idle(self) -> bool:
        return self._queue.is_idle and self._passing.is_idle

    def _enqueue(self, client: str | None, raw: bool, work: Work[_T]) -> Deferred[_T]:
        """Queue the work. Raw input overtakes a prompt at the gate, but no input of the same
        client.
        """
        name = client or ""
        if self._holding and raw and name not in self._waiting:
            return self._passing.put(work)
        done = self._queue.put(work)
        if not name and not raw:
            return done
        self._waiting[name] = self._waiting.get(name, 0) + 1
        return done.addBoth(self._handle_dequeued, name)

    def _handle_dequeued(self, outcome: _T, name: str) -> _T:
        self._waiting[name] -= 1
        if not self._waiting[name]:
            # So the number of clients stays bounded.
            del self._waiting[name]
        return outcome

    async def _wait_beside_keys(self, until: Awaitable[None]) -> None:
        """Wait for C{until}. Keys and raw bytes may overtake the queue in this time."""
        self._holding = True
        try:
            await until
        finally:
            self._holding = False
        # The inputs that overtook are typed first.
        await self._passing.put(_wait_for_queue_turn)

    async def _type_all_buffered(self) -> None:
        session_id = self._target.session().id
        lost: list[str] = []
        try:
            while (kept := self._buffer.get_first(session_id)) is not None:
                try:
                    await self._type_chunk(kept, lost.append)
                except DiskFull as error:
                    # Without a journal entry it might be typed twice.
                    self._log.warn("buffered input of {id}: {why}", id=session_id, why=str(error))
                    # Keys overtake it, so that a user can make room.
                    await self._wait_beside_keys(wait_seconds(self._clock, PAUSE))
        finally:
            self._catching_up = False
            if lost:
                self._target.lost(len(lost), lost[0])

    async def _type_chunk(self, kept: BufferedInput, lost: Callable[[str], None]) -> None:
        session_id = self._target.session().id
        try:
            classified = classify_request(kept.request)
            done = await self._acceptance.accept_input(classified, buffered=kept.position)
        except DiskFull:
            raise
        except (NotTyped, PaneGone, ServiceError) as error:
            self._buffer.delete_chunk(session_id, kept.position)
            self._log.warn("buffered input of {id} was lost: {why}", id=session_id, why=str(error))
            lost(str(error))
            return
        if not done.delivered:
            self._buffer.delete_chunk(session_id, kept.position)


async def _wait_for_queue_turn(_: object) -> None:
    """Do nothing. Queued as a job, this waits until every earlier job is done."""
