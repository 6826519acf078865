"""Claude Code driven through the real daemon over HTTP: what users do with it."""

from __future__ import annotations

import hashlib
import os
import random
import re
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude
from tests.agents.harness import end_command
from tests.agents.misleading_prompts import LISTED, QUOTED
from tests.agents.status_truth import StatusWatcher
from tests.waiting import SettledCondition

STILL = 0.5
"""Seconds without another drawing after which a screen rests."""


class RealClaudeDaemonTests(RealClaude, SynchronousTestCase):
    """The real one."""

    @pytest.mark.essential
    def test_first_prompt_waits_for_the_trust_dialog(self) -> None:
        found = self.prompt("SAY: hello there")
        self.assertEqual(("stop", True), (found["wait"]["signal"], found["delivered"]))
        (turn,) = self.turns()
        self.assertEqual("SAY: hello there", turn.prompt)
        self.assertIsNotNone(turn.ended)
        record = self.record()
        self.assertEqual(("idle", True), (record["status"], record["hooksAvailable"]))
        self.assertEqual(1, len(record["conversationIds"]))
        self.assertIn("Opus", record["displayModel"])
        path = f"/api/sessions/{self.session}/last-response"
        self.assertEqual("hello there", self.call("GET", path)["text"])
        # The transcript is written a moment after the hook: never the answer before it.
        for text in ("one", "two", "three"):
            self.prompt(f"SAY: {text}")
            self.assertEqual(text, self.call("GET", path)["text"])

    def test_wait_is_answered_with_the_hook_that_ended_it(self) -> None:
        """C{bench/waits.py} measures how long that takes."""
        self.prompt("SAY: ready")
        with StatusWatcher(self.daemon, self.session) as watcher:
            for turn, text in enumerate(("SAY: a", "SLOW: 1", "SAY: c"), start=1):
                found = self.prompt(text)
                self.assertEqual("stop", found["wait"]["signal"])
                self.until_hooks(watcher, "stop", turn)
            blocked = self.prompt("RUN: touch x", wait="blocked")
            self.assertEqual("blocked", blocked["wait"]["signal"])
            self.until_hooks(watcher, "permission_prompt", 1)

    def until_hooks(self, watcher: StatusWatcher, event: str, count: int) -> None:
        """Wait until the hook has come C{count} times, and no more often."""
        self.until(f"{event} {count}", lambda: len(watcher.hooks(event)) >= count)
        self.assertEqual(count, len(watcher.hooks(event)))

    def shown_options(self) -> list[str]:
        """The numbered rows at the bottom of the screen, read without any of the service's code."""
        rows = re.findall(r"^ *❯? *([1-9])\. (.+?) *$", self.screen(), re.MULTILINE)
        first = max(at for at, (number, _) in enumerate(rows) if number == "1")
        return [re.sub(r"^\[.\] ", "", label) for _, label in rows[first:]]

    def labels(self, item: dict[str, Any]) -> list[str]:
        """What the item offers."""
        return [str(option["label"]) for option in item["options"]]

    def asked(self, prompt: str) -> dict[str, Any]:
        """Have the agent ask; the item, whose options are those of the screen."""
        self.prompt(prompt, wait="blocked")
        item = self.approval()
        self.assertEqual(self.shown_options(), self.labels(item))
        return item

    def test_permission_dialog_survives_resizing(self) -> None:
        """A phone, a cell of a grid and a desk take turns; then the smallest one answers."""
        self.prompt("RUN: rm -rf ./build-of-yesterday", wait="blocked")
        self.until("the tool", lambda: self.approval().get("toolSummary"))
        before = self.approval()
        names = ("id", "kind", "createdAt", "toolName", "toolSummary")
        sizes = [(46, 24), (120, 40), (60, 14), (200, 50), (34, 10), (90, 30)]
        for cols, rows in (*sizes, *sizes[::-1]):
            self.call("POST", f"/api/sessions/{self.session}/resize", cols=cols, rows=rows)
            resting = SettledCondition(self.screen, STILL)
            while not resting():
                now = self.approval()
                self.assertEqual([before.get(n) for n in names], [now.get(n) for n in names])
                self.assertEqual(self.labels(before), self.labels(now))
        self.call("POST", f"/api/sessions/{self.session}/resize", cols=46, rows=12)
        self.until("rest", SettledCondition(self.screen, STILL))
        self.answer(self.approval(), action="deny")
        self.until_idle()

    def test_permission_is_approved_denied_and_remembered(self) -> None:
        """Approve does it, deny and the last option do not, the second does it from then on."""
        item = self.asked("RUN: touch one.txt")
        self.assertEqual(("permission", "Bash"), (item["kind"], item["toolName"]))
        self.assertEqual("touch one.txt", item["toolSummary"])
        labels = self.labels(item)
        self.assertEqual(("Yes", "No"), (labels[0], labels[-1]))
        self.answer(item, action="approve")
        self.until("the file", (self.work / "one.txt").exists)
        self.until_idle()
        self.assertEqual([], self.pending())

        self.answer(self.asked("RUN: touch two.txt"), action="deny")
        self.until_idle()
        item = self.asked("RUN: touch three.txt")
        self.answer(item, action="option", option=len(item["options"]))
        self.until_idle()
        for name in ("two.txt", "three.txt"):
            self.assertFalse((self.work / name).exists())

        self.answer(self.asked("RUN: touch four.txt"), action="option", option=2)
        self.until_idle()
        self.assertEqual("stop", self.prompt("RUN: touch five.txt")["wait"]["signal"])
        for name in ("four.txt", "five.txt"):
            self.assertTrue((self.work / name).exists())

    def test_prompts_are_not_mistaken_for_dialogs_or_answers(self) -> None:
        """Two lines, texts that look like dialogs, prompts to a dialog: one session."""
        self.two_lines_are_one_prompt()
        self.prompts_that_look_like_dialogs()
        self.a_prompt_is_no_answer_to_a_dialog()

    def a_prompt_is_no_answer_to_a_dialog(self) -> None:
        for text in ("RUN: touch approved.txt", "ASK:"):
            item = self.asked(text)
            # Beside the dialog it may still draw something else.
            self.until("rest", SettledCondition(self.screen, STILL))
            frame = self.screen()
            for prompt in ("SAY: do not do that", "2 things to do", "y"):
                path = f"/api/sessions/{self.session}/input"
                refused = self.daemon.request("POST", path, {"input": f"{prompt}\r"})
                told = (refused.status, refused.json()["errorCode"])
                self.assertEqual((422, "OPERATION_FAILED"), told)
            self.assertEqual(frame, self.screen())
            self.assertEqual([item["id"]], [each["id"] for each in self.pending()])
            self.answer(item, action="deny")
            self.until_idle()
        self.assertFalse((self.work / "approved.txt").exists())
        self.prompt("SAY: now")
        self.assertEqual("SAY: now", self.turns()[-1].prompt)

    def two_lines_are_one_prompt(self) -> None:
        self.prompt("a line\nSAY: both")
        self.assertEqual(["a line\nSAY: both"], [turn.prompt for turn in self.turns()])

    def prompts_that_look_like_dialogs(self) -> None:
        for text in (QUOTED, LISTED):
            self.prompt(text)
            self.assertEqual(text.split(), self.turns()[-1].prompt.split())

    def test_questions_are_answered_by_option_and_in_own_words(self) -> None:
        """One session; first that whose end is told in words that others leave on the screen."""
        self.questions_on_several_pages()
        self.a_question()
        self.a_question_in_own_words()
        self.a_question_with_several_answers()

    def a_question(self) -> None:
        item = self.asked("ASK:")
        self.assertEqual("question", item["kind"])
        self.answer(item, action="option", option=2)
        self.until("the answer", lambda: f"→ {self.labels(item)[1]}" in self.screen())
        self.until_idle()
        self.assertEqual([], self.pending())

    def a_question_in_own_words(self) -> None:
        item = self.asked("ASK:")
        self.answer(item, action="text", text="Something of my own")
        self.until("the answer", lambda: "→ Something of my own" in self.screen())
        self.until_idle()

    def a_question_with_several_answers(self) -> None:
        item = self.asked("ASKM:")
        self.assertEqual([False, False], [option["checked"] for option in item["options"][:2]])
        self.answer(item, action="options", options=[1, 3])
        labels = self.labels(item)
        self.until("the answer", lambda: f"→ {labels[0]}, {labels[2]}" in self.screen())
        self.until_idle()

    def questions_on_several_pages(self) -> None:
        """Each page is an answer of its own, up to the page that sends them."""
        item: dict[str, Any] | None = self.asked("ASK3:")
        pages: list[str] = []
        while item is not None:
            pages.append(item["frame"])
            if any("checked" in option for option in item["options"]):
                self.answer(item, action="options", options=[2])
            else:
                self.answer(item, action="option", option=1)
            item = self.until("the next page", lambda: self.next_page(pages[-1]))[0]
        self.assertEqual(len(pages), len(set(pages)))
        self.assertGreaterEqual(len(pages), 3)
        self.until_idle()
        self.assertIn("answered", self.screen())

    def next_page(self, before: str) -> list[dict[str, Any] | None]:
        """The item once it is another page, C{[None]} once there is none; empty until then."""
        items = self.pending()
        if not items:
            return [None]
        return [] if items[0]["frame"] == before else [items[0]]

    def test_local_commands_end_a_waiting_call(self) -> None:
        """They are no turns of the agent, so no hook says that they are over."""
        self.prompt("SAY: ready")
        for command in ("/compact", "/clear", "/nonexistent", "/compact"):
            found = self.prompt(command, wait="stop,idle", waitTimeout=60_000)
            self.assertEqual("idle", found["wait"]["signal"], command)
            self.assertEqual("idle", self.record()["status"])
        self.prompt("SAY: one")
        self.prompt("SAY: two")
        found = self.prompt("/compact", wait="stop,idle", waitTimeout=60_000)
        self.assertEqual("idle", found["wait"]["signal"])
        # The title, which tells that it rests, is written apart from the screen.
        self.until("what it did", lambda: re.search("[Cc]ompacted", self.screen()))
        self.assertEqual("stop", self.prompt("SAY: three")["wait"]["signal"])

    def test_running_tool_is_reported(self) -> None:
        self.prompt("SAY: ready")
        home = self.world.place.home
        with StatusWatcher(self.daemon, self.session) as watcher:
            self.type("RUN: sleep 100; echo x")
            tool = "tool Bash sleep 100; echo x"
            self.until("the tool", lambda: self.record()["statusReason"] == tool)
            # It lasts until it was seen to.
            self.until("the command", lambda: end_command(home, "sleep", "100"))
            self.until_idle()
            told = ("tool_started", "tool_ended")
            self.until("both hooks", lambda: [len(watcher.hooks(each)) for each in told] == [1, 1])

    def test_prompts_of_every_size_arrive_once(self) -> None:
        dice = random.Random(5)
        sent = []
        for number in range(int(os.environ.get("CLAUDE_PROMPTS", "40"))):
            size = dice.choice((1, 40, 300, 900, 4_000, 16_000, 65_000))
            filler = "".join(dice.choice("abcdef gh") for _ in range(size))
            text = f"{number} {filler}\nSAY: {number}"[-65_000:].strip()
            sent.append(text)
            self.prompt(text, clientId="test", seq=number + 1)
        got = [turn.sha256 for turn in self.turns()]
        self.assertEqual([hashlib.sha256(text.encode()).hexdigest() for text in sent], got)

    def test_running_turn_outlives_the_service(self) -> None:
        self.prompt("SAY: ready")
        held = {"input": "HOLD: gate\r"}
        self.call("POST", f"/api/sessions/{self.session}/input", **held)
        self.until("busy", lambda: self.record()["status"] == "busy")
        self.daemon.kill()
        self.daemon.start()
        self.assertEqual("busy", self.record()["status"])
        self.release("gate")
        self.until("the end of the turn", lambda: self.record()["status"] == "idle")

    def test_pending_approval_outlives_the_service(self) -> None:
        self.prompt("RUN: touch late.txt", wait="blocked")
        before = self.approval()
        self.daemon.kill()
        self.daemon.start()
        item = self.approval()
        self.assertEqual((before["id"], before["frame"]), (item["id"], item["frame"]))
        self.answer(item, action="approve")
        self.until("the file", (self.work / "late.txt").exists)

    def test_exit_of_the_agent_is_noticed(self) -> None:
        self.prompt("SAY: bye")
        self.call("POST", f"/api/sessions/{self.session}/input", input="/exit\r")
        found = self.call("GET", f"/api/sessions/{self.session}/wait?until=exit&timeout=60000")
        self.assertEqual("exit", found["wait"]["signal"])
        self.assertIsNone(self.record()["pid"])

    def test_started_session_continues_its_conversation(self) -> None:
        """One that was begun and given no prompt is not there to go on with."""
        self.prompt("SAY: before")
        (conversation,) = self.record()["conversationIds"]
        for fresh in (False, True, False):
            self.call("POST", f"/api/sessions/{self.session}/input", input="/exit\r")
            self.call("GET", f"/api/sessions/{self.session}/wait?until=exit&timeout=60000")
            self.call("POST", f"/api/sessions/{self.session}/start", fresh=fresh)
            self.until("the composer", lambda: "❯\xa0" in self.screen())
        self.prompt("SAY: after")
        self.assertEqual(conversation, self.record()["conversationIds"][-1])
        said = self.call("GET", f"/api/sessions/{self.session}/last-response?context=full")
        words = [each["text"] for each in said["messages"]]
        self.assertEqual(["SAY: before", "before", "SAY: after", "after"], words)
