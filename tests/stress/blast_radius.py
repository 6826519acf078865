"""Kill or stop a tmux server, a client or a pane under load: one session pays, no other.

C{python -m tests.stress.blast_radius --rounds 10 --seed 1}
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from bench.client import Terminal, new_session, run_line
from tests.integration.harness import PATIENCE, DaemonHarness
from tests.stress.command import report

SESSIONS = 6
LOAD = "while :; do seq 1 200; sleep 0.05; done"


def server_of(daemon: DaemonHarness, session: str) -> int:
    """The tmux server that holds the session's pane."""
    pane = psutil.Process(pane_of(daemon, session))
    return next(parent.pid for parent in pane.parents() if "tmux" in parent.name())


def client_of(daemon: DaemonHarness, session: str) -> int:
    """The daemon's control client on that session."""
    for child in psutil.Process(daemon.pid).children():
        with suppress(psutil.Error):  # others come and go
            if any(session in word for word in child.cmdline()):
                return child.pid
    raise AssertionError(f"no client of {session}")


def pane_of(daemon: DaemonHarness, session: str) -> int:
    """The process in the pane."""
    pid = read_session(daemon, session)["pid"]
    assert isinstance(pid, int)
    return pid


def read_session(daemon: DaemonHarness, session: str) -> dict[str, Any]:
    """The session's record."""
    record: dict[str, Any] = daemon.request("GET", f"/api/sessions/{session}").data()
    return record


def press_key(daemon: DaemonHarness, session: str, key: str) -> bool:
    """Press a key; false when the terminal could not take it just now."""
    answer = daemon.request("POST", f"/api/sessions/{session}/send-key", {"key": key})
    if answer.status not in (200, 422):
        raise AssertionError(f"{answer.status}: {answer.body!r}")
    return answer.status == 200


def seconds_until(what: str, holds: Callable[[], bool]) -> float:
    """Seconds until it holds.

    @raise AssertionError: it does not come to hold.
    """
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > PATIENCE:
            raise AssertionError(f"never: {what}")
        time.sleep(0.02)
    return time.monotonic() - started


def has_answered(daemon: DaemonHarness, session: str, seconds: int) -> bool:
    """Whether the session runs a line within C{seconds}."""
    word = f"alive{time.monotonic_ns()}"
    run_line(daemon, session, f"echo {word[:5]}''{word[5:]}")
    query = f"match={word}&from=buffer&timeout={seconds * 1000}"
    found = daemon.request("GET", f"/api/sessions/{session}/wait-output?{query}").data()
    return bool(found["wait"]["matched"])


def expect_answer(daemon: DaemonHarness, session: str) -> None:
    """The session runs a line.

    @raise AssertionError: it does not.
    """
    if not has_answered(daemon, session, round(PATIENCE) - 5):
        screen = daemon.request("GET", f"/api/sessions/{session}/terminal").data()
        raise AssertionError(f"{session} does not answer: {screen['terminalBuffer'][-300:]!r}")


def goes_on(daemon: DaemonHarness, session: str) -> bool:
    """Whether the load can be ended and the session runs a line.

    A Ctrl-C that comes between two programs of the loop may hit neither, so it is to be repeated.
    """
    return press_key(daemon, session, "C-c") and has_answered(daemon, session, 10)


def kill_server(daemon: DaemonHarness, session: str) -> str:
    """The session's process is gone, and nobody knows how it ended."""
    os.kill(server_of(daemon, session), signal.SIGKILL)
    seconds_until("pid null", lambda: read_session(daemon, session)["pid"] is None)
    if "paneExit" in read_session(daemon, session):
        raise AssertionError(read_session(daemon, session)["paneExit"])
    return "ended"


def kill_pane(daemon: DaemonHarness, session: str) -> str:
    """The session's process is gone, and its signal is known."""
    os.kill(pane_of(daemon, session), signal.SIGKILL)
    seconds_until("pid null", lambda: read_session(daemon, session)["pid"] is None)
    if read_session(daemon, session)["paneExit"].get("signal") != "SIGKILL":
        raise AssertionError(read_session(daemon, session)["paneExit"])
    return "ended"


def kill_client(daemon: DaemonHarness, session: str) -> str:
    """The session goes on with another client."""
    os.kill(client_of(daemon, session), signal.SIGKILL)
    return "goes on"


def stop_server(daemon: DaemonHarness, session: str) -> str:
    """A server that stands still changes nothing, and goes on."""
    pid = server_of(daemon, session)
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(1)
        if read_session(daemon, session)["pid"] is None:
            raise AssertionError("a stopped server was taken for gone")
    finally:
        os.kill(pid, signal.SIGCONT)
    return "goes on"


FAULTS = (kill_server, kill_pane, kill_client, stop_server)


def one_round(
    daemon: DaemonHarness, fault: Callable[[DaemonHarness, str], str], dice: random.Random
) -> float:
    """Do one harm to one session among others under load; seconds that it took to be over."""
    ids = [new_session(daemon) for _ in range(SESSIONS)]
    victim, *others = dice.sample(ids, len(ids))
    watcher = Terminal(daemon, victim)
    run_line(daemon, victim, LOAD)
    run_line(daemon, others[0], LOAD)
    time.sleep(dice.uniform(0.1, 0.4))
    pids = {session: pane_of(daemon, session) for session in others}
    started = time.monotonic()
    outcome = fault(daemon, victim)
    if outcome == "goes on":
        seconds_until("it goes on", lambda: goes_on(daemon, victim))
    seconds = time.monotonic() - started
    for session in others:
        if pane_of(daemon, session) != pids[session]:
            raise AssertionError(f"{fault.__name__} of {victim} changed {session}")
    for session in others[1:]:
        expect_answer(daemon, session)
    watcher.close()
    if daemon.request("DELETE", "/api/sessions").data()["killed"] < len(ids):
        raise AssertionError("not every session could be ended")
    return seconds


def run(rounds: int, seed: int) -> dict[str, float]:
    """Each fault so often; the longest time that each took to be over.

    @raise AssertionError: a fault cost more than its session.
    """
    dice = random.Random(seed)
    daemon = DaemonHarness()
    longest = {fault.__name__: 0.0 for fault in FAULTS}
    try:
        daemon.start()
        for _ in range(rounds):
            for fault in FAULTS:
                print(fault.__name__, flush=True)
                seconds = one_round(daemon, fault, dice)
                longest[fault.__name__] = max(longest[fault.__name__], round(seconds, 2))
        return longest
    finally:
        daemon.close()


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "rounds", 10))
