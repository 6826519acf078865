"""The scripts behind C{make}: what they do on a machine that lacks something."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60


class NeedTests(SynchronousTestCase):
    """C{tools/need}, with programs of the test's own in place of the system's."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        for name in ("sh", "echo"):
            (self.folder / name).symlink_to(shutil.which(name) or "/bin/sh")

    def program(self, name: str, body: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def need(self, *words: str) -> subprocess.CompletedProcess[str]:
        # The script appends the system's sbin folders: none of these names is there.
        return subprocess.run(
            ["/bin/sh", str(ROOT / "tools/need"), *words],
            env={"PATH": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    def test_need_does_nothing_when_nothing_is_missing(self) -> None:
        self.program("id", "echo this must not be asked >&2; exit 1")
        ended = self.need("sh", "dash-package=echo")
        self.assertEqual((0, "", ""), (ended.returncode, ended.stdout, ended.stderr))

    def test_unprivileged_user_gets_the_install_command(self) -> None:
        self.program("id", "echo 1000")
        self.program("apt-get", "echo this must not run >&2; exit 1")
        ended = self.need("sh", "absent", "some-package=absent-too")
        self.assertEqual(1, ended.returncode)
        want = "missing: absent some-package (as root: apt-get install absent some-package)\n"
        self.assertEqual(want, ended.stderr)

    def test_root_installs_only_missing_packages(self) -> None:
        self.program("id", "echo 0")
        self.program("apt-get", 'echo "$DEBIAN_FRONTEND: $@" >>calls')
        self.assertEqual(0, self.need("sh", "absent", "package=absent-too").returncode)
        self.assertEqual(
            [
                "noninteractive: update -qq",
                "noninteractive: install -y -qq --no-install-recommends absent package",
            ],
            Path("calls").read_text().splitlines(),
        )

    def test_failed_installation_fails_with_its_status(self) -> None:
        self.program("id", "echo 0")
        self.program("apt-get", "exit 100")
        self.assertEqual(100, self.need("absent").returncode)

    def test_other_systems_get_their_own_command_and_names(self) -> None:
        self.program("id", "echo 0")
        for manager, want in (
            ("dnf", "dnf install absent gcc python3"),
            ("pacman", "pacman -S absent base-devel python"),
            ("apk", "apk add absent build-base python3"),
            ("zypper", "zypper install absent gcc python3"),
        ):
            with self.subTest(manager):
                self.program(manager, "echo this must not run >&2; exit 1")
                ended = self.need("absent", "build-essential=absent-cc", "python3-venv=absent-too")
                self.assertEqual(1, ended.returncode)
                self.assertIn(f"(as root: {want})\n", ended.stderr)
                (self.folder / manager).unlink()

    def test_root_without_apt_sees_the_missing_programs(self) -> None:
        self.program("id", "echo 0")
        self.assertIn("missing: absent", self.need("absent").stderr)


class VenvTests(SynchronousTestCase):
    def test_venv_refuses_an_old_python(self) -> None:
        old = Path("old-python").absolute()
        old.write_text("#!/bin/sh\nexit 1\n")
        old.chmod(0o755)
        ended = subprocess.run(
            ["/bin/sh", str(ROOT / "tools/venv"), str(old)],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        self.assertEqual(1, ended.returncode)
        self.assertIn(f"missing: Python 3.11 or later as {old}", ended.stderr)
        self.assertFalse(Path(".venv").exists())
