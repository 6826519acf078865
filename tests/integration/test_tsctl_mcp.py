"""The MCP server as an agent's client runs it: C{tsctl mcp} on pipes, against the daemon."""

from __future__ import annotations

import itertools
import json
import subprocess
import threading
from typing import Any

from hypothesis import given, settings

from tests.examples import example_count
from tests.integration.tsctl import TSCTL, TsctlCase
from tests.unit.client.mcp import grammar
from tests.waiting import PATIENCE
from tservice.client.mcp.protocol import VERSIONS


class TsctlMcpTests(TsctlCase):
    def setUp(self) -> None:
        super().setUp()
        self._ids = itertools.count(1)

    def connect(self, *words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*TSCTL, "mcp", *words],
            env=self.environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # One that says nothing more must not hold up whoever reads its lines.
        timer = threading.Timer(4 * PATIENCE, process.kill)
        timer.start()
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.addCleanup(timer.cancel)
        return process

    def ask(self, process: subprocess.Popen[str], method: str, **params: Any) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        key = next(self._ids)
        message = {"jsonrpc": "2.0", "id": key, "method": method, "params": params}
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answer: dict[str, Any] = json.loads(process.stdout.readline())
        self.assertEqual(key, answer["id"])
        return answer

    def use(self, process: subprocess.Popen[str], tool: str, /, **arguments: Any) -> Any:
        result = self.ask(process, "tools/call", name=tool, arguments=arguments)["result"]
        self.assertFalse(result.get("isError"), result)
        return result["structuredContent"]

    def test_mcp_agent_runs_a_command_in_its_own_shell(self) -> None:
        process = self.connect()
        greeting = self.ask(process, "initialize", protocolVersion="2025-06-18", capabilities={})
        self.assertEqual("2025-06-18", greeting["result"]["protocolVersion"])
        made = self.use(process, "new_session", mode="shell", name="by mcp",
                        workingDir=str(self.service.home))["session"]  # fmt: skip
        one = made["id"]
        self.use(process, "send_input", sessionId=one, text="echo mark-$((40 + 2))")
        found = self.use(process, "wait_output", sessionId=one, match="mark-42")
        self.assertTrue(found["wait"]["matched"])
        self.assertIn("mark-42", self.use(process, "read_screen", sessionId=one)["text"])
        self.assertIn(one, [each["id"] for each in self.use(process, "list_sessions")["sessions"]])
        self.assertIsInstance(self.use(process, "list_cases")["cases"], list)
        self.assertEqual([], self.use(process, "list_approvals")["approvals"])
        self.use(process, "send_key", sessionId=one, key="C-d")
        signals = self.use(process, "wait", sessionIds=[one], until=["exit"])["signals"]
        self.assertEqual({one: "exit"}, signals)
        self.use(process, "end_session", sessionId=one)
        refused = self.ask(process, "tools/call", name="read_screen", arguments={"sessionId": one})[
            "result"
        ]
        self.assertTrue(refused["isError"])
        process.communicate(timeout=PATIENCE)  # its input ends, and so does it
        self.assertEqual(0, process.returncode)

    def test_mcp_request_to_tsctl_is_answered_once(self) -> None:
        """On one connection of each revision, whatever came before; by a grammar."""
        for version in VERSIONS:
            self.converse(version)

    def converse(self, version: str) -> None:
        process = self.connect()
        self.ask(process, "initialize", protocolVersion=version)

        @settings(max_examples=example_count(100), deadline=None, database=None)
        @given(grammar.lines(version))
        def send(line: grammar.RpcLine) -> None:
            self.send(process, line)

        send()
        self.assertEqual({}, self.ask(process, "ping")["result"])
        rest, complaints = process.communicate(timeout=PATIENCE)
        self.assertEqual(("", ""), (rest, complaints))

    def send(self, process: subprocess.Popen[str], line: grammar.RpcLine) -> None:
        """Send it, and read as many answers as it has to get."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line.raw.decode("latin-1") + "\n")
        process.stdin.flush()
        due = 1 if line.is_batch and line.wanted else len(line.wanted)
        answers = [json.loads(process.stdout.readline()) for _ in range(due)]
        self.assertEqual(grammar.expected_codes([line]), grammar.answered_codes(answers))

    def test_mcp_server_with_few_scopes_offers_few_tools(self) -> None:
        process = self.connect("--scopes", "sessions:read,waits")
        tools = self.ask(process, "tools/list")["result"]["tools"]
        names = {tool["name"] for tool in tools}
        self.assertIn("read_screen", names)
        self.assertNotIn("send_input", names)
        unknown = self.ask(process, "tools/call", name="send_input", arguments={})
        self.assertEqual(-32602, unknown["error"]["code"])

    def test_unknown_mcp_scope_is_a_usage_error(self) -> None:
        self.assertIn("nonsense", self.fails("mcp", "--scopes", "nonsense"))
