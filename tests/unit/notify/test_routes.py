"""C{/api/webhook} through the real site."""

from __future__ import annotations

import json
import stat
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred

from tests.event_helpers import to_wire
from tests.unit.http.site_driver import ApiHarness, parse_http_answer, request_head
from tests.unit.notify.harness import ON, URL, FakePost, NotifyCase
from tservice.core.kernel.events import Event, EventAudience
from tservice.core.net.outbound import OutboundFault
from tservice.http.operations import AccessRule

OFF = {
    "enabled": False,
    "kind": "topic",
    "scope": "attention",
    "hasUrl": False,
    "urlMasked": None,
    "lastResult": None,
}


class NotifyRouteCase(NotifyCase):
    def setUp(self) -> None:
        super().setUp()
        self.api = ApiHarness(self.webhooks.operations, clock=self.clock)
        self.addCleanup(self.api.close)
        self.file = self.folder / "webhook.json"

    def put(self, **body: object) -> Any:
        return self.api.request("PUT", "/api/webhook", body)

    def refused(self, field: str, **body: object) -> None:
        before = self.file.read_bytes() if self.file.exists() else None
        status, code, text = self.put(**body).error
        self.assertEqual((400, "INVALID_INPUT"), (status, code))
        self.assertTrue(text.startswith(f"{field}: "), text)
        self.assertEqual(before, self.file.read_bytes() if self.file.exists() else None)


class ConfigTests(NotifyRouteCase):
    def test_webhook_is_off_by_default(self) -> None:
        self.assertEqual(OFF, self.api.get("/api/webhook").data)
        self.assertFalse(self.file.exists())

    def test_webhook_is_saved_privately_and_masked(self) -> None:
        answer = self.put(**ON)
        shown = {**ON, "hasUrl": True, "urlMasked": "https://hooks.example:8443",
                 "lastResult": None}  # fmt: skip
        del shown["url"]
        self.assertEqual(shown, answer.data)
        self.assertNotIn(b"s3cr3t", answer.content)
        self.assertEqual(0o600, stat.S_IMODE(self.file.stat().st_mode))
        self.assertEqual(ON, json.loads(self.file.read_text()))
        self.assertEqual("[redacted]", self.redactor.redact_text(URL))
        self.assertNotIn("s3cr3t", repr(self.service.get_config()))

    def test_admins_receive_the_change_without_the_url(self) -> None:
        heard: list[Event] = []
        self.hub.subscribe(heard.append)
        self.put(**ON)
        [event] = heard
        self.assertEqual(
            ("webhook:changed", EventAudience.ADMINS), (event.name, event.name.audience)
        )
        self.assertEqual(self.api.get("/api/webhook").data, to_wire(event))
        self.assertNotIn("s3cr3t", repr(event))

    def test_refused_change_is_not_published(self) -> None:
        heard: list[Event] = []
        self.hub.subscribe(heard.append)
        self.put(url="ftp://x")
        self.assertEqual([], heard)

    def test_webhook_survives_a_restart(self) -> None:
        self.put(**ON)
        self.crash()
        self.assertEqual(URL, self.service.get_config().url)

    def test_absent_and_null_fields_stay(self) -> None:
        self.put(**ON)
        self.assertTrue(self.put(kind="chat_a").data["hasUrl"])
        self.assertEqual("chat_a", self.put(url=None, kind=None, scope="all").data["kind"])
        self.assertEqual(URL, self.service.get_config().url)

    def test_empty_url_clears_and_disables_the_webhook(self) -> None:
        self.put(**ON)
        answer = self.put(url="").data
        self.assertEqual((False, False, None),
                         (answer["enabled"], answer["hasUrl"], answer["urlMasked"]))  # fmt: skip
        self.assertNotIn("s3cr3t", self.file.read_text())

    def test_invalid_webhooks_are_refused(self) -> None:
        self.refused("enabled", enabled=True)
        self.refused("enabled", enabled=True, url="")
        self.refused("enabled", enabled="true")
        self.refused("kind", kind="email")
        self.refused("scope", scope="none")
        self.refused("extra", extra=1)
        self.refused("url", url=5)
        for url in (
            "ftp://a.example/",
            "http://user:pass@a.example/",
            "http://169.254.169.254/",
            "http://2852039166/",
            "http://0251.0376.0251.0376/",
            "http://0xa9fea9fe/",
            "http://[::ffff:169.254.169.254]/",
            "http://metadata.google.internal/",
            "http://[fe80::1]/",
            "http://a.example/ b",
            "x" * 3000,
        ):
            self.refused("url", url=url)
        self.put(**ON)
        self.refused("url", url="http://169.254.1.1/")
        self.assertEqual(URL, self.service.get_config().url)

    def test_loopback_and_private_targets_are_judged(self) -> None:
        for url in ("http://127.0.0.1:1/", "http://192.168.0.9/x", "http://localhost:2586/t"):
            self.assertEqual(200, self.put(url=url).status)

    def test_unusable_configuration_file_is_left_alone(self) -> None:
        for content, mode in (("{", 0o600), ('{"enabled": 1}', 0o600), (json.dumps(ON), 0o644)):
            self.file.write_text(content)
            self.file.chmod(mode)
            self.crash()
            self.api = ApiHarness(self.webhooks.operations, clock=self.clock)
            self.assertFalse(self.api.get("/api/webhook").data["enabled"])
            self.assertEqual(409, self.put(**ON).error[0])
            self.assertEqual(content, self.file.read_text())

    def test_webhook_routes_are_for_admins_only(self) -> None:
        self.assertEqual({AccessRule.ADMIN}, {op.access for op in self.webhooks.operations})


