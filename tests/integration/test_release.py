"""C{make release}: what it builds, and when it refuses."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.package_files import ROOT


@pytest.mark.extended
@pytest.mark.long(minutes=1)
class ReleaseTests(SynchronousTestCase):
    """C{make release} in a clone, with the browser UI that was built here.

    What a build requires comes from the package index.
    """

    def setUp(self) -> None:
        self.clone = Path(self.mktemp()).resolve()
        self.output = self.clone.with_name("output")
        subprocess.run(["git", "clone", "-q", str(ROOT), str(self.clone)], check=True)
        self.addCleanup(shutil.rmtree, self.clone)
        static = ROOT / "tservice" / "static"
        shutil.copytree(static, self.clone / "tservice" / "static")
        # To compile them takes minutes; the tests of the installation do.
        for machine in ("x86_64", "aarch64"):
            (self.clone / "tservice/mux/tmux" / f"tservice-keeper-{machine}").write_text("built")
        self.git("config", "user.name", "Ann")
        self.git("config", "user.email", "ann@example.org")

    def git(self, *words: str) -> str:
        command = ["git", "-C", str(self.clone), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def release(self, version: str) -> subprocess.CompletedProcess[str]:
        program = self.clone / "tools" / "release.py"
        command = [sys.executable, str(program), version, "--output", str(self.output)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def add_change(self) -> None:
        fragment = self.clone / "newsfragments" / "+demo.feature.rst"
        fragment.write_text("Sessions can be painted green.\n")
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "demo: Add a fragment")

    def remove_changes(self) -> None:
        """Remove the fragments of the next release, however many there are."""
        for fragment in (self.clone / "newsfragments").glob("*.*.rst"):
            fragment.unlink()
        self.git("commit", "-q", "--all", "--allow-empty", "-m", "demo: Remove the fragments")

    def test_release_writes_changelog_version_tag_files_and_checksums(self) -> None:
        self.add_change()
        ended = self.release("7.8.9")
        self.assertEqual(0, ended.returncode, ended.stderr)
        self.assertIn("painted green", (self.clone / "CHANGELOG.rst").read_text())
        self.assertEqual(["v7.8.9"], self.git("tag", "--points-at", "HEAD").split())
        self.assertEqual("", self.git("status", "--porcelain"))
        lines = (self.output / "SHA256SUMS").read_text().splitlines()
        sums = {name: checksum for checksum, _, name in (line.partition("  ") for line in lines)}
        self.assertEqual({".gz", ".whl"}, {Path(name).suffix for name in sums})
        for name, expected in sums.items():
            content = (self.output / name).read_bytes()
            self.assertEqual(expected, hashlib.sha256(content).hexdigest(), name)
        wheel = next(name for name in sums if name.endswith(".whl"))
        self.assertTrue(wheel.endswith("-py3-none-any.whl"), wheel)
        with zipfile.ZipFile(self.output / wheel) as archive:
            self.assertIn(b'"7.8.9"', archive.read("tservice/__init__.py"))
            self.assertIn("tservice/static/index.html", archive.namelist())

    def test_refusal_names_the_rule(self) -> None:
        self.remove_changes()
        self.assertIn("x.y.z", self.release("7.8").stderr)
        self.assertIn("older", self.release("0.0.1").stderr)
        self.assertIn("newsfragments/ is empty", self.release("7.8.9").stderr)
        (self.clone / "stray").write_text("")
        self.assertIn("work tree has changes", self.release("0.1.0").stderr)
        self.assertFalse(self.output.exists())
