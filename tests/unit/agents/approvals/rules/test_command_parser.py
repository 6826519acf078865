"""Parser of commands for approval rules, compared with bash."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.agents.approvals.rules.bash_runs import BashRuns
from tests.unit.agents.approvals.rules.hostile_commands import FRIENDLY, HOSTILE
from tservice.agents.approvals.rules.command_parser import (
    LONGEST_COMMAND,
    MOST_COMMANDS,
    UnreadableCommandError,
    parse_commands,
)

PROGRAMS = ("git", "npm", "ls", "cat", "echo", "rm", "env", "touch", "cp", "pytest", "python")
PIECES = (
    *PROGRAMS, "status", "-x", "--y=z", "'a b'", '"c d"', "a'b'\"c\"", "''", "1", "-5", "x/y.z",
    "@",
    ";", "&&", "|", "\n", "2>&1", ">/dev/null", "'", '"', "\\", "$x", "`", "(", ")", "{", "}", "#",
    "*", "~", "=", "a=b", "!", "&", "<", ">", "<<E", "if", "do", "%1", "^", "\t", "é", "'é'",
)  # fmt: skip


def read_words(text: str) -> list[tuple[str, ...]] | None:
    try:
        return sorted(command.words for command in parse_commands(text))
    except UnreadableCommandError:
        return None


class CommandParserTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.bash = BashRuns(PROGRAMS)
        self.addCleanup(self.bash.close)

    def check(self, text: str) -> None:
        words = read_words(text)
        if words is None or "||" in text:
            return
        known = [each for each in words if each[0] in PROGRAMS]
        if known != words:
            return
        self.assertEqual(words, self.bash.run(text), text)
        self.assertEqual([], self.bash.list_written())

    @pytest.mark.long
    def test_bash_runs_exactly_the_commands_that_were_parsed(self) -> None:
        for text in (*FRIENDLY, *HOSTILE):
            self.check(text)

    @pytest.mark.long
    @settings(max_examples=example_count(150), deadline=None)
    @given(
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=7),
        st.lists(st.sampled_from(["", " ", " ", " "]), min_size=7, max_size=7),
    )
    def test_bash_runs_exactly_the_generated_commands_that_were_parsed(
        self, pieces: list[str], gaps: list[str]
    ) -> None:
        self.check("".join(piece + gap for piece, gap in zip(pieces, gaps, strict=False)))

    def test_quotes_are_removed(self) -> None:
        self.assertEqual(
            [("npm", "a b", "c d", "ef", "", "g'h")],
            read_words("npm 'a b' \"c d\" e'f' '' \"g'h\""),
        )

    def test_long_texts_are_refused(self) -> None:
        self.assertIsNotNone(read_words("ls " + "a" * (LONGEST_COMMAND - 3)))
        self.assertIsNone(read_words("ls " + "a" * (LONGEST_COMMAND - 2)))

    def test_many_commands_are_refused(self) -> None:
        self.assertIsNotNone(read_words(";".join(["ls"] * MOST_COMMANDS)))
        self.assertIsNone(read_words(";".join(["ls"] * (MOST_COMMANDS + 1))))

    def test_deep_lists_are_refused(self) -> None:
        self.assertIsNone(read_words("&&".join(["ls"] * 5000)))
