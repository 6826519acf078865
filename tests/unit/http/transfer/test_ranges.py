"""Tests for L{tservice.http.transfer.ranges}."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.http.transfer.ranges import (
    Part,
    Unsatisfiable,
    may_be_partial,
    names_tag,
    part_of,
)


class RangeTests(SynchronousTestCase):
    def test_parts(self) -> None:
        for header, part in (
            ("bytes=0-0", Part(0, 1)),
            ("bytes=2-4", Part(2, 3)),
            ("BYTES=2-", Part(2, 8)),
            ("bytes=-3", Part(7, 3)),
            ("bytes=-99", Part(0, 10)),
            ("bytes=8-99", Part(8, 2)),
        ):
            self.assertEqual(part, part_of(header, 10), header)

    def test_what_is_no_single_range_is_passed_over(self) -> None:
        for header in (None, "", "bytes=", "bytes=-", "bytes=4-2", "bytes=0-1,4-5", "lines=1-2"):
            self.assertIsNone(part_of(header, 10), header)

    def test_behind_the_end(self) -> None:
        for header, size in (("bytes=10-", 10), ("bytes=0-", 0), ("bytes=-0", 10)):
            self.assertRaises(Unsatisfiable, part_of, header, size)

    def test_the_header_of_an_answer(self) -> None:
        self.assertEqual("bytes 2-4/10", Part(2, 3).content_range(10))

    def test_validators(self) -> None:
        self.assertTrue(names_tag('"a", W/"b"', '"b"'))
        self.assertTrue(names_tag("*", '"b"'))
        self.assertFalse(names_tag('"a"', '"b"'))
        self.assertFalse(names_tag(None, '"b"'))
        self.assertTrue(may_be_partial(None, '"b"'))
        self.assertTrue(may_be_partial('"b"', '"b"'))
        self.assertFalse(may_be_partial('W/"b"', '"b"'))
