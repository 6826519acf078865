"""The upgrade that gives accounts their own webhooks."""

from __future__ import annotations

from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.notify.model import DeliveryResult
from tservice.notify.outbox import WebhookOutbox
from tservice.store.database import Database
from tservice.store.schemas import find_packaged_schemas, read_steps


class UpgradeTests(SynchronousTestCase):
    """Schema step 36."""

    def test_waiting_message_and_last_result_of_the_service_stay(self) -> None:
        path, steps = Path(self.mktemp()), read_steps(find_packaged_schemas())
        old = Database.open_file(path, clock=Clock(), schemas=steps[:35])
        message = (
            '{"event": "stop", "title": "t", "body": "b", "urgency": "info", "host": "h", "at": 1}'
        )
        old.execute(
            "INSERT INTO webhook_outbox (message, attempts, due_at) VALUES (?, 1, 5)", (message,)
        )
        result = '{"ok": false, "at": 7, "status": 500, "error": "HTTP 500"}'
        old.execute("INSERT INTO webhook_result (id, result) VALUES (1, ?)", (result,))
        old.close()
        new = Database.open_file(path, clock=Clock(), schemas=steps)
        self.addCleanup(new.close)
        outbox = WebhookOutbox(new)
        row = outbox.find_next(())
        assert row is not None
        self.assertEqual(("t", 1, 5), (row.message.title, row.attempts, row.due_at))
        self.assertEqual(
            DeliveryResult(ok=False, at=7, status=500, error="HTTP 500"), outbox.last_result()
        )
        self.assertIsNone(WebhookOutbox(new, "ann/hook").find_next(()))
