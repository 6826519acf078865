"""Tests for L{tservice.http.transfer.byte_ranges}."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.http.transfer.byte_ranges import (
    ByteRange,
    UnsatisfiableRange,
    matches_any_tag,
    may_be_partial,
    parse_range,
)


class RangeTests(SynchronousTestCase):
    def test_parts(self) -> None:
        for header, part in (
            ("bytes=0-0", ByteRange(0, 1)),
            ("bytes=2-4", ByteRange(2, 3)),
            ("BYTES=2-", ByteRange(2, 8)),
            ("bytes=-3", ByteRange(7, 3)),
            ("bytes=-99", ByteRange(0, 10)),
            ("bytes=8-99", ByteRange(8, 2)),
        ):
            self.assertEqual(part, parse_range(header, 10), header)

    def test_what_is_no_single_range_is_passed_over(self) -> None:
        for header in (None, "", "bytes=", "bytes=-", "bytes=4-2", "bytes=0-1,4-5", "lines=1-2"):
            self.assertIsNone(parse_range(header, 10), header)

    def test_behind_the_end(self) -> None:
        for header, size in (("bytes=10-", 10), ("bytes=0-", 0), ("bytes=-0", 10)):
            self.assertRaises(UnsatisfiableRange, parse_range, header, size)

    def test_the_header_of_an_answer(self) -> None:
        self.assertEqual("bytes 2-4/10", ByteRange(2, 3).content_range(10))

    def test_validators(self) -> None:
        self.assertTrue(matches_any_tag('"a", W/"b"', '"b"'))
        self.assertTrue(matches_any_tag("*", '"b"'))
        self.assertFalse(matches_any_tag('"a"', '"b"'))
        self.assertFalse(matches_any_tag(None, '"b"'))
        self.assertTrue(may_be_partial(None, '"b"'))
        self.assertTrue(may_be_partial('"b"', '"b"'))
        self.assertFalse(may_be_partial('W/"b"', '"b"'))
