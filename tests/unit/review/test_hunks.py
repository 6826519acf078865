"""Hunks, their pages and the words that changed."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import ServiceError
from tservice.review.comparison.hunk_reversal import reverse_rows
from tservice.review.comparison.hunks import (
    DiffRow,
    Hunk,
    RowKind,
    make_replaced_hunks,
    mark_words,
    parse_hunks,
    select_page,
)
from tservice.review.model import PAGE_ROWS

PATCH = b"""diff --git a/f b/f
--- a/f
+++ b/f
@@ -1,3 +1,3 @@ def head():
 one
-two words here
+two other here
 three
@@ -10,2 +10,3 @@
 ten
+more
 eleven
\\ No newline at end of file
"""


class HunkTests(SynchronousTestCase):
    """Rows are numbered on both sides."""

    def test_rows_have_kinds_and_numbers(self) -> None:
        first, second = parse_hunks(PATCH)
        self.assertEqual("def head():", first.section)
        self.assertEqual(
            [("c", 1, 1), ("r", 2, None), ("a", None, 2), ("c", 3, 3)],
            [(row.kind[0], row.old, row.new) for row in first.rows],
        )
        self.assertEqual([False, False, True], [row.lacks_newline for row in second.rows])

    def test_hunk_keeps_its_name_when_lines_above_move_it(self) -> None:
        moved = PATCH.replace(b"@@ -10,2 +10,3 @@", b"@@ -20,2 +25,3 @@")
        self.assertEqual(parse_hunks(PATCH)[1].id, parse_hunks(moved)[1].id)
        other = PATCH.replace(b"+more", b"+less")
        self.assertNotEqual(parse_hunks(PATCH)[1].id, parse_hunks(other)[1].id)

    def test_equal_hunks_have_different_names(self) -> None:
        hunk = b"@@ -1 +1 @@\n-a\n+b\n"
        first, second = parse_hunks(hunk + hunk.replace(b"1", b"9"))
        self.assertEqual(f"{first.id}-2", second.id)

    def test_lines_that_look_like_heads_are_content(self) -> None:
        patch = b"@@ -1,2 +1,3 @@\n @@ -1 +1 @@\n+--- a/x\n+++ b/y\n"
        (hunk,) = parse_hunks(patch.replace(b"+1,3", b"+1,3"))
        self.assertEqual(b"@@ -1 +1 @@", hunk.rows[0].raw)
        self.assertEqual([b"--- a/x", b"++ b/y"], [row.raw for row in hunk.rows[1:]])

    def test_output_of_another_form_is_refused(self) -> None:
        error = self.assertRaises(ServiceError, parse_hunks, b"@@ -1,2 +1,2 @@\nodd\n")
        self.assertEqual(422, error.status)

    def test_changed_words_are_marked(self) -> None:
        rows = mark_words(parse_hunks(PATCH)[0].rows)
        self.assertEqual((4, 9), rows[1].changed)
        self.assertEqual((4, 9), rows[2].changed)

    def test_ranges_count_as_javascript_does(self) -> None:
        rows = [
            DiffRow(kind=RowKind.REMOVED, old=1, new=None, raw="x \U0001f600 a".encode()),
            DiffRow(kind=RowKind.ADDED, old=None, new=1, raw="x \U0001f600 b".encode()),
        ]
        self.assertEqual([(5, 6), (5, 6)], [row.changed for row in mark_words(rows)])

    def test_lines_without_likeness_are_not_marked(self) -> None:
        rows = [
            DiffRow(kind=RowKind.REMOVED, old=1, new=None, raw=b"alpha"),
            DiffRow(kind=RowKind.ADDED, old=None, new=1, raw=b"beta"),
        ]
        self.assertEqual([None, None], [row.changed for row in mark_words(rows)])


class PageTests(SynchronousTestCase):
    """A long difference comes in pages that lose no row."""

    def test_pages_have_all_rows_once(self) -> None:
        content = b"".join(b"%d\n" % number for number in range(3 * PAGE_ROWS + 5))
        hunks = [*make_replaced_hunks(b"", content), *make_replaced_hunks(b"a\n", b"b\n")]
        found: list[DiffRow] = []
        pages, start = 0, 0
        while True:
            page = select_page(hunks, start)
            self.assertLessEqual(sum(len(hunk.rows) for hunk in page.hunks), PAGE_ROWS)
            self.assertEqual(start > 0 and pages < 4, page.hunks[0].is_continued)
            found += [row for hunk in page.hunks for row in hunk.rows]
            pages += 1
            if page.next is None:
                break
            start = page.next
        self.assertEqual(
            [row.raw for hunk in hunks for row in hunk.rows], [row.raw for row in found]
        )
        self.assertEqual(4, pages)

    def test_page_has_few_long_lines(self) -> None:
        hunks = make_replaced_hunks(b"", b"\n".join([b"x" * 300_000] * 3))
        page = select_page(hunks, 0)
        self.assertEqual((1, 1), (len(page.hunks[0].rows), page.next))

    def test_page_after_the_end_is_empty(self) -> None:
        page = select_page(parse_hunks(PATCH), 1000)
        self.assertEqual(((), None), (tuple(page.hunks), page.next))


class ReversalTests(SynchronousTestCase):
    """Chosen rows go back, the others stay."""

    old = b"one\ntwo\nthree\nfour\nfive\n"
    new = b"one\nTWO\nthree\nfour\nextra\nfive"
    difference = (
        b"@@ -1,5 +1,6 @@\n one\n-two\n+TWO\n three\n four\n-five\n+extra\n+five\n"
        b"\\ No newline at end of file\n"
    )

    def reverse(self, *numbers: int, data: bytes | None = None) -> bytes:
        hunks = parse_hunks(self.difference)
        rows = [hunks[0].rows[number] for number in numbers]
        after = self.new if data is None else data
        return reverse_rows(after, hunks, lambda hunk, row: row in rows)

    def test_all_rows_make_the_base(self) -> None:
        self.assertEqual(self.old, self.reverse(1, 2, 5, 6, 7))

    def test_some_rows_keep_the_others(self) -> None:
        self.assertEqual(b"one\ntwo\nthree\nfour\nextra\nfive", self.reverse(1, 2))
        self.assertEqual(b"one\nTWO\nthree\nfour\nfive", self.reverse(6))
        self.assertEqual(b"one\ntwo\nTWO\nthree\nfour\nextra\nfive", self.reverse(1))

    def test_line_ends_of_the_file_are_kept(self) -> None:
        """Git compares without carriage returns where it converts them."""
        found = self.reverse(1, 2, data=self.new.replace(b"\n", b"\r\n"))
        self.assertEqual(b"one\r\ntwo\r\nthree\r\nfour\r\nextra\r\nfive", found)

    def test_other_content_is_refused(self) -> None:
        for data in (b"one\n", self.new.replace(b"three", b"3"), b""):
            error = self.assertRaises(ServiceError, self.reverse, 1, data=data)
            self.assertEqual(409, error.status)

    def test_nothing_chosen_is_refused(self) -> None:
        self.assertEqual(409, self.assertRaises(ServiceError, self.reverse).status)

    def test_removed_end_of_a_file_comes_back(self) -> None:
        hunks = [
            Hunk(id="h", old_start=1, old_count=2, new_start=1, new_count=1, section="", rows=[
                DiffRow(kind=RowKind.CONTEXT, old=1, new=1, raw=b"a"),
                DiffRow(kind=RowKind.REMOVED, old=2, new=None, raw=b"b", lacks_newline=True),
            ])
        ]  # fmt: skip
        self.assertEqual(b"a\nb", reverse_rows(b"a\n", hunks, lambda hunk, row: True))
