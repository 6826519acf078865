"""The init script, run as root would run it but on folders of the test's own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import (
    LOOPBACK,
    PATIENCE,
    ROOT,
    TWISTD,
    DaemonHarness,
    wait_until_gone,
)

pytestmark = pytest.mark.extended

SCRIPT = ROOT / "etc/init.d/tservice"
USABLE = os.geteuid() == 0 and shutil.which("start-stop-daemon", path="/sbin:/usr/sbin")


class InitScriptTests(SynchronousTestCase):
    if not USABLE:
        skip = "needs root and start-stop-daemon"

    def setUp(self) -> None:
        self.daemon = DaemonHarness()
        self.addCleanup(self.daemon.close)
        folder = self.daemon.folder
        program = folder / "twistd"
        program.write_text(f'#!/bin/sh\nexec "{TWISTD[0]}" -c "{TWISTD[2]}" "$@"\n')
        program.chmod(0o755)
        settings = {
            "TSERVICE_USER": pwd.getpwuid(os.geteuid()).pw_name,
            "TSERVICE_TWISTD": str(program),
            "TSERVICE_CONFIG": str(folder / "none.yaml"),
            "TSERVICE_RUN": str(folder / "run"),
            "TSERVICE_LOG": str(folder / "log/t.log"),
            "PYTHONPATH": str(ROOT),
            "SERVICE_DATA_DIR": str(self.daemon.data),
            "SERVICE_CASES_DIR": str(folder / "cases"),
            "SERVICE_LISTEN": LOOPBACK,
        }
        self.defaults = folder / "defaults"
        self.write(settings)
        self.settings = settings
        self.pidfile = folder / "run/tservice.pid"
        self.addCleanup(self.script, "stop")

    def write(self, settings: dict[str, str]) -> None:
        lines = [f"{name}='{value}'\n" for name, value in settings.items()]
        self.defaults.write_text("".join(lines))

    def script(self, action: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(SCRIPT), action],
            env={"TSERVICE_DEFAULTS": str(self.defaults), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE,
            check=False,
        )

    def does(self, action: str, status: int, text: str) -> None:
        ended = self.script(action)
        self.assertEqual(status, ended.returncode, ended.stdout + ended.stderr)
        self.assertIn(text, ended.stdout + ended.stderr)

    def pid(self) -> int:
        return int(self.pidfile.read_text())

    def test_init_script_starts_restarts_and_stops(self) -> None:
        self.does("status", 3, "not running")
        self.does("start", 0, "started")
        first = self.pid()
        self.does("status", 0, f"running (pid {first})")
        self.does("start", 0, f"already running (pid {first})")
        self.does("restart", 0, "started")
        self.assertNotEqual(first, self.pid())
        self.assertEqual(0o700, self.daemon.data.stat().st_mode & 0o777)
        self.does("stop", 0, "stopped")
        self.does("stop", 0, "stopped")
        self.does("status", 3, "not running")

    def test_init_script_starts_again_after_a_crash(self) -> None:
        self.does("start", 0, "started")
        killed = self.pid()
        os.kill(killed, signal.SIGKILL)
        wait_until_gone(killed)
        self.does("status", 1, "not running, but")
        self.does("start", 0, "started")

    def test_init_script_ignores_a_pid_file_of_another_process(self) -> None:
        """After a crash its number may be anybody's: here it is ours."""
        self.settings["TSERVICE_USER"] = "nobody"
        self.write(self.settings)
        self.pidfile.parent.mkdir()
        self.pidfile.write_text(f"{os.getpid()}\n")
        self.does("stop", 0, "stopped")
        self.assertFalse(self.pidfile.exists())

    def test_refused_start_prints_the_error(self) -> None:
        self.settings["SERVICE_LISTEN"] = "tcp:0"
        self.write(self.settings)
        ended = self.script("start")
        self.assertEqual(1, ended.returncode)
        self.assertIn("no password is set", ended.stderr)
        self.does("status", 3, "not running")

    def test_missing_user_and_program_are_named(self) -> None:
        for name, value, status, text in [
            ("TSERVICE_USER", "no-such-user", 6, "there is no user no-such-user"),
            ("TSERVICE_TWISTD", "/nowhere/twistd", 5, "/nowhere/twistd cannot be run"),
        ]:
            self.write({**self.settings, name: value})
            self.does("start", status, text)
        self.does("dance", 2, "Usage:")
        self.write(self.settings)

    def test_init_script_has_the_header_read_by_insserv(self) -> None:
        text = Path(SCRIPT).read_text(encoding="utf-8")
        for key in ("Provides", "Required-Start", "Required-Stop", "Default-Start", "Default-Stop"):
            self.assertRegex(text, rf"(?m)^# {key}: +\S")
