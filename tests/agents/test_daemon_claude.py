"""Claude Code, real and played, driven through the real daemon over HTTP: what users do with it."""

from __future__ import annotations

import hashlib
import os
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tests.agents.stub.record import Turn
from tests.agents.world import World
from tests.integration.harness import PATIENCE, Daemon

LATE = 1.0
"""Seconds by which a status or a signal may be later than the stub's own record."""


class ClaudeTests(SynchronousTestCase):
    """One daemon, one folder that nobody trusts yet, one session of mode primary."""

    def setUp(self) -> None:
        try:
            binary = install("claude", os.environ).binary
        except CliUnavailable as error:
            raise SkipTest(str(error)) from None
        held = ExitStack()
        self.addCleanup(held.close)
        isolated = held.enter_context(loopback_only())
        folder = held.enter_context(tempfile.TemporaryDirectory(prefix="tw-", dir="/tmp"))
        self.world = held.enter_context(World("claude", Path(folder), isolated=isolated))
        self.launch = RECIPES["claude"](self.world.place, trusted=False)
        self.daemon = Daemon(PATH=f"{binary.parent}:{os.environ['PATH']}")
        held.callback(self.daemon.close)
        self.daemon.home = self.world.place.home
        self.daemon.start()
        self.session: str = self.call(
            "POST",
            "/api/sessions",
            mode="primary",
            workingDir=str(self.world.place.work),
            envOverrides=dict(self.launch.env),
            start=True,
        )["session"]["id"]

    def call(self, method: str, path: str, **body: Any) -> Any:
        return self.daemon.request(method, path, body or None).data()

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/api/sessions/{self.session}")
        return found

    def prompt(self, text: str, wait: str = "stop", **more: Any) -> dict[str, Any]:
        """Send a prompt and hold until a signal."""
        body = {"input": text + "\r", "wait": wait, "waitTimeout": 60_000, **more}
        found: dict[str, Any] = self.call("POST", f"/api/sessions/{self.session}/input", **body)
        self.assertFalse(found["wait"]["timedOut"], text)
        return found

    def turns(self) -> list[Turn]:
        return list(self.world.stub.turns())

    def until(self, what: str, look: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = look()
            if found:
                return found
            time.sleep(0.05)
        screen = self.call("GET", f"/api/sessions/{self.session}/terminal")["terminalBuffer"]
        raise AssertionError(f"never: {what}; the screen is\n{screen}")

    def approval(self) -> dict[str, Any]:
        """The pending item, once its options were read."""

        def look() -> dict[str, Any] | None:
            items = self.call("GET", "/api/approvals")["approvals"]
            return items[0] if items and items[0].get("options") else None

        found: dict[str, Any] = self.until("an approval", look)
        return found

    def answer(self, item: dict[str, Any], **how: Any) -> None:
        self.call("POST", f"/api/approvals/{item['id']}/answer", expectFrame=item["frame"], **how)

    def test_a_first_prompt_waits_for_the_trust_dialog(self) -> None:
        found = self.prompt("SAY: hello there")
        self.assertEqual(("stop", True), (found["wait"]["signal"], found["delivered"]))
        (turn,) = self.turns()
        self.assertEqual("SAY: hello there", turn.prompt)
        assert turn.ended is not None
        self.assertLess(time.time() - turn.ended, LATE + 1)
        record = self.record()
        self.assertEqual(("idle", True), (record["status"], record["hooksAvailable"]))
        self.assertEqual(1, len(record["conversationIds"]))
        self.assertIn("Opus", record["displayModel"])
        path = f"/api/sessions/{self.session}/last-response"
        # The transcript is written a moment after the hook.
        self.until("the words", lambda: self.call("GET", path)["text"] == "hello there")

    def test_permissions(self) -> None:
        """Approve does it, deny and the last option do not; options equal the screen's."""
        self.prompt("RUN: touch one.txt", wait="blocked")
        item = self.approval()
        self.assertEqual(("permission", "Bash"), (item["kind"], item["toolName"]))
        self.assertEqual("touch one.txt", item["toolSummary"])
        labels = [option["label"] for option in item["options"]]
        self.assertEqual(("Yes", "No"), (labels[0], labels[-1]))
        self.answer(item, action="approve")
        self.until("the file", (self.world.place.work / "one.txt").exists)
        self.until("the end", lambda: self.record()["status"] == "idle")
        self.assertEqual([], self.call("GET", "/api/approvals")["approvals"])

        self.prompt("RUN: touch two.txt", wait="blocked")
        self.answer(self.approval(), action="deny")
        self.until("the end", lambda: self.record()["status"] == "idle")
        self.prompt("RUN: touch three.txt", wait="blocked")
        item = self.approval()
        self.answer(item, action="option", option=len(item["options"]))
        self.until("the end", lambda: self.record()["status"] == "idle")
        for name in ("two.txt", "three.txt"):
            self.assertFalse((self.world.place.work / name).exists())

    def test_a_question(self) -> None:
        self.prompt("ASK:", wait="blocked")
        item = self.approval()
        self.assertEqual("question", item["kind"])
        self.answer(item, action="option", option=2)
        self.until("the end", lambda: self.record()["status"] == "idle")
        self.assertEqual([], self.call("GET", "/api/approvals")["approvals"])

    def test_two_lines_are_one_prompt(self) -> None:
        self.prompt("a line\nSAY: both")
        self.assertEqual(["a line\nSAY: both"], [turn.prompt for turn in self.turns()])

    def test_prompts_of_all_sizes_arrive_once(self) -> None:
        dice = random.Random(5)
        sent = []
        for number in range(int(os.environ.get("CLAUDE_PROMPTS", "12"))):
            size = dice.choice((1, 40, 300, 900, 4_000, 16_000, 65_000))
            filler = "".join(dice.choice("abcdef gh") for _ in range(size))
            text = f"{number} {filler}\nSAY: {number}"[-65_000:].strip()
            sent.append(text)
            self.prompt(text, clientId="test", seq=number + 1)
        got = [turn.sha256 for turn in self.turns()]
        self.assertEqual([hashlib.sha256(text.encode()).hexdigest() for text in sent], got)

    def test_a_turn_outlives_the_service(self) -> None:
        self.prompt("SAY: ready")
        held = {"input": "HOLD: gate\r"}
        self.call("POST", f"/api/sessions/{self.session}/input", **held)
        self.until("busy", lambda: self.record()["status"] == "busy")
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual("busy", self.record()["status"])
        self.world.stub.release("gate")
        self.until("the end of the turn", lambda: self.record()["status"] == "idle")

    def test_an_approval_outlives_the_service(self) -> None:
        self.prompt("RUN: touch late.txt", wait="blocked")
        before = self.approval()
        self.daemon.kill()
        self.daemon.start()
        item = self.approval()
        self.assertEqual((before["id"], before["frame"]), (item["id"], item["frame"]))
        self.answer(item, action="approve")
        self.until("the file", (self.world.place.work / "late.txt").exists)

    def test_the_exit_is_noticed(self) -> None:
        self.prompt("SAY: bye")
        self.call("POST", f"/api/sessions/{self.session}/input", input="/exit\r")
        found = self.call("GET", f"/api/sessions/{self.session}/wait?until=exit&timeout=30000")
        self.assertEqual("exit", found["wait"]["signal"])
        self.assertIsNone(self.record()["pid"])
