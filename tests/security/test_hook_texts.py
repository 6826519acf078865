"""What a pane tells by its hook and status line, written to do harm.

The words come from whatever runs in the pane: it holds the hook secret.  They are shown in pages,
sent by webhooks and push messages, and printed by programs in terminals.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.security.attack_harness import AttackCase
from tests.security.harness import SecurityAnswer
from tests.unit.clis.fakes import make_program
from tests.unit.http.site_driver import MemoryTransport, SiteConnection

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1b]52;c;aWQ=\x07\r\b\x00"
"""A title, a cleared screen, a colour, a clipboard, an overwritten line, an end of text."""
BIDI = "\u202e\u2066\u202b\u2068"
"""Makes C{rm} of C{mr}: what is read is not what runs."""
NAMES = ("__proto__", "constructor", "toString", "hasOwnProperty", "__class__", "__init__")
HUGE = "9" * 400
TEXTS = ("hook_event_name", "tool_name", "session_id", "cwd", "permission_mode", "message", "model")


def is_harmful(char: str) -> bool:
    """A control character but line feed and tab, or one that turns the direction of writing."""
    return (ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 or char in BIDI


def keys_of(value: Any) -> Iterator[str]:
    """Yield every key of the objects in a JSON value."""
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from keys_of(inner)


class HookTextTests(AttackCase):
    """Hooks of an agent of ann's."""

    def setUp(self) -> None:
        super().setUp()
        make_program(self.world.folder / ".local/bin", "claude")
        made = self.world.good("ann", "POST", "/api/sessions", {"mode": "primary", "start": True})
        self.session: str = made["session"]["id"]
        self.secret = (self.world.folder / "hook-secret").read_text("ascii").strip()
        stream = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(stream.lose)
        cookie = self.cookie("ann")["Cookie"]
        stream.send(
            f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode()
        )
        stream.value()
        self.stream = stream

    def post(self, path: str, body: object) -> SecurityAnswer:
        headers = {"X-Service-Hook-Secret": self.secret}
        return self.ask("POST", path, body, headers=headers, address="127.0.0.1")

    def hook(self, event: str = "permission_prompt", **data: Any) -> SecurityAnswer:
        body = {"event": event, "sessionId": self.session, "data": data}
        return self.post("/api/hook-event", body)

    def report(self, data: object) -> SecurityAnswer:
        return self.post("/api/status-telemetry", {"sessionId": self.session, "data": data})

    def raw(self, data: str, path: str = "/api/status-telemetry") -> SecurityAnswer:  # type: ignore[override]
        """A body as it stands."""
        event = '"event": "stop", ' if path == "/api/hook-event" else ""
        body = f'{{{event}"sessionId": "{self.session}", "data": {data}}}'
        return self.post(path, body.encode("utf-8", "surrogatepass"))

    def told(self) -> list[dict[str, Any]]:
        """The payloads of the hook events that ann's page got."""
        lines = self.stream.value().decode().split("\n")
        found = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        return [each["data"] for each in found if isinstance(each.get("data"), dict)]

    def test_escape_and_direction_characters_are_removed(self) -> None:
        hostile = f"a{ESCAPES}b{BIDI}c\n\td"
        texts = dict.fromkeys(TEXTS, hostile)
        inputs = dict.fromkeys(("command", "file_path", "description", "query", "url"), hostile)
        self.assertEqual(200, self.hook(**texts, tool_input=inputs).status)
        [told] = self.told()
        words = [*(told[name] for name in TEXTS), *told["tool_input"].values()]
        for word in words:
            self.assertEqual("", "".join(filter(is_harmful, word)))
            self.assertTrue(word.startswith("a") and word.endswith("c\n\td"), word)

    def test_removed_characters_leave_a_visible_mark(self) -> None:
        """A command that hides something does not look like one that does not."""
        self.hook(tool_input={"command": "ls \u202e fr- mr"})
        self.assertEqual("ls \ufffd fr- mr", self.told()[0]["tool_input"]["command"])

    def test_other_scripts_and_emoji_are_kept(self) -> None:
        plain = "שלום, сделай: 修复 👩‍💻 naïve"
        self.hook(message=plain)
        self.assertEqual(plain, self.told()[0]["message"])

    def test_object_names_are_cleaned(self) -> None:
        data = {name: {"x": 1} for name in NAMES}
        for event in ("permission_prompt", "stop", "session_start"):
            self.assertEqual(200, self.hook(event, **data, tool_input=data).status)
        self.assertEqual(200, self.report({**data, "model": data, "rate_limits": data}).status)
        # What an item says of other inputs of a tool is a text, never a key.
        self.assertEqual(set(), set(NAMES) & set(keys_of(self.told())))

    def test_colliding_names_are_resolved(self) -> None:
        for data in ('{"a": 1, "a": 2}', '{"cost": {"x": 1, "\\u0078": 2}}', '{"": 1, "": 1}'):
            for path in ("/api/status-telemetry", "/api/hook-event"):
                found = self.raw(data, path)
                self.assertEqual((400, "INVALID_INPUT"), (found.status, found.error), data)

    def test_values_that_are_no_numbers_are_refused(self) -> None:
        for value in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "1e"):
            for path in ("/api/status-telemetry", "/api/hook-event"):
                found = self.raw(f'{{"cost": {{"total_cost_usd": {value}}}}}', path)
                self.assertEqual((400, "INVALID_INPUT"), (found.status, found.error), value[:20])

    def test_huge_numbers_are_clamped(self) -> None:
        huge = 10**30
        data = {
            "cost": {"total_cost_usd": huge},
            "context_window": {
                "used_percentage": -huge,
                "total_input_tokens": huge,
                "total_output_tokens": huge,
            },
            "rate_limits": {"five_hour": {"used_percentage": huge, "resets_at": huge}},
        }
        self.assertEqual(200, self.report(data).status)
        session = self.world.good("ann", "GET", f"/api/sessions/{self.session}")
        for count in (*session["tokens"].values(), session["totalCost"]):
            self.assertLessEqual(count, 2**53)
        self.assertEqual(0, session["contextUsedPercentage"])

    def test_unpaired_surrogate_is_refused(self) -> None:
        for data in (
            '{"message": "\\ud800"}',
            '{"\\udfff": 1}',
            '{"tool_input": {"url": "\ud800"}}',
        ):
            found = self.raw(data, "/api/hook-event")
            self.assertEqual((400, "INVALID_INPUT"), (found.status, found.error), data)

    def test_deep_nesting_is_refused(self) -> None:
        for depth, status in ((20, 200), (70, 400), (100_000, 400)):
            for path in ("/api/status-telemetry", "/api/hook-event"):
                data = f'{{"model": {"[" * depth}{"]" * depth}}}'
                self.assertEqual(status, self.raw(data, path).status, depth)

    def test_status_line_footer_is_one_clean_line(self) -> None:
        """It is printed in the pane that told it, by the agent."""
        for name in (f"m{ESCAPES}n", f"m{BIDI}n", "m\r\n\n\nn", "m\u2028\u2029n"):
            line = self.report({"model": {"display_name": name}}).body
            self.assertTrue(line.isprintable(), line)
            self.assertTrue(line.startswith("m"), line)
        line = self.report({"model": {"display_name": "x" * 100_000}}).body
        self.assertLessEqual(len(line), 64)

    def test_values_of_any_type_are_tolerated(self) -> None:
        """Any JSON where text or a number is expected."""
        odd: list[Any] = [None, True, -1, 0.5, "x", [], [[]], {}, {"a": None}]
        for value in odd:
            data = dict.fromkeys(
                (*TEXTS, "tool_input", "transcript_path", "source", "error"), value
            )
            for event in ("stop", "session_start", "session_end", "permission_prompt"):
                self.assertEqual(200, self.hook(event, **data).status, value)
            whole = dict.fromkeys(("model", "cost", "context_window", "rate_limits"), value)
            self.assertEqual(200, self.report(whole).status, value)

    def test_transcript_named_only_by_a_hook_is_not_read(self) -> None:
        """The service reads no file that only a hook names."""
        outside = self.world.folder / "secret.jsonl"
        outside.write_text('{"type":"assistant"}', "utf-8")
        for path in (
            str(outside),
            "/etc/passwd",
            "/dev/zero",
            "/proc/self/mem",
            "a\0b",
            "x" * 9999,
        ):
            self.assertEqual(200, self.hook("stop", transcript_path=path, session_id="0a").status)
            self.world.clock.advance(1)
            where = f"/api/sessions/{self.session}/last-response?context=full"
            answer = self.ask("GET", where, headers=self.cookie("ann"))
            self.assertEqual(200, answer.status, path[:40])
            self.assertEqual(
                {"text": "", "timestamp": None, "messages": []}, json.loads(answer.body)["data"]
            )

    def test_flood_of_hooks_keeps_little(self) -> None:
        """What is kept of one session stays small however much is told."""
        for number in range(300):
            self.hook("session_start", session_id=f"{number}", message="x" * 5000)
            self.hook("permission_prompt", session_id=f"{number}", message="y" * 5000)
        session = self.world.good("ann", "GET", f"/api/sessions/{self.session}")
        self.assertLessEqual(len(session["conversationIds"]), 50)
        pending = self.world.good("ann", "GET", "/api/approvals")["approvals"]
        self.assertLessEqual(
            len([each for each in pending if each["sessionId"] == self.session]), 1
        )
