"""How late a session's status follows the turns of its agent, which is played."""

from __future__ import annotations

import unittest

from twisted.trial.unittest import SynchronousTestCase

from bench.report import Row
from tests.agents.driven_sessions import PlayedClaude
from tests.agents.status_suite import FEW, StatusSuite
from tests.agents.status_truth import StatusDeviation
from tests.integration.harness import DaemonHarness

LIMIT = 1.0
"""Seconds by which the status may be wrong, once what the machine itself held up is taken off."""


class _Scenes(StatusSuite, PlayedClaude, SynchronousTestCase):
    """Plays the scenes and keeps what was found."""

    found: tuple[StatusDeviation, ...] = ()

    def runTest(self) -> None:
        self.found = tuple(self.deviations(FEW))


def run(_: DaemonHarness) -> list[Row]:
    """Return one row for each way that clients learn of a status.

    @raise AssertionError: the status changed when no turn began or ended.
    """
    case, result = _Scenes(), unittest.TestResult()
    case.run(result)
    if not result.wasSuccessful():
        raise AssertionError("\n".join(text for _, text in result.failures + result.errors))
    return [
        Row(
            name=f"status by the {way}, worst of {len(case.found)} changes",
            ours=max(abs(getattr(each, field)) - each.slow for each in case.found),
            peer=LIMIT,
            unit="s",
            against="limit",
            at_most=1.0,
        )
        for way, field in (("event", "told"), ("record", "shown"))
    ]
