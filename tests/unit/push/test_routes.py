"""C{/api/push} behind a real gate."""

from __future__ import annotations

from typing import Any

from tests.unit.http.gate_harness import GateCase, basic_headers
from tests.unit.push.push_browsers import PushBrowser, PushCase
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation
from tservice.push.routes import PushRoutes

BODY = PushBrowser().body


class PushRouteTests(PushCase, GateCase):
    def setUp(self) -> None:
        PushCase.setUp(self)
        GateCase.setUp(self)

    def table(self) -> list[Operation]:
        return collect_operations(PushRoutes(self.push))

    def error(self, body: dict[str, Any]) -> tuple[int, str, str]:
        found = self.ask(basic_headers(), "/api/push/subscriptions", "POST", body)
        self.assertEqual([], self.subscriptions.list_subscriptions())
        return found.error

    def test_public_key_is_returned(self) -> None:
        found = self.ask(basic_headers(), "/api/push/key")
        self.assertEqual({"publicKey": self.push.public_key}, found.data)

    def test_push_routes_need_credentials(self) -> None:
        for method, path in (
            ("GET", "/api/push/key"),
            ("POST", "/api/push/subscriptions"),
            ("DELETE", "/api/push/subscriptions"),
        ):
            self.assertEqual(401, self.ask({}, path, method).status)

    def test_browser_is_subscribed_and_unsubscribed(self) -> None:
        path = "/api/push/subscriptions"
        self.assertEqual({}, self.ask(basic_headers(), path, "POST", BODY).data)
        (kept,) = self.subscriptions.list_subscriptions()
        self.assertEqual(("admin", BODY["endpoint"]), (kept.owner, kept.endpoint))
        endpoint = {"endpoint": BODY["endpoint"]}
        self.assertEqual(
            {"removed": True}, self.ask(basic_headers(), path, "DELETE", endpoint).data
        )
        self.assertEqual(
            {"removed": False}, self.ask(basic_headers(), path, "DELETE", endpoint).data
        )

    def test_invalid_input_names_the_field(self) -> None:
        keys = BODY["keys"]
        for change, field in (
            ({"endpoint": "https://127.0.0.1/x"}, "endpoint"),
            ({"endpoint": 5}, "endpoint"),
            ({"endpoint": "https://push.example.org/" + "x" * 2048}, "endpoint"),
            ({"keys": {**keys, "p256dh": "AA"}}, "keys.p256dh"),
            ({"keys": {**keys, "auth": "AA"}}, "keys.auth"),
            ({"keys": {"auth": keys["auth"]}}, "keys.p256dh"),
            ({"keys": {**keys, "more": "x"}}, "keys.more"),
            ({"more": "x"}, "more"),
        ):
            status, code, message = self.error({**BODY, **change})
            self.assertEqual((400, "INVALID_INPUT"), (status, code))
            self.assertIn(field, message)
