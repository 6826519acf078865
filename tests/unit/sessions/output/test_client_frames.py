"""Client frames: every JSON value is either a record, an unknown type, or refused."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.sessions.output.client_frames import (
    MAX_VALUES,
    DrawnFrame,
    InputFrame,
    MalformedFrame,
    ResizeFrame,
    parse_frame,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "t": st.sampled_from(["i", "z", "got", "x"]) | values,
        "d": st.text() | values,
        "seq": st.integers(-2, 9) | values,
        "c": st.integers(-1, 502) | values,
        "r": st.integers(-1, 202) | values,
        "v": st.sampled_from(["mobile", "desk"]) | values,
        "f": values,
        "offset": st.integers(-1, 9) | values,
    },
)


class FrameParserTests(SynchronousTestCase):
    """L{parse_frame}."""

    @settings(max_examples=example_count(400))
    @given(messages | values)
    def test_frames_are_in_range_or_refused(self, message: object) -> None:
        try:
            found = parse_frame(json.dumps(message))
        except MalformedFrame:
            return
        match found:
            case InputFrame(data=data, seq=seq):
                self.assertIsInstance(data, str)
                self.assertTrue(seq is None or (type(seq) is int and seq >= 0))
            case ResizeFrame(cols=cols, rows=rows):
                self.assertTrue(1 <= cols <= 500 and 1 <= rows <= 200)
            case DrawnFrame(offset=offset):
                self.assertGreaterEqual(offset, 0)
            case None:
                assert isinstance(message, dict)
                self.assertNotIn(message["t"], ("i", "z", "got"))

    @settings(max_examples=example_count(100))
    @given(st.text())
    def test_any_frame_text_is_parsed_or_refused(self, text: str) -> None:
        try:
            parse_frame(text)
        except MalformedFrame as refusal:
            self.assertTrue(str(refusal))

    def test_three_frame_types_are_parsed(self) -> None:
        self.assertEqual(InputFrame("ls\r", 3), parse_frame('{"t":"i","d":"ls\\r","seq":3}'))
        self.assertEqual(InputFrame("a", None), parse_frame('{"t":"i","d":"a"}'))
        self.assertEqual(
            ResizeFrame(80, 24, "mobile", True),
            parse_frame('{"t":"z","c":80,"r":24,"v":"mobile","f":true}'),
        )
        self.assertEqual(DrawnFrame(0), parse_frame('{"t":"got","offset":0}'))
        self.assertIsNone(parse_frame('{"t":"later"}'))

    def test_deeply_nested_frame_is_refused(self) -> None:
        self.assertRaises(MalformedFrame, parse_frame, "[" * 200_000)

    def test_too_many_values_are_refused_before_parsing(self) -> None:
        """A MiB of names took a tenth of a second, from a client that sends them without an end."""
        for inside in ('"a":[' + "0," * MAX_VALUES + "0]", '"a":[' + "{}," * MAX_VALUES + "0]"):
            self.assertRaises(MalformedFrame, parse_frame, '{"t":"later",' + inside + "}")
        commas = "a,[{:" * 1000
        self.assertEqual(InputFrame(commas, None), parse_frame('{"t":"i","d":"' + commas + '"}'))

    def test_boolean_is_no_number(self) -> None:
        self.assertRaises(MalformedFrame, parse_frame, '{"t":"got","offset":true}')
