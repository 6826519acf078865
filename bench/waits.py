"""What waiting costs: a hook's way to its wait, a thousand parked waits, a needle in a flood."""

from __future__ import annotations

import json
import os
import re
import select
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.client import new_session, run_line
from bench.keptalive import Connection
from bench.report import Row, percentile
from tests.agents.mocks import install_mock
from tests.integration.harness import DaemonHarness

HOOK_LIMIT, MEMORY_LIMIT, WAKE_LIMIT, MATCH_LIMIT = 3.0, 40.0, 250.0, 50.0
"""Milliseconds; of C{MEMORY_LIMIT} megabytes."""

HOOKS, PARKED, CROWDS, MATCHES = 300, 1000, 5, 25
RATE = 10_000_000
"""Bytes that the flood prints a second."""

FLOOD = r"""
import json, os, random, sys, time
rate, marks, told = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
line = b"2026-01-01 12:00:00 INFO worker finished item with result ok and went on to the next\n"
block = line * 1500
dice, at, sent, number = random.Random(3), [], 0, 0
begun = time.monotonic()
due = begun + 2.0
while number < marks:
    size = int((time.monotonic() - begun) * rate) - sent
    if size > 0:
        sent += os.write(1, block[:size])
    if time.monotonic() >= due:
        text = b"\nneedle-%d-found\n" % number
        at.append(time.monotonic())
        os.write(1, text)
        number, due = number + 1, time.monotonic() + dice.uniform(0.6, 0.9)
    time.sleep(0.002)
with open(told + ".draft", "w") as file:
    json.dump({"at": at, "sent": sent, "seconds": time.monotonic() - begun}, file)
os.replace(told + ".draft", told)
"""


@contextmanager
def waiting_daemon() -> Iterator[DaemonHarness]:
    """A daemon of its own, whose memory is that of a fresh one, with room for the waits."""
    room = str(PARKED + 100)
    daemon = DaemonHarness(
        SERVICE_WAIT_MAX_PER_SESSION=room,
        SERVICE_WAIT_MAX_TOTAL=room,
        SERVICE_WAIT_MAX_PER_OWNER=room,
    )
    install_mock(daemon.folder / "bin", "claude")
    daemon.environment["PATH"] = f"{daemon.folder / 'bin'}:{os.environ['PATH']}"
    try:
        yield daemon.start()
    finally:
        daemon.close()


def agent(daemon: DaemonHarness) -> str:
    """A session of the primary mode, its agent played and idle; its id."""
    session = new_session(daemon, mode="primary")
    daemon.request("GET", f"/api/sessions/{session}/wait?until=idle&fresh=1").data()
    return session


def stop_hook(daemon: DaemonHarness, connection: Connection, session: str) -> None:
    """Send what the agent's hook sends at the end of a turn."""
    secret = (daemon.data / "hook-secret").read_text().strip()
    body = {"event": "stop", "sessionId": session, "data": {"hook_event_name": "Stop"}}
    connection.ask("POST", "/api/hook-event", body, {"X-Service-Hook-Secret": secret})


def parked(daemon: DaemonHarness) -> int:
    """How many waits the daemon holds, as its metrics say."""
    text = daemon.request("GET", "/metrics").body.decode()
    found = re.search(r"^tservice_parked_waits (\d+)", text, re.MULTILINE)
    assert found is not None, "the metrics have no parked waits"
    return int(found[1])


def until_parked(daemon: DaemonHarness, count: int) -> None:
    """Return once C{count} waits are held."""
    while parked(daemon) != count:
        time.sleep(0.01)


def hook_times(daemon: DaemonHarness, session: str) -> list[float]:
    """Milliseconds from a hook being sent to the end of the answer to the wait."""
    times = []
    with ExitStack() as held:
        waiter, hook = Connection(daemon), Connection(daemon)
        held.callback(waiter.close)
        held.callback(hook.close)
        for _ in range(HOOKS):
            waiter.ask("GET", f"/api/sessions/{session}/wait?until=stop&fresh=1")
            until_parked(daemon, 1)
            time.sleep(0.01)
            begun = time.perf_counter()
            stop_hook(daemon, hook, session)
            signal = waiter.answer()["wait"]["signal"]
            times.append((time.perf_counter() - begun) * 1000)
            assert signal == "stop", signal
            hook.answer()
    return times


