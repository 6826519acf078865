"""Tests for C{tsctl rules}: what it sends and prints."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.commands import rules
from tservice.client.commands.context import CommandContext
from tservice.client.commands.parsing import parse_command_line
from tservice.client.errors import Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.shell import ShellContext

RULE = {
    "id": "abcd1234",
    "name": "te\x1bst",
    "scope": {"caseName": "shop"},
    "tool": "Bash",
    "match": {"command": {"prefix": ["npm", "te st"]}},
    "action": "allow",
    "hits": 3,
    "createdAt": 0,
}


class PlayedRules(ApiCaller):
    """A service with one rule."""

    def __init__(self) -> None:
        super().__init__(ServiceAddress(host="localhost", port=1))
        self.sent: list[tuple[str, str, Any]] = []

    def send_request(self, method: str, path: str, body: object = None, *_: Any, **__: Any) -> Any:
        if path == "/sessions":
            return [{"id": "s1", "name": "one"}]
        if method == "GET":
            suggestion = {"tool": "Bash", "words": ["npm", "test"], "count": 14}
            return {"rules": [RULE], "suggestions": [suggestion]}
        self.sent.append((method, path, body))
        if path.endswith("preview"):
            decided = [{"action": "allow", "tool": "Bash", "subject": "npm \x1btest"}]
            return {"requests": 9, "decided": decided}
        return {"rule": RULE, "id": "abcd1234"}


class TsctlRulesTests(SynchronousTestCase):
    def run_command(self, *argv: str) -> str:
        self.printed = StringIO()
        self.service = PlayedRules()
        shell = ShellContext(
            environ={},
            home=Path(),
            now=lambda: 1000.0,
            input=StringIO(),
            out=self.printed,
            error=StringIO(),
        )
        words = parse_command_line(["rules", *argv])[1]
        context = CommandContext(words, shell, self.service)
        self.assertEqual(0, getattr(rules, argv[0])(context))
        return self.printed.getvalue()

    def test_rules_and_suggestions_are_listed(self) -> None:
        told = self.run_command("ls")
        self.assertIn("npm 'te st' …", told)
        self.assertIn("You allowed npm test 14 times", told)
        self.assertNotIn("\x1b", told)

    def test_a_rule_is_made(self) -> None:
        for argv, tool, match, scope in (
            (("--prefix", "npm 'a b'"), "Bash", {"command": {"prefix": ["npm", "a b"]}},
             {"all": True}),
            (("--exact", "sudo ls", "--case", "shop"), "Bash", {"command": {"exact": "sudo ls"}},
             {"caseName": "shop"}),
            (("--path", "src/**", "--session", "one"), "Edit", {"path": "src/**"},
             {"sessionId": "s1"}),
            (("--path", "src/**", "--tool", "Read"), "Read", {"path": "src/**"}, {"all": True}),
            (("--url", "x.org"), "WebFetch", {"url": "x.org"}, {"all": True}),
            (("--mcp", "db/*", "--action", "deny"), "mcp", {"mcp": "db/*"}, {"all": True}),
        ):  # fmt: skip
            self.assertEqual("abcd1234\n", self.run_command("add", *argv))
            ((method, path, body),) = self.service.sent
            self.assertEqual(("POST", "/approval-rules"), (method, path))
            self.assertEqual((tool, match, scope), (body["tool"], body["match"], body["scope"]))
        self.run_command("add", "--prefix", "npm test", "--minutes", "60", "--note", "tests")
        body = self.service.sent[0][2]
        self.assertEqual((4_600_000, "tests"), (body["expiresAt"], body["note"]))

    def test_unfinished_quotes_are_refused(self) -> None:
        self.assertRaises(Unusable, self.run_command, "add", "--prefix", "npm 'a")

    def test_a_preview_is_printed(self) -> None:
        told = self.run_command("preview", "--prefix", "npm test")
        self.assertIn("1 of the last 9 questions", told)
        self.assertNotIn("\x1b", told)
        self.assertEqual("/approval-rules/preview", self.service.sent[0][1])

    def test_a_rule_is_removed(self) -> None:
        self.run_command("rm", "abcd")
        self.assertEqual(("DELETE", "/approval-rules/abcd1234", None), self.service.sent[0])
