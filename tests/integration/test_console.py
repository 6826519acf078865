"""The command C{tservice}, with the real service."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import LOOPBACK, ROOT, DaemonHarness

CONSOLE = (sys.executable, "-m", "tservice.console.main")


class ConsoleDaemon(DaemonHarness):
    """Daemon that C{tservice up} starts."""

    preloaded = False

    def wrapped(self, command: list[str]) -> list[str]:
        """Replace C{twistd ... tservice} by the command under test."""
        return [*CONSOLE, "up", *command[command.index("tservice") + 1 :]]

    def run_console(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the environment of the daemon."""
        return subprocess.run(
            [*CONSOLE, *words],
            env=self.environ(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


class ConsoleTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = ConsoleDaemon()
        self.addCleanup(self.daemon.close)

    def start(self, *options: str, listen: Sequence[str] = (LOOPBACK,)) -> None:
        self.daemon.start(*options, listen=listen)

    def make_session(self) -> str:
        body = {"mode": "shell", "start": True}
        session = self.daemon.request("POST", "/api/sessions", body).data()["session"]
        return str(session["id"])

    def test_up_prints_where_the_page_and_the_data_are(self) -> None:
        self.start()
        self.daemon.wait_for_log(rf"  page   {re.escape(self.daemon.url)}/")
        self.daemon.wait_for_log(rf"  data   {re.escape(str(self.daemon.data))}")
        self.daemon.wait_for_log("  phone  not reachable yet")
        self.assertEqual(-signal.SIGTERM, self.daemon.stop(signal.SIGTERM))
        self.assertFalse((self.daemon.data / "address").exists())

    def test_up_draws_a_code_for_the_phone_if_others_can_connect(self) -> None:
        self.start("--allow-unauthenticated-network", listen=("tcp:0",))
        self.daemon.wait_for_log(r"  phone  http://[0-9.]+:\d+/")
        self.daemon.wait_for_log("█▀▀▀▀▀█|▄▄▄▄▄")

    def test_second_up_names_the_running_service(self) -> None:
        self.start()
        done = self.daemon.run_console("up")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertIn(f"already running at {self.daemon.url}/", done.stdout)

    def test_invalid_setting_is_one_line(self) -> None:
        done = self.daemon.run_console("up", "--lisen", "tcp:0")
        self.assertEqual(1, done.stderr.count("\n"), done.stderr)
        self.assertIn("--lisen not recognized", done.stderr)
        self.assertEqual(2, done.returncode)

    def test_backup_of_a_running_service_is_restored(self) -> None:
        self.start()
        first = self.make_session()
        file = self.daemon.folder / "copy.tgz"
        done = self.daemon.run_console("backup", str(file))
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(0o600, file.stat().st_mode & 0o777)
        self.make_session()
        refused = self.daemon.run_console("restore", str(file))
        self.assertEqual(2, refused.returncode)
        self.assertIn("stop it", refused.stderr)
        self.daemon.stop()
        restored = self.daemon.run_console("restore", str(file))
        self.assertEqual((0, ""), (restored.returncode, restored.stderr))
        with closing(sqlite3.connect(self.daemon.data / "tservice.db")) as database:
            ids = [row[0] for row in database.execute("SELECT id FROM sessions")]
        self.assertEqual([first], ids)
        self.start()
        sessions = self.daemon.request("GET", "/api/sessions").data()
        self.assertEqual([first], [each["id"] for each in sessions])
        screen = self.daemon.request("GET", f"/api/sessions/{first}/terminal")
        self.assertEqual(200, screen.status)
