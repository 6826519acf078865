"""Tests for MCP on standard input and output."""

from __future__ import annotations

import json
import os
import queue
import select
import threading
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.waiting import PATIENCE, wait_until
from tservice.client.errors import ApiError, Unusable
from tservice.client.mcp import stdio
from tservice.client.mcp.notices import NOTICE_EVENTS
from tservice.client.mcp.plan import PlannedRequest
from tservice.client.mcp.protocol import BATCHES, VERSIONS, RpcServer
from tservice.client.mcp.stdio import LINE, MAX_CONCURRENT_CALLS, StdioServer
from tservice.client.mcp.tools import select_tools
from tservice.core.kernel.events import EventName


def message(key: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": key, "method": method, "params": params}).encode()


def use(key: int, name: str, **arguments: Any) -> bytes:
    return message(key, "tools/call", name=name, arguments=arguments)


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


class StdioTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.door = threading.Event()
        self.addCleanup(self.door.set)

    async def send(self, ask: PlannedRequest) -> Any:
        if ask.path == "/waits":
            self.door.wait(PATIENCE)
        return []

    def lines(self, *lines: bytes) -> list[Any]:
        """What is written, line by line."""
        sink = BytesIO()
        source = BytesIO(b"".join(line + b"\n" for line in lines))
        StdioServer(RpcServer(select_tools(None), self.send), source, sink).serve_messages()
        return [json.loads(line) for line in sink.getvalue().splitlines()]

    def serve(self, *lines: bytes) -> dict[Any, Any]:
        return {answer["id"]: answer for answer in self.lines(*lines)}

    def test_pending_answers_are_written_after_the_input_ends(self) -> None:
        found = self.serve(message(1, "ping"), use(2, "list_sessions"))
        self.assertEqual({}, found[1]["result"])
        self.assertEqual({"sessions": []}, found[2]["result"]["structuredContent"])

    def test_invalid_lines_are_answered_and_later_requests_served(self) -> None:
        found = self.serve(b"{", b"", b"x" * (LINE + 9), message(3, "ping"))
        self.assertIn(found[None]["error"]["code"], (-32700, -32600))
        self.assertEqual({}, found[3]["result"])

    def test_waiting_calls_do_not_block_others_and_are_bounded(self) -> None:
        read, write = os.pipe()
        out_read, out_write = os.pipe()
        with (
            os.fdopen(read, "rb") as source,
            os.fdopen(out_write, "wb") as sink,
            os.fdopen(out_read, "rb") as out,
            os.fdopen(write, "wb", buffering=0) as into,
        ):
            server = threading.Thread(
                target=StdioServer(
                    RpcServer(select_tools(None), self.send), source, sink
                ).serve_messages,
                daemon=True,
            )
            server.start()
            for number in range(MAX_CONCURRENT_CALLS):
                into.write(use(number, "wait", sessionIds=["s"]) + b"\n")
            into.write(use(100, "list_sessions") + b"\n" + message(101, "ping") + b"\n")
            answers = [json.loads(out.readline()) for _ in range(2)]
            self.assertIn("at once", answers[0]["error"]["message"])
            self.assertEqual((100, 101), (answers[0]["id"], answers[1]["id"]))
            self.door.set()
            ids = {json.loads(out.readline())["id"] for _ in range(MAX_CONCURRENT_CALLS)}
            self.assertEqual(set(range(MAX_CONCURRENT_CALLS)), ids)
            into.close()
            server.join(PATIENCE)
            self.assertFalse(server.is_alive())

    def test_unfinished_calls_are_refused_when_the_input_ends(self) -> None:
        self.patch(stdio, "GRACE", 0.01)
        found = self.serve(use(1, "wait", sessionIds=["s"]), message(2, "ping"))
        self.assertEqual(-32603, found[1]["error"]["code"])
        self.assertEqual({}, found[2]["result"])

    def test_any_request_id_is_returned_unchanged(self) -> None:
        for key in ("\ud800", "ü\u2028", "", 0, -1, 2**63, 1.5):
            found = self.serve(json.dumps({"jsonrpc": "2.0", "id": key, "method": "ping"}).encode())
            self.assertEqual([key], [*found])

    def test_batch_is_answered_in_one_line(self) -> None:
        greeting = message(1, "initialize", protocolVersion=BATCHES)
        batch = [message(2, "ping"), use(3, "list_sessions"), b"7", message(4, "tools/list")]
        lines = self.lines(greeting, b"[" + b",".join(batch) + b"]", message(5, "ping"))
        [answers] = [each for each in lines if isinstance(each, list)]
        self.assertEqual({2, 3, 4, None}, {each["id"] for each in answers})
        self.assertEqual({1, 5}, {each["id"] for each in lines if isinstance(each, dict)})
        told = b'[{"jsonrpc":"2.0","method":"notifications/initialized"}]'
        self.assertEqual(1, len(self.lines(greeting, told)))

    def test_batch_in_another_revision_is_refused_once(self) -> None:
        for greetings in ([], [message(1, "initialize", protocolVersion=VERSIONS[0])]):
            last = self.lines(*greetings, b"[" + message(2, "ping") + b"]")[-1]
            self.assertEqual((None, -32600), (last["id"], last["error"]["code"]))


class StdioNoticeTests(SynchronousTestCase):
    """What is told unasked, on pipes that a client holds."""

    def setUp(self) -> None:
        read, write = os.pipe()
        out_read, out_write = os.pipe()
        self.into = os.fdopen(write, "wb", buffering=0)
        self.out = os.fdopen(out_read, "rb", buffering=0)
        source, sink = os.fdopen(read, "rb"), os.fdopen(out_write, "wb")
        self.tell: queue.Queue[tuple[str, Any] | Exception] = queue.Queue()
        self.heard = 0
        server = RpcServer(select_tools(None), self.send, notices=True)
        serving = StdioServer(server, source, sink, self.events).serve_messages
        self.server = threading.Thread(target=serving, daemon=True)
        self.server.start()
        for each in (self.out, source, sink):
            self.addCleanup(each.close)
        self.addCleanup(self.end)

    def end(self) -> None:
        self.tell.put(Unusable("over"))
        self.into.close()
        self.server.join(PATIENCE)
        self.assertFalse(self.server.is_alive())

    async def send(self, ask: PlannedRequest) -> Any:
        return []

    def events(self) -> Iterator[tuple[str, Any]]:
        self.heard += 1
        while True:
            found = self.tell.get()
            if isinstance(found, Exception):
                raise found
            yield found

    def ask(self, key: int, method: str, **params: Any) -> Any:
        self.into.write(message(key, method, **params) + b"\n")
        return self.read()

    def read(self) -> Any:
        readable, _, _ = select.select([self.out], [], [], PATIENCE)
        self.assertTrue(readable, "nothing was written")
        return json.loads(self.out.readline())

    def test_approval_changes_are_notified(self) -> None:
        self.assertLess(NOTICE_EVENTS, {each.value for each in EventName})
        self.tell.put(("session:updated", {"id": "s"}))
        self.tell.put(("approval:pending", {"id": "a"}))
        greeting = self.ask(1, "initialize", protocolVersion="2025-06-18")
        self.assertEqual({}, greeting["result"]["capabilities"]["logging"])
        told = self.read()
        self.assertEqual("notifications/message", told["method"])
        self.assertNotIn("id", told)
        data = {"event": "approval:pending", "id": "a"}
        self.assertEqual({"level": "notice", "logger": "approvals", "data": data}, told["params"])

    def test_client_may_limit_notifications(self) -> None:
        self.ask(1, "initialize")
        self.ask(2, "logging/setLevel", level="error")
        self.tell.put(("approval:pending", {"id": "a"}))
        # Another event behind it: once that is taken, the first was passed over.
        self.tell.put(("session:updated", {"id": "s"}))
        wait_until("it was passed over", self.tell.empty)
        self.ask(3, "logging/setLevel", level="info")
        self.tell.put(("approval:resolved", {"id": "c"}))
        told = self.read()["params"]["data"]
        self.assertEqual(("approval:resolved", "c"), (told["event"], told["id"]))

    def test_broken_notification_stream_is_reopened(self) -> None:
        self.patch(stdio, "AGAIN", 0.01)
        self.ask(1, "initialize")
        self.tell.put(Unusable("cut"))
        self.tell.put(("approval:pending", {"id": "a"}))
        self.assertEqual("a", self.read()["params"]["data"]["id"])
        self.assertEqual(2, self.heard)

    def test_refused_notification_stream_is_not_reopened(self) -> None:
        self.patch(stdio, "AGAIN", 0.01)
        self.ask(1, "initialize")
        self.tell.put(ApiError(403, "FORBIDDEN", "no"))
        wait_until("nobody listens", lambda: stdio.LISTENER not in threads())
        self.assertEqual({}, self.ask(2, "ping")["result"])
        self.assertEqual(1, self.heard)
