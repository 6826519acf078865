"""Tests for C{tsctl review}: what is sent, and what is printed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.commands import review
from tservice.client.commands.context import CommandContext
from tservice.client.commands.parsing import parse_command_line
from tservice.client.errors import Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.shell import ShellContext

FILE = {"path": "src/\x1b[31ma.py", "status": "modified", "added": 2, "removed": 1}
ROWS = [
    {"kind": "context", "text": "same"},
    {"kind": "removed", "text": "old\x1b[2J"},
    {"kind": "added", "text": "new"},
]
HUNK = {
    "oldStart": 1, "oldCount": 2, "newStart": 1, "newCount": 2, "section": "def f():", "rows": ROWS
}  # fmt: skip
COMMENT = {
    "id": "c1", "state": "sent", "line": 3, "text": "why?\nreally",
    "anchor": {"state": "moved", "path": "a.py", "line": 9},
}  # fmt: skip


class PlayedReview(ApiCaller):
    """A service with one session, one changed file of two pages, and one comment."""

    def __init__(self) -> None:
        super().__init__(ServiceAddress(host="localhost", port=1))
        self.sent: list[tuple[str, str, Any, Any]] = []

    def send_request(
        self, method: str, path: str, body: object = None, query: Any = None, wait_ms: int = 0
    ) -> Any:
        self.sent.append((method, path, body, query))
        name = path.rpartition("/")[2]
        if name == "sessions":
            return [{"id": "s1", "name": "fixer"}]
        if name == "changes":
            repositories = [{"repo": ".", "files": [FILE]}, {"repo": "lib", "files": [FILE]}]
            return {"repositories": repositories}
        if name == "file":
            return {"hunks": [HUNK], "next": 3 if query["start"] == 0 else None}
        if name == "send":
            return {"commentIds": ["c1", "c2"], "delivered": True}
        return {"comments": [COMMENT]} if method == "GET" else {"comment": COMMENT}


class TsctlReviewTests(SynchronousTestCase):
    def run_command(self, *argv: str) -> str:
        self.caller, out = PlayedReview(), StringIO()
        shell = ShellContext(
            environ={}, home=Path(), now=lambda: 1.0, input=StringIO(), out=out, error=StringIO()
        )
        does = getattr(review, argv[0])
        words = parse_command_line(("review", *argv))[1]
        self.assertEqual(0, does(CommandContext(words, shell, self.caller)))
        self.assertNotIn("\x1b", out.getvalue())
        return out.getvalue()

    def test_changes_are_listed_with_their_repository(self) -> None:
        lines = self.run_command("changes", "s1", "--base", "main", "--target", "HEAD").splitlines()
        self.assertEqual(["modified", "+2", "-1"], lines[1].split()[:3])
        self.assertIn("lib/src/", lines[2])
        self.assertEqual({"base": "main", "target": "HEAD"}, self.caller.sent[-1][3])

    def test_all_pages_of_a_diff_are_printed(self) -> None:
        lines = self.run_command("diff", "s1", "a.py").splitlines()
        self.assertEqual("@@ -1,2 +1,2 @@ def f():", lines[0])
        self.assertEqual([" same", "+new"], [lines[1], lines[3]])
        self.assertEqual(8, len(lines))

    def test_comments_are_listed_at_their_lines_now(self) -> None:
        line = self.run_command("comments", "s1").splitlines()[1]
        self.assertEqual(["c1", "sent", "moved", "a.py:9"], line.split()[:4])
        self.assertEqual([COMMENT], json.loads(self.run_command("comments", "s1", "--json")))

    def test_comment_names_a_path_and_a_line(self) -> None:
        self.assertEqual("c1\n", self.run_command("comment", "s1", "a:b.py:12", "why?"))
        body = self.caller.sent[-1][2]
        self.assertEqual({"path": "a:b.py", "line": 12, "text": "why?"}, body)
        for place in ("a.py", "a.py:x", ":3"):
            self.assertRaises(Unusable, self.run_command, "comment", "s1", place, "why?")

    def test_comments_are_sent_with_a_note(self) -> None:
        self.assertEqual("c1\nc2\n", self.run_command("send", "s1", "--note", "Thanks"))
        self.assertEqual({"note": "Thanks", "evenWhileBusy": False}, self.caller.sent[-1][2])
