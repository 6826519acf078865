"""Command lines for tmux and readings of its answers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.mux.interface import InputMark, MuxError
from tservice.mux.keys import KEYS
from tservice.mux.tmux import commands
from tservice.mux.tmux.commands import PaneState
from tservice.mux.tmux.control_parser import AnswerBlock

VALUES = b"1,,9,77,80,24,5,3,4,1,0,0,0,0,1,0,0,0,1,0,1,0,1,0,23,55,tok,2004,3.5a,a, b"


class TmuxCommandTests(SynchronousTestCase):
    def test_typed_bytes_are_sent_as_hex(self) -> None:
        self.assertEqual(b"send-keys -t %0 -H 00 ff 0a", commands.send_bytes(b"\x00\xff\n"))

    @settings(max_examples=example_count(100), deadline=None)
    @given(st.binary(max_size=60))
    def test_quoted_tmux_words_stay_one_line(self, value: bytes) -> None:
        value = value.replace(b"\0", b"")
        quoted = commands.quote_argument(value)
        self.assertNotIn(b"\n", quoted)
        self.assertNotIn(b"$", quoted)
        self.assertNotIn(b'"', quoted[1:-1])

    def test_nul_byte_is_refused(self) -> None:
        self.assertRaises(ValueError, commands.quote_argument, b"\0")

    def test_mark_round_trips(self) -> None:
        line = commands.set_mark(InputMark(id="a-1", step="entered", done=7))
        self.assertEqual(b'set-option -p -t %0 @tservice_mark "a-1:entered:7"', line)
        self.assertEqual(
            InputMark(id="a-1", step="entered", done=7), commands.parse_mark(b"a-1:entered:7")
        )
        self.assertIsNone(commands.parse_mark(b""))

    def test_mark_with_invalid_characters_is_refused(self) -> None:
        for mark in (
            InputMark(id="a b"),
            InputMark(id=""),
            InputMark(id="a", step="x;y"),
            InputMark(id="a:b"),
        ):
            self.assertRaises(ValueError, commands.set_mark, mark)

    def test_malformed_mark_is_ignored(self) -> None:
        self.assertRaises(MuxError, commands.parse_mark, b"a:b")
        self.assertRaises(MuxError, commands.parse_mark, b"a:b:c\xff")

    def test_pane_state_is_parsed(self) -> None:
        state = PaneState.parse_state(VALUES)
        self.assertEqual((True, None, "SIGKILL"), (state.dead, state.status, state.signal))
        self.assertEqual((77, 80, 24, 5), (state.pid, state.cols, state.rows, state.history))
        self.assertEqual(((3, 4), (0, 23)), (state.cursor, state.region))
        self.assertEqual((55, b"tok", b"2004"), (state.kept_pid, state.token, state.modes))
        self.assertEqual(("a, b", (3, 5)), (state.title, state.version))
        self.assertIn("mouse_sgr_flag", state.flags)
        self.assertNotIn("alternate_on", state.flags)

    def test_unknown_exit_status_is_not_zero(self) -> None:
        """Tmux 3.2 tells neither status nor signal of a killed process."""
        state = PaneState.parse_state(VALUES.replace(b"1,,9", b"1,,", 1))
        self.assertEqual((None, None), (state.status, state.signal))

    def test_orphan_clients_of_earlier_services_are_found(self) -> None:
        """A person's own client shows as an empty line."""

        def found(*clients: bytes) -> list[int]:
            return commands.parse_orphan_pids(
                [AnswerBlock(1, 1, True, True, lines) for lines in (clients, (b"9",))]
            )

        self.assertEqual([7, 8], found(b"7", b"9", b"", b"8"))
        self.assertEqual([], found(b"9", b""))

    def test_tmux_version_is_read(self) -> None:
        for text, version in ((b"3.2a", (3, 2)), (b"next-3.10", (3, 10)), (b"openbsd-7.4", (7, 4)),
                              (b"", commands.USUAL), (b"master", commands.USUAL)):  # fmt: skip
            self.assertEqual(version, commands.parse_version(text), text)

    def test_malformed_pane_state_is_an_error(self) -> None:
        self.assertRaises(MuxError, PaneState.parse_state, b"")

    def test_signal_numbers_become_names(self) -> None:
        names = [commands.name_signal(number) for number in (None, 0, 15, 64, 200)]
        self.assertEqual([None, None, "SIGTERM", "SIGRTMAX", "SIG200"], names)

    def test_wire_key_names_become_tmux_keys(self) -> None:
        named = "Enter Escape Tab S-Tab Up Down Left Right Home End PageUp PageDown BSpace S-Enter"
        named += " M-. M-,"
        control = {f"C-{chr(code)}" for code in range(ord("a"), ord("z") + 1)}
        self.assertEqual(set(named.split()) | control, set(KEYS))
        self.assertEqual(b"\x03", KEYS["C-c"].plain)
