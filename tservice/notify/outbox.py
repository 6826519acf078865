"""Outbox in the database: messages that wait for delivery, and the result of the last attempt."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

import attrs
from attrs import frozen

from tservice.core.disk.disk_errors import DiskFull
from tservice.notify.model import DeliveryResult, MessageUrgency, WebhookMessage
from tservice.store.database import Database

_ADD = "INSERT INTO webhook_outbox (message, attempts, due_at, target) VALUES (?, 0, ?, ?)"
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

    An added message survives a crash of the service.  Each webhook has its own queue, so that one
    whose receiver fails does not delay others.
    """

    def __init__(self, database: Database, target: str = "", limit: int = OUTBOX_LIMIT) -> None:
        """@param target: name of the webhook; empty for the webhook of the service.
        @param limit: maximum number of waiting messages.
        """
        self._database = database
        self._target = target
        self._limit = limit
        self._owed = 0

    def add_message(self, message: WebhookMessage, due_at: int) -> int:
        """Add a message.  On a full disk this is deferred until there is space.

        @param due_at: time of the first attempt, Unix milliseconds.
        @return: number of older messages that were dropped because the outbox was full.
        """
        row = (json.dumps(attrs.asdict(message)), due_at, self._target)
        try:
            return self._insert_row(row)
        except DiskFull:
            # If too many are deferred, the new message replaces the oldest deferred one.
            self._owed = self._owed % self._limit + 1
            self._database.execute_or_defer(("webhook", self._target, self._owed), _ADD, row)
            return 0

    def add_recovery_callback(self, call: Callable[[], object]) -> Callable[[], None]:
        """Call C{call} once deferred messages have been written to the outbox.

        @return: a function that removes the callback.
        """
        return self._database.deferred_writes.add_recovery_callback(call)

    def _insert_row(self, row: tuple[str, int, str]) -> int:
        with self._database.transaction():
            self._database.execute(_ADD, row)
            return self._database.execute(
                "DELETE FROM webhook_outbox WHERE id IN (SELECT id FROM webhook_outbox"
                " WHERE target = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
                (self._target, self._limit),
            )

    def find_next(self, busy: Collection[int]) -> OutboxRow | None:
        """Return the message with the earliest due time, even if that is in the future.

        @param busy: ids of messages that are being sent, which are skipped.
        @return: C{None} if there is no message.
        """
        places = ", ".join("?" * len(busy))
        row = self._database.query_first_row(
            "SELECT id, message, attempts, due_at FROM webhook_outbox"  # noqa: S608
            f" WHERE target = ? AND id NOT IN ({places}) ORDER BY due_at, id LIMIT 1",
            (self._target, *busy),
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
            ("webhook due", self._target),
            "UPDATE webhook_outbox SET due_at = ? WHERE target = ? AND due_at > ?",
            (latest, self._target, latest),
        )

    def remove_message(self, row_id: int) -> None:
        """Remove a message that was delivered or finally failed."""
        self._database.execute("DELETE FROM webhook_outbox WHERE id = ?", (row_id,))

    def clear(self) -> None:
        """Remove all messages."""
        self._database.execute("DELETE FROM webhook_outbox WHERE target = ?", (self._target,))

    def count_waiting(self) -> int:
        """Return the number of waiting messages."""
        row = self._database.query_first_row(
            "SELECT count(*) AS number FROM webhook_outbox WHERE target = ?", (self._target,)
        )
        return 0 if row is None else int(row["number"])

    def last_result(self) -> DeliveryResult | None:
        """Return the result of the last attempt; C{None} if there was none."""
        row = self._database.query_first_row(
            "SELECT result FROM webhook_result WHERE target = ?", (self._target,)
        )
        return None if row is None else DeliveryResult(**json.loads(row["result"]))

    def save_result(self, result: DeliveryResult) -> None:
        """Replace the stored result of the last attempt, without flushing the disk."""
        self._database.execute_or_defer(
            ("webhook result", self._target),
            "INSERT INTO webhook_result (target, result) VALUES (?, ?)"
            " ON CONFLICT (target) DO UPDATE SET result = excluded.result",
            (self._target, json.dumps(attrs.asdict(result))),
        )

    def delete_all(self) -> None:
        """Remove the messages and the result of a webhook that was deleted.

        On a full disk this is deferred.
        """
        for table in ("webhook_outbox", "webhook_result"):
            self._database.execute_or_defer(
                (table, self._target),
                f"DELETE FROM {table} WHERE target = ?",  # noqa: S608
                (self._target,),
            )


def list_targets(database: Database) -> list[str]:
    """Return the names of the webhooks of accounts that have messages or a result."""
    rows = database.query_rows(
        "SELECT target FROM webhook_outbox UNION SELECT target FROM webhook_result"
    )
    return sorted(row["target"] for row in rows if row["target"])
