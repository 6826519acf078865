"""Run pytest, and run what failed once more, alone: C{python -m tests.retry [PYTEST ARGUMENT ...]}.

A test that passes the second time is printed as C{FLAKY} and counted, and the run is green.  With
more than L{MOST_RETRIED} failures nothing is run again: that is a fault, not chance.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAST_FAILED = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
MOST_RETRIED = 10
TESTS_FAILED = 1
"""Pytest's exit status when tests ran and some failed."""


def run_pytest(*arguments: str) -> int:
    """Run pytest in a process of its own; return its exit status."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False
    ).returncode


def read_failed() -> list[str]:
    """Return the ids of the tests that failed in the last run, in their order."""
    try:
        return sorted(json.loads(LAST_FAILED.read_text("utf-8")))
    except FileNotFoundError:
        return []


def main(arguments: Sequence[str]) -> int:
    """Return pytest's exit status, or 0 when every failed test passed alone."""
    LAST_FAILED.unlink(missing_ok=True)
    status = run_pytest(*arguments)
    failed = read_failed()
    if status != TESTS_FAILED or not failed or len(failed) > MOST_RETRIED:
        return status
    print(f"\n{len(failed)} failed; each runs once more, alone", flush=True)
    if run_pytest("-n", "0", *failed):
        return status
    for test in failed:
        print(f"FLAKY {test}")
    print(f"{len(failed)} flaky: failed once, passed alone", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
