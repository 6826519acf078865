"""Cold start, creation to first output, and 100 sessions taken up after a crash."""

from __future__ import annotations

import time

from bench.baretmux import created_seconds
from bench.client import Terminal, new_session
from bench.report import Row, percentile
from tests.integration.harness import DaemonHarness

SESSIONS = 100
START_LIMIT, CREATE_LIMIT, ADOPT_LIMIT = 930.0, 35.0, 2000.0
"""Milliseconds."""


def first_answer(daemon: DaemonHarness) -> float:
    """Milliseconds from starting the process to the first answer of C{/healthz}."""
    started = time.perf_counter()
    daemon.start()
    daemon.request("GET", "/healthz")
    return (time.perf_counter() - started) * 1000


def create_to_prompt(daemon: DaemonHarness) -> float:
    """Milliseconds from asking for a session to the first byte of its prompt."""
    started = time.perf_counter()
    session = new_session(daemon)
    path = f"/api/sessions/{session}/terminal"
    while not daemon.request("GET", path).data()["terminalBuffer"].strip():
        time.sleep(0.001)
    seconds = time.perf_counter() - started
    daemon.request("DELETE", f"/api/sessions/{session}")
    return seconds * 1000


def adopted_after_kill(daemon: DaemonHarness) -> float:
    """Milliseconds from the start after a kill -9 until all sessions have their process again."""
    ids = {session["id"] for session in daemon.request("GET", "/api/sessions").data()}
    daemon.kill()
    started = time.perf_counter()
    daemon.start()
    while True:
        found = daemon.request("GET", "/api/sessions").data()
        if {session["id"] for session in found if session["pid"]} == ids:
            break
        time.sleep(0.005)
    taken = (time.perf_counter() - started) * 1000
    Terminal(daemon, min(ids)).close()
    return taken


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench; C{daemon} gets as many sessions as it has not, and is restarted."""
    for _ in range(SESSIONS - len(daemon.request("GET", "/api/sessions").data())):
        new_session(daemon)
    adopted = adopted_after_kill(daemon)
    daemon.request("DELETE", "/api/sessions")
    creates = [create_to_prompt(daemon) for _ in range(20)]
    starts = []
    for _ in range(5):
        daemon.stop()
        starts.append(first_answer(daemon))

    def against_limit(name: str, ours: float, limit: float) -> Row:
        return Row(name=name, ours=ours, peer=limit, unit="ms", against="limit", at_most=1.0)

    made = percentile(creates, 0.5)
    bare = percentile([created_seconds() * 1000 for _ in range(10)], 0.5)
    return [
        Row(
            name="create to first prompt byte, p50",
            ours=made,
            peer=bare,
            unit="ms",
            against="a tmux server, started by hand",
        ),
        against_limit("100 sessions taken up after kill -9", adopted, ADOPT_LIMIT),
        against_limit("create to first prompt byte, p50", made, CREATE_LIMIT),
        against_limit("cold start to first answer, p50", percentile(starts, 0.5), START_LIMIT),
    ]
