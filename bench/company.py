"""A key's echo in company: idle sessions, viewers, a flood next door.  In turns, medians of rounds.

C{BENCH_TTYD} is as for C{against}; without it the flood's row has no promise.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path

from bench.against import Echo, Times, in_turns
from bench.client import Terminal, echo_times, new_session
from bench.report import Row
from bench.ttyd import HELLO, PROTOCOL, Ttyd
from tests.integration.harness import DaemonHarness

VIEWERS, VIEWED = 4, 1.3
"""So many other viewers, all that a session takes, may make its echo slower so many times."""
IDLE, IDLE_P50 = (50, 100), 1.2
"""So many idle sessions beside it may."""
LATER = 3.0
"""Milliseconds behind ttyd's 99th percentile, each beside a flood of its own."""
ENDLESS = "while :; do seq 1 100000; done"
INTERRUPT = "\x03"

READERS = """
import asyncio, sys
from websockets.asyncio.client import connect
url, count, protocol, hello = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
async def read(number, ready):
    options = {"subprotocols": [protocol]} if protocol else {}
    address = url.replace("NUMBER", str(number))
    async with connect(address, compression=None, max_size=None, **options) as socket:
        if hello:
            await socket.send(hello.encode())
        await socket.recv()
        ready.release()
        async for _ in socket:
            pass
async def main():
    ready = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(read(number, ready))
        for _ in range(count):
            await ready.acquire()
        print("ready", flush=True)
asyncio.run(main())
"""


@contextmanager
def readers(url: str, many: int, protocol: str = "", hello: str = "") -> Iterator[None]:
    """C{many} sockets that read all that comes; C{NUMBER} in the address is each one's own."""
    process = subprocess.Popen(
        [sys.executable, "-c", READERS, url, str(many), protocol, hello],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise RuntimeError("the readers did not connect")
        yield
    finally:
        process.terminate()
        process.communicate(timeout=10)


def viewers(daemon: DaemonHarness, session: str, many: int = 1) -> AbstractContextManager[None]:
    """So many sockets on a session's terminal."""
    url = daemon.url.replace("http", "ws", 1)
    return readers(f"{url}/ws/sessions/{session}/terminal?cid=viewerNUMBER", many)


@contextmanager
def flooded(daemon: DaemonHarness, session: str) -> Iterator[None]:
    """A session that prints without end, and somebody who looks at it."""
    terminal = Terminal(daemon, session, "flooding")
    try:
        terminal.type(ENDLESS + "\r")
        with viewers(daemon, session):
            yield
        terminal.type(INTERRUPT)
    finally:
        terminal.close()


@contextmanager
def flooded_ttyd(other: Ttyd) -> Iterator[None]:
    """The same in a ttyd and a tmux of its own."""
    other.type(ENDLESS)
    with readers(other.url, 1, PROTOCOL, HELLO):
        yield
    other.interrupt()


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    session, neighbour = new_session(daemon), new_session(daemon)
    numbers = count()

    def alone(keys: int) -> list[float]:
        return echo_times(daemon, session, keys, cid=f"company{next(numbers)}")

    def viewed(keys: int) -> list[float]:
        with viewers(daemon, session, VIEWERS):
            return alone(keys)

    def beside_flood(keys: int) -> list[float]:
        with flooded(daemon, neighbour):
            return alone(keys)

    parts: dict[str, Times] = {"alone": alone, "viewed": viewed, "flood": beside_flood}
    with ExitStack() as held:
        given = os.environ.get("BENCH_TTYD")
        if given is not None:
            ttyd, other = (held.enter_context(ttyd_of(given)) for _ in range(2))

            def ttyd_beside_flood(keys: int) -> list[float]:
                with flooded_ttyd(other):
                    return ttyd.echo_times(keys)

            parts["ttyd"] = ttyd_beside_flood
        found = in_turns(parts)
    rows = [
        slower(f"echo p50, {VIEWERS} viewers", found["viewed"], found["alone"], VIEWED),
        beside_flood_row(found["flood"], found.get("ttyd")),
    ]
    for idle in IDLE:
        while len(daemon.request("GET", "/api/sessions").data()) < idle + 2:
            new_session(daemon)
        after = in_turns({"ours": alone})["ours"]
        rows.append(
            slower(f"echo p50 beside {idle} idle sessions", after, found["alone"], IDLE_P50)
        )
    daemon.request("DELETE", "/api/sessions")
    return rows


@contextmanager
def ttyd_of(given: str) -> Iterator[Ttyd]:
    """One ttyd, ended at the end."""
    ttyd = Ttyd(Path(given))
    try:
        yield ttyd
    finally:
        ttyd.close()


def slower(name: str, crowded: Echo, alone: Echo, at_most: float) -> Row:
    """What company costs."""
    return Row(
        name=name, ours=crowded.p50, peer=alone.p50, unit="ms", against="alone", at_most=at_most
    )


def beside_flood_row(ours: Echo, ttyd: Echo | None) -> Row:
    """The slow ones while another session floods."""
    name = "echo p99 while another session floods"
    if ttyd is None:
        return Row(name=name, ours=ours.p99, peer=ours.p50, unit="ms", against="its median")
    against = f"ttyd and {LATER:g} ms"
    peer = ttyd.p99 + LATER
    return Row(name=name, ours=ours.p99, peer=peer, unit="ms", against=against, at_most=1.0)
