"""Outbox in the database: messages that wait for delivery, and the result of the last attempt."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

import attrs
from attrs import frozen

from tservice.core.disk.disk_errors import DiskFull
from tservice.notify.model import DeliveryResult, MessageUrgency, WebhookMessage
from tservice.store.database import Database

_ADD = "INSERT INTO webhook_outbox (message, attempts, due_at) VALUES (?, 0, ?)"
OUTBOX_LIMIT = 500
"""Maximum number of waiting messages.

Beyond it a new message replaces the oldest.
"""


@frozen(kw_only=True)
class OutboxRow:
    """Message in the outbox.

    @ivar attempts: number of failed attempts.
    @ivar due_at: time of the next attempt, Unix milliseconds.
    """

    id: int
    message: WebhookMessage
    attempts: int
    due_at: int


class WebhookOutbox:
    """Queue of messages in the database.

    An added message survives a crash of the service.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owed = 0

    def add_message(self, message: WebhookMessage, due_at: int) -> int:
        """Add a message.  On a full disk this is deferred until there is space.

        @param due_at: time of the first attempt, Unix milliseconds.
        @return: number of older messages that were dropped because the outbox was full.
        """
        row = (json.dumps(attrs.asdict(message)), due_at)
        try:
            return self._insert_row(row)
        except DiskFull:
            # If too many are deferred, the new message replaces the oldest deferred one.
            self._owed = self._owed % OUTBOX_LIMIT + 1
            self._database.execute_or_defer(("webhook", self._owed), _ADD, row)
            return 0

    def add_recovery_callback(self, call: Callable[[], object]) -> None:
        """Call C{call} once deferred messages have been written to the outbox."""
        self._database.deferred_writes.add_recovery_callback(call)

    def _insert_row(self, row: tuple[str, int]) -> int:
        with self._database.transaction():
            self._database.execute(_ADD, row)
            return self._database.execute(
                "DELETE FROM webhook_outbox WHERE id IN"
                " (SELECT id FROM webhook_outbox ORDER BY id DESC LIMIT -1 OFFSET ?)",
                (OUTBOX_LIMIT,),
            )

    def find_next(self, busy: Collection[int]) -> OutboxRow | None:
        """Return the message with the earliest due time, even if that is in the future.

        @param busy: ids of messages that are being sent, which are skipped.
        @return: C{None} if there is no message.
        """
        places = ", ".join("?" * len(busy))
        row = self._database.query_first_row(
            "SELECT id, message, attempts, due_at FROM webhook_outbox"  # noqa: S608
            f" WHERE id NOT IN ({places}) ORDER BY due_at, id LIMIT 1",
            tuple(busy),
        )
        if row is None:
            return None
        found = json.loads(row["message"])
        message = WebhookMessage(**{**found, "urgency": MessageUrgency(found["urgency"])})
        return OutboxRow(
            id=row["id"], message=message, attempts=row["attempts"], due_at=row["due_at"]
        )

    def postpone_message(self, row_id: int, attempts: int, due_at: int) -> None:
        """Schedule another attempt for a message.

        @param attempts: number of failed attempts.
        @param due_at: time of the next attempt, Unix milliseconds.
        """
        self._database.execute(
            "UPDATE webhook_outbox SET attempts = ?, due_at = ? WHERE id = ?",
            (attempts, due_at, row_id),
        )

    def limit_due_times(self, latest: int) -> None:
        """Set due times later than C{latest} to C{latest}, because the clock may have been set
        back.

        On a full disk this is deferred, because the service must be able to start.

        @param latest: Unix milliseconds.
        """
        self._database.execute_or_defer(
            ("webhook due",),
            "UPDATE webhook_outbox SET due_at = ? WHERE due_at > ?",
            (latest, latest),
        )

    def remove_message(self, row_id: int) -> None:
        """Remove a message that was delivered or finally failed."""
        self._database.execute("DELETE FROM webhook_outbox WHERE id = ?", (row_id,))

    def clear(self) -> None:
        """Remove all messages."""
        self._database.execute("DELETE FROM webhook_outbox")

    def count_waiting(self) -> int:
        """Return the number of waiting messages."""
        row = self._database.query_first_row("SELECT count(*) AS number FROM webhook_outbox")
        return 0 if row is None else int(row["number"])

    def last_result(self) -> DeliveryResult | None:
        """Return the result of the last attempt; C{None} if there was none."""
        row = self._database.query_first_row("SELECT result FROM webhook_result")
        return None if row is None else DeliveryResult(**json.loads(row["result"]))

    def save_result(self, result: DeliveryResult) -> None:
        """Replace the stored result of the last attempt, without flushing the disk."""
        self._database.execute_or_defer(
            ("webhook result",),
            "INSERT INTO webhook_result (id, result) VALUES (1, ?)"
            " ON CONFLICT (id) DO UPDATE SET result = excluded.result",
            (json.dumps(attrs.asdict(result)),),
        )
