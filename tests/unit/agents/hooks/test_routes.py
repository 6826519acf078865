"""The two routes that agents call."""

from __future__ import annotations

from typing import Any

from tests.unit.agents.harness import AgentHarnessCase
from tests.unit.http.site_driver import ApiHarness, OpenGate
from tests.unit.sessions.harness import ADMIN
from tservice.access.authenticators import HOOK
from tservice.agents.hooks.routes import HookRoutes
from tservice.core.callers.identity import Identity
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import AccessRule


class HookRouteTests(AgentHarnessCase):
    """Over HTTP."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = OpenGate(HOOK)
        operations = collect_operations(
            HookRoutes(self.agents.hooks, self.agents.telemetry, self.agents.channel.decisions)
        )
        self.operations = operations
        self.api = ApiHarness(operations, gate=self.gate, clock=self.clock)

    def test_routes_accept_only_hook_access(self) -> None:
        self.assertEqual({AccessRule.HOOK}, {operation.access for operation in self.operations})

    def test_hook_event_is_accepted(self) -> None:
        session = self.ready()
        body: dict[str, Any] = {"event": "stop", "sessionId": session.id}
        body["data"] = {"unknown": {"is": "fine"}}
        self.assertEqual({}, self.api.post("/api/hook-event", body).data)
        self.assert_signals(["stop"])
        for body["data"] in ({}, None):
            self.assertEqual({}, self.api.post("/api/hook-event", body).data)

    def test_bad_hook_bodies_name_their_field(self) -> None:
        session = self.ready()
        good: dict[str, Any] = {"event": "stop", "sessionId": session.id}
        for change, word in [
            ({"event": "explode"}, "event"),
            ({"event": 5}, "event"),
            ({"sessionId": 5}, "sessionId"),
            ({"sessionId": ""}, "sessionId"),
            ({"data": []}, "data"),
            ({"data": "x"}, "data"),
            ({"extra": 1}, "extra"),
        ]:
            assert isinstance(change, dict)
            status, code, text = self.api.post("/api/hook-event", {**good, **change}).error
            self.assertEqual((400, "INVALID_INPUT"), (status, code), text)
            self.assertIn(word, text)
        self.assertEqual(404, self.api.post("/api/hook-event", {**good, "sessionId": "x"}).status)
        self.assert_signals([])

    def test_large_hook_payload_is_accepted(self) -> None:
        """A prompt or a file of some megabytes must not cost the event."""
        session = self.ready()
        body: dict[str, Any] = {"event": "prompt_submitted", "sessionId": session.id}
        data = {"prompt": "x" * 3_000_000}
        self.assertEqual({}, self.api.post("/api/hook-event", {**body, "data": data}).data)
        data = {"prompt": "x" * 9_000_000}
        self.assertEqual(413, self.api.post("/api/hook-event", {**body, "data": data}).status)

    def test_telemetry_answer_is_the_bare_status_line(self) -> None:
        session = self.ready()
        body = {"sessionId": session.id, "data": {"model": {"display_name": "Opus é"}}}
        answer = self.api.post("/api/status-telemetry", body)
        self.assertEqual((200, "Opus é"), (answer.status, answer.content.decode()))
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))
        self.assertEqual(404, self.api.post("/api/status-telemetry", {"sessionId": "x"}).status)
        self.assertEqual(400, self.api.post("/api/status-telemetry", {}).status)

    def test_caller_without_the_hook_secret_reaches_only_own_sessions(self) -> None:
        session = self.ready()
        body = {"event": "stop", "sessionId": session.id}
        self.gate.identity = Identity(username="eve", admin=False, method="basic")
        self.assertEqual(404, self.api.post("/api/hook-event", body).status)
        line = self.api.post("/api/status-telemetry", {"sessionId": session.id})
        self.assertEqual(404, line.status)
        self.gate.identity = ADMIN
        self.assertEqual(200, self.api.post("/api/hook-event", body).status)
