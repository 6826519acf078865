"""Input queue of a session: each accepted input is typed exactly once (protocol-exactly-once).

The queue decides about an input when its turn comes. It looks up and reserves the sequence number
and writes it to disk together with the text. Then it types the input.  So at most one input of a
session is unfinished at any time. After a crash, the mark on the pane shows which part is missing.

A prompt that waits at the input gate is not decided yet.  Keys and raw bytes overtake it, because a
person uses them to answer the dialog that the prompt waits for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.clock import wait_seconds
from tservice.core.disk_errors import DiskFull
from tservice.core.errors import (
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
)
from tservice.core.identity import Identity
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.mux.keys import KEYS
from tservice.sessions.input.accept.classify import ClassifiedInput, classify_request
from tservice.sessions.input.accept.entry_delivery import EntryDelivery, InputContext
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.accept.offline_buffer import BufferedInput, OfflineInputBuffer
from tservice.sessions.input.accept.serial_queue import WAITING, SerialQueue
from tservice.sessions.input.accept.target import InputTarget, no_process_error
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.recover.recovery import InputRecovery
from tservice.sessions.input.recover.unconfirmed_prompt_store import UnconfirmedPromptStore
from tservice.sessions.input.recover.unconfirmed_prompts import UnconfirmedPrompts
from tservice.sessions.input.type.composer import ComposerModel
from tservice.sessions.input.type.typist import (
    PAUSE,
    NotTyped,
)
from tservice.sessions.interfaces import IInputGate, InputDelivery
from tservice.sessions.record.requests import InputRequest
from tservice.terminal.terminal_reports import is_terminal_report

_T = TypeVar("_T")

UNSURE = "the terminal does not answer; it is not known yet whether the input arrived"


class InputQueue:
    """Queue of the inputs of one session."""

    _log = Logger()

    def __init__(
        self, *, clock: IReactorTime, journal: InputJournal, buffer: OfflineInputBuffer,
        gate: IInputGate, target: InputTarget, new_id: Callable[[], str],
        doubts: UnconfirmedPromptStore,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._journal = journal
        self._buffer = buffer
        self._gate = gate
        self._target = target
        self._new_id = new_id
        self._queue = SerialQueue()
        self._passing = SerialQueue()
        self._doubts = UnconfirmedPrompts(doubts, target.session)
        self._context = InputContext(
            clock=clock, journal=journal, gate=gate, target=target, doubts=self._doubts
        )
        self._recovery = InputRecovery(self._context)
        self._holding = False
        self._catching_up = False
        # Waiting inputs by client. Inputs without a client id count only if they are raw.
        self._waiting: Counter[str] = Counter()
        # Number of failures of each client, while its earlier inputs may still wait.
        self._failures: dict[str, int] = {}

    async def deliver_input(self, request: InputRequest) -> InputDelivery:
        """Type C{request} when its turn comes.

        @raise ServiceError: 400, 413: see L{classify_request}; 403: the permission to type ended;
            409: no process, or an earlier input of this client failed (both numbers are free
            again); 422: not typed, not submitted, or unknown, as the text says; 429: too many
            inputs wait.
        """
        wanted = classify_request(request)
        self._target.require_live_pane()
        if self._is_idle:
            self._failures.clear()
        failures = self._failures.get(request.client_id or "", 0)
        answer: Deferred[InputDelivery] = Deferred(lambda _: done.cancel())
        self._target.check_text(wanted)
        raw = wanted.kind is InputKind.RAW
        process = partial(self._process_input, wanted, failures, answer)
        done = self._enqueue(request.client_id, raw, process)
        done.addCallbacks(lambda it: _fire_once(answer, it), lambda why: _fire_once(answer, why))
        return await answer

    def buffer_input(self, request: InputRequest) -> InputDelivery:
        """Buffer C{request} until the session's host is reachable again.

        @raise ServiceError: 400, 403, 413: as for L{deliver_input}; 409: no process; 422: disk
            full.
        """
        wanted = classify_request(request)
        self._target.check_drivable(request.sender)
        self._target.check_text(wanted)
        session = self._target.session()
        if session.pid is None:
            raise no_process_error()
        last = self._find_last_seq(request)
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
        self._queue.put(self._type_all_buffered, bounded=False).addErrback(
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
        await self._enqueue(None, True, lambda: self._press_now(key, sender))

    def recover_input(self) -> None:
        """Finish the input that an earlier run of the service began. Call this once the pane is
        adopted.
        """
        # While the queue is busy, the pending entry is the one that it types.
        if self._is_idle:
            self._queue.put(self._recovery.recover_pending).addErrback(
                lambda why: self._log.failure("an unfinished input was not completed", why)
            )
        self.type_buffered()

    def abandon_input(self) -> None:
        """Drop the unfinished input, because the process has ended.

        Its sequence number stays used, because it may have been typed into the old process.
        """
        self._doubts.clear()
        self._buffer.clear_session(self._target.session().id)
        if not self._is_idle:
            return
        self._recovery.abandon_pending()
        pane = self._target.pane()
        if pane is not None:
            self._queue.put(lambda: self._recovery.import_mark(pane)).addErrback(
                lambda why: self._log.failure("the mark of the last input could not be read", why)
            )

    def close(self) -> None:
        """Stop typing after the current step. The journal keeps the unfinished input."""
        self._queue.close()
        self._passing.close()
        self._journal.forget_session(self._target.session().id)

    # -- order

    @property
    def _is_idle(self) -> bool:
        return self._queue.is_idle and self._passing.is_idle

    def _enqueue(
        self, client: str | None, raw: bool, work: Callable[[], Coroutine[Any, Any, _T]]
    ) -> Deferred[_T]:
        """Queue the work. Raw input overtakes a prompt at the gate, but no input of the same
        client.
        """
        name = client or ""
        if self._holding and raw and not self._waiting[name]:
            return self._passing.put(work)
        done = self._queue.put(work)
        if not name and not raw:
            return done
        self._waiting[name] += 1
        return done.addBoth(self._handle_dequeued, name)

    def _handle_dequeued(self, outcome: _T, name: str) -> _T:
        self._waiting[name] -= 1
        # Clients without waiting inputs are dropped, so that the counter stays bounded.
        self._waiting = +self._waiting
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

    async def _process_input(
        self, wanted: ClassifiedInput, failures: int, answer: Deferred[InputDelivery]
    ) -> InputDelivery:
        request = wanted.request
        client = request.client_id or ""
        if client and self._failures.get(client, 0) != failures:
            raise make_conflict_error("an earlier input of this client failed; send both again")
        try:
            return await self._accept_input(
                wanted,
                unsure=lambda: _fire_once(answer, make_failure_error(UNSURE)),
                # A caller without a number can only send again, and an input whose wait failed is
                # never typed later. All other inputs must not get lost.
                wanted=lambda: not answer.called or _may_type_after_error(request),
            )
        except NotTyped as error:
            self._count_failure(client)
            raise make_failure_error(f"nothing was typed: {error}") from error
        except PaneGone as error:
            self._count_failure(client)
            raise no_process_error() from error
        except ServiceError:
            self._count_failure(client)
            raise

    def _count_failure(self, client: str) -> None:
        if not client:
            return
        # More clients than queue places: the oldest have no waiting input.
        while len(self._failures) > WAITING:
            del self._failures[next(iter(self._failures))]
        self._failures[client] = self._failures.pop(client, 0) + 1

    async def _accept_input(
        self,
        accepted: ClassifiedInput,
        unsure: Callable[[], None],
        wanted: Callable[[], bool],
        buffered: int | None = None,
    ) -> InputDelivery:
        request, raw = accepted.request, accepted.kind is InputKind.RAW
        previous = self._find_last_seq(request)
        if request.seq is not None and previous is not None and request.seq <= previous:
            judge = partial(self._target.check_input_permission, accepted)
            judge()
            await self._doubts.confirm_prompt(request.client_id, request.seq, judge)
            return InputDelivery(delivered=False, duplicate=True, last=previous)
        if not raw:
            self._target.check_text(accepted)
            self._target.check_drivable(request.sender)
            await self._wait_beside_keys(self._gate.wait_until_ready(self._target.session()))
        self._target.check_input_permission(accepted)
        composer = None if raw else self._target.composer()
        pane = self._target.require_live_pane()
        entry = self._journal.accept_entry(self._make_entry(accepted, composer, previous, buffered))
        delivery = EntryDelivery(
            self._context, entry, unsure=unsure, wanted=wanted, announced=request.submitting
        )
        given = await delivery.deliver(pane, composer)
        if not is_terminal_report(entry.data):
            self._target.typed()
        return InputDelivery(delivered=True, opened=given.opened, put_aside=given.put_aside)

    def _find_last_seq(self, request: InputRequest) -> int | None:
        if request.seq is None or request.client_id is None:
            return None
        return self._journal.last_seq(self._target.session().id, request.client_id)

    def _make_entry(
        self, accepted: ClassifiedInput, composer: ComposerModel | None,
        previous: int | None, buffered: int | None,
    ) -> JournalEntry:  # fmt: skip
        request, data = accepted.request, accepted.data
        if composer is not None:
            data = composer.submission.prevent_completion(data.decode("utf-8")).encode("utf-8")
        return JournalEntry(
            session_id=self._target.session().id, id=self._new_id(), kind=accepted.kind, data=data,
            client_id=None if request.seq is None else request.client_id, seq=request.seq,
            previous_seq=previous, buffered=buffered,
        )  # fmt: skip

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
            wanted = classify_request(kept.request)
            done = await self._accept_input(
                wanted, unsure=lambda: None, wanted=lambda: True, buffered=kept.position
            )
        except DiskFull:
            raise
        except (NotTyped, PaneGone, ServiceError) as error:
            self._buffer.delete_chunk(session_id, kept.position)
            self._log.warn("buffered input of {id} was lost: {why}", id=session_id, why=str(error))
            lost(str(error))
            return
        if not done.delivered:
            self._buffer.delete_chunk(session_id, kept.position)

    async def _press_now(self, key: str, sender: Identity | None) -> None:
        self._target.check_key_permission(key, sender)
        pane = self._target.require_live_pane()
        if key == "S-Enter":
            # A new line in a composer. A shell has no composer, and would print the key's bytes.
            composer = self._target.composer()
            key = "Enter" if composer is None else composer.submission.newline
        if key == "Enter":
            self._target.submitting(None)
        try:
            await pane.send_key(key)
        except PaneGone as error:
            raise no_process_error() from error
        except MuxTimeout as error:
            raise make_failure_error(UNSURE) from error
        except MuxError as error:
            raise make_failure_error(f"the key was not pressed: {error}") from error
        self._target.typed()


async def _wait_for_queue_turn() -> None:
    """Do nothing. Queued as a job, this waits until every earlier job is done."""


def _may_type_after_error(request: InputRequest) -> bool:
    """Return true if the input may still be typed after its caller received an error."""
    return request.seq is not None and request.submitting is None


def _fire_once(
    answer: Deferred[InputDelivery], outcome: InputDelivery | Failure | ServiceError
) -> None:
    """Fire the caller's Deferred with the outcome, unless it has already fired."""
    if answer.called:
        return
    if isinstance(outcome, InputDelivery):
        answer.callback(outcome)
    else:
        answer.errback(outcome)
