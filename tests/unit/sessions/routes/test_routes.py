"""The operations over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import evolve

from tests.event_helpers import to_wire
from tests.non_empty import require_items
from tests.unit.http.site_driver import ApiHarness, OpenGate, ParsedAnswer
from tests.unit.sessions.harness import ADMIN, SessionCase
from tservice.core.callers.identity import Identity
from tservice.http.operations import AccessRule
from tservice.mux.interface import LeftoverProcess
from tservice.sessions.record.requests import INPUT_LENGTH
from tservice.sessions.routes.operations import session_operations
from tservice.sessions.waits.output_waits import ParkedOutputWaits
from tservice.sessions.waits.service import WaitService
from tservice.sessions.waits.signal_waits import WaitCaps, WaitSlots


class SessionRouteCase(SessionCase):
    """A site with the sessions' operations."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = OpenGate(ADMIN)
        slots = WaitSlots(WaitCaps())
        outputs = ParkedOutputWaits(self.clock, slots)
        self.waiting = WaitService(
            self.clock,
            self.sessions,
            slots,
            outputs,
            self.machine.hub,
            lambda session_id: False,
            self.machine.clis.gives_signals,
        )
        operations = session_operations(self.sessions, self.waiting)
        self.api = ApiHarness(operations, gate=self.gate, clock=self.clock)

    def make(self, **body: Any) -> dict[str, Any]:
        body = {"mode": "shell", **body}
        session: dict[str, Any] = self.api.post("/api/sessions", body).data["session"]
        return session

    def put(self, session: dict[str, Any], name: str, body: object) -> ParsedAnswer:
        return self.api.request("PUT", f"/api/sessions/{session['id']}/{name}", body)

    def assert_error(self, status: int, word: str, answer: ParsedAnswer) -> None:
        code, _, text = answer.error
        self.assertEqual(status, code, text)
        self.assertIn(word, text)


