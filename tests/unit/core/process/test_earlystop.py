"""A SIGTERM before the reactor runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

import tservice
from tests.waiting import PATIENCE

PROGRAM = """
import os, signal
from twisted.internet import reactor
from tservice.core.process.earlystop import EarlyStop
EarlyStop(reactor.sigTerm).startService()
os.kill(os.getpid(), signal.SIGTERM)
reactor.addSystemEventTrigger("before", "shutdown", print, "orderly")
reactor.run()
"""


class EarlyStopTests(SynchronousTestCase):
    def test_reactor_stops_as_soon_as_it_runs(self) -> None:
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=Path(tservice.__file__).parents[1],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.assertEqual((0, "orderly\n", ""), (ran.returncode, ran.stdout, ran.stderr))
