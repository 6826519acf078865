"""Tests for C{tsctl cases}: what is sent, and what is printed."""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.commands import cases
from tservice.client.commands.context import CommandContext
from tservice.client.commands.parsing import parse_command_line
from tservice.client.commands.sessions import new
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.shell import ShellContext

CASE = {
    "name": "one",
    "path": "/srv/\x1b[31mone",
    "location": "local",
    "linked": False,
    "hasInstructions": True,
    "liveSessions": 2,
    "createdAt": 1_000_000,
}


class PlayedCases(ApiCaller):
    """A service with some cases."""

    def __init__(self) -> None:
        super().__init__(ServiceAddress(host="localhost", port=1))
        self.sent: list[tuple[str, str, object, object]] = []
        self.more: dict[str, object] = {"warnings": ["no submodules"]}

    def send_request(
        self, method: str, path: str, body: object = None, query: Any = None, wait_ms: int = 0
    ) -> Any:
        self.sent.append((method, path, body, query))
        if path == "/sessions":
            return {"session": {"id": "s1", "caseName": "one-b"}, **self.more}
        if path.endswith("/prepare"):
            return {"commands": ["git lfs pull"], "sessionId": "s2"}
        if method == "GET":
            more: tuple[dict[str, object], ...] = (
                {"cloning": {"phase": "x", "percent": 1}},
                {"unreachable": True},
                {"worktree": {"repository": "/r", "branch": "b"}},
            )
            return [CASE, *({**CASE, **each} for each in more)]
        return {"case": CASE, "repository": "x", "ref": "main", "warnings": ["no submodules"]}


class TsctlCasesTests(SynchronousTestCase):
    def run_command(self, does: Any, *argv: str) -> str:
        self.caller, self.out, self.error = PlayedCases(), StringIO(), StringIO()
        shell = ShellContext(
            environ={},
            home=Path(),
            now=lambda: 1_060.0,
            input=StringIO(),
            out=self.out,
            error=self.error,
        )
        self.assertEqual(0, does(CommandContext(parse_command_line(argv)[1], shell, self.caller)))
        return self.out.getvalue()

    def test_cases_ls_prints_every_state(self) -> None:
        lines = self.run_command(cases.ls, "cases", "ls").splitlines()
        self.assertEqual(["local", "cloning", "unreachable", "worktree"],
                         [line.split()[1] for line in lines[1:]])  # fmt: skip
        self.assertNotIn("\x1b", "".join(lines))
        self.assertEqual(4, len(json.loads(self.run_command(cases.ls, "cases", "ls", "--json"))))

    def test_cases_commands_create_and_print_the_path(self) -> None:
        here = os.getcwd()
        for does, argv, path, body in (
            (cases.new, ("new", "one"), "/cases", {"name": "one"}),
            (cases.new, ("new", "one", "--path", "x", "--description", "d"), "/cases",
             {"name": "one", "path": f"{here}/x", "description": "d"}),
            (cases.link, ("link", "one", "x"), "/cases/link", {"name": "one", "path": f"{here}/x"}),
            (cases.clone, ("clone", "one", "https://h/x", "--ref", "v1", "--shallow"),
             "/cases/clone",
             {"name": "one", "repository": "https://h/x", "ref": "v1", "shallow": True}),
            (cases.clone, ("clone", "one", "./x"), "/cases/clone",
             {"name": "one", "repository": f"{here}/x"}),
        ):  # fmt: skip
            printed = self.run_command(does, "cases", *argv)
            self.assertEqual([("POST", path, body, None)], self.caller.sent)
            self.assertEqual("/srv/one\n", printed)

    def test_warnings_of_a_clone_go_to_stderr(self) -> None:
        self.run_command(cases.clone, "cases", "clone", "one", "https://h/x")
        self.assertEqual("tsctl: no submodules\n", self.error.getvalue())

    def test_cases_prepare_prints_the_shell(self) -> None:
        printed = self.run_command(cases.prepare, "cases", "prepare", "修复")
        self.assertEqual("s2\n", printed)
        path = "/cases/%E4%BF%AE%E5%A4%8D/prepare"
        self.assertEqual([("POST", path, None, None)], self.caller.sent)

    def test_warnings_of_a_worktree_go_to_stderr(self) -> None:
        self.run_command(new, "new", "shell", "--case", "one", "--worktree", "b")
        self.assertEqual("tsctl: no submodules\n", self.error.getvalue())

    def test_cases_rm_deletes_each_case_once(self) -> None:
        self.run_command(cases.rm, "cases", "rm", "one", "two", "one")
        self.assertEqual(
            [("DELETE", "/cases/one", None, None), ("DELETE", "/cases/two", None, None)],
            self.caller.sent,
        )
        self.run_command(cases.rm, "cases", "rm", "--force", "a/b")
        self.assertEqual([("DELETE", "/cases/a%2Fb", None, {"force": 1})], self.caller.sent)

    def test_new_session_may_be_in_a_worktree(self) -> None:
        self.run_command(new, "new", "shell", "--case", "one", "--worktree", "fix/it")
        body = {
            "start": True, "mode": "shell", "caseName": "one", "worktree": {"branch": "fix/it"},
        }  # fmt: skip
        self.assertEqual([("POST", "/sessions", body, None)], self.caller.sent)