class SessionRouteTests(SessionRouteCase):
    """Making, starting, ending."""

    def test_session_is_created_read_listed_and_deleted(self) -> None:
        session = self.make(name="one", cols=100)
        self.assertIsNone(session["pid"])
        self.assertEqual("manual", session["nameSource"])
        path = f"/api/sessions/{session['id']}"
        self.assertEqual(session, self.api.get(path).data)
        self.assertEqual([session], self.api.get("/api/sessions").data)
        self.assertEqual({}, self.api.request("DELETE", path).data)
        self.assert_error(404, session["id"], self.api.get(path))

    def test_surviving_processes_are_in_the_response(self) -> None:
        left = [{"pid": 9, "command": "sleep 9"}]
        for path in ("/api/sessions/{}", "/api/sessions"):
            session = self.make(start=True)
            self.machine.host[session["id"]].leftovers = (
                LeftoverProcess(pid=9, command="sleep 9"),
            )
            answer = self.api.request("DELETE", path.format(session["id"]))
            self.assertEqual(left, answer.data["left"])

    def test_start_route_and_its_aliases_start_the_session(self) -> None:
        for name in ("start", "interactive", "shell"):
            session = self.make()
            path = f"/api/sessions/{session['id']}/{name}"
            self.assertIsInstance(self.api.request("POST", path).data["session"]["pid"], int)
            answer = self.api.post(path, {"clearBreaker": False, "fresh": True})
            self.assertEqual((409, "SESSION_BUSY"), answer.error[:2])

    def test_kill_mux_false_detaches(self) -> None:
        session = self.make(start=True)
        path = f"/api/sessions/{session['id']}"
        self.api.request("DELETE", f"{path}?killMux=false")
        self.assertTrue(self.api.get(path).data["detached"])
        self.assertEqual({"killed": 1}, self.api.request("DELETE", "/api/sessions").data)

    def test_bad_session_bodies_name_their_field(self) -> None:
        for body, word in [
            ({"mode": "nope"}, "mode"),
            ({"name": "x" * 129}, "name"),
            ({"cols": 501}, "cols"),
            ({"rows": 0}, "rows"),
            ({"cols": "5"}, "cols"),
            ({"model": "m" * 51}, "model"),
            ({"effort": "huge"}, "effort"),
            ({"resumeSessionId": "../x"}, "resumeSessionId"),
            ({"resumeSessionId": "ses_"}, "resumeSessionId"),
            ({"resumeSessionId": "ses_a-b"}, "resumeSessionId"),
            ({"resumeSessionId": "xyz"}, "resumeSessionId"),
            ({"workingDir": "x"}, "workingDir"),
            ({"start": 1}, "start"),
            ({"nope": 1}, "nope"),
            ({"wait": True}, "wait"),
            ({"params": {"x": None}}, "params"),
        ]:
            answer = self.api.post("/api/sessions", {"mode": "shell", **body})  # type: ignore[dict-item]
            self.assert_error(400, word, answer)

    def test_conversation_of_any_client_is_resumed(self) -> None:
        for mode, conversation in (
            ("primary", "2fa5d388-09f9-466c-a856-b9cb16a348d0"),
            ("opencode", "ses_dfad7080cffecO4BSxFWX2MwN6"),
        ):
            made = self.make(mode=mode, resumeSessionId=conversation)
            self.assertEqual([conversation], made["conversationIds"])

    def test_unavailable_features_are_refused(self) -> None:
        remote = {"hostId": "h1", "remoteSessionName": "n"}
        answer = self.api.post("/api/sessions", {"attachRemoteSession": remote})
        self.assert_error(404, "h1", answer)
        custom = {"endpointId": "e1", "modelId": "m"}
        answer = self.api.post("/api/quick-start", {"customModel": custom})
        self.assert_error(404, "e1", answer)

    def test_sessions_of_other_accounts_are_left_to_the_gate(self) -> None:
        """Every operation on one session says so in the table."""
        for operation in require_items(session_operations(self.sessions, self.waiting)):
            if "{id}" in operation.path:
                self.assertIs(AccessRule.OWNER, operation.access, operation.path)

    def test_quick_start_creates_a_marked_case(self) -> None:
        parent = self.make(start=True)
        headers = {
            "X-Service-Parent-Session": parent["id"][:8],
            "X-Service-Agent-Origin": "claude",
        }
        body = {"caseName": "w1", "mode": "shell", "sessionName": "hi"}
        answer = self.api.request("POST", "/api/quick-start", body, headers).data
        path = Path(answer["casePath"])
        self.assertEqual(("w1", self.machine.folder / "cases" / "w1"), (answer["caseName"], path))
        made = self.api.get(f"/api/sessions/{answer['sessionId']}").data
        self.assertEqual((parent["id"], "hi"), (made["parentSessionId"], made["name"]))
        self.assertIsInstance(made["pid"], int)
        marker = json.loads((path / ".service-agent-case.json").read_text())
        self.assertEqual(("claude", parent["id"]), (marker["createdBy"], marker["parentSessionId"]))
        self.assertTrue((path / "CLAUDE.md").exists())

    def test_quick_start_drops_invalid_origin_headers(self) -> None:
        headers = {"X-Service-Parent-Session": "nope-nope", "X-Service-Agent-Origin": "x" * 65}
        body = {"mode": "shell"}
        answer = self.api.request("POST", "/api/quick-start", body, headers).data
        self.assertEqual("testcase", answer["caseName"])
        self.assertFalse((Path(answer["casePath"]) / ".service-agent-case.json").exists())
        self.assertNotIn("parentSessionId", self.api.get("/api/sessions").data[0])

    def test_existing_folder_is_not_marked(self) -> None:
        (self.machine.folder / "cases" / "w2").mkdir(parents=True)
        body = {"caseName": "w2", "mode": "shell", "agentOrigin": "claude"}
        path = Path(self.api.post("/api/quick-start", body).data["casePath"])
        self.assertEqual([], list(path.iterdir()))

    def refused_quick_starts(self) -> Iterator[tuple[int, str, ParsedAnswer]]:
        for body, status, text in (
            ({"mode": "nope"}, 400, "mode: "),
            ({"envOverrides": {"PATH": "/x"}}, 400, "envOverrides"),
            ({"sessionName": "x" * 129}, 400, "sessionName: must be at most 128 characters"),
            ({"sessionName": "\x07"}, 400, "sessionName: control characters"),
            ({"parentSessionId": "nobody"}, 404, "parentSessionId"),
            ({"mode": "pi"}, 422, "pi"),
        ):
            asked = {"mode": "shell", "caseName": "w3", "agentOrigin": "claude", **body}
            yield status, text, self.api.post("/api/quick-start", asked)
        for _ in range(self.machine.config.max_sessions):
            self.make()
        body = {"mode": "shell", "caseName": "w3"}
        yield 422, "", self.api.post("/api/quick-start", body)

    def test_refused_quick_start_leaves_no_folder(self) -> None:
        cases = self.machine.folder / "cases"
        for status, text, answer in require_items(self.refused_quick_starts()):
            self.assert_error(status, text, answer)
            self.assertFalse((cases / "w3").exists(), text)

    def test_refused_quick_start_leaves_an_existing_folder_unchanged(self) -> None:
        folder = self.machine.folder / "cases" / "w3"
        folder.mkdir(parents=True)
        (folder / "CLAUDE.md").write_text("mine")
        for status, text, answer in self.refused_quick_starts():
            self.assert_error(status, text, answer)
            self.assertEqual(["CLAUDE.md"], [path.name for path in folder.iterdir()])
        self.assertEqual("mine", (folder / "CLAUDE.md").read_text())

    def test_case_name_of_an_existing_file_is_refused(self) -> None:
        cases = self.machine.folder / "cases"
        cases.mkdir(parents=True)
        (cases / "w4").write_text("a file")
        body = {"mode": "shell", "caseName": "w4"}
        self.assert_error(400, "caseName: ", self.api.post("/api/quick-start", body))
        self.assertEqual("a file", (cases / "w4").read_text())