class TestTests(NotifyRouteCase):
    """C{POST /api/webhook/test}."""

    def begin_test(self) -> Any:
        connection = self.api.connect()
        connection.send(request_head("POST", "/api/webhook/test", {"Content-Length": "0"}))
        return connection

    def test_without_a_url_is_refused(self) -> None:
        self.assertEqual(400, self.api.request("POST", "/api/webhook/test").error[0])

    def test_disabled_webhook_can_be_tested_without_retries(self) -> None:
        self.put(url=URL, kind="generic")
        connection = self.begin_test()
        body = json.loads(self.post.requests[0].body or b"")
        self.assertEqual(
            {"event": "test", "title": "Test message", "body": "The webhook works.",
             "urgency": "info", "sessionId": None, "sessionName": None, "host": "desk",
             "at": "2023-11-14T22:13:20.500Z"},
            body,
        )  # fmt: skip
        self.post.fail(OutboundFault.CONNECTION_REFUSED)
        expected = {"ok": False, "error": "Connection refused", "at": 1_700_000_000_500}
        self.assertEqual(expected, parse_http_answer(connection.value()).data)
        self.assertEqual(expected, self.api.get("/api/webhook").data["lastResult"])
        self.assertEqual(0, self.waiting())

    def test_accepted_test_returns_its_result(self) -> None:
        self.put(url=URL)
        connection = self.begin_test()
        self.post.answer(200)
        self.assertEqual(
            {"ok": True, "status": 200, "at": 1_700_000_000_500},
            parse_http_answer(connection.value()).data,
        )

    def test_tests_share_the_delivery_limit_and_are_bounded(self) -> None:
        self.put(url=URL)
        connections = [self.begin_test() for _ in range(11)]
        self.assertEqual(5, len(self.post.waiting))
        self.assertEqual(429, parse_http_answer(connections[-1].value()).status)
        while self.post.waiting:
            self.post.answer()
        self.assertEqual(10, len(self.post.requests))
        self.assertEqual(
            {200}, {parse_http_answer(each.value()).status for each in connections[:-1]}
        )
        self.begin_test()
        self.assertEqual(11, len(self.post.requests))

    @settings(deadline=None)
    @given(
        st.sampled_from([*OutboundFault, 302, 400, 500]), st.text("abcdef", min_size=8, max_size=40)
    )
    def test_no_response_contains_the_url(self, outcome: Any, word: str) -> None:
        secret = f"zq{word}qz"
        self.put(url=f"https://host-{secret}.example/{secret}?token={secret}")
        task: Deferred[Any] = Deferred.fromCoroutine(self.service.send_test())
        post: FakePost = self.post
        post.fail(outcome) if isinstance(outcome, OutboundFault) else post.answer(outcome)
        self.assertNotIn(secret, repr(self.successResultOf(task)))
        last = json.dumps(self.api.get("/api/webhook").data["lastResult"])
        self.assertNotIn(secret, last)
