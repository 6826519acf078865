"""The measure itself: what samples of a status show beside what its events tell."""

from __future__ import annotations

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.truth import Edge, Move, Sample, Span, compare, seen

pytestmark = pytest.mark.essential

TOLD = [Move(1.0, True), Move(1.04, False)]


class EdgeTests(SynchronousTestCase):
    """What was known to one before the other."""

    def test_how_far_off(self) -> None:
        edge = Edge.of(3.0, 1.0, 2.0)
        self.assertEqual(Edge(1.0, 3.0), edge)
        off = [edge.off(at) for at in (0.5, 1.0, 2.5, 3.0, 4.0)]
        self.assertEqual([-0.5, 0.0, 0.0, 0.0, 1.0], off)

    def test_what_the_machine_took_is_not_the_status_s(self) -> None:
        truth = [Span(what="x", begun=Edge.of(1.0), ended=Edge.of(5.0, 6.0))]
        told = [Move(1.0, True), Move(7.5, False)]
        begin, end = compare(truth, told, told, lambda since, until: until - since - 1.5)
        self.assertEqual([0.0, 1.5], [begin.told, end.told])
        self.assertEqual([1.5, 0.5], [begin.worst, end.worst])
        with self.assertRaisesRegex(AssertionError, "the record do not match"):
            compare(truth, told, told[:1], lambda since, until: 0.0)


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
