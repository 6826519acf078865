"""HTTP/1.1 over one kept connection, with as little of its own cost as a client can have."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.integration.harness import PATIENCE, DaemonHarness


class Connection:
    """One connection that carries one request after the other."""

    def __init__(self, daemon: DaemonHarness) -> None:
        where = urlsplit(daemon.url)
        self._host = where.netloc
        self.socket = socket.create_connection((where.hostname, where.port), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a request, in one piece; its answer is still to come."""
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if content:
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + content)

    def answer(self) -> Any:
        """The payload of the next answer.

        @raise AssertionError: it is no success, or the connection ended.
        """
        head, body = self._head()
        size = next(int(line[16:]) for line in head if line.lower().startswith("content-length: "))
        while len(body) < size:
            body += self._more()
        if " 200 " not in head[0]:
            raise AssertionError(f"{head[0]}: {body!r}")
        return json.loads(body)["data"]

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def _head(self) -> tuple[list[str], bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, rest = data.partition(b"\r\n\r\n")
        return head.decode("latin-1").split("\r\n"), rest

    def _more(self) -> bytes:
        data = self.socket.recv(65536)
        if not data:
            raise AssertionError("the daemon closed a connection")
        return data
