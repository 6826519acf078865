"""In which order processes take up tests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.run_order import order_tests


def deal(items: list[str], hands: int) -> list[str]:
    """Items of a class begin with the same letter, a capital one where they take long.

    Those of L take ten minutes, those of M eight, the others less than one.
    """
    minutes = {"L": 10.0, "M": 8.0}
    return order_tests(
        items,
        hands,
        lambda item: item[0],
        lambda item: minutes.get(item[0], 0.0) if item[0].isupper() else None,
    )


class DealtTests(SynchronousTestCase):
    def test_dealt_shares_begin_with_a_long_item(self) -> None:
        items = ["a1", "a2", "L1", "b1", "b2", "M1", "c1", "c2", "N1", "d1", "d2", "d3"]
        order = ["L1", "a1", "a2", "b1", "M1", "b2", "c1", "c2", "N1", "d1", "d2", "d3"]
        self.assertEqual(order, deal(items, 3))

    def test_classes_that_take_longest_begin_and_share_no_process(self) -> None:
        items = ["N1", "N2", "M1", "M2", "L1", "L2", "O1", "O2"]
        self.assertEqual(["L1", "L2", "M1", "M2", "N1", "N2", "O1", "O2"], deal(items, 2))

    def test_one_process_gets_all_tests_long_ones_first(self) -> None:
        self.assertEqual(["M1", "a1", "b1"], deal(["a1", "M1", "b1"], 1))

    @given(st.lists(st.sampled_from("aLbMcNd"), unique=True), st.integers(1, 9), st.integers(1, 4))
    def test_dealing_loses_no_item(self, classes: list[str], hands: int, each: int) -> None:
        """And what takes long stays together, the rest in its order."""
        items = [f"{name}{number}" for name in classes for number in range(each)]
        order = deal(items, hands)
        self.assertEqual(sorted(items), sorted(order))
        for name in filter(str.isupper, classes):
            first = order.index(f"{name}0")
            wanted = [f"{name}{number}" for number in range(each)]
            self.assertEqual(wanted, order[first : first + each])
        short = [item for item in items if item.islower()]
        self.assertEqual(short, [item for item in order if item.islower()])
