"""Comparison with the end of a turn, on this machine and by a shell."""

from __future__ import annotations

from tests.unit.review.shell_copies import ShellMixin
from tests.unit.review.turns import comparing_cases
from tests.unit.review.turns.turns_harness import TurnTestCase
from tservice.review.comparison.comparer import Sides


class LocalTurnComparisonTests(comparing_cases.TurnComparisonTests):
    pass


class LocalRandomTurnTests(comparing_cases.RandomTurnTests):
    async def test_random_turns_with_a_second_seed(self) -> None:
        await self.check_random_turns(45)

    async def test_random_turns_with_a_third_seed(self) -> None:
        await self.check_random_turns(46)

    async def test_random_turns_with_a_fourth_seed(self) -> None:
        await self.check_random_turns(47)

    async def test_random_turns_with_a_fifth_seed(self) -> None:
        await self.check_random_turns(48)


class ShellTurnComparisonTests(ShellMixin, comparing_cases.TurnComparisonTests):
    pass


class TurnNameTests(TurnTestCase):
    async def test_end_of_a_turn_is_a_number(self) -> None:
        for text in ("turn:", "turn:x", "turn:-1", "turn:1.0", "turn:٣", "turn:" + "1" * 17):
            await self.refuse(400, self.compare(Sides(base=text)))
