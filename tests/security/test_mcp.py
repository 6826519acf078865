"""C{/mcp} in the assembled service: who reaches what by it (protocol-mcp-http)."""

from __future__ import annotations

import json
from typing import Any, ClassVar
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.security.harness import CROSS, SecurityAnswer, SecurityHarness
from tests.unit.client.mcp import grammar
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tservice.client.mcp.protocol import BATCHES, VERSIONS
from tservice.core.kernel.event_payloads import ApprovalResolvedPayload
from tservice.core.kernel.events import Event, EventName
from tservice.http.validation.body import LONG_TEXT

JSON = "application/json"
ALL = ("sessions:read", "sessions:input", "sessions:manage", "waits", "approvals", "git")


class McpSecurityTests(SynchronousTestCase):
    world: ClassVar[SecurityHarness]
    other: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.world = SecurityHarness()
        cls.world.populate()
        made = cls.world.good("ann", "POST", "/api/sessions", {"mode": "shell", "start": True})
        cls.other = made["session"]["id"]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.world.close()

    def post(self, headers: dict[str, str], method: str, /, **params: Any) -> SecurityAnswer:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.world.ask("POST", "/mcp", message, headers)

    def connect(self, headers: dict[str, str], version: str = VERSIONS[0]) -> dict[str, str]:
        found = self.post(headers, "initialize", protocolVersion=version)
        self.assertEqual(200, found.status, found)
        self.assertIn("logging", json.loads(found.body)["result"]["capabilities"])
        return {**headers, "Mcp-Session-Id": found.headers["mcp-session-id"]}

    def use(self, headers: dict[str, str], tool: str, /, **arguments: Any) -> Any:
        found = self.post(headers, "tools/call", name=tool, arguments=arguments)
        return json.loads(found.body).get("result")

    def names(self, headers: dict[str, str]) -> set[str]:
        found = json.loads(self.post(headers, "tools/list").body)
        return {tool["name"] for tool in found["result"]["tools"]}

    def test_scopes_of_a_token_determine_its_tools(self) -> None:
        reader = self.connect(self.world.token("ann", "sessions:read"))
        self.assertIn("read_screen", self.names(reader))
        self.assertNotIn("send_input", self.names(reader))
        self.assertEqual(403, self.post(self.world.token("ann", "waits"), "initialize").status)
        program = self.connect({"Cookie": self.world.cookies["ann"]})
        self.assertEqual(26, len(self.names(program)))

    def test_tools_have_the_effect_of_requests(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))
        made = self.use(mine, "new_session", mode="shell", name="by mcp")["structuredContent"]
        one = made["session"]["id"]
        self.use(mine, "send_input", sessionId=one, text="make")
        listed = self.use(mine, "list_sessions")["structuredContent"]["sessions"]
        self.assertIn(one, {each["id"] for each in listed})
        ended = self.use(mine, "end_session", sessionId=one)["structuredContent"]
        self.assertEqual({"ended": one}, ended)
        self.assertTrue(self.use(mine, "read_screen", sessionId=one)["isError"])
        refused = self.use(mine, "new_session", mode="no-such-mode")
        self.assertTrue(refused["isError"])
        entries = self.world.good("root", "GET", "/api/admin/audit")["entries"]
        self.assertIn("POST /api/sessions", {entry["action"] for entry in entries})

    def test_nonsensical_message_is_answered_briefly(self) -> None:
        """Nothing of the caller's is told at length: to quote it took a tenth of a second a MiB."""
        mine = self.connect(self.world.token("ann", *ALL))
        long = "\x85" * 150_000
        for method, params in (
            (long, {}),
            ("tools/call", {"name": long}),
            ("tools/call", {"name": [long]}),
            ("tools/call", {"name": "list_sessions", "arguments": {long: 1}}),
            ("tools/call", {"name": "read_screen", "arguments": {"sessionId": long}}),
            ("resources/read", {"uri": long}),
            ("resources/read", {"uri": [long]}),
        ):
            found = self.post(mine, method, **params)
            self.assertIn("error", json.loads(found.body))
            self.assertLess(len(found.body), 1_000, (method[:20], list(params)))
        message = {"jsonrpc": "2.0", "id": long, "method": "ping"}
        found = self.world.ask("POST", "/mcp", message, mine)
        self.assertEqual((400, True), (found.status, len(found.body) < 1_000))
        self.assertEqual(413, self.post(mine, "x" * 2**20).status)

    def test_too_many_arguments_are_refused_at_the_first_fault(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))
        crowds: list[tuple[str, dict[str, Any]]] = [
            ("list_sessions", {f"k{number}": 1 for number in range(4_900)}),
            ("wait", {"sessionIds": [0] * 9_900}),
            ("wait", {"sessionIds": ["x"], "until": [0] * 9_900}),
        ]
        for tool, arguments in crowds:
            found: list[int] = []

            def told(error: ValidationError, found: list[int] = found) -> str:
                found.append(error.error_count())
                return "no"

            with patch("tservice.client.mcp.protocol._format_first_error", told):
                answer = self.post(mine, "tools/call", name=tool, arguments=arguments)
            self.assertEqual(-32602, json.loads(answer.body)["error"]["code"])
            self.assertLessEqual(sum(found), 2, tool)

    def test_long_message_is_authorized_again_before_it_is_executed(self) -> None:
        """It is read in two turns of the reactor, and a right may end between them."""
        mine = self.connect(self.world.token("ann", *ALL))
        call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        raw = json.dumps(call).encode() + b" " * LONG_TEXT
        self.assertEqual({}, json.loads(self.world.ask("POST", "/mcp", raw, mine).body)["result"])
        named = {"Content-Type": "application/json", "Content-Length": str(len(raw)), **mine}
        connection = SiteConnection(self.world.site, MemoryTransport(self.world.address()))
        self.addCleanup(connection.lose)
        connection.send(request_head("POST", "/mcp", named) + raw)
        for each in self.world.good("ann", "GET", "/api/tokens")["tokens"]:
            self.world.good("ann", "DELETE", f"/api/tokens/{each['id']}")
        self.assertEqual(b"", connection.value())
        with patch("tservice.mcp_server.routes.RpcServer", side_effect=AssertionError):
            self.world.clock.advance(0)
        self.assertTrue(connection.value().startswith(b"HTTP/1.1 401 "))

    def test_log_level_of_the_wrong_type_is_no_server_error(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))
        for level in list[Any](([], {}, None, 1)):
            self.assertEqual(200, self.post(mine, "logging/setLevel", level=level).status, level)

    def test_details_of_an_internal_error_are_hidden(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))

        async def broken(*args: object, **how: object) -> None:
            raise LookupError("/a/place/on/the/disk")

        with patch("tservice.http.inner_calls.InnerCalls.call_operation", broken):
            found = self.post(mine, "tools/call", name="list_sessions", arguments={})
        self.assertIn("Internal error", found.body)
        self.assertNotIn("place", found.body)
        self.assertNotIn("LookupError", found.body)
        self.assertEqual(1, len(self.flushLoggedErrors(LookupError)))

    def test_too_many_values_are_refused_unparsed(self) -> None:
        mine = {**self.world.token("ann", *ALL), "Content-Type": "application/json"}
        for crowd in (b"[" + b"0," * 500_000 + b"0]", b'{"jsonrpc":"2.0","jsonrpc":"2.0"}'):
            found = self.world.ask("POST", "/mcp", crowd, mine)
            self.assertEqual(400, found.status)
            self.assertEqual(-32700, json.loads(found.body)["error"]["code"])

    def test_tools_do_not_reach_sessions_of_other_accounts(self) -> None:
        theirs = self.connect(self.world.token("bob", *ALL))
        before = self.world.snapshot()
        for tool, more in (
            ("read_screen", {}),
            ("send_input", {"text": "id > pwned"}),
            ("send_key", {"key": "Enter"}),
            ("wait_output", {"match": "x"}),
            ("git_status", {}),
            ("end_session", {}),
        ):
            found = self.use(theirs, tool, sessionId=self.world.session, **more)
            self.assertTrue(found["isError"], tool)
            self.assertIn("not found", found["content"][0]["text"])
        self.assertEqual(before, self.world.snapshot())

    def test_bound_token_stays_bound(self) -> None:
        token = self.world.token("ann", *ALL, sessions=[self.world.session])
        bound = self.connect(token)
        listed = self.use(bound, "list_sessions")["structuredContent"]["sessions"]
        self.assertEqual([self.world.session], [each["id"] for each in listed])
        self.assertTrue(self.use(bound, "end_session", sessionId=self.other)["isError"])
        self.assertTrue(self.use(bound, "new_session", mode="shell")["isError"])

    def test_connection_belongs_to_its_client(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))
        theirs = {**self.world.token("bob", *ALL), "Mcp-Session-Id": mine["Mcp-Session-Id"]}
        self.assertEqual(404, self.post(theirs, "ping").status)
        self.assertEqual(404, self.world.ask("DELETE", "/mcp", headers=theirs).status)
        without = {name: value for name, value in mine.items() if name == "Authorization"}
        self.assertEqual(400, self.post(without, "ping").status)
        self.assertEqual(200, self.post(mine, "ping").status)
        self.assertEqual(200, self.world.ask("DELETE", "/mcp", headers=mine).status)
        self.assertEqual(404, self.post(mine, "ping").status)

    def test_malformed_messages_and_headers_are_refused(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))
        found = self.world.ask("POST", "/mcp", b"{", mine)
        self.assertEqual((400, -32700), (found.status, json.loads(found.body)["error"]["code"]))
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        found = self.world.ask("POST", "/mcp", told, mine)
        self.assertEqual((202, ""), (found.status, found.body))
        for wrong in ({"MCP-Protocol-Version": "1999-01-01"}, {"Content-Type": "text/plain"}):
            self.assertEqual(400, self.post({**mine, **wrong}, "ping").status, wrong)

    @settings(max_examples=example_count(200), deadline=None, database=None)
    @given(st.data())
    def test_mcp_request_is_answered_once_whatever_is_sent(self, data: st.DataObject) -> None:
        """Whatever is sent, by a grammar; batches in the one revision that has them."""
        version = data.draw(st.sampled_from(VERSIONS))
        line = data.draw(grammar.lines(version))
        mine = self.connect({"Cookie": self.world.cookies["ann"]}, version)
        found = self.world.ask("POST", "/mcp", line.raw, {**mine, "Content-Type": JSON})
        if not line.wanted:
            self.assertEqual((202, ""), (found.status, found.body))
            return
        answer = json.loads(found.body)
        self.assertEqual(line.is_batch, isinstance(answer, list))
        self.assertEqual(grammar.expected_codes([line]), grammar.answered_codes([answer]))
        [*codes] = {code for _, code in line.wanted}
        is_message = line.is_batch or codes[0] not in (-32600, -32700)
        self.assertEqual(200 if is_message else 400, found.status)

    def test_wrong_initialize_parameters_open_no_connection(self) -> None:
        token = {"Cookie": self.world.cookies["ann"]}
        for params in list[Any](([], None, {"protocolVersion": 7})):
            message = {"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": params}
            found = self.world.ask("POST", "/mcp", message, token)
            self.assertEqual((200, False), (found.status, "mcp-session-id" in found.headers))
            answer = json.loads(found.body)
            self.assertEqual((9, -32602), (answer["id"], answer["error"]["code"]))

    def test_batch_is_answered_as_a_whole_and_run_concurrently(self) -> None:
        """Its calls are made side by side: one may wait for what another does."""
        mine = self.connect({"Cookie": self.world.cookies["ann"]}, BATCHES)
        calls = [
            ("wait", {"sessionIds": [self.world.session], "until": ["exit"], "timeoutMs": 1000}),
            ("list_sessions", {}),
        ]
        batch = [
            {"jsonrpc": "2.0", "id": name, "method": "tools/call",
             "params": {"name": name, "arguments": arguments}}
            for name, arguments in calls
        ]  # fmt: skip
        raw = json.dumps(batch).encode()
        headers = {"Content-Type": JSON, "Content-Length": str(len(raw)), **mine}
        connection = SiteConnection(self.world.site, MemoryTransport(self.world.address()))
        self.addCleanup(connection.lose)
        connection.send(request_head("POST", "/mcp", headers) + raw)
        self.assertEqual(b"", connection.value())
        self.world.clock.advance(1)
        answers = json.loads(connection.value().partition(b"\r\n\r\n")[2])
        self.assertEqual(["wait", "list_sessions"], [each["id"] for each in answers])
        self.assertTrue(all("result" in each for each in answers))

    def test_page_of_another_origin_is_refused(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))
        for method in ("POST", "GET", "DELETE"):
            away = {**mine, "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site",
                    "Sec-Fetch-Mode": "cors"}  # fmt: skip
            found = self.world.ask(method, "/mcp", headers=away)
            self.assertEqual((403, CROSS), (found.status, found.body), method)

    def listen(self, headers: dict[str, str]) -> SiteConnection:
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        connection.send(request_head("GET", "/mcp", headers))
        self.assertIn(b"200 OK", connection.value())
        return connection

    def resolve(self, name: str) -> None:
        told = ApprovalResolvedPayload(
            id=name, session_id=self.world.session, kind="permission", resolution="answered"
        )
        self.world.hub.publish(
            Event(
                name=EventName.APPROVAL_RESOLVED,
                payload=told,
                session_id=self.world.session,
                owner="ann",
            )
        )

    def test_approvals_are_announced_only_to_permitted_clients(self) -> None:
        mine = self.connect(self.world.token("ann", *ALL))
        quiet = self.connect(self.world.token("ann", *ALL))
        self.post(quiet, "logging/setLevel", level="error")
        streams = [
            self.listen(mine),
            self.listen(quiet),
            self.listen(self.connect(self.world.token("ann", "sessions:read"))),
            self.listen(self.connect(self.world.token("bob", *ALL))),
        ]
        self.resolve("item-7")
        heard = [b"item-7" in stream.value() for stream in streams]
        self.assertEqual([True, False, False, False], heard)
        self.world.clock.advance(15)
        self.assertIn(b": alive", streams[1].value())

    def test_deleted_token_receives_nothing_more(self) -> None:
        made = self.world.good("ann", "POST", "/api/tokens", {"name": "t", "scopes": list(ALL)})
        mine = self.connect({"Authorization": f"Bearer {made['token']}"})
        stream = self.listen(mine)
        self.world.good("ann", "DELETE", f"/api/tokens/{made['record']['id']}")
        self.resolve("item-8")
        self.assertNotIn(b"item-8", stream.value())
        self.assertEqual(401, self.post(mine, "ping").status)
