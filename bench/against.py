"""A key's way beside those of others, all in one run, in turns: medians of the rounds.

The goal is told against ttyd, the promise of the median is made against a bare WebSocket echo.
C{BENCH_TTYD} names a source tree of ttyd, or the program itself; without it that row is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median

from attrs import frozen

from bench import baretmux
from bench.client import echo_times, new_session
from bench.echo import websocket_times
from bench.report import Row, percentile
from bench.ttyd import Ttyd
from tests.integration.harness import DaemonHarness

ROUNDS, KEYS = 7, 60
TTYD_P50 = 1.5
"""Times ttyd's median that ours is to be; slower than its 99th percentile by L{LATER} at most."""
LATER = 2.0
BARE_P50 = 3.0
"""Times the median of a bare WebSocket echo, without tmux, that ours may be."""
BARE, TTYD = "bare WebSocket echo", "ttyd"

Times = Callable[[int], list[float]]


@frozen
class Echo:
    """Medians of all rounds, in milliseconds."""

    p50: float
    p99: float


def in_turns(parts: dict[str, Times]) -> dict[str, Echo]:
    """Measure all of them C{ROUNDS} times, one after another."""
    found: dict[str, list[list[float]]] = {name: [] for name in parts}
    for _ in range(ROUNDS):
        for name, times in parts.items():
            found[name].append([seconds * 1000 for seconds in times(KEYS)])
    return {
        name: Echo(*(median(percentile(each, share) for each in rounds) for share in (0.5, 0.99)))
        for name, rounds in found.items()
    }


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    session, numbers = new_session(daemon), count()

    def ours(keys: int) -> list[float]:
        return echo_times(daemon, session, keys, cid=f"against{next(numbers)}")

    parts: dict[str, Times] = {
        "ours": ours,
        BARE: websocket_times,
        "bare tmux client": baretmux.echo_times,
    }
    with ExitStack() as open_:
        given = os.environ.get("BENCH_TTYD")
        if given is not None:
            ttyd = Ttyd(Path(given))
            open_.callback(ttyd.close)
            parts[TTYD] = ttyd.echo_times
        found = in_turns(parts)
    ours_found = found.pop("ours")
    return [row for name, peer in found.items() for row in beside(ours_found, name, peer)]


def beside(ours: Echo, name: str, peer: Echo) -> list[Row]:
    """Ours against one peer."""
    promised = name == TTYD
    return [
        Row(
            name="echo p50, in turns",
            ours=ours.p50,
            peer=peer.p50,
            unit="ms",
            against=name,
            at_most=BARE_P50 if name == BARE else None,
            goal=TTYD_P50 if promised else None,
        ),
        Row(
            name="echo p99, in turns",
            ours=ours.p99,
            peer=peer.p99 + (LATER if promised else 0.0),
            unit="ms",
            against=f"{name} and {LATER:g} ms" if promised else name,
            at_most=1.0 if promised else None,
        ),
    ]
