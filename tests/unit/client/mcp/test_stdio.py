"""Tests for MCP on standard input and output."""

from __future__ import annotations

import json
import os
import threading
from io import BytesIO
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.mcp.plan import Ask
from tservice.client.mcp.protocol import RpcServer
from tservice.client.mcp.stdio import AT_ONCE, LINE, Stdio
from tservice.client.mcp.tools import offered


def message(key: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": key, "method": method, "params": params}).encode()


def use(key: int, name: str, **arguments: Any) -> bytes:
    return message(key, "tools/call", name=name, arguments=arguments)


class StdioTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.door = threading.Event()
        self.addCleanup(self.door.set)

    async def send(self, ask: Ask) -> Any:
        if ask.path == "/waits":
            self.door.wait(30)
        return []

    def serve(self, *lines: bytes) -> dict[Any, Any]:
        sink = BytesIO()
        source = BytesIO(b"".join(line + b"\n" for line in lines))
        Stdio(RpcServer(offered(None), self.send), source, sink).serve()
        answers = [json.loads(line) for line in sink.getvalue().splitlines()]
        return {answer["id"]: answer for answer in answers}

    def test_answers_that_are_owed_when_the_input_ends(self) -> None:
        found = self.serve(message(1, "ping"), use(2, "list_sessions"))
        self.assertEqual({}, found[1]["result"])
        self.assertEqual({"sessions": []}, found[2]["result"]["structuredContent"])

    def test_nonsense_is_answered_and_nothing_is_lost_behind_it(self) -> None:
        found = self.serve(b"{", b"", b"x" * (LINE + 9), message(3, "ping"))
        self.assertIn(found[None]["error"]["code"], (-32700, -32600))
        self.assertEqual({}, found[3]["result"])

    def test_a_wait_holds_up_nobody_and_there_is_a_bound(self) -> None:
        read, write = os.pipe()
        out_read, out_write = os.pipe()
        with (
            os.fdopen(read, "rb") as source,
            os.fdopen(out_write, "wb") as sink,
            os.fdopen(out_read, "rb") as out,
            os.fdopen(write, "wb", buffering=0) as into,
        ):
            server = threading.Thread(
                target=Stdio(RpcServer(offered(None), self.send), source, sink).serve, daemon=True
            )
            server.start()
            for number in range(AT_ONCE):
                into.write(use(number, "wait", sessionIds=["s"]) + b"\n")
            into.write(use(100, "list_sessions") + b"\n" + message(101, "ping") + b"\n")
            answers = [json.loads(out.readline()) for _ in range(2)]
            self.assertIn("at once", answers[0]["error"]["message"])
            self.assertEqual((100, 101), (answers[0]["id"], answers[1]["id"]))
            self.door.set()
            ids = {json.loads(out.readline())["id"] for _ in range(AT_ONCE)}
            self.assertEqual(set(range(AT_ONCE)), ids)
            into.close()
            server.join(30)
            self.assertFalse(server.is_alive())
