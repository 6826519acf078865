"""Upgrade and downgrade while sessions run: real wheels, and the real systemd of a user."""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
import unittest
import venv
from pathlib import Path
from typing import Any, ClassVar

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import LOOPBACK, DaemonHarness
from tests.integration.install.user_manager import UserManager, find_obstacle
from tests.integration.install.wheels import (
    OLDER_VERSION,
    build_wheel,
    copy_older_sources,
    copy_sources,
    find_older_commit,
)
from tests.waiting import wait_until
from tservice import __version__
from tservice.core.process.folder_lock import ADDRESS_NAME

COUNTER = "i=0; while sleep 0.1; do i=$((i+1)); echo $i >count.new; mv count.new count; done\r"
TWISTD = "#!{python}\nfrom twisted.scripts.twistd import run\nrun()\n"


class Installation:
    """A virtual environment that a wheel is installed into.

    What the program requires comes from the environment of the tests, so that no index is asked.
    """

    def __init__(self, folder: Path) -> None:
        self.python = folder / "bin/python"
        venv.create(folder, symlinks=True)
        packages = sysconfig.get_path("purelib", vars={"base": str(folder)})
        Path(packages, "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        twistd = folder / "bin/twistd"
        twistd.write_text(TWISTD.format(python=self.python))
        twistd.chmod(0o755)

    def install(self, wheel: Path) -> None:
        """Install a wheel, whatever is there."""
        words = ("-m", "pip", "install", "--quiet", "--no-index", "--no-deps")
        subprocess.run([self.python, *words, str(wheel)], check=True, timeout=300)

    def command(self, *words: str) -> list[str]:
        """Return the command line of C{tservice} with these words."""
        return [str(self.python), "-m", "tservice.console.main", *words]


@pytest.mark.long
class UpgradeTests(SynchronousTestCase):
    older: ClassVar[Path]
    newer: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        commit = find_older_commit()
        why = find_obstacle() or ("there is no history" if commit is None else None)
        if why is not None or commit is None:
            raise unittest.SkipTest(f"no upgrade is tried: {why}")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        here = Path(folder.name)
        copy_older_sources(commit, here / "older")
        copy_sources(here / "newer")
        cls.older = build_wheel(here / "older", here / "older-wheel")
        cls.newer = build_wheel(here / "newer", here / "newer-wheel")

    def setUp(self) -> None:
        self.daemon = DaemonHarness(PIP_NO_INDEX="1", PYTHONPATH="")
        self.addCleanup(self.daemon.close)
        self.manager = UserManager(self.daemon.environ())
        self.addCleanup(self.manager.close)
        self.addCleanup(self.end_sessions)
        self.installation = Installation(self.daemon.folder / "venv")

    def end_sessions(self) -> None:
        """Stop the service and every tmux server, so that the manager's control groups empty."""
        self.manager.run(["systemctl", "--user", "stop", "tservice"], self.daemon.folder)
        for socket in (self.daemon.data / "mux").glob("*.sock"):
            words = ["tmux", "-S", str(socket), "kill-server"]
            subprocess.run(words, capture_output=True, check=False, timeout=60)

    def console(self, *words: str, status: int = 0) -> str:
        """Run C{tservice} and return its output."""
        done = self.manager.run(self.installation.command(*words), self.daemon.folder)
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def find_page(self) -> None:
        """Wait until the service says where it is."""
        address = self.daemon.data / ADDRESS_NAME
        wait_until("the service is ready", lambda: address.exists() and address.read_text())
        self.daemon.url = address.read_text().split()[0].rstrip("/")

    def start_counter(self) -> dict[str, Any]:
        """Start a session that counts, and return it."""
        body = {"mode": "shell", "workingDir": str(self.daemon.home), "start": True}
        session: dict[str, Any] = self.daemon.request("POST", "/api/sessions", body).data()
        session = session["session"]
        path = f"/api/sessions/{session['id']}/input"
        self.daemon.request("POST", path, {"input": COUNTER}).data()
        return session

    def check_counter(self, session: dict[str, Any]) -> None:
        """Check that the counter goes on, and that the service shows and drives its session."""
        count = self.daemon.home / "count"
        first = wait_until("the counter runs", lambda: count.exists() and int(count.read_text()))
        wait_until("the counter goes on", lambda: int(count.read_text()) > first)
        shown = self.daemon.request("GET", f"/api/sessions/{session['id']}").data()
        self.assertEqual(session["pid"], shown["pid"])

    def version(self) -> str:
        """Return the version of the running service."""
        return str(self.daemon.request("GET", "/api/openapi.json").json()["info"]["version"])

    def test_sessions_outlive_an_upgrade_and_a_downgrade(self) -> None:
        self.installation.install(self.older)
        self.console("service", "install", f"--listen={LOOPBACK}")
        self.find_page()
        self.assertEqual(OLDER_VERSION, self.version())
        session = self.start_counter()
        self.check_counter(session)
        copy = str(self.daemon.folder / "copy.tgz")
        self.console("backup", copy)

        self.assertIn("the service was restarted", self.console("update", str(self.newer)))
        self.find_page()
        self.assertEqual(__version__, self.version())
        self.check_counter(session)

        # Back, as docs/howto/upgrade.rst describes it. The counter runs throughout.
        self.console("service", "stop")
        self.console("update", str(self.older))
        refused = self.daemon_without_systemd()
        self.assertIn("made by a newer version", refused)
        self.console("restore", copy)
        self.console("service", "start")
        self.find_page()
        self.assertEqual(OLDER_VERSION, self.version())
        self.check_counter(session)

    def test_unit_restarts_stops_and_goes_without_ending_sessions(self) -> None:
        self.installation.install(self.newer)
        done = self.console("service", "install", f"--listen={LOOPBACK}")
        self.assertIn("loginctl enable-linger", done)
        self.find_page()
        session = self.start_counter()
        self.check_counter(session)
        self.console("service", "restart")
        self.find_page()
        self.check_counter(session)
        self.assertIn("active (running)", self.console("service", "status"))
        self.console("service", "stop")
        self.console("service", "status", status=3)
        self.console("service", "start")
        self.find_page()
        self.check_counter(session)
        self.console("service", "uninstall")
        count = self.daemon.home / "count"
        last = int(count.read_text())
        wait_until("the counter goes on", lambda: int(count.read_text()) > last)
        self.assertIn("not installed", self.console("service", "status", status=2))

    def daemon_without_systemd(self) -> str:
        """Run the installed service in the foreground; it is to refuse. Return what it says."""
        words = [str(self.installation.python), str(self.installation.python.with_name("twistd"))]
        words += ["--nodaemon", "--pidfile=", "tservice", f"--listen={LOOPBACK}"]
        done = self.manager.run(words, self.daemon.folder)
        self.assertNotEqual(0, done.returncode, done.stdout)
        return done.stdout + done.stderr
