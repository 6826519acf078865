"""Tests for C{tsctl pr}: what is sent, and what is printed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.commands import pulls
from tservice.client.commands.context import CommandContext
from tservice.client.commands.parsing import parse_command_line
from tservice.client.errors import Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.shell import ShellContext

PULL: dict[str, Any] = {
    "number": 7, "title": "Mend\x1b[2J it", "url": "https://github.com/ann/clock/pull/7",
    "state": "open",
    "checks": {
        "state": "failed", "passed": 2, "running": 0, "failed": 2,
        "failures": [{"name": "lint", "url": "https://ci/1", "job": "11"},
                     {"name": "old", "url": ""}],
    },
    "comments": [{"author": "bob", "text": "Why?\nReally", "path": "a.py", "line": 3},
                 {"author": "eve", "text": "Gone", "path": "b.py"}],
}  # fmt: skip


class PlayedForgeService(ApiCaller):
    """A service with one session."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(ServiceAddress(host="localhost", port=1))
        self.sent: list[tuple[str, str, Any, Any]] = []
        self.state, self.suggestion = state, {"title": "Do it", "body": "* one"}

    def send_request(
        self, method: str, path: str, body: object = None, query: Any = None, wait_ms: int = 0
    ) -> Any:
        name = path.rpartition("/")[2]
        if name == "sessions":
            return [{"id": "s1", "name": "fixer"}]
        self.sent.append((method, path.removeprefix("/sessions/s1/changes/"), body, query))
        answers: dict[str, Any] = {
            "suggestion": self.suggestion,
            "log": {"name": "lint", "log": "E\x1b[31m boom\nend"},
            "mend": {"checks": ["lint", "old"], "delivered": True, "buffered": False},
        }
        return answers.get(name, self.state)


class TsctlPullTests(SynchronousTestCase):
    state: dict[str, Any] = {"pullRequest": PULL}

    def run_command(self, *argv: str) -> str:
        self.caller, out = PlayedForgeService(self.state), StringIO()
        shell = ShellContext(
            environ={}, home=Path(), now=lambda: 1.0, input=StringIO(), out=out, error=StringIO()
        )
        does = getattr(pulls, argv[0])
        words = parse_command_line(("pr", *argv))[1]
        self.assertEqual(0, does(CommandContext(words, shell, self.caller)))
        self.assertNotIn("\x1b", out.getvalue())
        return out.getvalue()

    def test_state_is_shown_with_failed_checks_and_comments(self) -> None:
        first, *rest = self.run_command("show", "s1").splitlines()
        self.assertTrue(first.startswith("#7  open  2 passed, 2 failed  Mend"), first)
        self.assertTrue(first.endswith(PULL["url"]), first)
        self.assertEqual(["failed  lint  https://ci/1", "failed  old"], rest[:2])
        self.assertTrue(rest[2].startswith("comment  a.py:3  bob: Why?"), rest[2])
        self.assertEqual("comment  b.py  eve: Gone", rest[3])
        self.assertEqual(self.state, json.loads(self.run_command("show", "s1", "--json")))

    def test_missing_pull_request_is_said_with_the_reason(self) -> None:
        for state, said in (
            ({}, "The branch has no pull request"),
            ({"reason": "not-signed-in"}, "Unknown: sign in with gh auth login or glab auth login"),
            ({"reason": "failed", "message": "HTTP 500"}, "Unknown: HTTP 500"),
        ):
            self.state = state
            self.assertEqual(f"{said}\n", self.run_command("show", "s1", "--repo", "lib"))
            self.assertEqual({"repo": "lib"}, self.caller.sent[-1][3])

    def test_branch_is_pushed_and_opened_with_suggested_words(self) -> None:
        printed = self.run_command("create", "s1", "--draft", "--reviewers", "bob, acme/keepers")
        self.assertEqual(f"{PULL['url']}\n", printed)
        _, pushed, opened = self.caller.sent
        self.assertEqual(("POST", "push", {"repo": None, "setUpstream": True}, None), pushed)
        body = {
            "repo": None, "title": "Do it", "body": "* one", "draft": True, "base": None,
            "reviewers": ["bob", "acme/keepers"],
        }  # fmt: skip
        self.assertEqual(("POST", "pull-request", body, None), opened)

    def test_given_words_need_no_suggestion(self) -> None:
        self.run_command("create", "s1", "--title", "T", "--body", "", "--base", "next")
        self.assertEqual(["push", "pull-request"], [each[1] for each in self.caller.sent])
        body = self.caller.sent[-1][2]
        self.assertEqual(("T", "", "next", []), (
            body["title"], body["body"], body["base"], body["reviewers"],
        ))  # fmt: skip

    def test_title_that_cannot_be_suggested_has_to_be_given(self) -> None:
        words = parse_command_line(("pr", "create", "s1"))[1]
        caller = PlayedForgeService(self.state)
        caller.suggestion = {"title": "", "body": ""}
        shell = ShellContext(
            environ={}, home=Path(), now=lambda: 1.0, input=StringIO(), out=StringIO(),
            error=StringIO(),
        )  # fmt: skip
        self.assertRaises(Unusable, pulls.create, CommandContext(words, shell, caller))
        self.assertEqual(1, len(caller.sent))

    def test_log_of_a_failed_check_is_printed(self) -> None:
        self.assertIn("boom\nend", self.run_command("log", "s1", "lint"))
        self.assertEqual({"repo": None, "job": "11"}, self.caller.sent[-1][3])
        for name in ("old", "other"):
            self.assertRaises(Unusable, self.run_command, "log", "s1", name)

    def test_each_call_to_mend_is_a_request_of_its_own(self) -> None:
        ids = set()
        for _ in range(2):
            printed = self.run_command("mend", "s1", "--even-while-busy")
            self.assertEqual("lint\nold\n", printed)
            body = self.caller.sent[-1][2]
            self.assertTrue(body["evenWhileBusy"])
            ids.add(body["requestId"])
        self.assertEqual(2, len(ids))
