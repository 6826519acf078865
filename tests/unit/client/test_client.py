"""Tests for L{tservice.client.api}: requests as they are sent, answers unwrapped."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tservice.client.api import ApiError, Client, unwrap


class Recorder:
    """A transport that answers what it is told to."""

    def __init__(self, status: int = 200, content: bytes = b'{"success":true,"data":{}}') -> None:
        self.status, self.body = status, content
        self.sent: list[tuple[str, str, dict[str, Any]]] = []

    async def request(self, method: str, url: str, **options: Any) -> Any:
        self.sent.append((method, url, options))
        return SimpleNamespace(code=self.status)

    async def content(self, response: Any) -> bytes:
        return self.body


class ClientTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.wire = Recorder()
        self.client = Client("http://h:1/base/", token="tsk_x", transport=self.wire)

    def run_now(self, work: Any) -> Any:
        return self.successResultOf(Deferred.fromCoroutine(work))

    def test_a_call(self) -> None:
        query = {"a": "x y", "b": None}
        self.assertEqual({}, self.run_now(self.client.call("GET", "/s", query=query)))
        [(method, url, options)] = self.wire.sent
        self.assertEqual(("GET", "http://h:1/base/api/v1/s?a=x+y"), (method, url))
        self.assertEqual({"Authorization": "Bearer tsk_x"}, options["headers"])
        self.assertNotIn("data", options)

    def test_a_login(self) -> None:
        client = Client("http://h", login=("ann", "secret"), transport=self.wire)
        self.run_now(client.call("GET", "/s"))
        self.assertEqual(("ann", "secret"), self.wire.sent[0][2]["auth"])

    def test_typing_and_waiting(self) -> None:
        work = self.client.send("a/b", "x", wait="stop", timeout_ms=5000, client_id="c", seq=3)
        self.run_now(work)
        [(_, url, options)] = self.wire.sent
        self.assertTrue(url.endswith("/sessions/a%2Fb/input"))
        self.assertEqual(65.0, options["timeout"])
        self.assertEqual(
            {
                "input": "x",
                "useMux": True,
                "wait": "stop",
                "waitTimeout": 5000,
                "clientId": "c",
                "seq": 3,
            },
            json.loads(options["data"]),
        )

    def test_the_others(self) -> None:
        self.wire.body = b'{"success":true,"data":{"session":{"id":"1"}}}'
        self.assertEqual({"id": "1"}, self.run_now(self.client.create(mode="shell")))
        self.run_now(self.client.sessions())
        self.run_now(self.client.terminal("1", full=True))
        self.run_now(self.client.delete("1"))
        self.assertEqual(
            ["POST /sessions", "GET /sessions", "GET /sessions/1/terminal?full=1",
             "DELETE /sessions/1"],
            [f"{method} {url.partition('/api/v1')[2]}" for method, url, _ in self.wire.sent],
        )  # fmt: skip

    def test_errors(self) -> None:
        envelope = b'{"success":false,"error":"no","errorCode":"NOT_FOUND"}'
        for status, content, code in (
            (404, envelope, "NOT_FOUND"),
            (401, b"Unauthorized", None),
            (502, b"<html>", None),
            (200, b"[]", None),
            (200, b"\xff", None),
        ):
            error = self.assertRaises(ApiError, unwrap, status, content)
            self.assertEqual((status, code), (error.status, error.code))