class SessionPropertyTests(SessionRouteCase):
    """Single fields."""

    def test_each_property_is_answered_and_stored(self) -> None:
        session = self.make()
        for name, body, want in [
            ("name", {"name": "new"}, {"name": "new"}),
            ("color", {"color": "blue"}, {"color": "blue"}),
            ("pin", {"pinned": True}, {"pinned": True}),
            ("flicker-filter", {"flickerFilter": True}, {"flickerFilter": True}),
            ("nice", {"enabled": True, "value": 5}, {"enabled": True, "value": 5}),
            (
                "auto-compact",
                {"enabled": True, "prompt": "p"},
                {"enabled": True, "threshold": 110_000, "prompt": "p"},
            ),
            ("auto-clear", {"enabled": True, "threshold": 9}, {"enabled": True, "threshold": 9}),
            ("auto-resume", {"enabled": True}, {"enabled": True}),
        ]:
            self.assertEqual(want, self.put(session, name, body).data, name)
        before = self.api.get("/api/sessions").data
        self.machine.restart()
        self.assertEqual(before, [to_wire(self.sessions.describe_session(session["id"]))])
        self.assertEqual("manual", before[0]["nameSource"])

    def test_empty_name_returns_to_a_generated_one(self) -> None:
        session = self.make(name="mine")
        self.assertEqual({"name": "home"}, self.put(session, "name", {"name": " "}).data)
        self.assertEqual("placeholder", self.api.get("/api/sessions").data[0]["nameSource"])

    def test_invalid_property_values_are_refused(self) -> None:
        session = self.make()
        for name, body, word in [
            ("name", {"name": "a\n"}, "name"),
            ("name", {}, "name"),
            ("name", {"name": None}, "name"),
            ("color", {"color": "black"}, "color"),
            ("pin", {"pinned": 1}, "pinned"),
            ("nice", {"enabled": True, "value": 20}, "value"),
            ("nice", {"enabled": True, "value": -21}, "value"),
            ("auto-compact", {"enabled": True, "threshold": 0}, "threshold"),
            ("auto-clear", {"enabled": True, "threshold": 1.5}, "threshold"),
        ]:
            self.assert_error(400, word, self.put(session, name, body))

    def test_nice_value_is_applied_now_and_at_each_start(self) -> None:
        session = self.make(start=True)
        self.put(session, "nice", {"enabled": True, "value": 7})
        self.assertEqual([(session["pid"], 7)], self.machine.renice.set)
        self.host[session["id"]].exit_program(0)
        again = self.api.request("POST", f"/api/sessions/{session['id']}/start").data["session"]
        self.assertEqual((again["pid"], 7), self.machine.renice.set[-1])
        self.put(session, "nice", {"enabled": False, "value": 7})
        self.assertEqual((again["pid"], 0), self.machine.renice.set[-1])

    def test_nice_value_refused_by_the_system_is_an_error(self) -> None:
        session = self.make(start=True)
        self.machine.renice.error = PermissionError(13, "Permission denied")
        answer = self.put(session, "nice", {"enabled": True, "value": -7})
        self.assert_error(422, "nice", answer)
        self.assertFalse(self.api.get("/api/sessions").data[0]["nice"]["enabled"])

    def put_order(self, order: list[str]) -> ParsedAnswer:
        return self.api.request("PUT", "/api/session-order", {"order": order})

    def test_order_of_sessions_is_changed(self) -> None:
        one, two, three = (self.make()["id"] for _ in range(3))
        self.assertEqual([three, one, two], self.put_order([three, one, two]).data["order"])
        self.assertEqual([two, one, three], self.put_order([two, three]).data["order"])
        self.assertEqual([two, one, three], [it["id"] for it in self.api.get("/api/sessions").data])
        self.machine.restart()
        self.assertEqual([two, one, three], [it.id for it in self.sessions.list()])
        self.assert_error(400, "order", self.put_order([one, one]))
        self.assert_error(404, "nope", self.put_order(["nope"]))

    def test_order_of_other_accounts_cannot_be_changed(self) -> None:
        other = self.make()["id"]
        self.gate.identity = Identity(username="ann", admin=False)
        answer = self.api.request("PUT", "/api/session-order", {"order": [other]})
        self.assert_error(404, other, answer)


