"""What an agent wrote where its conversations are, or its settings, made to harm the service."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.integration.harness import DaemonCase, DaemonHarness

READINGS = 40
AGENT = """
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1])
rows.execute("PRAGMA journal_mode = WAL")
rows.execute("CREATE TABLE session (id, time_updated, parent_id)")
rows.commit()
print("ready", flush=True)
sys.stdin.read()
"""
"""Has its database open, as a running agent does."""
OPENCODE = Path(".local/share/opencode/opencode.db")


class HostileStoresTests(DaemonCase):
    def test_truncated_database_during_a_read_does_not_end_the_service(self) -> None:
        """Who maps an index that is cut short is ended by the kernel."""
        daemon = self.daemon().start()
        database = daemon.home / OPENCODE
        database.parent.mkdir(parents=True)
        agent = subprocess.Popen(
            [sys.executable, "-c", AGENT, database], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.addCleanup(_ended, agent)
        assert agent.stdout is not None
        agent.stdout.readline()
        over = threading.Event()
        cutter = threading.Thread(target=_cut, args=(Path(f"{database}-shm"), over))
        cutter.start()
        try:
            for _ in range(READINGS):
                self.list(daemon)
        finally:
            over.set()
            cutter.join()
        self.assertEqual(200, daemon.request("GET", "/healthz").status)

    def list(self, daemon: DaemonHarness) -> None:
        self.assertEqual([], daemon.request("GET", "/api/history/sessions").data()["sessions"])


def _cut(index: Path, over: threading.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(OSError):
            os.truncate(index, 0)


def _ended(agent: subprocess.Popen[bytes]) -> None:
    agent.kill()
    agent.communicate()
