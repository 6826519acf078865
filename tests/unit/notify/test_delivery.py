"""The outbox: retries, bounds, and what a crash leaves."""

from __future__ import annotations

import json
from typing import Any

from twisted.internet.defer import maybeDeferred

from tests.unit.notify.harness import URL, NotifyCase
from tservice.core.net.outbound import OutboundFault
from tservice.notify.model import MessageScope, ReceiverKind
from tservice.notify.outbox import OUTBOX_LIMIT


class DeliveryCase(NotifyCase):
    def setUp(self) -> None:
        super().setUp()
        self.configure()

    def configure(self, scope: MessageScope = MessageScope.ALL) -> None:
        self.service.update_config(
            {"enabled": True, "url": URL, "scope": scope, "kind": ReceiverKind.GENERIC}
        )

    def sent(self) -> list[str]:
        return [json.loads(request.body or b"")["sessionId"] for request in self.post.requests]


class AttemptTests(DeliveryCase):
    def test_accepted_message_has_a_result(self) -> None:
        self.tell("hook:stop", message="Done")
        body = json.loads(self.post.requests[0].body or b"")
        self.assertEqual(
            ("stop", "api has finished its turn", "Done", "info", "s1", "api", "desk"),
            tuple(body[key] for key in ("event", "title", "body", "urgency", "sessionId",
                                        "sessionName", "host")),
        )  # fmt: skip
        self.assertEqual(1, self.waiting())
        self.post.answer(204)
        self.assertEqual(0, self.waiting())
        result = self.service.last_result()
        assert result is not None
        self.assertEqual((True, 204, None, 1_700_000_000_500),
                         (result.ok, result.status, result.error, result.at))  # fmt: skip
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_failed_delivery_is_retried_after_1_5_and_25_seconds(self) -> None:
        self.tell("hook:stop")
        for number, pause in enumerate((1, 5, 25), 1):
            self.post.answer(503)
            self.clock.advance(pause - 0.01)
            self.assertEqual(number, len(self.post.requests))
            self.clock.advance(0.01)
            self.assertEqual(number + 1, len(self.post.requests))
        self.post.fail(OutboundFault.TIMED_OUT)
        self.assertEqual(0, self.waiting())
        self.assertEqual([], self.clock.getDelayedCalls())
        result = self.service.last_result()
        assert result is not None
        self.assertEqual((False, None, "Timed out"), (result.ok, result.status, result.error))

    def test_clock_set_back_does_not_delay_a_retry(self) -> None:
        """It was to be in a second, and is not in an hour."""
        self.tell("hook:stop")
        self.post.answer(503)
        clock: Any = self.clock
        clock.time_of_day = lambda: self.clock.seconds() - 3600
        self.clock.advance(1)
        self.assertEqual(2, len(self.post.requests))

    def test_every_failed_answer_has_its_text(self) -> None:
        for answer, text, status in (
            (500, "HTTP 500", 500),
            (404, "HTTP 404", 404),
            (302, "The URL redirects", 302),
            (OutboundFault.TIMED_OUT, "Timed out", None),
            (OutboundFault.NOT_FOUND, "Host not found", None),
            (OutboundFault.CONNECTION_REFUSED, "Connection refused", None),
            (OutboundFault.NETWORK, "Network error", None),
            (OutboundFault.REFUSED, "Refused", None),
        ):
            self.clock.advance(100)
            self.tell("hook:stop", f"s-{text}")
            while len(self.post.waiting) > 1:
                self.post.answer()
            if isinstance(answer, int):
                self.post.answer(answer)
            else:
                self.post.fail(answer)
            result = self.service.last_result()
            assert result is not None
            self.assertEqual((False, text, status), (result.ok, result.error, result.status))

    def test_at_most_five_deliveries_run_at_once(self) -> None:
        for number in range(12):
            self.tell("hook:stop", f"s{number}")
        self.assertEqual(["s0", "s1", "s2", "s3", "s4"], self.sent())
        self.post.answer()
        self.assertEqual(6, len(self.post.requests))
        self.assertEqual(5, len(self.post.waiting))
        while self.post.waiting:
            self.post.answer()
        self.assertEqual([f"s{number}" for number in range(12)], self.sent())
        self.assertEqual(0, self.waiting())

    def test_webhook_outbox_is_bounded(self) -> None:
        for number in range(OUTBOX_LIMIT + 3):
            self.tell("hook:stop", f"s{number}")
        self.assertEqual(OUTBOX_LIMIT, self.waiting())
        self.post.answer()
        self.assertEqual("s5", self.sent()[-1])

    def test_attention_scope_leaves_out_what_can_wait(self) -> None:
        self.configure(MessageScope.ATTENTION)
        self.tell("hook:stop")
        self.assertEqual([], self.post.requests)
        self.tell("hook:idle_prompt")
        self.assertEqual(1, len(self.post.requests))

    def test_same_event_is_sent_once_in_three_seconds(self) -> None:
        self.tell("hook:stop")
        self.tell("hook:stop")
        self.assertEqual(1, self.waiting())

    def test_failing_database_is_not_queried_in_a_loop(self) -> None:
        self.tell("hook:stop")
        self.database.execute("ALTER TABLE webhook_result RENAME TO gone")
        self.post.answer()
        self.assertEqual(1, len(self.flushLoggedErrors()))
        self.assertEqual(1, len(self.post.requests))
        self.database.execute("ALTER TABLE gone RENAME TO webhook_result")
        self.clock.advance(25)
        self.assertEqual(2, len(self.post.requests))
        self.post.answer()
        self.assertEqual(0, self.waiting())


class DeliveryRestartTests(DeliveryCase):
    def test_message_waiting_for_a_retry_survives_a_restart(self) -> None:
        self.tell("hook:stop")
        self.post.answer(500)
        self.crash()
        self.assertEqual([], self.post.requests)
        self.clock.advance(1)
        self.assertEqual(["s1"], self.sent())
        for pause in (5, 25):
            self.post.answer(500)
            self.clock.advance(pause)
        self.post.answer(500)
        self.assertEqual((3, 0), (len(self.post.requests), self.waiting()))

    def test_message_being_sent_is_sent_again_after_a_restart(self) -> None:
        self.tell("hook:stop")
        self.crash()
        self.assertEqual(["s1"], self.sent())

    def test_accepted_message_is_not_sent_again(self) -> None:
        self.tell("hook:stop")
        self.post.answer()
        self.crash()
        self.assertEqual([], self.post.requests)
        self.assertIsNotNone(self.service.last_result())

    def test_clock_set_back_over_a_restart_does_not_delay_a_retry(self) -> None:
        self.tell("hook:stop")
        self.post.answer(500)
        self.clock.rightNow -= 100_000
        self.crash()
        self.clock.advance(25)
        self.assertEqual(["s1"], self.sent())

    def test_stop_keeps_the_message_being_sent(self) -> None:
        self.tell("hook:stop")
        self.tell("hook:stop", "s2")
        self.successResultOf(maybeDeferred(self.webhooks.close))
        self.assertEqual([], self.post.waiting)
        self.assertEqual(2, self.waiting())
        self.tell("hook:stop", "s3")
        self.assertEqual(2, self.waiting())
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_switching_off_drops_waiting_messages(self) -> None:
        for patch in ({"enabled": False}, {"url": ""}):
            self.configure()
            self.clock.advance(10)
            self.tell("hook:stop")
            self.post.answer(500)
            self.service.update_config(patch)
            self.assertEqual(0, self.waiting())
            self.assertEqual([], self.clock.getDelayedCalls())
