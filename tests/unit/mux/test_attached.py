"""Panes on a server that is not ours: which one, and what names it (protocol-remote)."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.remote.attached_session import (
    MOST_LISTED,
    NAME_LENGTH,
    ListedSession,
    parse_session_list,
)
from tservice.mux.tmux import commands


class PaneChoiceTests(SynchronousTestCase):
    def test_remembered_pane_is_chosen_again(self) -> None:
        lines = [b"%1 0 ", b"%2 1 ", b"%30 0 me", b"%4 1 other", b"nonsense"]
        self.assertEqual(b"%30", commands.choose_pane(lines, "me"))
        self.assertEqual(b"%2", commands.choose_pane(lines, "new"))
        self.assertIsNone(commands.choose_pane([b"%1 0 "], "me"))

    def test_only_the_pane_id_is_replaced_in_attached_commands(self) -> None:
        """What somebody types is never taken for it."""
        line = commands.join_commands(
            commands.load_paste_buffer(b"%0 \\045"), commands.leave_copy_mode()
        )
        self.assertEqual(
            b'set-buffer -b tservice -- "\\0450 \\134045" ; copy-mode -q -t %12',
            commands.substitute_pane(line, b"%12"),
        )
        self.assertEqual(b"x %0", commands.substitute_pane(b"x %0", commands.PANE))


class PaneListTests(SynchronousTestCase):
    def test_pane_names_may_hold_blanks(self) -> None:
        out = b"1 1700000000 2 100 30 my work\n0 5 1 80 24 \xc3\xa9\nno server running on /x\n"
        first = ListedSession(name="my work", attached=1, created=1_700_000_000_000, windows=2,
                       cols=100, rows=30)  # fmt: skip
        second = ListedSession(name="é", attached=0, created=5000, windows=1, cols=80, rows=24)
        self.assertEqual([first, second], parse_session_list(out))

    def test_malformed_pane_lines_are_skipped(self) -> None:
        """Digits that are none to C{int}, or more than it takes; names without an end."""
        long = b"x" * (NAME_LENGTH + 1)
        for numbers, name in (
            (b"\xc2\xb2 5 1 80 24", b"x"),
            (b"9" * 5000 + b" 5 1 80 24", b"x"),
            (b"0 5 1 80 24", long),
            (b"0 5 1 80 24", b""),
        ):
            self.assertEqual([], parse_session_list(b"%b %b\n" % (numbers, name)))

    def test_pane_lines_end_only_with_a_line_feed(self) -> None:
        """A name that breaks lines elsewhere makes no second session."""
        (one,) = parse_session_list("0 5 1 80 24 a\u20280 5 1 80 24 b\n".encode())
        self.assertEqual("a\u20280 5 1 80 24 b", one.name)

    def test_listed_panes_are_bounded(self) -> None:
        self.assertEqual(
            MOST_LISTED, len(parse_session_list(b"0 5 1 80 24 x\n" * (MOST_LISTED + 1)))
        )
