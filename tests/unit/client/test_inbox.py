"""Tests for C{tsctl approve} and C{tsctl deny}: what they send."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.commands.context import CommandContext
from tservice.client.commands.inbox import approvals, approve, deny
from tservice.client.commands.parsing import parse_command_line
from tservice.client.errors import Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.shell import ShellContext

ITEM = {
    "id": "s1:4",
    "sessionId": "s1",
    "sessionName": "one",
    "kind": "permission",
    "createdAt": 1_000_000,
    "toolName": "Bash",
    "toolSummary": "rm \x1b]0;evil\x07-rf x",
    "options": [{"n": 1, "label": "Yes", "selected": True}, {"n": 2, "label": "No"}],
    "frame": "f00d",
}
SESSIONS = [
    {"id": "s1", "name": "one", "status": "busy"},
    {"id": "s2", "name": "two", "status": "idle"},
    {"id": "s3", "name": "three", "status": "busy"},
]


class PlayedInbox(ApiCaller):
    """A service with one thing in its inbox.

    @ivar empty: how often it has nothing there yet.
    """

    def __init__(self) -> None:
        super().__init__(ServiceAddress(host="localhost", port=1))
        self.sent: list[tuple[str, object]] = []
        self.empty = 0

    def send_request(self, method: str, path: str, body: object = None, *_: Any, **__: Any) -> Any:
        if method == "POST":
            self.sent.append((path, body))
            return {"id": "s1:4", "sessionId": "s1", "action": "approve"}
        if path == "/sessions":
            return SESSIONS
        self.empty -= 1
        return {"approvals": [] if self.empty >= 0 else [ITEM]}


class TsctlInboxTests(SynchronousTestCase):
    def context(self, *argv: str) -> CommandContext:
        self.caller, self.out = PlayedInbox(), StringIO()
        self.slept: list[float] = []
        shell = ShellContext(
            environ={},
            home=Path(),
            now=lambda: 1_060.0,
            input=StringIO(),
            out=self.out,
            error=StringIO(),
            sleep=self.slept.append,
        )
        return CommandContext(parse_command_line(argv)[1], shell, self.caller)

    def test_approval_commands_send_their_answer(self) -> None:
        for does, argv, want in (
            (approve, ("approve", "one"), {"action": "approve"}),
            (deny, ("deny", "one"), {"action": "deny"}),
            (
                deny,
                ("deny", "one", "--reason", "use mv"),
                {"action": "deny", "reason": "use mv"},
            ),
            (approve, ("approve", "one", "--option", "2"), {"action": "option", "option": 2}),
            (deny, ("deny", "one", "--text", "use mv"), {"action": "text", "text": "use mv"}),
        ):
            self.assertEqual(0, does(self.context(*argv)))
            want = {**want, "expectFrame": "f00d"}
            self.assertEqual([("/approvals/s1%3A4/answer", want)], self.caller.sent)

    def test_nothing_to_approve_is_an_error(self) -> None:
        error = self.assertRaises(Unusable, approve, self.context("approve", "two"))
        self.assertEqual("nothing waits for a person in s2 (two)", str(error))
        self.assertEqual(([], []), (self.caller.sent, self.slept))

    def test_unread_dialog_is_waited_for(self) -> None:
        """Its signal may come before it: who is blocked is looked at again, for a while."""
        context = self.context("approve", "one")
        self.caller.empty = 2
        self.assertEqual(0, approve(context))
        self.assertEqual((1, 2), (len(self.caller.sent), len(self.slept)))
        error = self.assertRaises(Unusable, approve, self.context("approve", "three"))
        self.assertEqual("nothing waits for a person in s3 (three)", str(error))
        self.assertEqual(3, len(self.slept))

    def test_approvals_are_listed(self) -> None:
        approvals(self.context("approvals"))
        self.assertEqual(
            ["one  permission  1m", "    Bash: rm -rf x", "    1 Yes, 2 No"],
            self.out.getvalue().splitlines(),
        )

    def test_approval_list_shows_the_whole_command_and_what_is_missing(self) -> None:
        command = "echo " + "a" * 16_000 + "\nrm -rf x"
        item = {
            **ITEM,
            "toolSummary": command,
            "toolMissing": 26,
            "toolOther": ["content"],
            "complete": False,
            "riskHint": "Deletes files for good",
        }
        with mock.patch.dict(ITEM, item):
            approvals(self.context("approvals"))
        out = self.out.getvalue()
        self.assertIn("    Bash: " + command.replace("\n", "\n    ") + "\n", out)
        for said in ("26 characters", "content", "Hint: Deletes files", "look at the terminal"):
            self.assertIn(said, out)
