"""The measure itself: what samples of a status show beside what its events tell."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.truth import Move, Sample, seen

TOLD = [Move(1.0, True), Move(1.04, False)]


class SeenTests(SynchronousTestCase):
    def test_a_turn_between_two_samples_is_as_told(self) -> None:
        samples = [Sample(0.97, 0.98, False), Sample(1.05, 1.06, False)]
        self.assertEqual(TOLD, seen(samples, TOLD))

    def test_samples_across_its_edges_prove_nothing(self) -> None:
        for busy in (True, False):
            samples = [Sample(0.99, 1.01, busy), Sample(1.03, 1.05, busy), Sample(2, 2, False)]
            self.assertEqual(TOLD, seen(samples, TOLD))

    def test_a_sample_within_that_shows_no_turn_is_a_fault(self) -> None:
        self.assertEqual([], seen([Sample(1.01, 1.02, False), Sample(2, 2, False)], TOLD))

    def test_what_samples_show_is_what_counts(self) -> None:
        samples = [Sample(1.01, 1.02, True), Sample(1.06, 1.07, True), Sample(1.1, 1.11, False)]
        self.assertEqual([Move(1.02, True), Move(1.11, False)], seen(samples, TOLD))
        self.assertEqual([Move(1.02, True), Move(1.11, False)], seen(samples, []))
