"""Tests for the records of C{tsctl}'s commands, and the parser made from them."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, get_args

from twisted.trial.unittest import SynchronousTestCase

from docs.generate import synopsis
from tservice.client import ctl
from tservice.client.commands.completing import build_completion_script
from tservice.client.commands.context import CommandContext
from tservice.client.commands.parsing import parse_command_line
from tservice.client.commands.sessions import build_tree, new
from tservice.client.commands.table import COMMANDS, SHELLS, SIGNALS
from tservice.client.commands.turns import send, wait
from tservice.client.errors import ApiError, Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ApiCaller
from tservice.client.link.naming import pick_record
from tservice.client.shell import ShellContext
from tservice.client.wait_limits import LONGEST_MS, Signal
from tservice.doctor.interfaces import CATEGORIES
from tservice.sessions.waits.signal_waits import TIMEOUT_RANGE, SessionSignal

ROOT = Path(__file__).resolve().parents[3]


class CommandRecordTests(SynchronousTestCase):
    def test_every_command_has_a_function(self) -> None:
        for command in COMMANDS:
            file, _, function = command.does.partition(":")
            found = getattr(import_module(f"tservice.client.commands.{file}"), function)
            self.assertTrue(callable(found), command.name)

    def test_doctor_categories_match_the_service(self) -> None:
        """Importing the doctor would cost every start more than all else."""
        (doctor,) = (command for command in COMMANDS if command.name == "doctor")
        self.assertEqual(CATEGORIES, doctor.options[0].choices)

    def test_signals_and_longest_wait_match_the_service(self) -> None:
        """Importing the waits would cost every start more than all else."""
        self.assertEqual(tuple(SessionSignal), get_args(Signal))
        self.assertEqual(",".join(SessionSignal), SIGNALS)
        self.assertEqual(TIMEOUT_RANGE[1], LONGEST_MS)

    def test_completion_offers_every_option_of_a_command(self) -> None:
        for shell in SHELLS:
            text = build_completion_script(shell)
            for command in COMMANDS:
                for option in command.options:
                    for name in option.names if not option.is_positional else ():
                        shown = f"-l {name[2:]}" if shell == "fish" and name[:2] == "--" else name
                        shown = f"-s {name[1:]}" if shell == "fish" and name[:2] != "--" else shown
                        self.assertIn(shown, text, (shell, command.name))

    def test_synopsis_lists_arguments_and_options(self) -> None:
        found = {command.name: synopsis(command) for command in COMMANDS}
        self.assertEqual("kill SESSION...", found["kill"])
        self.assertEqual("last SESSION [--json]", found["last"])
        self.assertIn("[--wait[=SIGNALS]]", found["new"])


class TsctlStartTests(SynchronousTestCase):
    def test_start_imports_nothing_heavy(self) -> None:
        """Each of these takes longer to import than most commands take to run."""
        files = {command.does.partition(":")[0] for command in COMMANDS if not command.local}
        program = "import sys, tservice.client.ctl, tservice.client.link.address\n" + "".join(
            f"import tservice.client.commands.{file}\n" for file in sorted(files)
        )
        program += "print(*{name.partition('.')[0] for name in sys.modules})"
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
        )
        heavy = {"twisted", "attr", "attrs", "pydantic", "yaml", "treq", "zope", "cryptography"}
        self.assertEqual(set(), heavy & set(ended.stdout.split()))


class CommandLineParserTests(SynchronousTestCase):
    def refused(self, *argv: str) -> str:
        said = StringIO()
        self.patch(sys, "stderr", said)
        ended = self.assertRaises(SystemExit, parse_command_line, argv)
        self.assertEqual(2, ended.code)
        text = said.getvalue()
        self.assertEqual(1, text.count("\n"), text)
        return text

    def test_options_may_follow_arguments(self) -> None:
        for argv in (
            ("send", "--raw", "one", "text"),
            ("send", "one", "--raw", "text"),
            ("send", "one", "text", "--raw"),
            ("--at", "home", "send", "one", "--raw", "--", "text"),
        ):
            _, words = parse_command_line(argv)
            found = (words.session, words.text, words.raw)
            self.assertEqual(("one", "text", True), found, argv)
        self.assertEqual("home", parse_command_line(("--at", "home", "ls"))[1].at)
        self.assertEqual("-x", parse_command_line(("send", "one", "--", "-x"))[1].text)
        self.assertEqual("-", parse_command_line(("send", "one", "-"))[1].text)

    def test_option_value_may_be_optional(self) -> None:
        for argv, want in (
            (("new", "--wait", "shell"), ("", "shell")),
            (("new", "--wait=stop", "shell"), ("stop", "shell")),
            (("new", "shell", "--wait"), ("", "shell")),
            (("new", "shell"), (None, "shell")),
        ):
            _, words = parse_command_line(argv)
            self.assertEqual(want, (words.wait, words.mode_argument), argv)

    def test_defaults_are_set(self) -> None:
        self.assertEqual(60, parse_command_line(("wait", "one"))[1].timeout)
        self.assertEqual(10, parse_command_line(("tail", "one"))[1].lines)
        self.assertEqual(
            ["a", "b"],
            parse_command_line(("list",))[1].json
            or parse_command_line(("kill", "a", "b"))[1].session,
        )

    def test_invalid_command_lines_are_refused(self) -> None:
        for argv in (
            (), ("frob",), ("cron",), ("send",), ("wait", "a", "--any", "--all"), ("ls", "--js"),
            ("wait", "a", "--timeout", "0"), ("wait", "a", "--timeout"), ("--at",),
            ("ls", "x\x1b[m"), ("wait", "a", "--timeout", "9" * 5000),
        ):  # fmt: skip
            self.assertNotIn("\x1b", self.refused(*argv))


class PickTests(SynchronousTestCase):
    RECORDS = (
        {"id": "abcd1", "name": "one"},
        {"id": "abce2", "name": "two"},
        {"id": "two", "name": "x"},
        {"id": "ffff", "name": "same"},
        {"id": "fffe", "name": "same"},
        {"id": "eeee", "name": "abcd"},
    )

    def test_record_is_found_by_id_prefix_or_name(self) -> None:
        for word, want in (("abcd1", "abcd1"), ("abce", "abce2"), ("one", "abcd1"), ("two", "two")):
            self.assertEqual(want, pick_record(self.RECORDS, word, "session")["id"])

    def test_ambiguous_or_unknown_word_is_refused(self) -> None:
        for word, want in (
            ("abc", "no session matches 'abc'"),
            ("", "no session matches ''"),
            ("same", "'same' is ambiguous: ffff (same), fffe (same)"),
            ("abcd", "'abcd' is ambiguous: abcd1 (one), eeee (abcd)"),
        ):
            error = self.assertRaises(Unusable, pick_record, self.RECORDS, word, "session")
            self.assertEqual(want, str(error))

    def test_list_of_candidates_is_bounded(self) -> None:
        many = [{"id": str(number), "name": "same"} for number in range(1000)]
        error = self.assertRaises(Unusable, pick_record, many, "same", "session")
        self.assertTrue(str(error).endswith("7 (same) and 992 more"), str(error))


class TsctlFaultTests(SynchronousTestCase):
    """One line and status 2, whatever went wrong."""

    def test_every_error_is_one_line_and_status_2(self) -> None:
        for raised, want in (
            (Unusable("no \x1b[31mway"), "tsctl: no way\n"),
            (ApiError(404, "NOT_FOUND", "gone"), "tsctl: 404 NOT_FOUND: gone\n"),
            (KeyError("id\n"), "tsctl: ls failed: KeyError: 'id\\n'\n"),
        ):
            said = StringIO()
            shell = ShellContext({}, Path(), lambda: 0.0, StringIO(), StringIO(), said)

            def fail(*_: object, error: Exception = raised) -> int:
                raise error

            self.patch(ctl, "run_command", fail)
            self.assertEqual(2, ctl.run_command_line(["ls"], shell))
            self.assertEqual(want, said.getvalue())


class LyingTests(SynchronousTestCase):
    """Ids and signals are words of whatever answers."""

    def test_escape_sequences_of_an_answer_are_not_printed(self) -> None:
        class Liar(ApiCaller):
            def send_request(self, method: str, path: str, *more: object, **most: object) -> Any:
                if path == "/sessions" and method == "GET":
                    return [{"id": "abcd\x1b[6n", "name": "abcd"}]
                evil = "x\x1b]52;c;eA==\x07"
                return {"session": {"id": evil}, "wait": {"signal": evil}, "signals": {evil: evil}}

        for does, *argv in (
            (new, "new", "shell", "--wait"), (wait, "wait", "abcd"), (wait, "wait", "abcd", "abcd"),
            (send, "send", "abcd", "text", "--wait", "stop"),
        ):  # fmt: skip
            out, said = StringIO(), StringIO()
            shell = ShellContext({}, Path(), lambda: 0.0, StringIO(), out, said)
            caller = Liar(ServiceAddress(host="localhost", port=1))
            does(CommandContext(parse_command_line(argv)[1], shell, caller))
            self.assertNotIn("\x1b", out.getvalue() + said.getvalue())
            self.assertTrue(out.getvalue())


class SessionTreeTests(SynchronousTestCase):
    """C{tsctl ls} shows what agents made below them."""

    def test_session_tree_lists_children_below_their_parents(self) -> None:
        family = {"a": None, "b": "gone", "c": "a", "d": "c", "e": "a", "f": "b"}
        sessions = [{"id": name, "parentSessionId": parent} for name, parent in family.items()]
        found = [(depth, session["id"]) for depth, session in build_tree(sessions)]
        want = [(0, "a"), (1, "c"), (2, "d"), (1, "e"), (0, "b"), (1, "f")]
        self.assertEqual(want, found)
