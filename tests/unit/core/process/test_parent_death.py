"""L{tservice.core.process.find_parent_death_prefix}."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from tests.waiting import PATIENCE
from tservice.core.process.parent_death import make_parent_death_prefix

PARENT = """
import subprocess, sys
child = subprocess.Popen([*sys.argv[1:], "sh", "-c", "echo; exec sleep 600"], stdout=-1)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""
"""Says the number of a child once that has become its command."""


class TiedTests(SynchronousTestCase):
    def test_tied_child_ends_with_its_parent(self) -> None:
        words = make_parent_death_prefix(shutil.which("setpriv"))
        command = [sys.executable, "-c", PARENT, *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
            assert parent.stdout is not None
            child = os.pidfd_open(int(parent.stdout.readline()))
            self.addCleanup(os.close, child)
            self.addCleanup(end, child)
            parent.send_signal(signal.SIGKILL)
        over, _, _ = select.select([child], [], [], PATIENCE)
        self.assertEqual([child], over)

    def test_missing_setpriv_ties_nothing(self) -> None:
        self.assertEqual([], make_parent_death_prefix(None))


def end(held: int) -> None:
    """Whatever became of it."""
    try:
        signal.pidfd_send_signal(held, signal.SIGKILL)
    except ProcessLookupError:
        return
