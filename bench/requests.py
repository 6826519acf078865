"""Small requests beside those of a Klein application that does nothing else, in turns."""

from __future__ import annotations

import base64
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from http.client import HTTPConnection
from statistics import median
from urllib.parse import urlsplit

from attrs import frozen

from bench.report import Row
from tests.integration.harness import DaemonHarness

ROUNDS, REQUESTS = 7, 200
LEAST = 0.5
"""Of Klein's requests in the same time."""
PASSWORD = "Vm3kq9XwT2bLz7Rn"
LIST, STATUS = "/api/sessions", "/api/status"

KLEIN = """
from klein import Klein
from twisted.internet import reactor
from twisted.web.server import Site

app = Klein()

@app.route("/api/sessions")
def sessions(request):
    request.setHeader("Content-Type", "application/json")
    return b'{"success":true,"data":[]}'

port = reactor.listenTCP(0, Site(app.resource()), interface="127.0.0.1")
print(port.getHost().port, flush=True)
reactor.run()
"""


@frozen
class Client:
    """One connection on which the same request is made again and again."""

    connection: HTTPConnection
    path: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, url: str, path: str, headers: Mapping[str, str] | None = None) -> Client:
        """A client of the server at C{url}."""
        where = urlsplit(url)
        return cls(HTTPConnection(str(where.hostname), where.port), path, headers or {})

    def ask(self) -> Mapping[str, str]:
        """Make the request; the headers of its answer."""
        self.connection.request("GET", self.path, headers=dict(self.headers))
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        return dict(answer.getheaders())

    def rate(self) -> float:
        """Requests in a second."""
        began = time.perf_counter()
        for _ in range(REQUESTS):
            self.ask()
        return REQUESTS / (time.perf_counter() - began)


def bare(stack: ExitStack) -> str:
    """The address of a Klein application of its own."""
    server = subprocess.Popen([sys.executable, "-c", KLEIN], stdout=subprocess.PIPE, text=True)
    stack.callback(server.wait, 10)
    stack.callback(server.terminate)
    assert server.stdout is not None
    stack.enter_context(server.stdout)
    return f"http://127.0.0.1:{int(server.stdout.readline())}"


def guarded(stack: ExitStack) -> DaemonHarness:
    """A service with a password."""
    daemon = DaemonHarness(SERVICE_PASSWORD=PASSWORD)
    stack.callback(daemon.close)
    daemon.start()
    return daemon


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    word = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
    with ExitStack() as stack:
        peer, locked = Client.of(bare(stack), LIST), guarded(stack)
        basic = Client.of(locked.url, LIST, {"Authorization": f"Basic {word}"})
        cookie = basic.ask()["Set-Cookie"].partition(";")[0]
        ours = {
            "without a password": Client.of(daemon.url, LIST),
            "by cookie": Client.of(locked.url, LIST, {"Cookie": cookie}),
            "by Basic": basic,
            "of the status": Client.of(daemon.url, STATUS),
        }
        for client in (peer, *ours.values()):
            stack.callback(client.connection.close)
        found = in_turns({"": peer.rate, **{name: each.rate for name, each in ours.items()}})
    return [
        Row(
            name=f"small GET {name}",
            ours=found[name],
            peer=found[""],
            unit="/s",
            against="bare Klein",
            at_most=LEAST,
            higher_is_better=True,
        )
        for name in ours
    ]


def in_turns(parts: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """Medians of all rounds, measured one after another."""
    rounds = [{name: rate() for name, rate in parts.items()} for _ in range(ROUNDS)]
    return {name: median(each[name] for each in rounds) for name in parts}
