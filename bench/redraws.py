"""Processor time of the daemon for agents that redraw their screen ten times a second."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from bench.client import new_session
from bench.footprint import cpu_percent
from bench.report import Row
from tests.frames import capture
from tests.integration.harness import DaemonHarness

AGENTS, TIMES = 50, 10
"""The number of agents, and how often each of them draws its whole screen in a second."""

LIMIT = 12.0
"""Per cent of one core that the daemon may need for them."""

WARM, WATCHED = 6.0, 20.0
"""Seconds before the measurement, in which the agents start, and seconds of the measurement."""

SCREENS = (("a running turn", "120x40_busy_later", 1.0), ("a dialog", "120x40_bash_dialog", None))
"""Recorded screens of Claude Code that are drawn, with colours, and the ratio that is promised. A
dialog is captured 2.5 times as often, but 50 dialogs do not wait and change at once.
"""

# No capture equals the one before.
AGENT = """#!{python} -SE
import itertools, sys, time
if "--version" in sys.argv:
    print("2.1.0 (Claude Code)")
    sys.exit()
screen = open({screen!r}, newline="").read().rstrip("\\n").replace("\\n", "\\x1b[K\\r\\n")
for spinner in itertools.cycle("✢✳✶✻✽"):
    drawn = screen.replace("Welcome back!", "Welcome back" + spinner)
    print("\\x1b[H\\x1b[0m" + drawn, end="", flush=True)
    time.sleep(1 / {times})
"""


def run(_: DaemonHarness) -> list[Row]:
    """Return one row for each screen."""
    return [_measure_redraws(*each) for each in SCREENS]


def _measure_redraws(what: str, name: str, at_most: float | None) -> Row:
    daemon = DaemonHarness(
        SERVICE_MAX_SESSIONS=str(AGENTS), SERVICE_MAX_SESSIONS_PER_USER=str(AGENTS)
    )
    # As systemd starts it.
    daemon.stands_in = Path("/")
    programs = daemon.folder / "bin"
    programs.mkdir()
    screen = str(capture("claude", name, ansi=True))
    agent = programs / "claude"
    agent.write_text(AGENT.format(python=sys.executable, screen=screen, times=TIMES), "utf-8")
    agent.chmod(0o755)
    daemon.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    try:
        daemon.start()
        for _ in range(AGENTS):
            new_session(daemon, mode="primary")
        time.sleep(WARM)
        used = cpu_percent([daemon.pid], WATCHED)
    finally:
        daemon.close()
    return Row(
        name=f"daemon CPU, {AGENTS} agents that draw {what} {TIMES} times a second",
        ours=used,
        peer=LIMIT,
        unit="%",
        against="limit",
        at_most=at_most,
    )
