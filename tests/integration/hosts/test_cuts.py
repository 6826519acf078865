"""A short form of the cuts; the long one is C{python -m tests.stress.far_cuts}."""

from __future__ import annotations

import pytest
from twisted.internet import reactor
from twisted.trial.unittest import TestCase

from tests.stress.far_cuts import run_cuts

pytestmark = pytest.mark.extended


class CutTests(TestCase):
    timeout = 240

    async def test_cut_connection_neither_loses_nor_repeats_data(self) -> None:
        """Nothing is lost or doubled, in either direction."""
        outcome = await run_cuts(reactor, seed=3, count=3)
        self.assertEqual([], outcome.faults)
        self.assertGreater(outcome.figures["inputs typed"], 0)
        self.assertGreater(outcome.figures["numbers printed"], 0)
