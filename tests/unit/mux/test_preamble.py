"""What a login shell prints before a program begins."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.preamble import KEPT, ShellPreambleFilter

MARK = b"mark\n"


class PreambleTests(SynchronousTestCase):
    """L{ShellPreambleFilter}."""

    @given(st.binary(max_size=40), st.binary(max_size=40), st.lists(st.integers(1, 9)))
    def test_marked_output_is_whole_in_any_pieces(
        self, noise: bytes, own: bytes, sizes: list[int]
    ) -> None:
        data, found, preamble = noise + MARK + own, b"", ShellPreambleFilter(MARK)
        for size in [*sizes, 200]:
            found += preamble.strip_output(data[:size])
            data = data[size:]
        self.assertEqual((own, True), (found, preamble.has_begun))

    def test_endless_noise_before_the_mark_is_not_buffered(self) -> None:
        preamble = ShellPreambleFilter(MARK)
        for _ in range(100):
            self.assertEqual(b"", preamble.strip_output(b"x" * 65_536))
        self.assertLessEqual(len(preamble.last_line), KEPT)
        self.assertEqual(b"own", preamble.strip_output(b"x" + MARK + b"own"))

    def test_program_without_a_mark_has_no_output(self) -> None:
        self.assertEqual(b"mark\n", ShellPreambleFilter().strip_output(b"mark\n"))
        self.assertEqual(b"mark\n", ShellPreambleFilter().strip_errors(b"mark\n"))

    def test_errors_without_a_mark_are_kept(self) -> None:
        self.assertEqual(b"no route", ShellPreambleFilter(MARK).strip_errors(b"no route"))
        self.assertEqual(b"own", ShellPreambleFilter(MARK).strip_errors(b"stty: \nmark\nown"))

    def test_last_output_of_a_failed_shell_is_kept(self) -> None:
        preamble = ShellPreambleFilter(MARK)
        preamble.strip_output(b"first\nThis account is not available.\n\n")
        self.assertEqual("This account is not available.", preamble.last_line)
        preamble.strip_output(MARK)
        self.assertEqual("", preamble.last_line)
