"""Run the stub model as a child process, and read its record from a test.

The child prints its port, which the kernel chose, as its first line::

    python -m tests.agents.stub_model 127.0.0.1
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Any

from twisted.internet.address import IPv4Address
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.interfaces import IListeningPort
from twisted.web.server import Site

from tests.agents.stub.record import ModelTurn, StubModelRequest, requests_from, turns
from tests.agents.stub.server import StubModel
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


class StubProcess:
    """A stub model in a child process; a context manager that ends it.

    @ivar port: on C{address} of the network namespace in which it was started.
    """

    def __init__(self, address: str = "127.0.0.1") -> None:
        self._address = address
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.agents.stub_model", address],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"the stub model ended with status {self._child.wait()}")
        self.port = int(line)

    def __enter__(self) -> StubProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child: it exits when its standard input closes."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    @property
    def url(self) -> str:
        """Base address without a trailing slash."""
        return f"http://{self._address}:{self.port}"

    def _control(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        connection = HTTPConnection(self._address, self.port, timeout=PATIENCE)
        try:
            connection.request("POST", f"/control/{what}", json.dumps(body))
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
            return answer
        finally:
            connection.close()

    def requests(self) -> list[StubModelRequest]:
        """Every model request so far, side requests included."""
        return requests_from(self._control("requests", {})["requests"])

    def conversation(self, since: int = 0) -> list[str]:
        """What the user said, as the newest request has it; none before request C{since}."""
        said: list[str] = self._control("conversation", {"since": since})["said"]
        return said

    def count(self) -> int:
        """Model requests so far."""
        return int(self._control("conversation", {"since": 0})["requests"])

    def turns(self) -> list[ModelTurn]:
        """Every turn so far."""
        return turns(self.requests())

    def unknown(self) -> list[str]:
        """Paths that the stub did not know."""
        paths: list[str] = self._control("requests", {})["unknown"]
        return paths

    def release(self, gate: str = "gate") -> int:
        """Open a gate; how many answers waited at it."""
        return int(self._control("release", {"gate": gate})["released"])

    def set_limits(self, **limits: float) -> None:
        """Send plan-usage headers from now on; see L{anthropic.limit_headers}."""
        self._control("limits", limits)


def main(address: str, now: Callable[[], float] = time.time) -> None:
    """Serve until standard input closes."""
    from twisted.internet import reactor, stdio
    from twisted.internet.protocol import Protocol

    class UntilClosed(Protocol):
        def connectionLost(self, reason: object = None) -> None:
            if reactor.running:
                reactor.stop()

    def listening(port: IListeningPort) -> None:
        found = port.getHost()
        assert isinstance(found, IPv4Address)
        print(found.port, flush=True)

    site = Site(StubModel(reactor, now))
    endpoint = TCP4ServerEndpoint(reactor, 0, interface=address)
    endpoint.listen(site).addCallback(listening)
    stdio.StandardIO(UntilClosed())
    reactor.run()


if __name__ == "__main__":
    main(sys.argv[1])
