"""Keystroke echo of one session while the repositories of another are read over and over.

The peer is the same echo while bare git reads the same repositories beside the service: the
processors are then as busy, and what is left is what the service's own reactor was held up.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.client import echo_times, new_session, run_line, wait_output
from bench.gitstatus import bare, make_repository
from bench.report import Row, percentile
from tests.integration.harness import DaemonHarness

REPOSITORIES, FILES = 12, 2000
COUNT, ROUNDS = 100, 3
"""Keys of one measurement, and measurements of each kind, taken in turns."""
ADDED_P50, ADDED_P99 = 1.0, 5.0
"""Milliseconds that an echo may take longer than beside bare git, as for an idle machine."""


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[list[int]]:
    """C{work} over and over in a thread; gives a list with one entry for each time.

    @raise RuntimeError: it failed, or was not done once.
    """
    over, done, failed = threading.Event(), list[int](), list[BaseException]()

    def loop() -> None:
        try:
            while not over.is_set():
                work()
                done.append(1)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()
    if failed or not done:
        raise RuntimeError(f"the work beside failed: {failed}")


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    folder = Path(tempfile.mkdtemp(prefix="gitecho-")).resolve()
    try:
        roots = [folder / str(number) for number in range(REPOSITORIES)]
        for root in roots:
            make_repository(root, FILES)
        return _rows(daemon, folder, roots)
    finally:
        shutil.rmtree(folder)


def _rows(daemon: DaemonHarness, folder: Path, roots: list[Path]) -> list[Row]:
    typed = new_session(daemon)
    run_line(daemon, typed, "printf 'mark%s' er; cat")
    wait_output(daemon, typed, "marker", "buffer")
    read = new_session(daemon, workingDir=str(folder))
    here, peer = list[float](), list[float]()
    for number in range(ROUNDS):
        with beside(lambda: bare(roots)):
            peer += _echoes(daemon, typed, f"bare-{number}")
        with beside(lambda: _status(daemon, read)):
            here += _echoes(daemon, typed, f"ours-{number}")
    return [
        row
        for name, share, limit in (("p50", 0.5, ADDED_P50), ("p99", 0.99, ADDED_P99))
        for row in _compared(name, percentile(here, share), percentile(peer, share), limit)
    ]


def _compared(name: str, ours: float, peer: float, limit: float) -> list[Row]:
    what = f"echo {name} while {REPOSITORIES} repositories are read"
    return [
        Row(name=what, ours=ours, peer=peer, unit="ms", against="bare git beside it"),
        Row(
            name=f"{what}, added",
            ours=max(ours - peer, 0.0),
            peer=limit,
            unit="ms",
            against="limit",
            at_most=1.0,
        ),
    ]


def _echoes(daemon: DaemonHarness, session: str, cid: str) -> list[float]:
    return [seconds * 1000 for seconds in echo_times(daemon, session, COUNT, cid=cid)]


def _status(daemon: DaemonHarness, session: str) -> None:
    found = daemon.request("GET", f"/api/sessions/{session}/git-status?fresh=1").data()
    states = {repo["status"]["state"] for repo in found["repos"]}
    if len(found["repos"]) != REPOSITORIES or states != {"ok"}:
        raise RuntimeError(f"not measured: {found['state']} {states}")
