"""Escape sequences leave the stream wherever it is cut."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import example, given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.terminal.stream_cuts import cut_pieces
from tservice.terminal.frames.ansi import LIMIT, EscapeStripper, strip_escapes

PIECES = st.sampled_from(
    [
        b"\x1b",
        b"\x1b[",
        b"\x1b]",
        b"\x1bP",
        b"\x1b_",
        b"\x1bk",
        b"\x1b(",
        b"\x1b\\",
        b"B",
        b"31m",
        b"0;title",
        b"\x07",
        b"\x18",
        b"\n",
        b"\x9b",
        b"\\",
        b" ",
        b"text",
        "❯é".encode(),
        b"x" * (LIMIT - 1),
        b"x" * 2,
        b"0" * LIMIT,
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=4), max_size=16).map(b"".join)


class ByteStateMachine:
    """The same rules, written as a machine that reads one byte after the other."""

    def __init__(self) -> None:
        self.out = bytearray()
        self._state: Callable[[int], None] = self._text
        self._length = 0

    def run(self, data: bytes) -> bytes:
        """What is left of C{data}."""
        for byte in data:
            if byte == 0x1B:
                self._go(self._end if self._state == self._string else self._escape)
            else:
                self._state(byte)
        return bytes(self.out)

    def _go(self, state: Callable[[int], None], length: int = 0) -> None:
        self._state, self._length = state, length

    def _text(self, byte: int) -> None:
        self.out.append(byte)
        self._go(self._text)

    def _end(self, byte: int) -> None:
        if byte == 0x5C:
            self._go(self._text)
        else:
            self._escape(byte)

    def _escape(self, byte: int) -> None:
        if byte == 0x5B:
            self._go(self._control)
        elif byte in b"]PX^_k":
            self._go(self._string)
        else:
            self._middle(byte)

    def _string(self, byte: int) -> None:
        if byte in b"\x07\x18\x1a":
            self._go(self._text)
        elif self._length < LIMIT:
            self._length += 1
        else:
            self._text(byte)

    def _control(self, byte: int) -> None:
        self._collect(byte, 0x20, 0x40)

    def _middle(self, byte: int) -> None:
        self._collect(byte, 0x20, 0x30)

    def _collect(self, byte: int, first: int, final: int) -> None:
        if first <= byte < final and self._length < LIMIT:
            self._go(self._control if final == 0x40 else self._middle, self._length + 1)
        elif final <= byte <= 0x7E:
            self._go(self._text)
        else:
            self._text(byte)


class StripTests(SynchronousTestCase):
    def check(self, data: bytes, text: bytes) -> None:
        self.assertEqual(text, strip_escapes(data))

    def test_control_sequences_are_stripped(self) -> None:
        """Colours, cursor moves and private modes go."""
        self.check(b"a\x1b[1;38;5;12mb\x1b[?25l\x1b[2 q\x1b[10;3Hc", b"abc")

    def test_operating_system_commands_are_stripped(self) -> None:
        """Titles and links go, ended by BEL or by ST."""
        self.check(b"a\x1b]0;title\x07b\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\d", b"abcd")

    def test_control_strings_are_stripped(self) -> None:
        """DCS, APC, PM, SOS and the title of screen go up to ST."""
        for introducer in b"PX^_k":
            self.check(b"a\x1b%cany\ntext\x1b\\b" % introducer, b"ab")

    def test_charset_designations_are_stripped(self) -> None:
        """wait-output sees through line-drawing switches (protocol-wait-output)."""
        self.check(b"\x1b(0x\x1b(B\x1b)0y\x1b%Gz", b"xyz")

    def test_two_byte_sequences_are_stripped(self) -> None:
        """Saving the cursor, keypad modes and reset go."""
        self.check(b"\x1b7a\x1b8\x1b=b\x1b>\x1bcd\x1bMe", b"abde")

    def test_other_control_characters_stay(self) -> None:
        """Only escape sequences go."""
        self.check(b"a\r\n\tb\x08\x0e\x7f", b"a\r\n\tb\x08\x0e\x7f")

    def test_utf8_continuation_bytes_stay(self) -> None:
        """A character whose UTF-8 holds 0x9B is not an 8-bit control sequence."""
        self.check("\u2f5b1m".encode(), "\u2f5b1m".encode())
        self.check(b"\x9b31m", b"\x9b31m")

    def test_broken_sequences_end_where_they_break(self) -> None:
        """What breaks the grammar is text again, ESC begins anew."""
        self.check(b"\x1b[3\nx", b"\nx")
        self.check(b"\x1b[3\x1b[1mx", b"x")
        self.check(b"\x1b]0;a\x1b[1mx", b"x")
        self.check(b"\x1b]0;a\x18x", b"x")
        self.check(b"\x1b\x1b\xc3\xa9", b"\xc3\xa9")

    def test_unfinished_sequence_at_the_end_is_dropped(self) -> None:
        """In one piece, an unfinished sequence at the end is dropped."""
        for rest in (b"\x1b", b"\x1b[3", b"\x1b]0;t", b"\x1b]0;t\x1b", b"\x1b(", b"\x1bPq\n"):
            self.check(b"a" + rest, b"a")

    def test_endless_string_is_dropped_up_to_the_limit(self) -> None:
        """An endless string is dropped up to the limit, what follows is text."""
        self.check(b"\x1b]" + b"x" * LIMIT + b"\x07y", b"y")
        self.check(b"\x1b]" + b"x" * LIMIT + b"zy", b"zy")
        self.check(b"\x1b[" + b"1" * LIMIT + b"my", b"y")
        self.check(b"\x1b[" + b"1" * (LIMIT + 1) + b"my", b"1my")

    @settings(max_examples=example_count(400), deadline=None)
    @given(STREAMS)
    @example(b"\x1b]a\x1b\x1b\\b")
    def test_strip_agrees_with_the_state_machine(self, data: bytes) -> None:
        """The expression and the byte-wise machine drop the same bytes."""
        self.assertEqual(ByteStateMachine().run(data), strip_escapes(data))


class StripperTests(SynchronousTestCase):
    @settings(max_examples=example_count(400), deadline=None)
    @given(STREAMS, st.lists(st.integers(0, 100_000), max_size=8))
    @example(b"\x1b]a\x1b\\b", [3])
    @example(b"\x1b]a\x1bb", [4])
    def test_stripped_pieces_equal_the_stripped_whole(self, data: bytes, cuts: list[int]) -> None:
        """Where the stream is cut changes nothing."""
        stripper = EscapeStripper()
        self.assertEqual(
            strip_escapes(data), b"".join(stripper.feed(piece) for piece in cut_pieces(data, cuts))
        )

    def test_single_bytes_equal_the_stripped_whole(self) -> None:
        """One byte at a time is a split like any other."""
        data = "a\x1b]0;ti\x1b\\b\x1b[1;3mé\x1b(0q\x1bP1$r\x1b\\c".encode()
        stripper = EscapeStripper()
        self.assertEqual("abéqc".encode(), b"".join(stripper.feed(bytes([byte])) for byte in data))

    def test_stripper_holds_at_most_the_limit(self) -> None:
        """A string that never ends comes out as text beyond the limit."""
        stripper = EscapeStripper()
        fed = b"\x1b]52;c;" + b"A" * (5 * LIMIT)
        out = b"".join(stripper.feed(fed[i : i + 1000]) for i in range(0, len(fed), 1000))
        self.assertEqual(len(fed) - LIMIT - 2, len(out))

    def test_stripper_passes_plain_text_through(self) -> None:
        """Text without ESC is not copied."""
        data = b"plain" * 100
        self.assertIs(data, EscapeStripper().feed(data))
