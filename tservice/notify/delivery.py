"""Delivery of the messages in the outbox, with retries."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.tasks import spawn_logged
from tservice.notify.model import WebhookConfig
from tservice.notify.outbox import OutboxRow, WebhookOutbox
from tservice.notify.sender import IN_FLIGHT, WebhookSender

RETRY_SECONDS = (1, 5, 25)
"""Seconds to wait before each retry (protocol-webhooks)."""


class WebhookDelivery:
    """Sends each message in the outbox at least once.

    A message is removed after the receiver's response.  If the process ends between the two, the
    receiver gets the message twice, but no message is lost.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        outbox: WebhookOutbox,
        sender: WebhookSender,
        webhook: Callable[[], WebhookConfig],
        on_attempt: Callable[[], None],
    ) -> None:
        """@param webhook: returns the current configuration.
        @param on_attempt: called after each attempt, when its result is saved.
        """
        self._clock = clock
        self._outbox = outbox
        self._sender = sender
        self._webhook = webhook
        self._told = on_attempt
        self._running: dict[int, Deferred[None]] = {}
        self._timer: IDelayedCall | None = None
        self._open = False
        self._forget_recovery: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Start to deliver messages, beginning with those of an earlier process."""
        self._open = True
        self._forget_recovery = self._outbox.add_recovery_callback(self.start_due_deliveries)
        self._outbox.limit_due_times(get_unix_ms(self._clock) + RETRY_SECONDS[-1] * 1000)
        self.start_due_deliveries()

    def stop(self) -> Deferred[list[None]]:
        """Cancel running requests.  They are repeated after the next start."""
        self._open = False
        self._forget_recovery()
        self._forget_recovery = lambda: None
        self._cancel_timer()
        running = tuple(self._running.values())
        for task in running:
            task.cancel()
        return gatherResults(running)

    def start_due_deliveries(self) -> None:
        """Start deliveries that are due.

        Call this after a new message or a change of the configuration.
        """
        self._cancel_timer()
        while self._open and self._webhook().is_active and len(self._running) < IN_FLIGHT:
            row = self._outbox.find_next(self._running)
            if row is None:
                return
            wait = row.due_at - get_unix_ms(self._clock)
            # A longer wait means that the clock was set back.
            if 0 < wait <= RETRY_SECONDS[-1] * 1000:
                self._timer = self._clock.callLater(wait / 1000, self._handle_timer)
                return
            self._begin_delivery(row)

    def _handle_timer(self) -> None:
        self._timer = None
        self.start_due_deliveries()

    def _begin_delivery(self, row: OutboxRow) -> None:
        done: Deferred[None] = Deferred(lambda _: task.cancel())
        self._running[row.id] = done
        task = spawn_logged(self._deliver_row(row), self._log, "delivering to the webhook")

        def finish_delivery(settled: bool | None) -> None:
            del self._running[row.id]
            done.callback(None)
            if settled:
                self.start_due_deliveries()
            elif self._open and self._timer is None:
                # The database is full or failing. The row is unchanged, and due immediately.
                self._timer = self._clock.callLater(RETRY_SECONDS[-1], self._handle_timer)

        task.addCallback(finish_delivery)

    async def _deliver_row(self, row: OutboxRow) -> bool:
        result = await self._sender.attempt_delivery(self._webhook(), row.message)
        self._outbox.save_result(result)
        if result.ok:
            self._outbox.remove_message(row.id)
        elif row.attempts >= len(RETRY_SECONDS):
            self._log.warn("webhook: {error}; given up", error=result.error)
            self._outbox.remove_message(row.id)
        else:
            due_at = get_unix_ms(self._clock) + RETRY_SECONDS[row.attempts] * 1000
            self._outbox.postpone_message(row.id, row.attempts + 1, due_at)
        self._told()
        return True

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
