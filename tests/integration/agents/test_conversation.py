"""The conversation of a played agent on the real daemon: live, over a kill -9, and stored."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import MockScenario
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.events import EventLog
from tests.integration.tsctl import TSCTL
from tests.waiting import wait_until

EVENT = "session:conversation"


class LiveConversationTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = played_daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.start()
        self.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()
        self.session = PlayedSession(self.daemon, "primary", MockScenario())

    def page(self, **query: Any) -> dict[str, Any]:
        asked = "&".join(f"{name}={value}" for name, value in query.items())
        path = f"{self.session.path}/conversation?{asked}"
        found: dict[str, Any] = self.session.call("GET", path)
        return found

    def said(self, found: dict[str, Any]) -> list[tuple[str, str]]:
        return [(each["role"], each["text"]) for each in found["items"] if each["kind"] == "text"]

    def wait_for(self, *said: tuple[str, str]) -> dict[str, Any]:
        def look() -> Any:
            found = self.page()
            return found if set(said) <= set(self.said(found)) else None

        page: dict[str, Any] = wait_until("what was said", look)
        return page

    def test_conversation_is_followed_over_a_kill_and_read_when_stored(self) -> None:
        first = self.page()
        self.assertEqual((None, [], False), (first["source"], first["items"], first["live"]))
        self.session.prompt("SAY: one", wait="idle")
        page = self.wait_for(("user", "SAY: one"), ("assistant", "one"))
        self.assertTrue(page["live"])
        with EventLog(self.daemon.url) as events:
            self.session.prompt("SAY: two", wait="idle")
            told = events.wait(self.session.id, EVENT, lambda each: each["cursor"] != "")
            self.assertTrue(told["changed"])
            wait_until("the second answer", lambda: ("assistant", "two") in self.said(self.page()))
        self.daemon.kill()
        self.daemon.start()
        after = self.page(after=page["cursor"])
        self.assertNotIn("reset", after)
        self.assertEqual([("user", "SAY: two"), ("assistant", "two")], self.said(after))
        known = {each["id"] for each in page["items"]}
        self.assertEqual(set(), known & {each["id"] for each in after["items"]})
        item = after["items"][0]["id"]
        whole = self.session.call("GET", f"{self.session.path}/conversation/items/{item}")
        self.assertEqual("SAY: two", whole["item"]["text"])
        stored = f"/api/history/sessions/{after['source']['id']}/conversation"
        past = self.session.call("GET", f"{stored}?mode=primary")
        self.assertEqual([*self.said(page), *self.said(after)], self.said(past))
        one = self.session.call("GET", f"{stored}/items/{item}?mode=primary")
        self.assertEqual(whole, one)

    def test_another_conversation_begins_anew(self) -> None:
        self.session.prompt("SAY: one", wait="idle")
        page = self.wait_for(("assistant", "one"))
        self.session.prompt("/clear")
        self.session.prompt("SAY: two", wait="idle")

        def look() -> Any:
            found = self.page(after=page["cursor"])
            return found if ("assistant", "two") in self.said(found) else None

        found = wait_until("the other conversation", look)
        self.assertTrue(found["reset"])
        self.assertEqual([page["source"]["id"]], found["source"]["earlier"])

    def test_tsctl_prints_the_items_and_follows_them(self) -> None:
        self.session.prompt("SAY: one", wait="idle")
        self.wait_for(("assistant", "one"))
        environ = {**self.daemon.environ(), "TSCTL_URL": self.daemon.url}
        words = [*TSCTL, "conversation", self.session.id]
        ran = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
        self.assertEqual("> SAY: one\none\n", ran.stdout)
        ran = subprocess.run(
            [*words, "--json"], env=environ, capture_output=True, text=True, check=True
        )
        self.assertEqual(["user", "assistant"], [each["role"] for each in json.loads(ran.stdout)])
        following = subprocess.Popen([*words, "-f"], env=environ, stdout=subprocess.PIPE, text=True)
        self.addCleanup(following.wait)
        self.addCleanup(following.kill)
        assert following.stdout is not None
        self.addCleanup(following.stdout.close)
        self.assertEqual("> SAY: one\n", following.stdout.readline())
        self.assertEqual("one\n", following.stdout.readline())
        self.session.prompt("RUN: echo seen", wait="idle")
        self.assertEqual("> RUN: echo seen\n", following.stdout.readline())
        line = following.stdout.readline()
        # Its line may come before its result.
        while line.startswith("… Bash echo seen"):
            line = following.stdout.readline()
        self.assertIn("✓ Bash echo seen", line)

    def test_unknown_items_branches_and_bad_values_are_refused(self) -> None:
        self.session.prompt("SAY: one", wait="idle")
        self.wait_for(("assistant", "one"))
        path = f"{self.session.path}/conversation"
        for rest, status in (
            ("/items/zz", 404),
            ("?branch=nothing", 404),
            ("?branch=../x", 400),
            ("?limit=0", 400),
            ("?limit=501", 400),
            ("?before=x", 400),
        ):
            answer = self.daemon.request("GET", f"{path}{rest}")
            self.assertEqual(status, answer.status, (rest, answer.json()))
        shell = PlayedSession(self.daemon, "shell", MockScenario())
        answer = self.daemon.request("GET", f"{shell.path}/conversation")
        self.assertEqual(400, answer.status)
