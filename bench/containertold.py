"""How soon what befalls a container is told to the sessions in it, and as what."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench.report import Row
from tests.integration.harness import DaemonHarness
from tests.sshd import find_children
from tests.waiting import wait_until

TOLD = 3.0
"""Seconds that it may take."""
NAME = "service-case-box"

_ACTS: Sequence[tuple[str, tuple[str, ...], str]] = (
    ("is paused", ("pause", NAME), "its container is paused"),
    ("runs again", ("unpause", NAME), "its container runs again"),
    ("is killed", ("kill", NAME), "its container was killed"),
    ("is stopped", ("stop", NAME), "its container was stopped"),
    ("is removed", ("rm", "--force", "--time", "0", NAME), "its container was removed"),
)


def told_rows(daemon: DaemonHarness, session: str, podman: Callable[..., str]) -> Iterator[Row]:
    """One row for each, from the moment at which the engine is told to do it.

    @param session: one in a container.
    """
    path = f"/api/sessions/{session}"

    def told(words: tuple[str, ...], reason: str) -> float:
        if daemon.request("GET", path).data()["pid"] is None:
            daemon.request("POST", f"{path}/start", {}).data()
        began = time.perf_counter()
        podman(*words)
        wait_until(reason, lambda: daemon.request("GET", path).data().get("statusReason") == reason)
        return time.perf_counter() - began

    def row(name: str, seconds: float) -> Row:
        label = f"a container {name}, until it is told"
        return Row(name=label, ours=seconds, peer=TOLD, unit="s", against="goal", at_most=1.0)

    for name, words, reason in _ACTS[:2]:
        yield row(name, told(words, reason))
    for name, words, reason in _ACTS[:2]:
        deafen(daemon)
        yield row(f"{name} while its engine is deaf", told(words, reason))
    for name, words, reason in _ACTS[2:]:
        yield row(name, told(words, reason))


def deafen(daemon: DaemonHarness) -> None:
    """End what the service hears its engine by, as the end of an engine would."""

    def listening() -> list[int]:
        found = []
        for pid in find_children(daemon.pid):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            found += [pid] if b"events" in words else []
        return found

    for pid in wait_until("a stream of events", listening):
        os.kill(pid, signal.SIGKILL)
