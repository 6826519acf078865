"""Stalls and honest work, from recorded conversations and screens."""

from __future__ import annotations

from collections import Counter

from twisted.trial.unittest import SynchronousTestCase

from tests.run_figures import report_figure
from tests.unit.agents.stalls.timelines import STALLS, play_honest, play_stall, recorded_items

HONEST = 300
EACH = 40
"""Numbers of timelines, with seeds of their own."""
LEAST_FOUND = 0.95
MOST_FALSE = 0.01


class RecordingTests(SynchronousTestCase):
    """The detector on whole timelines."""

    def setUp(self) -> None:
        self.recorded = recorded_items()

    def test_at_least_95_percent_of_the_stalls_are_found(self) -> None:
        found: Counter[str] = Counter()
        worst = 0
        for kind in STALLS:
            for seed in range(10_000, 10_000 + EACH):
                player = play_stall(seed, kind, self.recorded)
                if player.found is not None:
                    found[kind] += 1
                    worst = max(worst, player.found_at)
            report_figure(f"stalls found, {kind}: {found[kind]} of {EACH}")
        share = found.total() / (EACH * len(STALLS))
        report_figure(f"stalls found: {share:.1%}, the latest after {worst / 60_000:.0f} minutes")
        self.assertGreaterEqual(share, LEAST_FOUND)

    def test_at_most_1_percent_of_honest_work_is_marked(self) -> None:
        false: Counter[str] = Counter()
        hours = 0.0
        for seed in range(20_000, 20_000 + HONEST):
            player = play_honest(seed, self.recorded)
            hours += player.now / 3_600_000
            if player.found is not None:
                false[player.found.reason] += 1
        report_figure(
            f"honest work marked: {false.total()} of {HONEST} turns in {hours:.0f} hours"
            f" {dict(false)}"
        )
        self.assertLessEqual(false.total() / HONEST, MOST_FALSE)
