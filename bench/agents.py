"""Memory and CPU of the service with 1, 20 and 50 agents that work.

The agents are played: each draws its spinner and counts its tokens as a real one does, so the
service reads as much. What agents need themselves is not counted; a real one is measured for that.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psutil

from bench.footprint import WATCHED, cpu_percent, family, keepers, proportional
from bench.report import Row
from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.mock_tui.scenario import MockScenario
from tests.agents.recipes import RunLocation, claude
from tests.agents.stub_model import StubProcess
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness
from tests.waiting import wait_until

COUNTS = (1, 20, 50)
BASE, EACH = 130.0, 4.0
"""Megabytes that the service may need, and those for each agent."""
BUSY = 2.5
"""Per cent of one core that the service may need for each agent that draws its spinner."""
SETTLE = 20.0
"""Seconds that a real agent gets to start before its memory is read."""


def run(_daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench, with a daemon of its own that finds the played agents."""
    rows: list[Row] = []
    memory: list[float] = []
    sessions: list[PlayedSession] = []
    with closing(played_daemon()) as daemon:
        daemon.environment |= {
            "SERVICE_MAX_SESSIONS": "60",
            "SERVICE_MAX_SESSIONS_PER_USER": "60",
        }
        daemon.start()
        for count in COUNTS:
            while len(sessions) < count:
                sessions.append(_start_working(daemon))
            pids = [*family(daemon.pid), *keepers(daemon)]
            used = cpu_percent(pids, WATCHED)
            memory.append(proportional(pids))
            rows += _make_rows(count, memory[-1], used)
    each = (memory[-1] - memory[0]) / (COUNTS[-1] - COUNTS[0])
    real = _measure_real_agent()
    if real is not None:
        rows.append(
            Row(
                name="service's memory for each further agent",
                ours=each,
                peer=real,
                unit="MB",
                against="one Claude Code, just started",
            )
        )
    return rows


def _start_working(daemon: DaemonHarness) -> PlayedSession:
    """Start an agent that works for an hour."""
    session = PlayedSession(daemon, "primary", MockScenario(trust=False))
    session.prompt("THINK: 3600")
    wait_until("the agent works", lambda: session.record()["status"] == "busy")
    return session


def _make_rows(count: int, memory: float, used: float) -> list[Row]:
    name = f"service with {count} working agent(s)"
    return [
        Row(
            name=f"{name}, memory",
            ours=memory,
            peer=BASE + EACH * count,
            unit="MB",
            against="limit",
            at_most=1.0,
        ),
        Row(
            name=f"{name}, CPU",
            ours=used,
            peer=max(1.0, BUSY * count),
            unit="%",
            against="limit, of one core",
            at_most=1.0,
        ),
    ]


def _measure_real_agent() -> float | None:
    """Return the megabytes of one real Claude Code at its first screen; C{None} without one."""
    try:
        program = install_cli("claude", os.environ).binary
    except CliUnavailable:
        return None
    with tempfile.TemporaryDirectory() as folder, StubProcess() as stub:
        home = Path(folder)
        place = RunLocation(home=home, work=home, url=f"http://127.0.0.1:{stub.port}")
        environ = {**claude(place, trusted=True).env, "HOME": folder, "PATH": os.environ["PATH"]}
        tmux = ("tmux", "-S", str(home / "tmux.sock"), "-f", "/dev/null")
        words = ["new-session", "-d", "-x", "120", "-y", "40", "-c", folder, str(program)]
        subprocess.run([*tmux, *words], env=environ, check=True)
        time.sleep(SETTLE)
        shown = [*tmux, "display-message", "-p", "#{pane_pid}"]
        pid = int(subprocess.run(shown, capture_output=True, text=True, check=True).stdout)
        own = proportional([pid, *(each.pid for each in psutil.Process(pid).children(True))])
        subprocess.run([*tmux, "kill-server"], check=True)
    return own
