"""Tests for MCP: what is answered to what, with a service that is played."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.client.mcp.wrong_shapes import WRONG_SHAPES
from tservice.client.errors import ApiError
from tservice.client.link.caller import ResponseLost
from tservice.client.mcp import protocol
from tservice.client.mcp.plan import PlannedRequest
from tservice.client.mcp.protocol import (
    BATCHES,
    MOST_CALLS,
    MOST_IN_BATCH,
    VERSIONS,
    RpcError,
    RpcRequest,
    RpcServer,
    parse_message,
    validate_batch,
)
from tservice.client.mcp.tools import TOOLS, McpTool, select_tools
from tservice.client.synchronous import run_synchronously

thorough = settings(max_examples=example_count(300), deadline=None, database=None)

NAMES = [
    "list_sessions", "summarize_away", "new_session", "send_input", "send_key", "wait",
    "wait_output", "read_screen", "last_response", "read_conversation", "list_approvals",
    "answer_approval", "list_approval_rules", "add_approval_rule", "delete_approval_rule",
    "git_status", "list_changes", "list_review_comments", "reply_review_comment",
    "get_pull_request", "create_pull_request", "read_check_log",
    "list_checks", "run_checks", "list_cases", "end_session",
]  # fmt: skip
ITEM = {"id": "s1:4", "sessionId": "s1", "frame": "f"}


class RecordingService:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[PlannedRequest] = []
        self.answers: dict[str, Any] = {
            "GET /sessions": [{"id": "s1", "name": "one", "mode": "shell", "secret": "x"}],
            "POST /sessions": {"session": {"id": "s2", "name": "two"}},
            "GET /approvals": {"approvals": [ITEM]},
        }
        self.lost = 0

    async def send(self, ask: PlannedRequest) -> Any:
        self.asked.append(ask)
        if self.lost:
            self.lost -= 1
            raise ResponseLost("the answer was lost")
        found = self.answers.get(f"{ask.method} {ask.path}", {"delivered": True})
        if isinstance(found, Exception):
            raise found
        return found


class DescriptionTests(SynchronousTestCase):
    def test_tools_are_described_only_on_request(self) -> None:
        """Over HTTP each message has a server of its own: all schemas took 10 ms of each."""
        service, made = RecordingService(), list[McpTool]()
        describe = protocol._describe_tool

        def counted(tool: McpTool) -> Any:
            made.append(tool)
            return describe(tool)

        self.patch(protocol, "_describe_tool", counted)
        server = RpcServer(select_tools(None), service.send)
        self.assertEqual(
            {}, run_synchronously(server.answer_request(RpcRequest(1, "ping", {})))["result"]
        )
        self.assertEqual([], made)
        listed = run_synchronously(server.answer_request(RpcRequest(1, "tools/list", {})))[
            "result"
        ]["tools"]
        self.assertEqual(NAMES, [tool["name"] for tool in listed])
        tool = next(iter(select_tools(None).values()))
        self.assertIs(describe(tool), describe(tool), "made once")


class RpcParserTests(SynchronousTestCase):
    def code(self, line: str) -> int:
        fault: RpcError = self.assertRaises(RpcError, parse_message, line)
        return fault.code

    def test_invalid_requests_have_their_error_code(self) -> None:
        self.assertEqual(-32700, self.code("{"))
        self.assertEqual(-32700, self.code("[" * 100_000))
        self.assertEqual(-32700, self.code('{"jsonrpc":"2.0","id":NaN,"method":"ping"}'))
        for line in (
            "[]",
            "3",
            '{"id":1,"method":"ping"}',
            '{"jsonrpc":"2.0","id":true,"method":""}',
            '{"jsonrpc":"2.0","id":1}',
            '{"jsonrpc":"2.0","id":null,"method":"ping"}',
            '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
            '{"jsonrpc":"2.0","method":1,"params":"bar"}',
            '{"jsonrpc":"2.0"}',
        ):
            self.assertEqual(-32600, self.code(line), line)

    def test_parameters_that_are_no_object_are_refused(self) -> None:
        for params in ("[]", "[1]", '"x"', "1", "true", "null"):
            line = f'{{"jsonrpc":"2.0","id":"a","method":"ping","params":{params}}}'
            fault: RpcError = self.assertRaises(RpcError, parse_message, line)
            self.assertEqual((-32602, "a"), (fault.code, fault.key), params)

    def test_fault_names_the_id_of_the_request(self) -> None:
        for line, key in (
            ('{"id":1,"method":"ping"}', 1),
            ('{"jsonrpc":"2.0","id":"x"}', "x"),
            ('{"jsonrpc":"2.0","id":1.5,"method":7}', 1.5),
            ('{"jsonrpc":"2.0","id":[],"method":"ping"}', None),
            (f'{{"jsonrpc":"2.0","id":"{"x" * 257}","method":"ping"}}', None),
        ):
            fault: RpcError = self.assertRaises(RpcError, parse_message, line)
            self.assertEqual(key, fault.key, line)

    def test_notifications_and_responses_get_no_answer(self) -> None:
        self.assertIsNone(parse_message('{"jsonrpc":"2.0","method":"notifications/initialized"}'))
        self.assertIsNone(parse_message('{"jsonrpc":"2.0","id":1,"result":{}}'))
        self.assertIsNone(parse_message('{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}'))
        self.assertIsNone(parse_message('{"jsonrpc":"2.0","method":"ping","params":[]}'))

    @thorough
    @given(st.text(max_size=60))
    def test_any_text_is_parsed_or_refused(self, text: str) -> None:
        try:
            parse_message(text)
        except RpcError as fault:
            self.assertIn(fault.code, (-32700, -32600, -32602))


class BatchTests(SynchronousTestCase):
    PING: ClassVar[dict[str, Any]] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def told(self, *messages: object) -> list[tuple[Any, int | None]]:
        """Ids and, of what is refused, codes."""
        found = validate_batch(messages, BATCHES)
        return [(each.key, each.code if isinstance(each, RpcError) else None) for each in found]

    def test_batches_are_accepted_by_one_revision_only(self) -> None:
        for version in (None, *VERSIONS):
            if version == BATCHES:
                continue
            fault: RpcError = self.assertRaises(RpcError, validate_batch, [self.PING], version)
            self.assertEqual((-32600, None), (fault.code, fault.key), version)
        empty: RpcError = self.assertRaises(RpcError, validate_batch, [], BATCHES)
        self.assertEqual((-32600, None), (empty.code, empty.key))

    def test_each_request_of_a_batch_counts(self) -> None:
        notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        response = {"jsonrpc": "2.0", "id": 1, "result": {}}
        self.assertEqual([], self.told(notification, response))
        self.assertEqual(
            [(1, None), (None, -32600), (2, -32602), (None, -32600), (3, -32600)],
            self.told(
                self.PING,
                7,
                {**self.PING, "id": 2, "params": []},
                [self.PING],
                {**self.PING, "id": 3, "method": "initialize"},
            ),
        )

    def test_excess_requests_of_a_batch_are_refused_by_id(self) -> None:
        many = [{**self.PING, "id": number} for number in range(MOST_IN_BATCH + 2)]
        codes = [code for _, code in self.told(*many)]
        self.assertEqual([None] * MOST_IN_BATCH + [-32600] * 2, codes)
        calls = [
            {"jsonrpc": "2.0", "id": number, "method": method}
            for number, method in enumerate(["tools/call", "resources/list"] * MOST_CALLS)
        ]
        codes = [code for _, code in self.told(*calls, self.PING)]
        self.assertEqual([None] * MOST_CALLS + [-32600] * MOST_CALLS + [None], codes)


class ServerCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.service = RecordingService()
        self.server = RpcServer(select_tools(None), self.service.send, notices=True)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer = run_synchronously(self.server.answer_request(RpcRequest(1, method, params)))
        self.assertEqual(("2.0", 1), (answer["jsonrpc"], answer["id"]))
        return answer

    def use(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask("tools/call", name=name, arguments=arguments)
        result: dict[str, Any] = answer.get("result") or answer["error"]
        return result


class MethodTests(ServerCase):
    def test_initialize_negotiates_the_version(self) -> None:
        for wanted, given_ in ((VERSIONS[1], VERSIONS[1]), ("1999-01-01", VERSIONS[0])):
            found = self.ask("initialize", protocolVersion=wanted)["result"]
            self.assertEqual(given_, found["protocolVersion"])
            self.assertEqual("tservice", found["serverInfo"]["name"])
        self.assertEqual({}, self.ask("ping")["result"])

    def test_parameters_of_the_wrong_shape_are_refused(self) -> None:
        for method, params in WRONG_SHAPES:
            answer = run_synchronously(self.server.answer_request(RpcRequest(1, method, params)))
            self.assertEqual(-32602, answer.get("error", {}).get("code"), (method, params))
        self.assertEqual([], self.service.asked)

    def test_additional_parameters_are_accepted(self) -> None:
        more = {"_meta": {"progressToken": 1.5, "traceparent": "x"}, "later": [1]}
        for method in ("ping", "tools/list", "initialize", "resources/templates/list"):
            answer = run_synchronously(self.server.answer_request(RpcRequest(1, method, more)))
            self.assertIn("result", answer, method)

    def test_unknown_method_is_refused(self) -> None:
        self.assertEqual(-32601, self.ask("prompts/list")["error"]["code"])

    def test_tools_are_listed_with_their_schemas(self) -> None:
        found = self.ask("tools/list")["result"]["tools"]
        self.assertEqual(NAMES, [tool["name"] for tool in found])
        schema = {tool["name"]: tool["inputSchema"] for tool in found}
        self.assertEqual(["sessionId", "text"], schema["send_input"]["required"])
        self.assertFalse(schema["list_sessions"]["additionalProperties"])
        json.dumps(found)

    def test_tools_without_their_scope_are_left_out(self) -> None:
        self.assertEqual({"wait", "wait_output"}, select_tools(frozenset({"waits"})).keys())
        self.assertNotIn("new_session", select_tools(frozenset({"sessions:manage"})))
        everything = frozenset(scope for tool in TOOLS for scope in tool.scopes)
        self.assertEqual(NAMES, list(select_tools(everything)))

    def test_resources_are_listed_and_read(self) -> None:
        found = self.ask("resources/list")["result"]["resources"]
        self.assertEqual("tservice://sessions/s1/screen", found[0]["uri"])
        self.service.answers["GET /sessions/s1/terminal"] = {"terminalBuffer": "\x1b[1mhi\r\n\r\n"}
        read = self.ask("resources/read", uri=found[0]["uri"])["result"]["contents"]
        self.assertEqual("hi", read[0]["text"])
        self.assertEqual(
            2, len(self.ask("resources/templates/list")["result"]["resourceTemplates"])
        )

    def test_missing_resource_is_an_error(self) -> None:
        gone = ApiError(404, "NOT_FOUND", "Session not found")
        self.service.answers["GET /sessions/s9/terminal"] = gone
        for uri in (
            "tservice://sessions/s9/screen",
            "file:///etc/passwd",
            "tservice://sessions/../admin/screen",
        ):
            self.assertEqual(-32002, self.ask("resources/read", uri=uri)["error"]["code"], uri)


class McpToolTests(ServerCase):
    def test_invalid_tool_arguments_are_refused(self) -> None:
        for name, arguments, field in (
            ("send_input", {"sessionId": "s1"}, "text"),
            ("send_input", {"session_id": "s1", "text": "x"}, "session"),
            ("send_input", {"sessionId": 7, "text": "x"}, "sessionId"),
            ("list_sessions", {"all": True}, "all"),
            ("wait", {"sessionIds": ["s1"], "until": ["later"]}, "until"),
            ("wait", {"sessionIds": [], "until": ["stop"]}, "sessionIds"),
            ("answer_approval", {"action": "approve"}, "approvalId"),
        ):
            error = self.use(name, **arguments)
            self.assertEqual(-32602, error["code"], name)
            self.assertIn(field, error["message"], name)
        self.assertEqual(-32602, self.use("rm")["code"])
        self.assertEqual([], self.service.asked)

    def test_refusal_of_the_service_is_a_tool_result(self) -> None:
        refusal = ApiError(409, "CONFLICT", "no process is running")
        self.service.answers["POST /sessions/s1/input"] = refusal
        found = self.use("send_input", sessionId="s1", text="ls")
        self.assertTrue(found["isError"])
        self.assertEqual("no process is running", found["content"][0]["text"])

    def test_session_record_holds_only_useful_fields(self) -> None:
        found = self.use("list_sessions")["structuredContent"]["sessions"]
        self.assertEqual([{"id": "s1", "name": "one", "mode": "shell"}], found)

    def test_lost_input_is_sent_again_with_its_number(self) -> None:
        self.service.lost = 2
        found = self.use("send_input", sessionId="s1", text="ls", wait=["stop", "exit"])
        self.assertTrue(found["structuredContent"]["delivered"])
        bodies = [ask.body or {} for ask in self.service.asked]
        self.assertEqual(3, len(bodies))
        self.assertEqual(1, len({body["clientId"] for body in bodies}))
        self.assertEqual(["stop", "exit"], bodies[0]["wait"])
        self.assertEqual(60_000, self.service.asked[0].wait_ms)

    def test_tool_that_may_not_be_repeated_is_called_once(self) -> None:
        self.service.lost = 1
        self.assertTrue(self.use("send_key", sessionId="s1", key="Enter")["isError"])
        self.assertEqual(1, len(self.service.asked))

    def test_new_session_may_have_a_prompt(self) -> None:
        self.use("new_session", mode="primary", workingDir="/srv", prompt="hello")
        made, typed = self.service.asked
        self.assertEqual({"mode": "primary", "workingDir": "/srv", "start": True}, made.body)
        self.assertEqual("/sessions/s2/input", typed.path)

    def test_review_comment_is_answered(self) -> None:
        self.use("reply_review_comment", sessionId="s1", commentId="c/1", state="done", text="ok")
        last = self.service.asked[-1]
        self.assertEqual("/sessions/s1/comments/c%2F1/reply", last.path)
        self.assertEqual({"state": "done", "text": "ok"}, last.body)
        error = self.use("reply_review_comment", sessionId="s1", commentId="c1", state="maybe")
        self.assertEqual(-32602, error["code"])

    def test_pull_request_is_opened_after_a_push(self) -> None:
        self.use("create_pull_request", sessionId="s1", title="Mend", reviewers=["bob"])
        pushed, opened = self.service.asked
        self.assertEqual(("/sessions/s1/changes/push", {"setUpstream": True}), (
            pushed.path, pushed.body,
        ))  # fmt: skip
        expected = {"title": "Mend", "body": "", "draft": False, "reviewers": ["bob"]}
        self.assertEqual(("/sessions/s1/changes/pull-request", expected), (
            opened.path, opened.body,
        ))  # fmt: skip
        self.use("get_pull_request", sessionId="s1")
        self.use("read_check_log", sessionId="s1", job="11")
        read, log = self.service.asked[2:]
        self.assertEqual("/sessions/s1/changes/pull-request", read.path)
        self.assertEqual(
            ("/sessions/s1/changes/pull-request/log", {"job": "11"}), (log.path, log.query)
        )
        error = self.use("read_check_log", sessionId="s1", job="../x")
        self.assertEqual(-32602, error["code"])

    def test_summary_of_what_sessions_did_is_that_of_the_service(self) -> None:
        told = {"sessions": [{"id": "s1", "turns": 2}], "total": 1}
        self.service.answers["GET /away"] = told
        self.assertEqual(told, self.use("summarize_away")["structuredContent"])

    def test_checks_are_listed_with_their_last_run(self) -> None:
        self.service.answers["GET /sessions/s1/checks"] = {"running": False, "runs": [1, 2]}
        found = self.use("list_checks", sessionId="s1")["structuredContent"]
        self.assertEqual([1], found["runs"])
        self.use("run_checks", sessionId="s1")
        last = self.service.asked[-1]
        self.assertEqual(("POST", "/sessions/s1/checks/run"), (last.method, last.path))

    def test_changes_may_have_another_base(self) -> None:
        self.use("list_changes", sessionId="s1", base="main", target="HEAD")
        self.assertEqual({"base": "main", "target": "HEAD"}, self.service.asked[-1].query)

    def test_approvals_are_filtered_by_session(self) -> None:
        self.use("answer_approval", sessionId="s1", action="option", option=2, expectFrame="f")
        last = self.service.asked[-1]
        self.assertEqual("/approvals/s1%3A4/answer", last.path)
        self.assertEqual({"action": "option", "option": 2, "expectFrame": "f"}, last.body)
        self.assertTrue(self.use("answer_approval", sessionId="s9", action="deny")["isError"])

    def test_malformed_service_answer_is_an_internal_error(self) -> None:
        self.service.answers["GET /sessions/s1/terminal"] = {}
        self.assertEqual(-32603, self.use("read_screen", sessionId="s1")["code"])

    def test_end_of_the_history_is_returned(self) -> None:
        self.service.answers["GET /sessions/s1/terminal"] = {"terminalBuffer": "a\r\nb  \r\nc\r\n"}
        found = self.use("read_screen", sessionId="s1", lines=2)
        self.assertEqual("b\nc", found["content"][0]["text"])
        self.assertEqual({"full": 1, "lines": 2}, self.service.asked[0].query)