def crowd(daemon: DaemonHarness, session: str) -> tuple[float, float]:
    """Megabytes that L{PARKED} waits and their connections add, and milliseconds to answer all."""
    process = psutil.Process(daemon.pid)
    before = process.memory_info().rss
    with ExitStack() as held:
        waiters = []
        for _ in range(PARKED):
            waiter = Connection(daemon)
            held.callback(waiter.close)
            waiters.append(waiter)
            waiter.ask("GET", f"/api/sessions/{session}/wait?until=stop&fresh=1&timeout=600000")
        until_parked(daemon, PARKED)
        grown = (process.memory_info().rss - before) / 1e6
        hook = Connection(daemon)
        held.callback(hook.close)
        begun = time.perf_counter()
        stop_hook(daemon, hook, session)
        last = answered_all(waiters)
        assert parked(daemon) == 0
    return grown, (last - begun) * 1000


def answered_all(waiters: list[Connection]) -> float:
    """Read every answer as it comes; the moment of the last one, by C{perf_counter}."""
    poll = select.epoll()
    by_number = {waiter.socket.fileno(): waiter for waiter in waiters}
    try:
        for number in by_number:
            poll.register(number, select.EPOLLIN)
        while by_number:
            for number, _ in poll.poll(30):
                signal = by_number.pop(number).answer()["wait"]["signal"]
                assert signal == "stop", signal
                poll.unregister(number)
        return time.perf_counter()
    finally:
        poll.close()


def match_times(daemon: DaemonHarness) -> tuple[list[float], float]:
    """Milliseconds from the write of a needle to the answer, and the flood's true bytes a second.

    The program in the pane notes the moment just before it writes the needle.
    """
    session = new_session(daemon)
    program, told = daemon.folder / "flood.py", daemon.folder / "flood.json"
    program.write_text(FLOOD, "utf-8")
    found = []
    waiter = Connection(daemon)
    run_line(daemon, session, f"{sys.executable} {program} {RATE} {MATCHES} {told}")
    try:
        for number in range(MATCHES):
            waiter.ask("GET", f"/api/sessions/{session}/wait-output?match=needle-{number}-found")
            matched = waiter.answer()["wait"]["matched"]
            found.append(time.monotonic())
            assert matched, number
    finally:
        waiter.close()
    noted = noted_by(told)
    daemon.request("DELETE", f"/api/sessions/{session}")
    times = [(end - begin) * 1000 for begin, end in zip(noted["at"], found, strict=True)]
    return times, noted["sent"] / noted["seconds"]


def noted_by(told: Path) -> dict[str, Any]:
    """What the flood wrote down at its end."""
    while not told.exists():
        time.sleep(0.01)
    noted: dict[str, Any] = json.loads(told.read_text("utf-8"))
    return noted


def within(name: str, ours: float, limit: float, unit: str = "ms") -> Row:
    """A figure that may not be over its limit."""
    return Row(name=name, ours=ours, peer=limit, unit=unit, against="limit", at_most=1.0)


def run(_: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    with waiting_daemon() as daemon:
        session = agent(daemon)
        hooks = hook_times(daemon, session)
        crowds = [crowd(daemon, session) for _ in range(CROWDS)]
        matches, rate = match_times(daemon)
    woken = [milliseconds for _, milliseconds in crowds]
    flood = Row(
        name="flood with a parked wait-output",
        ours=rate / 1e6,
        peer=RATE / 1e6,
        unit="MB/s",
        against="wanted",
        at_most=0.98,
        higher_is_better=True,
    )
    return [
        within("hook to wait answered, p50", percentile(hooks, 0.5), HOOK_LIMIT),
        within(f"memory of {PARKED} parked waits", crowds[0][0], MEMORY_LIMIT, "MB"),
        within(f"{PARKED} waits answered after an event, p50", percentile(woken, 0.5), WAKE_LIMIT),
        within(f"{PARKED} waits answered after an event, worst", max(woken), WAKE_LIMIT),
        flood,
        within("match in the flood, p50", percentile(matches, 0.5), MATCH_LIMIT),
        within("match in the flood, worst", max(matches), MATCH_LIMIT),
    ]
