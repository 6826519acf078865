"""Memory and idle CPU with 1, 20 and 100 sessions against as many bare tmux servers."""

from __future__ import annotations

import time
from pathlib import Path

import psutil

from bench.baretmux import bare_servers
from bench.client import new_session
from bench.report import Row
from tests.integration.harness import DaemonHarness

RSS_LIMIT, CPU_LIMIT = 150.0, 1.0
"""Megabytes and per cent of one core that the daemon may need with 100 idle sessions."""

SESSION_LIMIT = 1.5
"""Megabytes that tmux' server and the keeper of one idle session may need together."""

WATCHED = 10.0
"""Seconds over which idle CPU is measured."""


def proportional(pids: list[int]) -> float:
    """Megabytes of memory that these processes need, shared pages counted once."""
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def family(pid: int) -> list[int]:
    """The process and its children: the control clients."""
    process = psutil.Process(pid)
    return [pid, *(child.pid for child in process.children(recursive=True))]


def keepers(daemon: DaemonHarness) -> list[int]:
    """What runs for the sessions beside their programs: keepers and tmux servers."""
    found: list[int] = []
    for session in daemon.request("GET", "/api/sessions").data():
        keeper = psutil.Process(session["pid"]).parent()
        server = None if keeper is None else keeper.parent()
        assert keeper is not None
        assert server is not None
        found += [keeper.pid, server.pid]
    return found


def cpu_percent(pids: list[int], seconds: float) -> float:
    """Per cent of one core that these processes used over C{seconds}."""
    before = sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)
    time.sleep(seconds)
    after = sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)
    return (after - before) / seconds * 100


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench; C{daemon} must have no sessions and room for 100."""
    rows: list[Row] = []
    made = 0
    for count in (1, 20, 100):
        for _ in range(count - made):
            new_session(daemon)
        made = count
        time.sleep(3)
        with bare_servers(count, ["sh"]) as servers:
            bare = proportional([server.pid for server in servers])
        rows.append(
            Row(
                name=f"memory of daemon and clients, {count} session(s)",
                ours=proportional(family(daemon.pid)),
                peer=bare,
                unit="MB",
                against=f"{count} bare tmux server(s)",
            )
        )
    own = proportional(keepers(daemon)) / made
    rss = psutil.Process(daemon.pid).memory_info().rss / 1e6
    idle = cpu_percent([daemon.pid], WATCHED)
    rows += [
        Row(
            name="tmux server and keeper of one session",
            ours=own,
            peer=SESSION_LIMIT,
            unit="MB",
            against="limit",
            at_most=1.0,
        ),
        Row(
            name="daemon RSS, 100 sessions",
            ours=rss,
            peer=RSS_LIMIT,
            unit="MB",
            against="limit",
            at_most=1.0,
        ),
        Row(
            name="daemon idle CPU, 100 sessions",
            ours=idle,
            peer=CPU_LIMIT,
            unit="%",
            against="limit",
            at_most=1.0,
        ),
    ]
    return rows
