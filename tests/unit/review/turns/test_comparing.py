"""Comparison with the end of a turn, on this machine and by a shell."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.review.shell_copies import ShellMixin
from tests.unit.review.turns import comparing_cases
from tservice.core.kernel.errors import ServiceError
from tservice.review.turns.comparing import find_turn


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


class TurnNameTests(SynchronousTestCase):
    def test_end_of_a_turn_is_a_number(self) -> None:
        for text in ("turn:", "turn:x", "turn:-1", "turn:1.0", "turn:٣", "turn:" + "1" * 17):
            with self.assertRaises(ServiceError) as caught:
                find_turn(text)
            self.assertEqual(400, caught.exception.status)
