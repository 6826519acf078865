"""A flood to 1, 10 and 50 sockets against the bare control-mode client."""

from __future__ import annotations

import subprocess
import sys
import time

from attrs import evolve

from bench.baretmux import flood_seconds, unread_seconds
from bench.client import new_session, run_line
from bench.report import Row
from tests.integration.harness import DaemonHarness

LINES = 2_000_000
COMMAND = f"seq 1 {LINES}; echo flood''ed"
SIZE = sum(9 * 10 ** (digits - 1) * (digits + 2) for digits in range(1, 7)) + (
    (LINES - 999_999) * 9
)
"""Bytes of C{seq}, each line with CR LF."""

READER = """
import json, sys, threading
from websockets.sync.client import connect
url, count = sys.argv[1], int(sys.argv[2])
totals = []
def read(number):
    with connect(f"{url}&cid=c{number}", compression=None, max_size=None) as socket:
        tail, total, skips = b"", 0, -1
        while True:
            message = socket.recv(120)
            if isinstance(message, bytes):
                total += len(message); tail = (tail + message)[-64:]
                if b"flooded" in tail: break
            elif json.loads(message)["t"] == "snapshot":
                skips += 1
                if "\\nflooded" in message.replace("\\\\n", "\\n"): break
        totals.append((total, skips))
threads = [threading.Thread(target=read, args=(n,)) for n in range(count)]
for thread in threads: thread.start()
print("ready", flush=True)
for thread in threads: thread.join()
print(json.dumps(totals))
"""


def flood(daemon: DaemonHarness, sessions: int, sockets: int) -> float:
    """Seconds until C{sockets} sockets on each of C{sessions} sessions have seen the end."""
    ids = [new_session(daemon) for _ in range(sessions)]
    url = daemon.url.replace("http", "ws", 1)
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, f"{url}/ws/sessions/{session}/terminal?", str(sockets)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for session in ids
    ]
    for reader in readers:
        assert reader.stdout is not None
        reader.stdout.readline()
    time.sleep(1)
    started = time.perf_counter()
    for session in ids:
        run_line(daemon, session, COMMAND)
    for reader in readers:
        reader.communicate(timeout=300)
    seconds = time.perf_counter() - started
    for session in ids:
        daemon.request("DELETE", f"/api/sessions/{session}")
    return seconds


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench: megabytes of pane output a second."""
    bare = SIZE / flood_seconds(COMMAND, b"flooded") / 1e6
    alone = SIZE / unread_seconds(COMMAND) / 1e6
    rows = []
    for sessions, sockets in ((1, 1), (2, 5), (10, 5)):
        seconds = flood(daemon, sessions, sockets)
        rows.append(
            Row(
                name=f"flood, {sessions} session(s) x {sockets} socket(s)",
                ours=sessions * SIZE / seconds / 1e6,
                peer=bare,
                unit="MB/s",
                against="one bare tmux client",
            )
        )
    first = rows[0]
    return [evolve(first, peer=alone, against="a tmux pane that nobody reads"), *rows]
