"""Answers of a terminal emulator are no typing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.terminal.terminal_reports import is_terminal_report

thorough = settings(max_examples=example_count(200), deadline=None, database=None)

REPORTS = [
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b[?1;2c",
    b"\x1b[>0;276;0c",
    b"\x1b[24;80R",
    b"\x1b[?24;80R",
    b"\x1b[0n",
    b"\x1b[?2004;1$y",
    b"\x1b[8;24;80t",
    b"\x1b[?0u",
    b"\x1b]11;rgb:0d0d/1111/1717\x1b\\",
    b"\x1b]4;3;rgb:cdcd/cdcd/0000\x07",
    b"\x1bP1$r0m\x1b\\",
    b"\x1bP1$r2 q\x1b\\",
    b"\x1bP0$r\x1b\\",
    b"\x1bP>|xterm.js(6.0.0)\x1b\\",
]
TYPED = [
    b"",
    b"a",
    b"\r",
    b"\x1b",
    b"\x1b[A",
    b"\x1bOA",
    b"\x1b[1;2R",
    b"\x1b[1;5C",
    b"\x1b[<0;3;4M",
    b"\x1b[M !!",
    b"\x1b[200~text\x1b[201~",
    b"\x1bP>|xterm.js(6; rm -rf ~)\x1b\\",
    b"\x1b]11;echo\x07",
    b"\x1b[I\r",
]


class TerminalReportTests(SynchronousTestCase):
    """L{is_terminal_report}."""

    def test_terminal_reports_are_recognized(self) -> None:
        for report in REPORTS:
            self.assertTrue(is_terminal_report(report), report)

    def test_typed_keys_are_no_reports(self) -> None:
        for typed in TYPED:
            self.assertFalse(is_terminal_report(typed), typed)

    @thorough
    @given(st.lists(st.sampled_from(REPORTS), min_size=1, max_size=4), st.sampled_from(TYPED[1:]))
    def test_several_reports_in_one_write_are_recognized(
        self, reports: list[bytes], typed: bytes
    ) -> None:
        said = b"".join(reports)
        self.assertTrue(is_terminal_report(said))
        self.assertFalse(is_terminal_report(said + typed))

    @thorough
    @given(st.binary(max_size=24))
    def test_submitting_bytes_are_no_report(self, data: bytes) -> None:
        self.assertFalse(is_terminal_report(data + b"\r"))
