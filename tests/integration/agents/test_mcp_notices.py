"""What clients of the MCP server are told unasked, while a played agent asks for something."""

from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import MockScenario
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import PATIENCE
from tests.integration.tsctl import TSCTL
from tests.waiting import wait_until

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


class McpApprovalNoticeTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.open = ExitStack()
        self.addCleanup(self.open.close)
        self.daemon = played_daemon()
        self.open.callback(self.daemon.close)
        self.daemon.start()

    def by_pipe(self) -> Iterator[str]:
        """Lines of C{tsctl mcp} behind its greeting."""
        process = self.open.enter_context(
            subprocess.Popen(
                [*TSCTL, "mcp"],
                env={**self.daemon.environ(), "TSCTL_URL": self.daemon.url},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        self.open.callback(process.kill)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO) + "\n")
        process.stdin.flush()
        self.assertIn("logging", json.loads(process.stdout.readline())["result"]["capabilities"])
        return iter(process.stdout)

    def by_http(self) -> Iterator[str]:
        """Messages of the stream of C{/mcp}."""
        address = urlsplit(self.daemon.url).netloc
        asking = self.open.enter_context(
            closing(http.client.HTTPConnection(address, timeout=PATIENCE))
        )
        asking.request("POST", "/mcp", json.dumps(HELLO), {"Content-Type": "application/json"})
        answer = asking.getresponse()
        answer.read()
        session = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}
        stream = self.open.enter_context(
            closing(http.client.HTTPConnection(address, timeout=PATIENCE))
        )
        stream.request("GET", "/mcp", headers=session)
        lines = (line.decode().strip() for line in stream.getresponse())
        return (line.removeprefix("data: ") for line in lines if line.startswith("data: "))

    def test_mcp_clients_are_notified_of_a_new_and_an_ended_approval(self) -> None:
        clients = [self.by_pipe(), self.by_http()]
        wait_until("the pipe's client listens", self.listens)
        session = PlayedSession(self.daemon, "primary", MockScenario())
        self.addCleanup(session.end)
        session.prompt("RUN: touch a")
        item = session.item()
        session.answer(item, action="approve")
        for lines in clients:
            pending, resolved = self.told(lines), self.told(lines)
            self.assertEqual("approval:pending", pending["event"])
            self.assertEqual("approval:resolved", resolved["event"])
            self.assertEqual(session.id, pending["sessionId"])

    def listens(self) -> bool:
        metrics = self.daemon.request("GET", "/metrics").body.decode()
        return "tservice_event_streams 1" in metrics

    def told(self, lines: Iterator[str]) -> Any:
        message = json.loads(next(lines))
        self.assertEqual("notifications/message", message["method"])
        return message["params"]["data"]
