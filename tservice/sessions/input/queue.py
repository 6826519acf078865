"""Input queue of a session: each accepted input is typed exactly once (protocol-exactly-once).

An input is decided when its turn comes. Its sequence number is looked up, reserved and written to
disk together with its text; then it is typed.  So at most one input of a session is unfinished at
any time. After a crash the pane's own mark shows what is left of it.

A prompt that waits at the gate is not decided yet.  Keys and raw bytes overtake it, because a
person uses them to answer the dialog that the prompt waits for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from attrs import evolve
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.clock import sleep
from tservice.core.disk_errors import DiskFull
from tservice.core.errors import ServiceError, invalid_field, operation_failed, state_conflict
from tservice.core.identity import Identity
from tservice.mux.interface import IPane, MuxError, MuxTimeout, PaneGone
from tservice.mux.keys import KEYS
from tservice.sessions.input.buffer import Buffered, InputBuffer
from tservice.sessions.input.classify import check_text
from tservice.sessions.input.doubts import Doubts
from tservice.sessions.input.doubtstore import DoubtStore
from tservice.sessions.input.journal import InputJournal, InputKind, JournalEntry
from tservice.sessions.input.prompting import Given, Prompter
from tservice.sessions.input.serial import WAITING, SerialQueue
from tservice.sessions.input.submitting import NOT_SURE, NotSure
from tservice.sessions.input.target import InputTarget, no_process
from tservice.sessions.input.typist import PAUSE, Left, NotTyped, TypingContext, Typist
from tservice.sessions.interfaces import Claim, Delivery, IInputGate
from tservice.sessions.record.requests import InputRequest, check_input
from tservice.terminal.terminal_reports import is_report

_T = TypeVar("_T")

UNSURE = "the terminal does not answer; it is not known yet whether the input arrived"


class InputQueue:
    """The inputs of one session."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        journal: InputJournal,
        buffer: InputBuffer,
        gate: IInputGate,
        target: InputTarget,
        new_id: Callable[[], str],
        doubts: DoubtStore,
    ) -> None:
        self._clock = clock
        self._journal = journal
        self._buffer = buffer
        self._gate = gate
        self._target = target
        self._new_id = new_id
        self._queue = SerialQueue()
        self._passing = SerialQueue()
        self._doubts = Doubts(doubts, target.session)
        self._latest: Left | None = None
        self._holding = False
        self._catching_up = False
        # Waiting inputs by client. Inputs without a client id count only if they are raw.
        self._waiting: Counter[str] = Counter()
        # Number of failures of each client, while its earlier inputs may still wait.
        self._failures: dict[str, int] = {}

    async def deliver(self, request: InputRequest) -> Delivery:
        """Type C{request} when its turn comes.

        @raise ServiceError: 400, 413: see L{check_input} and L{check_text}; 403: the permission to
            type ended; 409: no process, or an earlier input of this client failed (its number and
            this one's are free again); 422: not typed, not submitted, or unknown, as the text says;
            429: too many wait.
        """
        check_input(request)
        check_text(request.text, request.use_mux)
        self._target.living_pane()
        if self._idle:
            self._failures.clear()
        failures = self._failures.get(request.client_id or "", 0)
        answer: Deferred[Delivery] = Deferred(lambda _: done.cancel())
        raw = self._target.classify(request)[0] is InputKind.RAW
        done = self._put(request.client_id, raw, lambda: self._take(request, failures, answer))
        done.addCallbacks(lambda it: _once(answer, it), lambda why: _once(answer, why))
        return await answer

    def keep(self, request: InputRequest) -> Delivery:
        """Buffer C{request} until the session's host is reachable again.

        @raise ServiceError: 400, 403, 413: as for L{deliver}; 409: no process; 422: the disk is
            full.
        """
        check_input(request)
        check_text(request.text, request.use_mux)
        self._target.drivable(request.sender)
        self._target.classify(request)
        session = self._target.session()
        if session.pid is None:
            raise no_process()
        known = (self._previous(request), self._buffered_before(request))
        last = max((it for it in known if it is not None), default=None)
        if request.seq is not None and last is not None and request.seq <= last:
            return Delivery(delivered=False, duplicate=True, last=last)
        fits = self._buffer.put(session.id, request)
        return Delivery(delivered=False, buffered=True, dropped=not fits)

    def catch_up(self) -> None:
        """Type the buffered input before any later input."""
        session_id = self._target.session().id
        if self._catching_up or self._buffer.first(session_id) is None:
            return
        self._catching_up = True
        self._queue.put(self._catch_up, bounded=False).addErrback(
            lambda why: self._log.failure("buffered input was not typed", why)
        )

    async def press(self, key: str, sender: Identity | None = None) -> None:
        """Press a named key when its turn comes.

        @param sender: as L{InputRequest.sender}.
        @raise ServiceError: 400: no such key; 403: the permission ended while it waited; 409: no
            process; 422: the answer was lost, or it was refused; 429: too many wait.
        """
        if key not in KEYS:
            raise invalid_field("key", f"one of {' '.join(KEYS)}")
        self._target.living_pane()
        await self._put(None, True, lambda: self._press(key, sender))

    def recover(self) -> None:
        """Finish input that an earlier run of the service began, once the pane is adopted."""
        # While the queue is busy, the pending entry is the one that it types.
        if self._idle:
            self._queue.put(self._recover).addErrback(
                lambda why: self._log.failure("an unfinished input was not completed", why)
            )
        self.catch_up()

    def abandon(self) -> None:
        """Drop the unfinished input, because the process is gone for good.

        Its number stays used: it may have been typed into the old process.
        """
        self._doubts.clear()
        self._latest = None
        self._buffer.clear(self._target.session().id)
        if not self._idle:
            return
        entry = self._journal.pending(self._target.session().id)
        if entry is not None:
            self._journal.finish(entry)
        pane = self._target.pane()
        if pane is not None:
            self._queue.put(lambda: self._learn(pane)).addErrback(
                lambda why: self._log.failure("the mark of the last input could not be read", why)
            )

    def close(self) -> None:
        """Stop at the current step; the journal keeps the unfinished input."""
        self._queue.close()
        self._passing.close()
        self._journal.forget(self._target.session().id)

    # -- order

    @property
    def _idle(self) -> bool:
        return self._queue.idle and self._passing.idle

    def _put(
        self, client: str | None, raw: bool, work: Callable[[], Coroutine[Any, Any, _T]]
    ) -> Deferred[_T]:
        """Queue the work, or overtake the prompt at the gate without overtaking the client's
        inputs.
        """
        name = client or ""
        if self._holding and raw and not self._waiting[name]:
            return self._passing.put(work)
        done = self._queue.put(work)
        if not name and not raw:
            return done
        self._waiting[name] += 1
        return done.addBoth(self._left, name)

    def _left(self, outcome: _T, name: str) -> _T:
        self._waiting[name] -= 1
        # Clients without waiting inputs are dropped, so that the counter stays bounded.
        self._waiting = +self._waiting
        return outcome

    async def _gate_opens(self) -> None:
        await self._hold(self._gate.ready(self._target.session()))

    async def _hold(self, until: Awaitable[None]) -> None:
        """Let keys and raw bytes overtake the queue while C{until} is awaited."""
        self._holding = True
        try:
            await until
        finally:
            self._holding = False
        # The inputs that overtook are typed first.
        await self._passing.put(_nothing)

    # -- internals, one input at a time

    async def _take(
        self, request: InputRequest, failures: int, answer: Deferred[Delivery]
    ) -> Delivery:
        client = request.client_id or ""
        if client and self._failures.get(client, 0) != failures:
            raise state_conflict("an earlier input of this client failed; send both again")
        try:
            return await self._accept(
                request,
                unsure=lambda: _once(answer, operation_failed(UNSURE)),
                # A caller without a number can only send again, and an input whose wait failed is
                # never typed later. All other inputs must not get lost.
                wanted=lambda: not answer.called or _outlives(request),
            )
        except NotTyped as error:
            self._failed(client)
            raise operation_failed(f"nothing was typed: {error}") from error
        except PaneGone as error:
            self._failed(client)
            raise no_process() from error
        except ServiceError:
            self._failed(client)
            raise

    def _failed(self, client: str) -> None:
        if not client:
            return
        # More clients than queue places: the oldest have no waiting input.
        while len(self._failures) > WAITING:
            del self._failures[next(iter(self._failures))]
        self._failures[client] = self._failures.pop(client, 0) + 1

    async def _accept(
        self,
        request: InputRequest,
        unsure: Callable[[], None],
        wanted: Callable[[], bool],
        buffered: int | None = None,
    ) -> Delivery:
        previous = self._previous(request)
        if request.seq is not None and previous is not None and request.seq <= previous:
            judge = partial(self._target.judge_input, request)
            judge()
            await self._doubts.settle(request.client_id, request.seq, judge)
            return Delivery(delivered=False, duplicate=True, last=previous)
        kind, data = self._target.classify(request)
        if kind is not InputKind.RAW:
            self._target.drivable(request.sender)
            await self._gate_opens()
        self._target.judge_input(request)
        entry = evolve(self._entry(request, kind, data, previous), buffered=buffered)
        context = self._context(
            entry,
            unsure=unsure,
            wanted=wanted,
            submitting=partial(self._submitting, entry, request.submitting),
        )
        entry = self._journal.accept(entry)
        given = await self._type(entry, context)
        return Delivery(delivered=True, opened=given.opened, put_aside=given.put_aside)

    def _previous(self, request: InputRequest) -> int | None:
        if request.seq is None or request.client_id is None:
            return None
        return self._journal.last_seq(self._target.session().id, request.client_id)

    def _entry(
        self, request: InputRequest, kind: InputKind, data: bytes, previous: int | None
    ) -> JournalEntry:
        composer = self._target.composer()
        if composer is not None and kind is not InputKind.RAW:
            data = composer.submission.append_blank(data.decode("utf-8")).encode("utf-8")
        return JournalEntry(
            session_id=self._target.session().id,
            id=self._new_id(),
            kind=kind,
            data=data,
            client_id=None if request.seq is None else request.client_id,
            seq=request.seq,
            previous_seq=previous,
        )

    async def _type(self, entry: JournalEntry, context: TypingContext) -> Given:
        try:
            given = await self._give(entry, context)
        except (NotTyped, PaneGone):
            self._journal.give_back(entry)
            raise
        except CancelledError:
            # The service stops. Its next run continues from the journal.
            raise
        except Exception:
            self._journal.finish(entry)
            raise
        self._journal.finish(entry)
        if not is_report(entry.data):
            self._target.typed()
        return given

    async def _give(
        self, entry: JournalEntry, context: TypingContext, *, resumed: bool = False
    ) -> Given:
        if context.composer is None or entry.kind is InputKind.RAW:
            await Typist(entry, context).type(resumed=resumed)
            return Given()
        prompter = Prompter(entry, context, context.composer)
        try:
            return await prompter.give(resumed=resumed)
        except NotSure as error:
            why = operation_failed(f"{NOT_SURE}; look at the terminal")
            self._doubts.add(entry, prompter, why)
            raise why from error
        except ServiceError as error:
            self._doubts.add(entry, prompter, error)
            raise

    def _buffered_before(self, request: InputRequest) -> int | None:
        if request.seq is None or request.client_id is None:
            return None
        return self._buffer.last_seq(self._target.session().id, request.client_id)

    async def _catch_up(self) -> None:
        session_id = self._target.session().id
        lost: list[str] = []
        try:
            while (kept := self._buffer.first(session_id)) is not None:
                try:
                    await self._type_kept(kept, lost.append)
                except DiskFull as error:
                    # Without a journal entry it might be typed twice.
                    self._log.warn("buffered input of {id}: {why}", id=session_id, why=str(error))
                    # Keys overtake it, so that a user can make room.
                    await self._hold(sleep(self._clock, PAUSE))
        finally:
            self._catching_up = False
            if lost:
                self._target.lost(len(lost), lost[0])

    async def _type_kept(self, kept: Buffered, lost: Callable[[str], None]) -> None:
        session_id = self._target.session().id
        try:
            done = await self._accept(
                kept.request, unsure=lambda: None, wanted=lambda: True, buffered=kept.position
            )
        except DiskFull:
            raise
        except (NotTyped, PaneGone, ServiceError) as error:
            self._buffer.strike(session_id, kept.position)
            self._log.warn("buffered input of {id} was lost: {why}", id=session_id, why=str(error))
            lost(str(error))
            return
        if not done.delivered:
            self._buffer.strike(session_id, kept.position)

    async def _recover(self) -> None:
        session_id = self._target.session().id
        entry = self._journal.pending(session_id)
        pane = self._target.pane()
        over = None if pane is None else await self._learn(pane)
        composer = self._target.composer()
        if composer is not None and pane is not None and pane.ending is None:
            self._doubts.recall(composer, self._begun, self._gate)
        if entry is None:
            return
        if entry.id == over:
            self._journal.finish(entry)
        else:
            await self._finish_begun(entry)

    async def _learn(self, pane: IPane) -> str | None:
        """Import the pane's mark, which later inputs would overwrite.

        @return: the id of the finished row on disk.
        """
        session_id = self._target.session().id
        while True:
            try:
                mark = await pane.read_last_mark()
                return None if mark is None else self._journal.learn(session_id, mark.id)
            except PaneGone:
                return None
            except (MuxError, DiskFull) as error:
                self._log.warn("session {id}: mark not read: {error}", id=session_id, error=error)
                await sleep(self._clock, PAUSE)

    async def _finish_begun(self, entry: JournalEntry) -> None:
        try:
            # The sender is no longer known, so the owner's permission counts.
            self._target.judge_entry(entry)
            await self._give(entry, self._begun(entry), resumed=True)
        except NotTyped as error:
            self._log.warn("input {id} was not typed: {error}", id=entry.id, error=error)
            self._journal.give_back(entry)
            return
        except (PaneGone, ServiceError) as error:
            self._log.warn("input {id} was not finished: {error}", id=entry.id, error=error)
        self._journal.finish(entry)

    def _begun(self, entry: JournalEntry) -> TypingContext:
        """Return the typing context for an entry that an earlier run of the service began."""
        tell = partial(self._submitting, entry, None)
        return self._context(entry, unsure=lambda: None, wanted=lambda: True, submitting=tell)

    def _context(
        self,
        entry: JournalEntry,
        *,
        unsure: Callable[[], None],
        wanted: Callable[[], bool],
        submitting: Callable[[], None] | None = None,
    ) -> TypingContext:
        return TypingContext(
            clock=self._clock,
            pane=self._target.living_pane(),
            composer=self._target.composer(),
            asks=partial(self._gate.asks, self._target.session()),
            opened=partial(self._gate.opened, self._target.session()),
            rests=partial(self._gate.rests, self._target.session()),
            claim=partial(self._claim, entry),
            unsure=unsure,
            wanted=wanted,
            submitting=submitting,
            displacing=self._displacing,
            left=(*self._doubts.left, *filter(None, (self._latest,))),
        )

    def _displacing(self) -> None:
        self._latest = None
        self._doubts.pass_by()

    def _claim(self, entry: JournalEntry, caught_up: bool) -> Claim:
        text = entry.data.decode("utf-8")
        claim = self._gate.claim(self._target.session(), text, caught_up=caught_up)
        self._latest = Left(text=text, claim=claim)
        return claim

    def _submitting(self, entry: JournalEntry, tell: Callable[[], None] | None) -> None:
        if tell is not None:
            tell()
        if entry.kind is not InputKind.RAW:
            self._target.submitting(entry.data.decode("utf-8"))
        elif b"\r" in entry.data:
            self._target.submitting(None)

    async def _press(self, key: str, sender: Identity | None) -> None:
        self._target.judge_key(key, sender)
        pane = self._target.living_pane()
        if key == "S-Enter":
            # A new line in a composer. A shell has no composer, and would print the key's bytes.
            composer = self._target.composer()
            key = "Enter" if composer is None else composer.submission.newline
        if key == "Enter":
            self._target.submitting(None)
        try:
            await pane.send_key(key)
        except PaneGone as error:
            raise no_process() from error
        except MuxTimeout as error:
            raise operation_failed(UNSURE) from error
        except MuxError as error:
            raise operation_failed(f"the key was not pressed: {error}") from error
        self._target.typed()


async def _nothing() -> None:
    """Wait for a turn in the queue without doing anything."""


def _outlives(request: InputRequest) -> bool:
    """Return whether the input is still typed after its caller got an error."""
    return request.seq is not None and request.submitting is None


def _once(answer: Deferred[Delivery], outcome: Delivery | Failure | ServiceError) -> None:
    """Answer the caller unless it already got an answer."""
    if answer.called:
        return
    if isinstance(outcome, Delivery):
        answer.callback(outcome)
    else:
        answer.errback(outcome)
