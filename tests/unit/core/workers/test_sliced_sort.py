"""Sorting in parts is sorting."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.workers import sliced_sort
from tservice.core.workers.sliced_sort import sort_in_slices


class OrderInPartsTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.patch(sliced_sort, "SLICE_SIZE", 3)

    @given(st.lists(st.text(max_size=3)))
    def test_order_equals_sorted(self, names: list[str]) -> None:
        self.assertEqual(sorted(names), list(sort_in_slices(iter(names))))

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers())))
    def test_order_is_stable(self, pairs: list[tuple[int, int]]) -> None:
        self.assertEqual(
            sorted(pairs, key=lambda each: each[0]),
            list(sort_in_slices(pairs, lambda each: each[0])),
        )

    def test_few_items_are_sorted_at_a_time(self) -> None:
        """Each part is sorted before more is asked for."""
        taken: list[int] = []

        def given() -> Iterator[str]:
            for name in "hgfedcba":
                taken.append(len(folded))
                yield name

        folded: list[str] = []

        def key(name: str) -> str:
            folded.append(name)
            return name

        self.assertEqual([*"abcdefgh"], [*sort_in_slices(given(), key)])
        self.assertEqual([0, 0, 0, 3, 3, 3, 6, 6], taken)
