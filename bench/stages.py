"""The ways of a key and of a new session by their stages: where the time goes."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from bench.client import Terminal, new_session, run_line, wait_output
from bench.report import Row, percentile
from tests.integration.harness import DaemonHarness

KEYS = 500
PAUSE = 0.02
"""Seconds between an echo and the next key."""

CREATIONS = 40

Places = tuple[tuple[str, str], ...]
"""What is passed, and what lies between the place before and this one."""

KEY: Places = (
    ("sent", ""),
    ("socket read", "to the service: TCP, a turn of its reactor"),
    ("message", "Autobahn reads the frame"),
    ("tmux write", "parsed, judged, numbered, put into a command"),
    ("tmux write done", "handed to tmux"),
    ("tmux read", "tmux, the program, a turn of the reactor"),
    ("socket write", "tmux's answer read, logged, framed"),
    ("socket write done", "handed to the socket"),
    ("received", "to the client"),
)
CREATION: Places = (
    ("sent", ""),
    ("record", "to the service: HTTP, who asks, the body"),
    ("record done", "its folder asked whether it answers, judged"),
    ("launch", "recorded on the disk, its place asked, the program chosen"),
    ("spawn", "the folder looked at, hooks and environment put in place"),
    ("spawn done", "tmux spawned"),
    ("attach done", "tmux' server, its client attached"),
    ("launch done", "the keeper's word"),
    ("received", "recorded, answered"),
)


class Probed(DaemonHarness):
    """One that notes when a key passes where."""

    preloaded = False

    def wrapped(self, command: list[str]) -> list[str]:
        return [sys.executable, "-m", "bench.probe", *command[3:]]


def run(_: DaemonHarness) -> list[Row]:
    """The rows of this bench, medians; each against the whole way."""
    daemon = Probed()
    # As systemd starts it.
    daemon.stands_in = Path("/")
    notes = daemon.folder / "stages.json"
    daemon.environment.update(
        BENCH_STAGES=str(notes), PYTHONPATH=str(Path(__file__).resolve().parents[1])
    )
    try:
        daemon.start()
        keys, creations = typed(daemon), created(daemon)
        daemon.stop()
        found = json.loads(notes.read_text("utf-8"))
    finally:
        daemon.close()
    return [
        *stages("a key", KEY, list(ways(KEY, keys, found)), "us", 1e6),
        *stages("a create", CREATION, list(ways(CREATION, creations, found)), "ms", 1e3),
    ]


def stages(
    name: str, places: Places, passed: Sequence[Sequence[float]], unit: str, scale: float
) -> list[Row]:
    """The rows of one kind of way, in a C{unit} of which a second has C{scale}."""
    whole = percentile([way[-1] - way[0] for way in passed], 0.5) * scale
    return [
        Row(
            name=f"{name}, {what}",
            ours=percentile([way[at + 1] - way[at] for way in passed], 0.5) * scale,
            peer=whole,
            unit=unit,
            against=f"its whole way ({len(passed)} of them)",
        )
        for at, (_, what) in enumerate(places[1:])
    ]


def typed(daemon: DaemonHarness) -> list[tuple[float, float]]:
    """When each key was sent and when its echo was received."""
    session = new_session(daemon)
    run_line(daemon, session, "printf 'mark%s' er; cat")
    wait_output(daemon, session, "marker", "buffer")
    terminal = Terminal(daemon, session)
    times = []
    for _ in range(KEYS):
        terminal.drain(PAUSE)
        started = time.perf_counter()
        terminal.type("a")
        terminal.next_bytes()
        times.append((started, time.perf_counter()))
    terminal.close()
    return times


def created(daemon: DaemonHarness) -> list[tuple[float, float]]:
    """When each session was asked for and when it was answered."""
    times = []
    for _ in range(CREATIONS):
        started = time.perf_counter()
        session = new_session(daemon)
        times.append((started, time.perf_counter()))
        daemon.request("DELETE", f"/api/sessions/{session}")
    return times


def ways(
    places: Places, sent_received: Sequence[tuple[float, float]], notes: Sequence[tuple[str, float]]
) -> Iterator[list[float]]:
    """When each passed each place; what passed one of them not at all is left out.

    What came between two places is the last that came before the later one: a read of tmux's that
    was the answer to the command is not the echo's.
    """
    for sent, received in sent_received:
        inside = [each for each in notes if sent <= each[1] <= received]
        way = [received]
        for place, _ in reversed(places[1:-1]):
            earlier = [at for name, at in inside if name == place and at <= way[0]]
            if not earlier:
                break
            way.insert(0, earlier[-1])
        else:
            way.insert(0, sent)
            if all(low <= high for low, high in pairwise(way)):
                yield way
