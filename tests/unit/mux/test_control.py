"""The control-mode parser: what tmux writes, and anything else."""

from __future__ import annotations

import warnings
from itertools import pairwise
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.mux.tmux import control_parser
from tservice.mux.tmux.control_parser import (
    AnswerBlock,
    ControlNotice,
    ControlParser,
    DroppedLine,
    Event,
    PaneOutput,
    decode_output,
)


def encode(data: bytes) -> bytes:
    """What tmux writes for a pane's bytes."""
    return b"".join(b"\\%03o" % byte if byte < 32 or byte == 92 else bytes([byte]) for byte in data)


def merged(events: list[Event]) -> list[Event]:
    """Runs of one pane's output as one event."""
    out: list[Event] = []
    for event in events:
        last = out[-1] if out else None
        if (
            isinstance(event, PaneOutput)
            and isinstance(last, PaneOutput)
            and last.pane == event.pane
        ):
            out[-1] = PaneOutput(event.pane, last.data + event.data)
        else:
            out.append(event)
    return out


def parse(data: bytes, cuts: list[int] | None = None) -> list[Event]:
    parser, events = ControlParser(), list[Event]()
    for start, stop in pairwise([0, *sorted(cuts or []), len(data)]):
        events += parser.feed(data[start:stop])
    return events + parser.finish()


FRAGMENTS = st.sampled_from(
    [
        b"%output %0 ",
        b"%output %1 ",
        b"%output",
        b"%begin 1 2 1\n",
        b"%begin 1 3 0\n",
        b"%end 1 2 1\n",
        b"%error 1 2 1\n",
        b"%end 1 3 0\n",
        b"%exit\n",
        b"%layout-change @0 b25d,80x24,0,0,0\n",
        b"\\015\\012",
        b"\\",
        b"\\9",
        b"\\x",
        b"\\400",
        b"\n",
        b"\r\n",
        b"%",
        b"\x00\xff",
    ]
)
STREAMS = st.lists(FRAGMENTS | st.binary(max_size=12), max_size=24).map(b"".join)


class ParserProperties(SynchronousTestCase):
    @settings(max_examples=example_count(500), deadline=None)
    @given(STREAMS, st.lists(st.integers(0, 200), max_size=12))
    def test_parser_gives_the_same_events_for_any_cut(self, data: bytes, cuts: list[int]) -> None:
        """And nothing raises, whatever arrives."""
        whole = merged(parse(data))
        self.assertEqual(whole, merged(parse(data, [min(cut, len(data)) for cut in cuts])))

    @settings(max_examples=example_count(400), deadline=None)
    @given(STREAMS, st.lists(st.integers(0, 200), max_size=12))
    def test_parser_bounds_hold_under_any_cut(self, data: bytes, cuts: list[int]) -> None:
        with mock.patch.multiple(control_parser, MAX_LINE=16, MAX_BLOCK=20):
            whole = merged(parse(data))
            self.assertEqual(whole, merged(parse(data, [min(cut, len(data)) for cut in cuts])))

    @settings(max_examples=example_count(400), deadline=None)
    @given(st.lists(st.binary(max_size=200), max_size=8))
    def test_parsed_pane_output_is_exact(self, pieces: list[bytes]) -> None:
        stream = b"".join(b"%%output %%0 %b\n" % encode(piece) for piece in pieces)
        got = b"".join(event.data for event in parse(stream) if isinstance(event, PaneOutput))
        self.assertEqual(b"".join(pieces), got)

    @settings(max_examples=example_count(400), deadline=None)
    @given(st.binary(max_size=80), st.data())
    def test_cut_output_line_gives_its_beginning(self, data: bytes, choice: st.DataObject) -> None:
        """A client that dies leaves a line without its end."""
        line = b"%output %0 " + encode(data)
        at = choice.draw(st.integers(0, len(line)))
        got = b"".join(event.data for event in parse(line[:at]) if isinstance(event, PaneOutput))
        self.assertTrue(data.startswith(got), (data, got))
        if at == len(line):
            self.assertEqual(data, got)


class ControlParserTests(SynchronousTestCase):
    def test_consecutive_output_is_one_event(self) -> None:
        events = parse(b"%output %0 a\\033\n%output %0 b c\n%output %1 d\n")
        self.assertEqual([PaneOutput(b"%0", b"a\x1bb c"), PaneOutput(b"%1", b"d")], events)

    def test_output_is_not_joined_across_an_answer(self) -> None:
        """A capture's place in the stream is exact."""
        events = parse(b"%output %0 a\n%begin 5 6 1\nx\n%end 5 6 1\n%output %0 b\n")
        block = AnswerBlock(5, 6, True, True, (b"x",))
        self.assertEqual([PaneOutput(b"%0", b"a"), block, PaneOutput(b"%0", b"b")], events)

    def test_block_content_like_control_mode_stays_text(self) -> None:
        """Captured text that looks like control mode is text."""
        text = b"%end 5 7 1\n%output %0 x\n%begin 1 1 1\n\n%error 5 61 1\n"
        (block,) = parse(b"%begin 5 6 1\n" + text + b"%error 5 6 1\n")
        self.assertEqual(AnswerBlock(5, 6, False, True, tuple(text.split(b"\n")[:-1])), block)

    def test_unexpected_answers_are_marked_as_foreign(self) -> None:
        (block,) = parse(b"%begin 5 6 0\n%end 5 6 0\n")
        self.assertEqual(AnswerBlock(5, 6, True, False, ()), block)

    def test_unknown_tmux_notices_are_kept(self) -> None:
        events = parse(b"%exit server exited\n%new-thing\nplain\n%end 1 2 1\n")
        want = [(b"exit", b"server exited"), (b"new-thing", b""), (b"plain", b"")]
        self.assertEqual([ControlNotice(*pair) for pair in [*want, (b"end", b"1 2 1")]], events)

    def test_carriage_return_does_not_end_a_line(self) -> None:
        (block,) = parse(b"%begin 1 1 1\na\rb\r\n%end 1 1 1\n")
        self.assertEqual((b"a\rb\r",), block.lines if isinstance(block, AnswerBlock) else ())

    def test_line_beyond_the_bound_is_an_overrun(self) -> None:
        long = b"%output %0 " + b"a" * control_parser.MAX_LINE
        self.assertEqual([DroppedLine(), ControlNotice(b"exit", b"")], parse(long + b"\n%exit\n"))

    def test_unfinished_line_beyond_the_bound_is_dropped(self) -> None:
        parser = ControlParser()
        for _ in range(40):
            self.assertEqual([], parser.feed(b"a" * 65536))
        self.assertEqual([], parser._held)
        self.assertEqual([DroppedLine(), ControlNotice(b"b", b"")], parser.feed(b"\n%b\n"))

    def test_answer_beyond_the_bound_is_incomplete(self) -> None:
        self.patch(control_parser, "MAX_BLOCK", 10)
        (block,) = parse(b"%begin 1 1 1\n12345\n67890\nx\n%end 1 1 1\n")
        self.assertEqual(AnswerBlock(1, 1, True, True, (), False), block)

    def test_decode_keeps_invalid_escapes(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(b"\\q \x1b \\", decode_output(b"\\q \\033 \\"))
