"""A flood to one socket: when its end is there, and how much of it came.  In turns, medians.

The goal is told against a tmux pane that nobody reads, which control mode does not reach; the
promise is made against a control client that does nothing but read.  ttyd is beside them where
C{BENCH_TTYD} names it as for C{against}.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median

from attrs import frozen

from bench.baretmux import flood_seconds, unread_seconds
from bench.client import Terminal, new_session
from bench.company import ttyd_of
from bench.report import Row
from tests.integration.harness import DaemonHarness

ROUNDS = 7
NUMBERS, SEQ_GOAL = 1_000_000, 1.2
LINES, WIDTH, CAT_GOAL = 500_000, 100, 1.3
"""Lines of the file, and bytes of each; times the bare pane that a flood is to take."""
CLIENT_AT_MOST = 1.4
"""Times the bare control client that a flood may take."""
END = b"flood-ended"
ECHO_END = "echo flood-''ended"
UNREAD, CLIENT = "a tmux pane that nobody reads", "one bare tmux client"


@frozen
class Flood:
    """A command, and the lines that it prints."""

    name: str
    command: str
    lines: frozenset[bytes]
    goal: float


def floods(folder: Path) -> list[Flood]:
    """Both; a file is written into C{folder}."""
    numbers = [b"%d" % number for number in range(1, NUMBERS + 1)]
    filling = b"the quick brown fox jumps over the lazy dog " * 3
    lines = [(b"%d " % number + filling)[: WIDTH - 1] for number in range(LINES)]
    path = folder / "fifty-megabytes"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return [
        Flood(f"seq 1 {NUMBERS}", f"seq 1 {NUMBERS}", frozenset(numbers), SEQ_GOAL),
        Flood("cat of 50 MB", f"cat {path}", frozenset(lines), CAT_GOAL),
    ]


def read(terminal: Terminal, command: str) -> tuple[float, bytes]:
    """Seconds until the end is seen of what a command prints, and all of it."""
    terminal.drain(0.2)
    pieces: list[bytes] = []
    tail = b""
    started = time.perf_counter()
    terminal.type(f"{command}; {ECHO_END}\r")
    while END not in tail:
        pieces.append(terminal.next_bytes(60))
        tail = tail[-len(END) :] + pieces[-1]
    return time.perf_counter() - started, b"".join(pieces)


def lines_of(printed: bytes) -> set[bytes]:
    """The lines of an output, each without what the shell wrote at its beginning."""
    return {line.rpartition(b"\r")[2] for line in printed.split(b"\r\n")}


def measure(
    daemon: DaemonHarness, flood: Flood, others: dict[str, Callable[[str], float]]
) -> list[Row]:
    """The rows of one flood."""
    session, numbers = new_session(daemon), count()
    seconds: dict[str, list[float]] = {name: [] for name in others}
    ours: list[float] = []
    shares: list[float] = []
    for _ in range(ROUNDS):
        terminal = Terminal(daemon, session, f"delivery{next(numbers)}")
        try:
            took, printed = read(terminal, flood.command)
        finally:
            terminal.close()
        ours.append(took)
        shares.append(100 * len(flood.lines & lines_of(printed)) / len(flood.lines))
        for name, timed in others.items():
            seconds[name].append(timed(flood.command))
    daemon.request("DELETE", f"/api/sessions/{session}")
    ends = [
        Row(
            name=f"{flood.name}, end marker",
            ours=median(ours),
            peer=median(taken),
            unit="s",
            against=name,
            at_most=CLIENT_AT_MOST if name == CLIENT else None,
            goal=flood.goal if name == UNREAD else None,
        )
        for name, taken in seconds.items()
    ]
    whole = Row(
        name=f"{flood.name}, lines delivered",
        ours=min(shares),
        peer=100.0,
        unit="%",
        against="all of them",
        at_most=1.0,
        higher_is_better=True,
    )
    return [*ends, whole]


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    others: dict[str, Callable[[str], float]] = {
        UNREAD: unread_seconds,
        CLIENT: lambda command: flood_seconds(f"{command}; {ECHO_END}", END),
    }
    given = os.environ.get("BENCH_TTYD")
    with ExitStack() as held:
        if given is not None:
            ttyd = held.enter_context(ttyd_of(given))
            others["ttyd"] = lambda command: ttyd.seconds_until(f"{command}; {ECHO_END}", END)
        return [row for flood in floods(daemon.home) for row in measure(daemon, flood, others)]
