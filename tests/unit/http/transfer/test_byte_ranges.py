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
    def test_ranges_become_parts(self) -> None:
        for header, part in (
            ("bytes=0-0", ByteRange(0, 1)),
            ("bytes=2-4", ByteRange(2, 3)),
            ("BYTES=2-", ByteRange(2, 8)),
            ("bytes=-3", ByteRange(7, 3)),
            ("bytes=-99", ByteRange(0, 10)),
            ("bytes=8-99", ByteRange(8, 2)),
        ):
            self.assertEqual(part, parse_range(header, 10), header)

    def test_malformed_and_multiple_ranges_are_ignored(self) -> None:
        for header in (None, "", "bytes=", "bytes=-", "bytes=4-2", "bytes=0-1,4-5", "lines=1-2"):
            self.assertIsNone(parse_range(header, 10), header)

    def test_range_after_the_end_is_unsatisfiable(self) -> None:
        for header, size in (("bytes=10-", 10), ("bytes=0-", 0), ("bytes=-0", 10)):
            self.assertRaises(UnsatisfiableRange, parse_range, header, size)

    def test_content_range_header_is_written(self) -> None:
        self.assertEqual("bytes 2-4/10", ByteRange(2, 3).content_range(10))

    def test_etag_validators_are_compared(self) -> None:
        self.assertTrue(matches_any_tag('"a", W/"b"', '"b"'))
        self.assertTrue(matches_any_tag("*", '"b"'))
        self.assertFalse(matches_any_tag('"a"', '"b"'))
        self.assertFalse(matches_any_tag(None, '"b"'))
        self.assertTrue(may_be_partial(None, '"b"'))
        self.assertTrue(may_be_partial('"b"', '"b"'))
        self.assertFalse(may_be_partial('W/"b"', '"b"'))
