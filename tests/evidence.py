"""Logs, screens and pictures of a test that failed, in one folder.

What can tell of a failure is announced while it is open: a daemon's log, the screens of its
panes, a page.  When a test fails, before its clean-up, each announced source is read into
C{build/test-failures/RUN/TEST/}, and the ends of the texts go into pytest's report.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FAILURES = ROOT / "build" / "test-failures"
VARIABLE = "TSERVICE_TEST_FAILURES"
"""Names this run's folder to the processes of the run."""

KEPT_RUNS = 5
TAIL_LINES = 40

Files = Iterator[tuple[str, bytes]]
Source = Callable[[], Files]
"""Yields file names and contents."""

_sources: dict[object, Source] = {}
_items: list[pytest.Item] = []


def begin_run() -> None:
    """Choose the folder of this run, and remove those of old runs."""
    runs = sorted(FAILURES.glob("*")) if FAILURES.is_dir() else []
    for old in runs[: -KEPT_RUNS + 1]:
        shutil.rmtree(old, ignore_errors=True)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    os.environ[VARIABLE] = str(FAILURES / name)


def begin_test(item: pytest.Item) -> None:
    """Remember which test runs: its report gets what is found."""
    _items[:] = [item]


def register_source(owner: object, source: Source) -> None:
    """Read C{source} if a test fails before L{unregister_source} is called with the same owner."""
    _sources[owner] = source


def unregister_source(owner: object) -> None:
    """Forget the source of C{owner}: it is closed."""
    _sources.pop(owner, None)


def collect_evidence(test: str) -> None:
    """Write what every open source has to tell of C{test}."""
    if VARIABLE not in os.environ or not _sources:
        return
    folder = Path(os.environ[VARIABLE]) / re.sub(r"[^\w.-]+", "_", test)[-150:]
    folder.mkdir(parents=True, exist_ok=True)
    ends = [f"all of it: {folder.relative_to(ROOT)}"]
    for name, content in list(_read_sources()):
        path = folder / name
        path.write_bytes(content)
        if path.suffix in (".txt", ".log"):
            lines = content.decode("utf-8", "replace").rstrip().splitlines()
            ends += [f"--- {name}", *lines[-TAIL_LINES:]]
    for item in _items:
        item.add_report_section("call", "evidence", "\n".join(ends))


def _read_sources() -> Files:
    for number, source in enumerate(list(_sources.values()), 1):
        try:
            for name, content in source():
                yield f"{number}-{name}", content
        except Exception:
            # The test's own failure is what must be reported, whatever a source does.
            yield f"{number}-unreadable.txt", traceback.format_exc().encode()


def read_screens(folder: Path) -> Files:
    """Yield the screen of each tmux server whose socket lies in C{folder}."""
    for socket in sorted(folder.glob("*.sock")):
        try:
            done = subprocess.run(
                ["tmux", "-N", "-u", "-S", str(socket), "capture-pane", "-p"],
                capture_output=True,
                timeout=5,
                check=False,
            )
        except subprocess.TimeoutExpired:
            yield f"screen-{socket.stem}.txt", b"tmux gave no answer within 5 s"
        else:
            yield f"screen-{socket.stem}.txt", done.stdout + done.stderr


def watch_case(case: Any) -> None:
    """Collect evidence when this test case fails, before it cleans up."""
    run = case.run

    def run_collecting(result: Any = None) -> Any:
        return run(_EvidenceResult(result))

    case.run = run_collecting


class _EvidenceResult:
    """A result that collects evidence when a test fails, and passes everything on."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)

    def addError(self, test: Any, error: Any) -> None:
        collect_evidence(test.id())
        self._result.addError(test, error)

    def addFailure(self, test: Any, error: Any) -> None:
        collect_evidence(test.id())
        self._result.addFailure(test, error)
