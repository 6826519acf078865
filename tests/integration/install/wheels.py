"""Wheels of this program: of this checkout, and of an older version from its history."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

from tests.integration.harness import ROOT

OLDER_VERSION = "0.0.9"
"""Version given to the older wheel."""
LIMIT = 600
"""Seconds that a build may take."""
_PARTS = (
    *("setup.py", "setup.cfg", "pyproject.toml", "MANIFEST.in", "README.rst", "LICENSE"),
    *("tservice", "twisted", "web", "etc", "man", "docs", "tools"),
    *("Containerfile", "compose.yaml", ".dockerignore"),
)
_SCRATCH = shutil.ignore_patterns("node_modules", "__pycache__", "dropin.cache", "dist")
_SCHEMA_STEPS = "tservice/*/schema/*.sql"


def run_program(*words: str, folder: Path = ROOT) -> str:
    """Run a program without this checkout on Python's path, and return its output.

    @raise AssertionError: it failed.
    """
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words, cwd=folder, env=environ, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    if done.returncode:
        raise AssertionError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def copy_sources(target: Path) -> None:
    """Copy what a wheel is built from; the page that was built here goes along."""
    target.mkdir()
    for name in _PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=_SCRATCH)
        elif source.exists():
            shutil.copy2(source, target / name)


def find_older_commit() -> str | None:
    """Return the last commit with an older schema of the database; C{None} without a history."""
    words = ("git", "-C", str(ROOT), "log", "-1", "--format=%H", "--diff-filter=A", "--")
    found = subprocess.run(
        [*words, _SCHEMA_STEPS], capture_output=True, text=True, timeout=LIMIT, check=False
    )
    return f"{found.stdout.strip()}^" if found.stdout.strip() else None


def copy_older_sources(commit: str, target: Path) -> None:
    """Write the sources of an older commit, with L{OLDER_VERSION}.

    Sessions do not depend on the page, so that of this checkout is taken: Node builds none.
    """
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit], capture_output=True, timeout=LIMIT, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(target, filter="data")
    version = target / "tservice/__init__.py"
    lines = version.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("__version__")]
    version.write_text("".join(kept) + f'__version__ = "{OLDER_VERSION}"\n')
    shutil.copytree(ROOT / "tservice/static", target / "tservice/static")
    run_program(sys.executable, "-m", "tools.generated", folder=target)
    mark = "import setup; setup.BUILT_FROM.write_text(setup.digest(setup.sources()))"
    run_program(sys.executable, "-c", mark, folder=target)


def build_wheel(source: Path, target: Path, *, is_isolated: bool = False) -> Path:
    """Build a wheel into a folder and return its path.

    @param is_isolated: true to build as a person does, with the required tools from the package
        index; false to use those of this environment.
    """
    options = [] if is_isolated else ["--no-build-isolation"]
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", *options)
    run_program(*pip, "--wheel-dir", str(target), str(source), folder=target.parent)
    (wheel,) = target.glob("*.whl")
    return wheel
