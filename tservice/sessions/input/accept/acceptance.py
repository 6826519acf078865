"""Acceptance of an input whose turn has come (protocol-exactly-once).

The acceptance looks up and reserves the sequence number, and writes it to disk together with the
text. Then it types the input.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from twisted.internet.defer import Deferred

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError, make_conflict_error, make_failure_error
from tservice.mux.interface import MuxError, MuxTimeout, PaneGone
from tservice.sessions.input.accept.classify import ClassifiedInput
from tservice.sessions.input.accept.entry_delivery import EntryDelivery, InputContext
from tservice.sessions.input.accept.serial_queue import WAITING, Work
from tservice.sessions.input.accept.target import no_process_error
from tservice.sessions.input.entry import InputKind, JournalEntry
from tservice.sessions.input.type.composer import ComposerModel
from tservice.sessions.input.type.typist import NotTyped
from tservice.sessions.interfaces import InputDelivery
from tservice.sessions.record.requests import InputRequest
from tservice.terminal.terminal_reports import is_terminal_report

UNSURE = "the terminal does not answer; it is not known yet whether the input arrived"


class InputAcceptance:
    """Acceptance of the inputs of one session, one at a time.

    @param wait_beside_keys: waits for an awaitable, while keys and raw bytes may overtake.
    """

    def __init__(
        self,
        context: InputContext,
        new_id: Callable[[], str],
        wait_beside_keys: Callable[[Awaitable[None]], Awaitable[None]],
    ) -> None:
        self._context = context
        self._target = context.target
        self._new_id = new_id
        self._wait_beside_keys = wait_beside_keys
        # Number of failures of each client, while its earlier inputs may still wait.
        self._failures: dict[str, int] = {}

    def forget_failures(self) -> None:
        """Forget all failures, because no input waits."""
        self._failures.clear()

    def prepare_input(self, classified: ClassifiedInput) -> Work[InputDelivery]:
        """Return the work that accepts and types an input when its turn comes.

        The work raises L{ServiceError} if an earlier input of the client has failed by then.
        """
        failures = self._failures.get(classified.request.client_id or "", 0)
        return partial(self._process_input, classified, failures)

    def find_last_seq(self, request: InputRequest) -> int | None:
        """Return the last sequence number of the request's client; C{None} without one."""
        if request.seq is None or request.client_id is None:
            return None
        return self._context.journal.last_seq(self._target.session().id, request.client_id)

    async def accept_input(
        self,
        classified: ClassifiedInput,
        *,
        unsure: Callable[[], None] = lambda: None,
        wanted: Callable[[], bool] = lambda: True,
        buffered: int | None = None,
    ) -> InputDelivery:
        """Accept an input and type it, unless it is a duplicate.

        @param unsure: as for L{EntryDelivery}, and C{wanted} too.
        @param buffered: position of the input in the offline buffer.
        @raise DiskFull: nothing was accepted.
        @raise NotTyped: nothing was typed.
        @raise PaneGone: the process ended, and the typed text is lost.
        @raise ServiceError: as L{InputQueue.deliver_input}.
        """
        request, raw = classified.request, classified.kind is InputKind.RAW
        previous = self.find_last_seq(request)
        if request.seq is not None and previous is not None and request.seq <= previous:
            judge = partial(self._target.check_input_permission, classified)
            judge()
            await self._context.doubts.confirm_prompt(request.client_id, request.seq, judge)
            return InputDelivery(delivered=False, duplicate=True, last=previous)
        if not raw:
            self._target.check_text(classified)
            self._target.check_drivable(request.sender)
            session = self._target.session()
            await self._wait_beside_keys(self._context.gate.wait_until_ready(session))
        self._target.check_input_permission(classified)
        composer = None if raw else self._target.composer()
        pane = self._target.require_live_pane()
        entry = self._context.journal.accept_entry(
            self._make_entry(classified, composer, previous, buffered)
        )
        delivery = EntryDelivery(
            self._context, entry, unsure=unsure, wanted=wanted, announced=request.submitting
        )
        given = await delivery.deliver(pane, composer)
        if not is_terminal_report(entry.data):
            self._target.typed()
        return InputDelivery(delivered=True, opened=given.opened, put_aside=given.put_aside)

    async def press_key(self, key: str, sender: Identity | None) -> None:
        """Press a named key now.

        @raise ServiceError: as L{InputQueue.press_key}.
        """
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

    async def _process_input(
        self, classified: ClassifiedInput, failures: int, answer: Deferred[InputDelivery]
    ) -> InputDelivery:
        request = classified.request
        client = request.client_id or ""
        if client and self._failures.get(client, 0) != failures:
            raise make_conflict_error("an earlier input of this client failed; send both again")
        try:
            return await self.accept_input(
                classified,
                unsure=partial(_report_unsure, answer),
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

    def _make_entry(
        self, classified: ClassifiedInput, composer: ComposerModel | None,
        previous: int | None, buffered: int | None,
    ) -> JournalEntry:  # fmt: skip
        request, data = classified.request, classified.data
        if composer is not None:
            data = composer.submission.fit_text(data.decode("utf-8")).encode("utf-8")
        return JournalEntry(
            session_id=self._target.session().id, id=self._new_id(), kind=classified.kind,
            data=data, client_id=None if request.seq is None else request.client_id,
            seq=request.seq, previous_seq=previous, buffered=buffered,
        )  # fmt: skip


def _may_type_after_error(request: InputRequest) -> bool:
    """Return true if the input may still be typed after its caller received an error."""
    return request.seq is not None and request.submitting is None


def _report_unsure(answer: Deferred[InputDelivery]) -> None:
    if not answer.called:
        answer.errback(make_failure_error(UNSURE))
