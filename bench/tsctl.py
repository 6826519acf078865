"""What a start of C{tsctl} costs, against a start of Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
import time

from bench.report import Row, percentile
from tests.integration.harness import DaemonHarness

TIMES = 30
LIMIT = 150.0
"""Milliseconds."""

START = "from tservice.client.ctl import main; main()"


def taken(daemon: DaemonHarness, *words: str) -> float:
    """Milliseconds from starting a Python process to its end."""
    environ = {**daemon.environ(), "TSCTL_URL": daemon.url}
    started = time.perf_counter()
    subprocess.run([sys.executable, *words], env=environ, check=True, capture_output=True)
    return (time.perf_counter() - started) * 1000


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench; taken in turns, so that the machine's moods meet all alike."""
    nothing, version, listed = [], [], []
    for _ in range(TIMES):
        nothing.append(taken(daemon, "-c", "pass"))
        version.append(taken(daemon, "-c", START, "--version"))
        listed.append(taken(daemon, "-c", START, "ls"))
    python = percentile(nothing, 0.5)
    return [
        Row(name="tsctl --version, p50", ours=percentile(version, 0.5), peer=python, unit="ms",
            against="python -c pass"),
        Row(name="tsctl ls, p50", ours=percentile(listed, 0.5), peer=python, unit="ms",
            against="python -c pass"),
        Row(name="tsctl --version, p50", ours=percentile(version, 0.5), peer=LIMIT, unit="ms",
            against="limit", at_most=1.0),
    ]  # fmt: skip
