"""The measure itself: what samples of a status show beside what its events tell."""

from __future__ import annotations

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.status_truth import (
    StatusMove,
    StatusSample,
    TurnEdge,
    TurnSpan,
    compare_moves,
    sampled_moves,
)

pytestmark = pytest.mark.essential

TOLD = [StatusMove(1.0, True), StatusMove(1.04, False)]


class EdgeTests(SynchronousTestCase):
    """What was known to one before the other."""

    def test_edge_offset_is_zero_inside_its_interval(self) -> None:
        edge = TurnEdge.of(3.0, 1.0, 2.0)
        self.assertEqual(TurnEdge(1.0, 3.0), edge)
        off = [edge.off(at) for at in (0.5, 1.0, 2.5, 3.0, 4.0)]
        self.assertEqual([-0.5, 0.0, 0.0, 0.0, 1.0], off)

    def test_measured_machine_delay_is_subtracted_from_the_status_delay(self) -> None:
        truth = [TurnSpan(what="x", begun=TurnEdge.of(1.0), ended=TurnEdge.of(5.0, 6.0))]
        told = [StatusMove(1.0, True), StatusMove(7.5, False)]
        begin, end = compare_moves(truth, told, told, lambda since, until: until - since - 1.5)
        self.assertEqual([0.0, 1.5], [begin.told, end.told])
        self.assertEqual([1.5, 0.5], [begin.worst, end.worst])
        with self.assertRaisesRegex(AssertionError, "the record do not match"):
            compare_moves(truth, told, told[:1], lambda since, until: 0.0)


class StatusSampleTests(SynchronousTestCase):
    def test_turn_between_two_samples_is_as_recorded(self) -> None:
        samples = [StatusSample(0.97, 0.98, False), StatusSample(1.05, 1.06, False)]
        self.assertEqual(TOLD, sampled_moves(samples, TOLD))

    def test_samples_across_an_interval_edge_prove_nothing(self) -> None:
        for busy in (True, False):
            samples = [
                StatusSample(0.99, 1.01, busy),
                StatusSample(1.03, 1.05, busy),
                StatusSample(2, 2, False),
            ]
            self.assertEqual(TOLD, sampled_moves(samples, TOLD))

    def test_sample_without_a_turn_inside_a_turn_is_a_fault(self) -> None:
        self.assertEqual(
            [], sampled_moves([StatusSample(1.01, 1.02, False), StatusSample(2, 2, False)], TOLD)
        )

    def test_samples_override_the_recorded_turn(self) -> None:
        samples = [
            StatusSample(1.01, 1.02, True),
            StatusSample(1.06, 1.07, True),
            StatusSample(1.1, 1.11, False),
        ]
        self.assertEqual(
            [StatusMove(1.02, True), StatusMove(1.11, False)], sampled_moves(samples, TOLD)
        )
        self.assertEqual(
            [StatusMove(1.02, True), StatusMove(1.11, False)], sampled_moves(samples, [])
        )
