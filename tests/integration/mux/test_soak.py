"""A short form of the soak; the long one is C{python -m tests.stress.mux_soak}."""

from __future__ import annotations

import pytest
from twisted.internet import reactor
from twisted.trial.unittest import TestCase

from tests.stress.mux_soak import run_soak

pytestmark = pytest.mark.extended


class SoakTests(TestCase):
    timeout = 300

    async def test_random_operations_leave_no_fault(self) -> None:
        run = await run_soak(reactor, seed=20, operations=250, servers=4)
        self.assertEqual([], run.faults)
        self.assertGreater(run.bytes, 100_000)
