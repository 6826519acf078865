"""A key's echo in C{tsctl attach}, against one over the socket that the browser uses."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bench.client import echo_times, new_session, run_line, wait_output
from bench.report import Row, percentile
from bench.tsctl import START
from tests.integration.harness import PATIENCE, DaemonHarness

COUNT, ROUNDS = 100, 3
ADDED_P50 = 1.0
"""Milliseconds that the terminal client may add to the socket's echo."""
QUIET = 0.02
"""Seconds without output between two keys."""


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench; taken in turns, so that the machine's moods meet both alike."""
    session = new_session(daemon)
    run_line(daemon, session, "printf 'mark%s' er; cat")
    wait_output(daemon, session, "marker", "buffer")
    attached: list[float] = []
    straight: list[float] = []
    for number in range(ROUNDS):
        straight += echo_times(daemon, session, COUNT, QUIET, f"bench{number}")
        with _attached(daemon, session) as terminal:
            attached += _echo_times(terminal)
    here, there = (percentile(times, 0.5) * 1000 for times in (attached, straight))
    return [
        Row(name="attach echo p50", ours=here, peer=there, unit="ms", against="the socket"),
        Row(name="attach echo p50, added", ours=max(here - there, 0.0), peer=ADDED_P50, unit="ms",
            against="limit", at_most=1.0),
    ]  # fmt: skip


@contextmanager
def _attached(daemon: DaemonHarness, session: str) -> Iterator[int]:
    """The other end of the terminal that C{tsctl attach} runs in."""
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", START, "attach", session],
        env={**daemon.environ(), "TSCTL_URL": daemon.url, "TERM": "xterm-256color"},
        stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        seen = b""
        while b"marker" not in seen:
            seen += _read(master, PATIENCE)
        yield master
    finally:
        process.terminate()
        # A terminal that nobody reads would hold up its end.
        while process.poll() is None:
            with suppress(TimeoutError):
                _read(master, QUIET)
        os.close(slave)
        os.close(master)


def _echo_times(terminal: int) -> list[float]:
    times = []
    for number in range(COUNT):
        with suppress(TimeoutError):
            while True:
                _read(terminal, QUIET)
        started = time.perf_counter()
        os.write(terminal, bytes((0x61 + number % 26,)))
        _read(terminal, PATIENCE)
        times.append(time.perf_counter() - started)
    return times


def _read(terminal: int, patience: float) -> bytes:
    """@raise TimeoutError: nothing came."""
    if not select.select([terminal], [], [], patience)[0]:
        raise TimeoutError
    return os.read(terminal, 65536)
