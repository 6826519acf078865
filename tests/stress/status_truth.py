"""The status of a real Claude Code beside the model's own record, turn after turn.

C{python -m tests.stress.status_truth --rounds 5 --seed 1}

Every kind of turn in random order, in one session; what each change of the status was off by, and
the worst of each kind of turn.  It fails where one is off by more than a second.
"""

from __future__ import annotations

import argparse
import random
import sys
import unittest
from collections import defaultdict
from collections.abc import Iterable

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude
from tests.agents.status_suite import BY_SOMEBODY, BY_THEMSELVES, StatusSuite
from tests.agents.status_truth import StatusDeviation


def worst_deviations(found: Iterable[StatusDeviation]) -> dict[tuple[str, bool], StatusDeviation]:
    """The worst of each kind of change."""
    kinds: dict[tuple[str, bool], list[StatusDeviation]] = defaultdict(list)
    for each in found:
        kinds[each.what, each.busy].append(each)
    return {kind: max(them, key=lambda each: each.worst) for kind, them in kinds.items()}


LATE = 1.0
"""Seconds by which the status may differ from the truth."""


class LongStatus(StatusSuite, RealClaude, SynchronousTestCase):
    """Many rounds in one session."""

    rounds, seed = 1, 1

    def test_status_matches_over_many_rounds(self) -> None:
        dice = random.Random(self.seed)
        scenes: list[str] = []
        for _ in range(self.rounds):
            scenes += dice.sample(BY_THEMSELVES + BY_SOMEBODY, k=13)
        found = worst_deviations(self.deviations(scenes))
        print("\n".join(map(str, found.values())))
        self.assertEqual([], [str(each) for each in found.values() if each.worst > LATE])


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    LongStatus.rounds, LongStatus.seed = given.rounds, given.seed
    print(f"seed {given.seed}, {given.rounds} rounds")
    result = unittest.TextTestRunner().run(LongStatus("test_status_matches_over_many_rounds"))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
