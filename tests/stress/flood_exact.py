"""A flood reaches a client that keeps up to the byte; stalled ones and neighbours cost little.

C{python -m tests.stress.flood_exact --megabytes 51}
"""

from __future__ import annotations

import argparse
import hashlib
import json
import socket
import subprocess
import sys
import time

import psutil

from bench.client import echo_times, new_session, run_line, wait_output
from bench.report import percentile
from tests.integration.harness import PATIENCE, DaemonHarness

ECHO_LIMIT = 0.010
"""Seconds at p99 for another session's echo during the flood."""

ECHOES = 400
"""Keys measured; 51 MB last long enough for them."""

READER = """
import hashlib, json, sys
from websockets.sync.client import connect
url, marker = sys.argv[1], sys.argv[2].encode()
with connect(url, compression=None, max_size=None) as socket:
    data, skips, hashed, total, begun = b"", -1, hashlib.sha256(), 0, False
    while True:
        message = socket.recv(120)
        if not isinstance(message, bytes):
            if json.loads(message)["t"] == "snapshot":
                skips += 1
                if skips == 0:
                    print("ready", flush=True)
            continue
        data += message
        if not begun:
            at = data.find(b"1\\r\\n2\\r\\n3\\r\\n")
            if at < 0:
                continue
            data, begun = data[at:], True
        end = data.find(marker)
        keep = data[:end] if end >= 0 else data[: -len(marker)]
        hashed.update(keep)
        total += len(keep)
        if end >= 0:
            break
        data = data[len(keep):]
print(json.dumps([hashed.hexdigest(), total, skips]))
"""


def expected_hash(lines: int) -> tuple[str, int]:
    """Hash and size of what C{seq} prints through a terminal."""
    hashed, total = hashlib.sha256(), 0
    for start in range(1, lines + 1, 100_000):
        block = "".join(f"{n}\r\n" for n in range(start, min(start + 100_000, lines + 1))).encode()
        hashed.update(block)
        total += len(block)
    return hashed.hexdigest(), total


def stalled_client(daemon: DaemonHarness, session: str) -> socket.socket:
    """A socket that upgrades, reads its first bytes and then nothing any more."""
    host, port = daemon.url.split("//")[1].split(":")
    raw = socket.create_connection((host, int(port)))
    raw.sendall(
        f"GET /ws/sessions/{session}/terminal?cid=stalled HTTP/1.1\r\nHost: {host}:{port}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
    )
    raw.recv(4096)
    return raw


def run(megabytes: int) -> dict[str, object]:
    """The figures.

    @raise AssertionError: a byte was lost, or the stalled client or the flood cost too much.
    """
    lines = megabytes * 1_000_000 // 9 + 123_457
    want_hash, want_size = expected_hash(lines)
    daemon = DaemonHarness()
    try:
        daemon.start()
        session, other = new_session(daemon), new_session(daemon)
        run_line(daemon, other, "printf 'mark%s' er; cat")
        wait_output(daemon, other, "marker", "buffer")
        url = daemon.url.replace("http", "ws", 1)
        reader = subprocess.Popen(
            [
                sys.executable,
                "-c",
                READER,
                f"{url}/ws/sessions/{session}/terminal?cid=keeping",
                "flood over",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert reader.stdout is not None
        reader.stdout.readline()
        stalled = stalled_client(daemon, session)
        before = psutil.Process(daemon.pid).memory_info().rss
        started = time.perf_counter()
        run_line(daemon, session, f"seq 1 {lines}; echo flood 'over'")
        times = echo_times(daemon, other, ECHOES, pause=0.005)
        during = reader.poll() is None
        out, _ = reader.communicate(timeout=10 * PATIENCE)
        seconds = time.perf_counter() - started
        grown = psutil.Process(daemon.pid).memory_info().rss - before
        stalled.close()
        got_hash, got_size, skips = json.loads(out)
        if (got_hash, got_size, skips) != (want_hash, want_size, 0):
            raise AssertionError(f"{got_size} of {want_size} bytes, {skips} skips")
        return {
            "bytes": got_size,
            "MB/s": round(got_size / seconds / 1e6, 1),
            "echo p50 ms": round(percentile(times, 0.5) * 1000, 2),
            "echo p99 ms": round(percentile(times, 0.99) * 1000, 2),
            "echo measured while the flood ran": during,
            "RSS grown MB": round(grown / 1e6, 1),
        }
    finally:
        daemon.close()


def main() -> int:
    """Print the figures; 1 when the neighbour's echo was too slow or outlasted the flood."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=51)
    figures = run(parser.parse_args().megabytes)
    print(figures)
    measured = bool(figures["echo measured while the flood ran"])
    return 0 if measured and float(str(figures["echo p99 ms"])) <= ECHO_LIMIT * 1000 else 1


if __name__ == "__main__":
    sys.exit(main())
