"""Messages that wait for delivery, and what became of the last attempt, in the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection

import attrs
from attrs import frozen

from tservice.core.disk import NotKept
from tservice.notify.model import Result, Urgency, WebhookMessage
from tservice.store.database import Database

_ADD = "INSERT INTO webhook_outbox (message, attempts, due_at) VALUES (?, 0, ?)"
OUTBOX_LIMIT = 500
"""Messages waiting; when another comes, the oldest is given up."""


@frozen(kw_only=True)
class OutboxRow:
    """A row of the outbox.

    @ivar attempts: how often it was tried in vain.
    @ivar due_at: Unix milliseconds of the next attempt.
    """

    id: int
    message: WebhookMessage
    attempts: int
    due_at: int


class Outbox:
    """What was added is on the disk when the method returns, and stays until it is removed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._owed = 0

    def add(self, message: WebhookMessage, due_at: int) -> int:
        """Put one in; a full disk gets it later, and then it is due.

        @return: how many old ones were given up for it.
        """
        row = (json.dumps(attrs.asdict(message)), due_at)
        try:
            return self._add(row)
        except NotKept:
            # In the place of the one that waited longest for the disk, once there are too many.
            self._owed = self._owed % OUTBOX_LIMIT + 1
            self._database.later(("webhook", self._owed), _ADD, row)
            return 0

    def when_room(self, call: Callable[[], object]) -> None:
        """Have C{call} called when what a full disk did not take is in the outbox."""
        self._database.debts.when_recovered(call)

    def _add(self, row: tuple[str, int]) -> int:
        with self._database.transaction():
            self._database.execute(_ADD, row)
            return self._database.execute(
                "DELETE FROM webhook_outbox WHERE id IN"
                " (SELECT id FROM webhook_outbox ORDER BY id DESC LIMIT -1 OFFSET ?)",
                (OUTBOX_LIMIT,),
            )

    def next(self, busy: Collection[int]) -> OutboxRow | None:
        """The one that is due first, due already or not.

        @param busy: ids that are being sent, a handful at most.
        """
        places = ", ".join("?" * len(busy))
        row = self._database.query_one(
            "SELECT id, message, attempts, due_at FROM webhook_outbox"  # noqa: S608
            f" WHERE id NOT IN ({places}) ORDER BY due_at, id LIMIT 1",
            tuple(busy),
        )
        if row is None:
            return None
        found = json.loads(row["message"])
        message = WebhookMessage(**{**found, "urgency": Urgency(found["urgency"])})
        return OutboxRow(
            id=row["id"], message=message, attempts=row["attempts"], due_at=row["due_at"]
        )

    def postpone(self, row_id: int, attempts: int, due_at: int) -> None:
        """It failed; try again later."""
        self._database.execute(
            "UPDATE webhook_outbox SET attempts = ?, due_at = ? WHERE id = ?",
            (attempts, due_at, row_id),
        )

    def hasten(self, latest: int) -> None:
        """Nothing is due later than C{latest}: the clock may have been set back meanwhile.

        A full disk gets it later: a start must not need room.
        """
        self._database.later(
            ("webhook due",),
            "UPDATE webhook_outbox SET due_at = ? WHERE due_at > ?",
            (latest, latest),
        )

    def remove(self, row_id: int) -> None:
        """It was accepted, or is given up."""
        self._database.execute("DELETE FROM webhook_outbox WHERE id = ?", (row_id,))

    def clear(self) -> None:
        """Give up all of them."""
        self._database.execute("DELETE FROM webhook_outbox")

    def count(self) -> int:
        """How many wait."""
        row = self._database.query_one("SELECT count(*) AS number FROM webhook_outbox")
        return 0 if row is None else int(row["number"])

    def last_result(self) -> Result | None:
        """What became of the last attempt."""
        row = self._database.query_one("SELECT result FROM webhook_result")
        return None if row is None else Result(**json.loads(row["result"]))

    def keep_result(self, result: Result) -> None:
        """Remember it in place of the one before; costs no flush."""
        self._database.later(
            ("webhook result",),
            "INSERT INTO webhook_result (id, result) VALUES (1, ?)"
            " ON CONFLICT (id) DO UPDATE SET result = excluded.result",
            (json.dumps(attrs.asdict(result)),),
        )
