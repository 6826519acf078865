"""The stub model as a child process on a real socket."""

from __future__ import annotations

import json
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.stub_model import StubProcess
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.essential


class StubServerTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.stub = StubProcess()
        self.addCleanup(self.stub.close)

    def ask(self, prompt: str, path: str = "/v1/messages") -> HTTPResponse:
        """Send a prompt with a shell tool on offer; the answer, its body unread."""
        body: dict[str, Any] = {
            "stream": True,
            "tools": [{"name": "Bash", "input_schema": {}}],
            "messages": [{"role": "user", "content": prompt}],
        }
        self.connection = HTTPConnection("127.0.0.1", self.stub.port, timeout=PATIENCE)
        self.addCleanup(self.connection.close)
        self.connection.request("POST", path, json.dumps(body))
        return self.connection.getresponse()

    def test_stub_answers_and_records_a_turn(self) -> None:
        answer = self.ask("SAY: hello")
        self.assertEqual(200, answer.status)
        self.assertIn(b"hello", answer.read())
        (turn,) = self.stub.turns()
        self.assertEqual(("SAY: hello", "said"), (turn.prompt, turn.outcome))
        assert turn.ended is not None
        self.assertLessEqual(turn.started, turn.ended)

    def test_held_stub_answer_stays_open_until_released(self) -> None:
        answer = self.ask("HOLD: door")
        self.assertIn(b"message_start", answer.readline() + answer.readline())
        self.assertEqual("open", self.stub.turns()[0].outcome)
        self.assertEqual(1, self.stub.release("door"))
        self.assertIn(b"until released", answer.read())
        self.assertEqual("said", self.stub.turns()[0].outcome)

    def test_gate_opened_beforehand_releases_one_stub_answer(self) -> None:
        self.assertEqual(0, self.stub.release("door"))
        self.assertIn(b"message_stop", self.ask("HOLD: door").read())

    def test_client_that_hangs_up_aborts_the_turn(self) -> None:
        self.ask("HOLD: door").readline()
        self.connection.close()
        self.ask("SAY: next").read()
        wait_until("the abort", lambda: self.stub.turns()[0].outcome == "aborted")

    def test_fail_directive_returns_the_error_status(self) -> None:
        answer = self.ask("FAIL: 529")
        self.assertEqual(529, answer.status)
        self.assertEqual("overloaded_error", json.loads(answer.read())["error"]["type"])
        self.assertEqual("failed", self.stub.turns()[0].outcome)

    def test_limit_directive_returns_429_with_limit_headers(self) -> None:
        answer = self.ask("LIMIT: 60")
        self.assertEqual(429, answer.status)
        self.assertEqual("rejected", answer.getheader("anthropic-ratelimit-unified-status"))

    def test_limits_are_sent_once_they_are_set(self) -> None:
        name = "anthropic-ratelimit-unified-5h-utilization"
        self.assertIs(None, self.ask("SAY: x").getheader(name))
        self.stub.set_limits(five_hour=0.5)
        self.assertEqual("0.5", self.ask("SAY: x").getheader(name))

    def test_stub_server_remembers_unknown_paths(self) -> None:
        self.assertEqual(404, self.ask("SAY: x", "/telemetry").status)
        self.assertEqual(["POST /telemetry"], self.stub.unknown())
