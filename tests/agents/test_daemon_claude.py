"""Claude Code driven through the real daemon over HTTP: what users do with it."""

from __future__ import annotations

import hashlib
import os
import random
import time

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven import RealClaude

LATE = 1.0
"""Seconds by which a status or a signal may be later than the stub's own record."""


class ClaudeTests(RealClaude, SynchronousTestCase):
    """The real one."""

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
        self.until("the file", (self.work / "one.txt").exists)
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
            self.assertFalse((self.work / name).exists())

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
        self.release("gate")
        self.until("the end of the turn", lambda: self.record()["status"] == "idle")

    def test_an_approval_outlives_the_service(self) -> None:
        self.prompt("RUN: touch late.txt", wait="blocked")
        before = self.approval()
        self.daemon.kill()
        self.daemon.start()
        item = self.approval()
        self.assertEqual((before["id"], before["frame"]), (item["id"], item["frame"]))
        self.answer(item, action="approve")
        self.until("the file", (self.work / "late.txt").exists)

    def test_the_exit_is_noticed(self) -> None:
        self.prompt("SAY: bye")
        self.call("POST", f"/api/sessions/{self.session}/input", input="/exit\r")
        found = self.call("GET", f"/api/sessions/{self.session}/wait?until=exit&timeout=30000")
        self.assertEqual("exit", found["wait"]["signal"])
        self.assertIsNone(self.record()["pid"])
