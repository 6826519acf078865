"""Keystroke echo: the service against the bare control-mode client and a bare WebSocket echo."""

from __future__ import annotations

import subprocess
import sys
import time

from websockets.sync.client import connect

from bench.baretmux import echo_times as bare_echo_times
from bench.client import echo_times, new_session, run_line, wait_output
from bench.report import Row, percentile
from tests.integration.harness import DaemonHarness

COUNT = 300
ADDED_P50, ADDED_P99 = 1.0, 5.0
"""Milliseconds that the service may add to the bare path on an idle machine."""

SERVER = """
import sys
from autobahn.twisted.websocket import WebSocketServerFactory, WebSocketServerProtocol
from twisted.internet import reactor
class Echo(WebSocketServerProtocol):
    def onMessage(self, payload, isBinary):
        self.sendMessage(b"a", True)
factory = WebSocketServerFactory()
factory.protocol = Echo
port = reactor.listenTCP(0, factory, interface="127.0.0.1")
print(port.getHost().port, flush=True)
reactor.run()
"""


def websocket_times(count: int) -> list[float]:
    """Seconds of a round trip through an Autobahn server that does nothing else."""
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with connect(f"ws://127.0.0.1:{port}", compression=None) as socket:
            times = []
            for _ in range(count):
                time.sleep(0.02)
                started = time.perf_counter()
                socket.send('{"t":"i","d":"a","seq":1}')
                socket.recv()
                times.append(time.perf_counter() - started)
            return times
    finally:
        server.terminate()
        server.wait(10)
        assert server.stdout is not None
        server.stdout.close()


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    session = new_session(daemon)
    run_line(daemon, session, "printf 'mark%s' er; cat")
    wait_output(daemon, session, "marker", "buffer")
    ours = [seconds * 1000 for seconds in echo_times(daemon, session, COUNT)]
    pane = [seconds * 1000 for seconds in bare_echo_times(COUNT)]
    socket = [seconds * 1000 for seconds in websocket_times(COUNT)]
    rows = []
    for name, share, limit in (("p50", 0.5, ADDED_P50), ("p99", 0.99, ADDED_P99)):
        here, bare, wire = (percentile(times, share) for times in (ours, pane, socket))
        rows += [
            Row(name=f"echo {name}", ours=here, peer=bare, unit="ms", against="bare tmux client"),
            Row(
                name=f"echo {name}", ours=here, peer=wire, unit="ms", against="bare WebSocket echo"
            ),
            Row(
                name=f"echo {name}, added over both",
                ours=max(here - bare - wire, 0.0),
                peer=limit,
                unit="ms",
                against="limit",
                at_most=1.0,
            ),
        ]
    return rows
