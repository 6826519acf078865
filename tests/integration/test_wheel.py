"""The wheel that people install: what is in it, and that C{twistd} finds the plugin there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from unittest.mock import patch

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import ROOT, TWISTD
from tests.package_files import package_files
from tservice.mux.tmux.compiled_keeper import find_compiled_keeper

PARTS = ("setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in", "README.rst", "LICENSE")
FOLDERS = ("tservice", "twisted", "web", "etc", "man", "docs", "tools")
SCRATCH = shutil.ignore_patterns("node_modules", "__pycache__", "dropin.cache", "dist")
LIMIT = 300
"""Seconds for a build, which may have to build the UI first."""


def run(*words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program here, without this checkout on Python's path."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environ["PYTHONPATH"] = path
    return subprocess.run(
        words, env=environ, capture_output=True, text=True, timeout=LIMIT, check=False
    )


@pytest.mark.long
class WheelTests(SynchronousTestCase):
    def setUp(self) -> None:
        source = Path("source").absolute()
        source.mkdir()
        for name in PARTS:
            shutil.copy(ROOT / name, source)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, source / name, ignore=SCRATCH)
        self.source = source

    def build(self) -> Path:
        """The wheel, built with the tools of this environment, so that nothing is fetched."""
        pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
        built = run(*pip, "--wheel-dir", "wheels", str(self.source))
        self.assertEqual(0, built.returncode, built.stdout + built.stderr)
        (wheel,) = Path("wheels").glob("*.whl")
        return wheel

    def test_wheel_holds_its_files_and_twistd_finds_the_plugin(self) -> None:
        wheel = self.build()
        names = set(zipfile.ZipFile(wheel).namelist())
        wanted = {
            "tservice/static/index.html",
            "tservice/clis/agents/claude/entry.yaml",
            "tservice/mux/tmux/tmux.conf",
            "twisted/plugins/tservice_plugin.py",
            *(str(path) for path in package_files() if "tservice-keeper" not in path.name),
        }
        self.assertEqual(set(), wanted - names)
        self.assertTrue(any(name.endswith("/share/man/man8/tservice.8") for name in names))
        strangers = {name.split("/")[0] for name in names if ".dist-info/" not in name}
        strangers = {name for name in strangers if not name.endswith(".data")}
        self.assertEqual({"tservice", "twisted"}, strangers)

        pip = (sys.executable, "-m", "pip", "install", "--no-deps", "--no-index")
        installed = run(*pip, "--target", "installed", str(wheel))
        self.assertEqual(0, installed.returncode, installed.stderr)
        helped = run(*TWISTD, "-n", "tservice", "--help", path=str(Path("installed").absolute()))
        self.assertEqual(0, helped.returncode, helped.stderr)
        self.assertIn("--data-dir=", helped.stdout)
        self.check_keeper(wheel.name, Path("installed/tservice/mux/tmux/tservice-keeper"))

    def check_keeper(self, name: str, program: Path) -> None:
        """With a compiler it is there, and the wheel is for machines of this kind."""
        compiled = any(map(shutil.which, ("cc", "gcc", "clang")))
        self.assertEqual(compiled, program == find_compiled_keeper(sys.executable, [program]))
        self.assertEqual(not compiled, name.endswith("-py3-none-any.whl"), name)

    def test_wheel_built_without_a_compiler_is_platform_independent(self) -> None:
        (self.source / "tservice/mux/tmux/tservice-keeper").unlink(missing_ok=True)
        with patch.dict(os.environ, {"CC": "no-such-compiler"}):
            wheel = self.build()
        self.assertTrue(wheel.name.endswith("-py3-none-any.whl"), wheel.name)
        self.assertIn("tservice/mux/tmux/keeper.py", zipfile.ZipFile(wheel).namelist())

    def test_failing_ui_build_fails_the_wheel_build(self) -> None:
        (self.source / "web" / "package.json").write_text("{ this is no JSON")
        shutil.rmtree(self.source / "tservice" / "static", ignore_errors=True)
        pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
        built = run(*pip, str(self.source))
        self.assertEqual(1, built.returncode)
        self.assertIn("npm ci --no-audit --no-fund failed", built.stdout + built.stderr)