class TerminalRouteTests(SessionRouteCase):
    """Typing and reading."""

    def setUp(self) -> None:
        super().setUp()
        self.session = self.make(start=True, cols=20, rows=4)
        self.path = f"/api/sessions/{self.session['id']}"
        self.hosted = self.host[self.session["id"]]

    def post(self, name: str, body: object) -> ParsedAnswer:
        return self.api.post(f"{self.path}/{name}", body)

    def test_input_and_keys_are_typed(self) -> None:
        body = {"input": "echo hi\r", "useMux": False, "clientId": "c", "seq": 1}
        self.assertEqual({"delivered": True}, self.post("input", body).data)
        self.assertEqual({"delivered": False, "duplicate": True}, self.post("input", body).data)
        self.assert_error(413, "input", self.post("input", {"input": "x" * (INPUT_LENGTH + 1)}))
        self.assert_error(400, "seq", self.post("input", {"input": "x", "seq": 1}))
        self.assert_error(
            400, "seq", self.post("input", {"input": "x", "clientId": "c", "seq": -1})
        )
        self.assert_error(
            400, "clientId", self.post("input", {"input": "x", "clientId": "c" * 129})
        )
        for wait, text in (
            ("stop", "wait: stop is not given by sessions of mode shell"),
            (["blocked"], "wait: blocked is not given by sessions of mode shell"),
            ("nope", "wait: 'nope' is not one of "),
            (5, "wait: must be true or false, a string or a list"),
        ):
            self.assert_error(400, text, self.post("input", {"input": "x", "wait": wait}))
        self.assertEqual({}, self.post("send-key", {"key": "C-c"}).data)
        self.assert_error(400, "key", self.post("send-key", {"key": "F1"}))

    def test_resize_is_answered_with_the_size(self) -> None:
        size = {"cols": 100, "rows": 30}
        self.assertEqual(size, self.post("resize", {**size, "viewportType": "desktop"}).data)
        phone = {"cols": 40, "rows": 60, "viewportType": "mobile"}
        self.assertEqual(size, self.post("resize", phone).data)
        self.assertEqual(
            {"cols": 40, "rows": 60}, self.post("resize", {**phone, "force": True}).data
        )
        self.assertEqual((40, 60), (self.hosted.cols, self.hosted.rows))
        self.assert_error(400, "cols", self.post("resize", {"cols": 0, "rows": 5}))
        self.assert_error(400, "viewportType", self.post("resize", {**size, "viewportType": "tv"}))

    def test_size_is_kept_for_the_next_start(self) -> None:
        self.hosted.exit_program(0)
        self.assertEqual({"cols": 9, "rows": 9}, self.post("resize", {"cols": 9, "rows": 9}).data)
        self.api.request("POST", f"{self.path}/start")
        self.assertEqual((9, 9), (self.host.specs[-1].cols, self.host.specs[-1].rows))

    def test_screen_is_read(self) -> None:
        self.hosted.emit_output(b"\r\n".join(b"row %d" % n for n in range(10)))
        answer = self.api.get(f"{self.path}/terminal")
        self.assertIn("capture;dur=", answer.headers["server-timing"])
        data = answer.data
        self.assertEqual("row 6\r\nrow 7\r\nrow 8\r\nrow 9", data["terminalBuffer"])
        self.assertEqual(
            ("visible", 20, 4), (data["source"], data["captureCols"], data["captureRows"])
        )
        self.assertEqual({"x": 5, "y": 3}, data["cursor"])
        pane = self.sessions.get_pane(self.session["id"])
        assert pane is not None
        self.assertEqual((pane.log.end, pane.log.epoch), (data["offset"], data["epoch"]))
        self.assertEqual((False, None), (data["truncated"], data["truncationReason"]))

    def test_screen_is_read_with_history(self) -> None:
        self.hosted.emit_output(
            b"\x1b[H" + b"\r\n".join(b"row %d" % n for n in range(10)) + b"\x1b[2;3H"
        )
        data = self.api.get(f"{self.path}/terminal?full=1").data
        rows = data["terminalBuffer"].split("\r\n")
        self.assertEqual("row 0", rows[0])
        self.assertTrue(data["terminalBuffer"].endswith("row 9\r\x1b[2A\x1b[2C"), rows)
        self.assertEqual("full-history", data["source"])
        self.assertEqual(len(data["terminalBuffer"]), data["fullSize"])
        few = self.api.get(f"{self.path}/terminal?full=1&lines=2").data
        self.assertTrue(few["terminalBuffer"].startswith("row 4\r\n"))
        for bad in ("0", "x", "1.5", "-1", "", "9" * 5000):
            all_ = self.api.get(f"{self.path}/terminal?full=1&lines={bad}").data
            self.assertEqual(data["terminalBuffer"], all_["terminalBuffer"])

    def test_tail_of_the_terminal_is_read(self) -> None:
        self.hosted.emit_output(b"\x1b[H" + b"\r\n".join(b"row %d" % n for n in range(10)))
        data = self.api.get(f"{self.path}/terminal?full=1&tail=20").data
        self.assertEqual("row 8\r\nrow 9\r\x1b[5C", data["terminalBuffer"])
        self.assertEqual((True, "tail"), (data["truncated"], data["truncationReason"]))
        self.assert_error(400, "tail", self.api.get(f"{self.path}/terminal?tail=0"))

    def test_terminal_without_a_process_is_a_conflict(self) -> None:
        self.hosted.exit_program(0)
        for query in ("", "?full=1"):
            data = self.api.get(f"{self.path}/terminal{query}").data
            self.assertEqual(("", 0, None), (data["terminalBuffer"], data["offset"], data["epoch"]))

    def find(self, query: str) -> Any:
        return self.api.get(f"{self.path}/search?{query}").data

    def test_terminal_is_searched(self) -> None:
        self.hosted.emit_output(b"\x1b[H" + b"\r\n".join(b"Row %d" % n for n in range(10)))
        want = [{"line": 9, "text": "Row 9", "offset": 4}]
        self.assertEqual({"matches": want, "truncated": False}, self.find("q=9"))
        self.assertEqual([], self.find("q=row")["matches"])
        self.assertEqual(10, len(self.find("q=row&nocase=1")["matches"]))
        self.assertEqual(
            (1, True),
            (len(self.find("q=Row&limit=0")["matches"]), self.find("q=R&limit=1")["truncated"]),
        )
        self.assert_error(400, "q", self.api.get(f"{self.path}/search?q="))
        self.assert_error(400, "q", self.api.get(f"{self.path}/search"))

    def test_shell_without_the_grant_is_refused(self) -> None:
        self.gate.identity = evolve(ADMIN, can_bypass_permissions=False)
        self.assert_error(403, "", self.api.post("/api/sessions", {"mode": "shell"}))
