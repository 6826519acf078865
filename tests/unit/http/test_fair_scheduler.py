"""Tests for L{tservice.http.connections.fair_scheduler}."""

from __future__ import annotations

from attrs import define, field
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.site_driver import run_turn
from tservice.http.connections.fair_scheduler import ITERATION_BUDGET, FairScheduler


@define(eq=False)
class BulkTask:
    """Takes in a whole turn's worth, again and again."""

    turns: FairScheduler
    name: str
    served: list[str]
    again: bool = True
    cut: list[str] = field(factory=list)

    def process_share(self) -> None:
        self.served.append(self.name)
        self.turns.charge_budget(ITERATION_BUDGET)
        self.turns.queue_connection(self, again=self.again)

    def abort_connection(self) -> None:
        self.cut.append(self.name)


class FairSchedulerTests(SynchronousTestCase):
    """Two lines, of those that have come and those that have more."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.turns = FairScheduler(self.clock)
        self.served: list[str] = []

    def bulk(self, name: str, again: bool = True) -> BulkTask:
        one = BulkTask(self.turns, name, self.served, again)
        self.turns.queue_connection(one, again=again)
        return one

    def pump(self, turns: int) -> None:
        for _ in range(turns):
            run_turn(self.clock)

    def test_new_job_waits_for_one_other_at_most(self) -> None:
        for name in "abcdef":
            self.bulk(name)
        self.pump(3)
        self.assertEqual(["a", "b", "c"], self.served)
        self.bulk("new", again=False)
        self.pump(2)
        self.assertIn("new", self.served[3:])

    def test_new_jobs_leave_every_second_turn_to_continuing_ones(self) -> None:
        for name in "abc":
            self.bulk(name)
        for name in "xyz":
            self.bulk(name, again=False)
        self.pump(12)
        self.assertEqual(6, sum(each in "abc" for each in self.served))
        self.assertEqual(list("abcabc"), [each for each in self.served if each in "abc"])
        self.assertEqual(list("xyzxyz"), [each for each in self.served if each in "xyz"])

    def test_removed_job_leaves_no_timer(self) -> None:
        for again in (False, True):
            one = self.bulk("a", again)
            self.turns.remove_connection(one)
            self.turns.remove_connection(one)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertTrue(self.turns.has_budget_left())
