"""Tests for C{tsctl checks}: what is sent, and what is printed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.commands import checks
from tservice.client.commands.context import CommandContext
from tservice.client.commands.parsing import parse_command_line
from tservice.client.errors import Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.shell import ShellContext

CHECK = {"name": "tests", "command": "make test", "timeoutSeconds": 60, "paths": []}
CASE = {"checks": [CHECK], "onFailure": "notify", "maxAttempts": 0, "updatedAt": 1}
RESULTS = [
    {"name": "tests", "command": "make\x1b[2J test", "state": "passed", "passed": 214,
     "output": "one\n\x1b[31mtwo"},
    {"name": "lint", "command": "make lint", "state": "timed_out", "output": ""},
]  # fmt: skip


class PlayedChecks(ApiCaller):
    """A service with one session whose checks ran once."""

    def __init__(self) -> None:
        super().__init__(ServiceAddress(host="localhost", port=1))
        self.sent: list[tuple[str, str, Any]] = []

    def send_request(
        self, method: str, path: str, body: object = None, query: Any = None, wait_ms: int = 0
    ) -> Any:
        self.sent.append((method, path, body))
        if path == "/sessions":
            return [{"id": "s1", "name": "fixer"}]
        if path.startswith("/cases/"):
            return CASE
        if path.endswith("/run"):
            return {"run": {"id": "r1"}}
        return {"checks": [CHECK], "running": False, "runs": [{"id": "r1", "results": RESULTS}]}


class TsctlChecksTests(SynchronousTestCase):
    def run_command(self, name: str, *argv: str, given: str = "") -> str:
        self.caller, out = PlayedChecks(), StringIO()
        shell = ShellContext(
            environ={}, home=Path(), now=lambda: 1.0, input=StringIO(given), out=out,
            error=StringIO(),
        )  # fmt: skip
        does = getattr(checks, "set_checks" if name == "set" else name)
        words = parse_command_line(("checks", name, *argv))[1]
        self.assertEqual(0, does(CommandContext(words, shell, self.caller)))
        self.assertNotIn("\x1b", out.getvalue())
        return out.getvalue()

    def test_results_are_listed(self) -> None:
        lines = self.run_command("ls", "fixer").splitlines()
        self.assertEqual(["tests", "✓", "passed", "214"], lines[1].split()[:4])
        self.assertEqual(["lint", "✗", "timed_out"], lines[2].split()[:3])
        found = json.loads(self.run_command("ls", "fixer", "--json"))
        self.assertEqual("r1", found["runs"][0]["id"])

    def test_output_of_a_check_is_printed(self) -> None:
        self.assertEqual(2, len(self.run_command("log", "fixer", "tests").splitlines()))
        self.assertRaises(Unusable, self.run_command, "log", "fixer", "other")

    def test_checks_are_run_and_cancelled(self) -> None:
        self.assertEqual("r1\n", self.run_command("run", "fixer"))
        self.assertEqual(("POST", "/sessions/s1/checks/run", None), self.caller.sent[-1])
        self.run_command("cancel", "fixer")
        self.assertEqual(("DELETE", "/sessions/s1/checks/run", None), self.caller.sent[-1])

    def test_printed_checks_can_be_saved_again(self) -> None:
        text = self.run_command("get", "of/ann")
        self.assertEqual("1 check\n", self.run_command("set", "of/ann", "-", given=text))
        method, path, body = self.caller.sent[-1]
        self.assertEqual(("PUT", "/cases/of%2Fann/checks"), (method, path))
        self.assertEqual({"checks": [CHECK], "onFailure": "notify", "maxAttempts": 0}, body)

    def test_file_that_is_no_object_is_refused(self) -> None:
        for given in ("[]", "{", ""):
            self.assertRaises(Unusable, self.run_command, "set", "x", "-", given=given)
        self.assertRaises(Unusable, self.run_command, "set", "x", "/absent/file")
