"""Prompts to the real CLIs: once and only once, whatever they end in."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable
from tests.agents.contract_harness import skip_reason
from tests.agents.driven_sessions import HELD, RealClaude
from tests.agents.recipes import RECIPES
from tests.stress import prompts

COUNT = int(os.environ.get("STRESS_PROMPTS", "10"))

PAGES = (
    "/resume",
    "/status",
    "/agents",
    "/rewind",
    "/skills",
    "/tasks",
    "/login",
    "/theme",
    "/memory",
    "/export",
    "/help",
    "/hooks",
    "/permissions",
)
"""Commands of the agent's own that open a page or a list."""


class PromptOnceTests(SynchronousTestCase):
    """The short seeded form of C{python -m tests.stress.prompts}."""

    def play(self, cli: str, *, stall: bool = False) -> None:
        try:
            found = prompts.run(cli, COUNT, 2, 11, stall=stall)
        except CliUnavailable as why:
            reason = skip_reason(why, cli)
            raise SkipTest(reason) if reason else why from why
        self.assertTrue(found.clean, found.summary())
        self.assertEqual(COUNT, found.delivered, found.summary())

    def test_claude_prompts_arrive_once(self) -> None:
        self.play("claude", stall=True)

    def test_codex_prompts_arrive_once(self) -> None:
        self.play("codex")

    def test_pi_prompts_arrive_once(self) -> None:
        self.play("pi")


@pytest.mark.long
class PromptOutcomeTests(RealClaude, SynchronousTestCase):
    """What a prompt ends in, and what stood there before."""

    def said(self) -> list[str]:
        """What the model was told, in order."""
        return self.world.stub.conversation()

    def input(self, text: str) -> tuple[int, dict[str, Any]]:
        path = f"/api/sessions/{self.session}/input"
        answer = self.daemon.request("POST", path, {"input": text}, patience=HELD)
        return answer.status, answer.json()

    def test_prompts_arrive_once_over_pickers_pages_and_drafts(self) -> None:
        """One session: whatever came before, the next prompt is said once."""
        self.ends()
        self.a_picker()
        self.a_page()
        self.a_draft_is_kept_apart()

    def ends(self) -> None:
        texts = ["C:\\dir\\", "two\\\\", "see @nofile", "# not a note", "a\r\nb\rc", "q @"]
        for text in texts:
            self.prompt(text)
        told = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
        self.assertEqual(told, self.said())
        for blank in (" \r", "\n\r", "\t \r\n"):
            self.assertEqual(400, self.input(blank)[0])

    def say(self, text: str) -> None:
        """It is said behind all that was, and nothing else is."""
        before = self.said()
        self.prompt(text)
        self.assertEqual([*before, text], self.said())

    def opens(self, command: str) -> None:
        status, told = self.input(command)
        self.assertEqual(200, status, (command, told, self.screen()))
        self.assertEqual("picker", told["data"].get("opened"), (command, self.screen()))

    def a_picker(self) -> None:
        """It is told, asked in the inbox, and gets no second Enter."""
        self.opens("/model\r")
        item = self.approval()
        self.assertEqual(("question", "Select model"), (item["kind"], item["message"]))
        self.assertEqual(422, self.input("SAY: no\r")[0])
        self.answer(item, action="deny")
        self.until("the end of it", lambda: not self.pending())
        self.say("SAY: behind the picker")

    def a_page(self) -> None:
        """C{/config} takes the composer's place; Escape leaves its filter first, then the page."""
        self.opens("/config\r")
        self.assertEqual(422, self.input("SAY: no\r")[0])
        self.until("the end of the page", self.left)
        self.say("SAY: behind the page")

    def left(self) -> bool:
        """Deny what is asked; whether the page is gone then."""
        for item in self.pending():
            path = f"/api/approvals/{item['id']}/answer"
            how = {"action": "deny", "expectFrame": item["frame"]}
            # While the page is drawn anew it is another one than was seen, which is told.
            self.assertIn(self.daemon.request("POST", path, how).status, (200, 409))
            self.until("its end", partial(self.gone, item))
        return not self.pending() and "Settings" not in self.screen()

    def gone(self, item: dict[str, Any]) -> bool:
        return item not in self.pending()

    def test_dialogs_opened_by_commands_reach_the_inbox_and_close_by_deny(self) -> None:
        """Each is told, is in the inbox, and left by deny; whatever the page shows."""
        for text in ("SAY: mend the log in page", "SAY: do you want to use an API key"):
            self.prompt(text)
            self.assertEqual(200, self.input("/clear\r")[0])
        self.prompt("SAY: would you like to run it")
        for command in PAGES:
            self.opens(f"{command}\r")
            (item,) = self.until(f"the item of {command}", self.pending)
            self.assertEqual("question", item["kind"], command)
            self.assertEqual(422, self.input("SAY: no\r")[0])
            self.until(f"the end of {command}", self.is_back)
        self.say("SAY: behind the pages")

    def is_back(self) -> bool:
        """Deny what is asked; whether the composer is back then."""
        for item in self.pending():
            how = {"action": "deny", "expectFrame": item["frame"]}
            path = f"/api/approvals/{item['id']}/answer"
            self.assertIn(self.daemon.request("POST", path, how).status, (200, 409))
        return not self.pending() and "\n❯\xa0" in self.screen()

    def a_draft_is_kept_apart(self) -> None:
        path = f"/api/sessions/{self.session}/input"
        self.call("POST", path, input="half a thought", useMux=False)
        self.until("the draft", lambda: "half a thought" in self.screen())
        self.say("SAY: past it")
        self.until("the draft again", lambda: "❯\xa0half a thought" in self.screen())
        self.key("C-u")
        self.until("no draft", lambda: "half a thought" not in self.screen())
        self.call("POST", path, input="n", useMux=False)
        self.until("one letter", lambda: "❯\xa0n" in self.screen())
        self.key("Home")
        self.say("SAY: past a letter")
        self.until("the letter again", lambda: "❯\xa0n" in self.screen())

    def test_lone_slash_opens_a_menu_that_deny_closes(self) -> None:
        self.prompt("SAY: ready")
        self.opens("/\r")
        (item,) = self.until("an item", self.pending)
        self.answer(item, action="deny")
        self.until("the end of it", lambda: not self.pending())

    def test_plan_dialog_takes_a_text_answer(self) -> None:
        self.call("DELETE", f"/api/sessions/{self.session}")
        self.begin_in_plan_mode()
        self.prompt("PLAN:", wait="blocked")
        item = self.approval()
        self.assertIn("Would you like to proceed?", item["message"])
        self.answer(item, action="text", text="use fewer lines")
        self.until("the refusal", lambda: "User rejected Claude's plan" in self.screen())

    def begin_in_plan_mode(self) -> None:
        launch = RECIPES["claude"](self.world.place, trusted=False)
        self.session = self.call(
            "POST",
            "/api/sessions",
            mode="primary",
            workingDir=str(self.work),
            start=True,
            params={"permissionMode": "plan"},
            envOverrides=dict(launch.env),
        )["session"]["id"]
