"""The operations, through the real site, with webhooks that a test answers."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from tests.event_helpers import make_event
from tests.unit.http.site_driver import ApiHarness
from tests.unit.notify.harness import FakePost
from tests.unit.sessions.harness import SessionCase
from tservice.core.net.egress import EgressPolicy
from tservice.notifications.build import build_notice_gates, build_notices
from tservice.notifications.model import URGENCIES
from tservice.webviews.service import WebTabGuard

URL = "https://hooks.example/s3cr3t"
HOOK = {"id": "phone", "kind": "ntfy", "url": URL}
RULES: dict[str, Any] = {"webhooks": [HOOK], "onlyUnwatched": False}


class NoPush:
    """Notes what push sends."""

    def __init__(self) -> None:
        self.notes: list[Any] = []

    def send_note(self, owner: str | None, note: object) -> None:
        self.notes.append((owner, note))


class RouteCase(SessionCase):
    trusted = True

    def setUp(self) -> None:
        super().setUp()
        self.session = self.shell()
        self.push: Any = NoPush()
        self.post = FakePost()
        self.policies: list[EgressPolicy] = []
        self.begin()

    def begin(self) -> None:
        ground = self.machine.ground()
        gates = build_notice_gates(ground, sessions=self.sessions)
        guard = WebTabGuard(own_ports=lambda: [8770], trusts=lambda name: self.trusted)

        def make_sender(policy: EgressPolicy) -> FakePost:
            self.policies.append(policy)
            return self.post

        parts = build_notices(
            ground, gates=gates.service, sessions=self.sessions, push=self.push, guard=guard,
            make_sender=make_sender,
        )  # fmt: skip
        for part in (gates, parts.notices, parts.webhooks):
            part.start()
            self.addCleanup(part.close)
        self.api = ApiHarness(parts.notices.operations, clock=self.clock)
        self.addCleanup(self.api.close)

    def put(self, **rules: object) -> Any:
        return self.api.request("PUT", "/api/notification-rules", rules)

    def get(self) -> Any:
        return self.api.get("/api/notification-rules").data

    def fail_session(self) -> None:
        self.machine.hub.publish(make_event("session:error", session_id=self.session.id))


class RuleRouteTests(RouteCase):
    """C{/api/notification-rules}."""

    def test_settings_decide_until_rules_are_set(self) -> None:
        shown = self.get()
        self.assertEqual((False, [], False), (shown["custom"], shown["webhooks"], shown["digest"]))
        self.assertFalse(shown["push"]["enabled"])

    def test_rules_are_answered_without_the_url(self) -> None:
        answer = self.put(**RULES)
        self.assertTrue(answer.data["custom"])
        self.assertNotIn(b"s3cr3t", answer.content)
        self.assertEqual("https://hooks.example", answer.data["webhooks"][0]["urlMasked"])
        self.assertEqual(answer.data, self.get())

    def test_urgency_of_every_kind_is_answered(self) -> None:
        self.assertEqual(URGENCIES, self.get()["urgency"])
        answer = self.put(urgency={"stop": "critical"})
        self.assertEqual(URGENCIES | {"stop": "critical"}, answer.data["urgency"])

    def test_pages_learn_that_rules_exist(self) -> None:
        self.put(**RULES)
        self.assertEqual({"custom": True}, self.last("notice:rulesChanged"))
        self.put(custom=False)
        self.assertEqual({"custom": False}, self.last("notice:rulesChanged"))
        self.assertFalse(self.get()["custom"])

    def test_webhook_without_a_url_keeps_the_saved_one(self) -> None:
        self.put(**RULES)
        self.put(webhooks=[{"id": "phone", "kind": "slack"}])
        self.fail_session()
        self.assertEqual([URL], [request.url for request in self.post.requests])

    def test_refused_rules_name_the_field(self) -> None:
        for rules, field in (
            ({"webhooks": [{"id": "new"}]}, "webhooks.0.url"),
            ({"webhooks": [HOOK, HOOK]}, "webhooks.1.id"),
            ({"webhooks": [{"id": "x", "url": "ftp://x"}]}, "webhooks.0.url"),
            ({"webhooks": [{"id": "x", "url": "http://169.254.169.254/"}]}, "webhooks.0.url"),
            ({"webhooks": [{"id": "x", "url": "http://127.0.0.1:8770/"}]}, "webhooks.0.url"),
            ({"quietHours": {"timeZone": "Nowhere"}}, "quietHours.timeZone"),
            ({"push": {"events": ["x"]}}, "push.events.0"),
        ):
            status, code, text = self.put(**rules).error
            self.assertEqual((400, "INVALID_INPUT"), (status, code))
            self.assertTrue(text.startswith(f"{field}: "), text)
        self.assertFalse(self.get()["custom"])

    def test_notice_reaches_the_webhook_and_its_result_is_shown(self) -> None:
        self.put(**RULES)
        self.fail_session()
        [request] = self.post.requests
        self.assertIn("keeps failing", request.headers["Title"])
        self.assertEqual("5", request.headers["Priority"])
        self.post.answer(200)
        self.assertTrue(self.get()["webhooks"][0]["lastResult"]["ok"])

    def test_failed_delivery_is_repeated_after_a_restart(self) -> None:
        self.put(**RULES)
        self.fail_session()
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.post = FakePost()
        self.begin()
        self.assertEqual([URL], [request.url for request in self.post.requests])

    def test_removed_webhook_leaves_no_message_behind(self) -> None:
        self.put(**RULES)
        self.fail_session()
        self.put()
        for table in ("webhook_outbox", "webhook_result"):
            rows = self.machine.database.query_rows(f"SELECT * FROM {table}")
            self.assertEqual([], rows)

    def test_failing_webhook_does_not_delay_another(self) -> None:
        other = {"id": "other", "kind": "generic", "url": "https://other.example/"}
        self.put(webhooks=[HOOK, other], onlyUnwatched=False)
        for _ in range(20):
            self.fail_session()
        self.assertEqual(5, sum(request.url == other["url"] for request in self.post.requests))

    def test_look_holds_a_question_back_until_it_ends(self) -> None:
        self.put(**RULES | {"onlyUnwatched": True})
        path = f"/api/sessions/{self.session.id}/look"
        self.api.post(path, {"device": "d", "looking": True})
        self.machine.hub.publish(
            make_event("approval:pending", session_id=self.session.id, kind="permission")
        )
        self.assertEqual([], self.post.requests)
        self.api.post(path, {"device": "d", "looking": False})
        self.assertEqual(1, len(self.post.requests))

    def test_snooze_answers_the_end(self) -> None:
        path = f"/api/sessions/{self.session.id}/snooze"
        self.assertEqual({"snooze": {}}, self.api.post(path, {"until": "asks"}).data)
        self.assertEqual({}, self.api.post(path, {"until": None}).data)
        for bad in (
            {},
            {"until": "never"},
            {"until": True},
            {"until": "tomorrow", "timeZone": "x"},
        ):
            self.assertEqual(400, self.api.post(path, bad).status)


class UntrustedAccountTests(RouteCase):
    """Accounts whose agents must ask may not reach servers that trust this machine."""

    trusted = False

    def test_private_addresses_are_refused(self) -> None:
        for url in ("http://127.0.0.1:1/", "http://10.0.0.1/", "http://localhost/"):
            status, _, text = self.put(webhooks=[{"id": "x", "url": url}]).error
            self.assertEqual((400, True), (status, text.startswith("webhooks.0.url: ")))

    def test_name_is_resolved_under_the_same_rule(self) -> None:
        self.put(**RULES)
        self.fail_session()
        [policy] = self.policies
        self.assertFalse(policy.admits_address(ip_address("127.0.0.1")))

    def test_right_that_was_lost_holds_at_the_next_message(self) -> None:
        self.trusted = True
        self.put(**RULES)
        self.trusted = False
        self.fail_session()
        self.assertFalse(self.policies[-1].admits_address(ip_address("10.0.0.1")))
