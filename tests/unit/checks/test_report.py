"""Output of checks becomes plain, bounded text."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.checks.model import CheckResult, CheckState
from tservice.checks.output_tail import OUTPUT_BYTES, TAIL_BYTES, OutputTail
from tservice.checks.report import (
    LINE_CHARS,
    PROMPT_CHARS,
    SHOWN_CHARS,
    clean_output,
    count_tests,
    format_failures,
)

RED = CheckResult(name="lint", command="make lint", state=CheckState.FAILED, status=2)


class OutputTests(SynchronousTestCase):
    def test_escapes_and_invisible_characters_are_removed(self) -> None:
        for raw, plain in (
            (b"\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"10%\r20%\r100%\r\ndone\n", "100%\ndone"),
            (b"a\x1bPq#0\x1b\\b\x1b(Bc\x9b1m", "abc\ufffd1m"),
            ("\u202eevil\u200b \u2066x\u2069".encode(), "evil x"),
            (b"nul\0bell\x07back\x08 \xff", "nulbellback \ufffd"),
            (b"\ttab  \n\n", "\ttab"),
            (b"cut \x1b[3", "cut"),
        ):
            self.assertEqual(plain, clean_output(raw))
            self.assertNotIn("\x1b", clean_output(raw))

    def test_end_of_long_output_is_kept(self) -> None:
        found = clean_output(b"line\n" * 10_000 + b"last")
        self.assertEqual((SHOWN_CHARS, "last"), (len(found), found[-4:]))

    def test_tail_is_bounded(self) -> None:
        tail = OutputTail()
        for _ in range(OUTPUT_BYTES // 65_536):
            tail.add_piece(b"x" * 65_536)
        self.assertFalse(tail.is_flooded)
        tail.add_piece(b"end")
        self.assertTrue(tail.is_flooded)
        self.assertEqual((TAIL_BYTES, b"end"), (len(tail.get_bytes()), tail.get_bytes()[-3:]))

    def test_summaries_of_test_programs_are_counted(self) -> None:
        for text, wanted in (
            ("==== 214 passed, 2 skipped in 3.10s ====", (214, None)),
            ("==== 3 failed, 211 passed in 3s ====", (211, 3)),
            ("Tests:       1 failed, 5 passed, 6 total", (5, 1)),
            ("  12 passing (30ms)\n  2 failing", (12, 2)),
            ("test result: ok. 7 passed; 0 failed; 0 ignored", (7, 0)),
            ("Ran 31 tests in 0.2s\n\nOK", (31, None)),
            ("Ran 31 tests in 0.2s\n\nFAILED (failures=1)", (None, None)),
            ("all good", (None, None)),
        ):
            self.assertEqual(wanted, count_tests(text), text)


class PromptTests(SynchronousTestCase):
    def make(self, output: str, **fields: object) -> str:
        values: dict[str, object] = {
            "name": "lint", "command": "make lint", "state": CheckState.FAILED, "status": 2,
        }  # fmt: skip
        return format_failures([CheckResult(**{**values, "output": output, **fields})])  # type: ignore[arg-type]

    def test_prompt_begins_as_no_command_of_an_agent(self) -> None:
        self.assertTrue(self.make("/exit").startswith("A check"))

    def test_marks_enclose_every_output(self) -> None:
        found = self.make("```\nnot the end\n```")
        self.assertIn("````\n```\nnot the end\n```\n````", found)

    def test_prompt_is_bounded(self) -> None:
        long = CheckResult(
            name="x", command="y", state=CheckState.FAILED, output="z" * SHOWN_CHARS, status=1
        )
        found = format_failures([long] * 20)
        self.assertLess(len(found), PROMPT_CHARS + 20 * (LINE_CHARS + 200))

    def test_each_end_is_described(self) -> None:
        for fields, words in (
            ({}, "exit status 2"),
            ({"state": CheckState.TIMED_OUT}, "did not end in time"),
            ({"state": CheckState.FLOODED}, "printed too much"),
            ({"status": None}, "signal"),
        ):
            self.assertIn(words, self.make("x", **fields))
        self.assertIn("printed nothing", self.make(""))
