"""Files of a workspace over a real daemon, for tests that block."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from attrs import frozen

from tests.integration.harness import DaemonAnswer, DaemonHarness
from tests.waiting import PATIENCE

BOUNDARY = "frontier"
FORM = f"multipart/form-data; boundary={BOUNDARY}"
PNG = b"\x89PNG\r\n\x1a\n" + b"p" * 100


def form_body(*parts: tuple[str, str, bytes]) -> bytes:
    """Parts of field, file name and content."""
    found = b""
    for name, filename, content in parts:
        head = f'Content-Disposition: form-data; name="{name}"; filename="{filename}"\r\n\r\n'
        found += f"--{BOUNDARY}\r\n{head}".encode() + content + b"\r\n"
    return found + f"--{BOUNDARY}--\r\n".encode()


@frozen
class SessionFiles:
    """The routes of one session."""

    daemon: DaemonHarness
    session: str
    headers: Mapping[str, str]

    def path(self, name: str, path: str | None = None, rest: str = "") -> str:
        query = "" if path is None else f"?path={quote(path, safe='')}{rest}"
        return f"/api/sessions/{self.session}/{name}{query}"

    def get(
        self, name: str, path: str | None = None, rest: str = "", **headers: str
    ) -> DaemonAnswer:
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return self.daemon.request(
            "GET", self.path(name, path, rest), None, {**self.headers, **named}
        )

    def send(self, method: str, name: str, body: Any) -> DaemonAnswer:
        return self.daemon.request(method, self.path(name), body, self.headers)

    def post_form(self, path: str, body: bytes, kind: str = FORM) -> DaemonAnswer:
        """A form, to a route of the session, or an absolute path."""
        with self.connection() as connection:
            where = path if path.startswith("/") else self.path(path)
            connection.request("POST", where, body, {**self.headers, "Content-Type": kind})
            return read_answer(connection)

    @contextmanager
    def connection(self) -> Iterator[http.client.HTTPConnection]:
        where = urlsplit(self.daemon.url)
        made = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        with closing(made):
            yield made


def read_answer(connection: http.client.HTTPConnection) -> DaemonAnswer:
    """The answer of a connection, to its end."""
    found = connection.getresponse()
    headers = {name.lower(): value for name, value in found.getheaders()}
    return DaemonAnswer(status=found.status, headers=headers, body=found.read())


def files_of(
    daemon: DaemonHarness, folder: Path, headers: Mapping[str, str] | None = None
) -> SessionFiles:
    """Those of a new session in C{folder}, which is not started."""
    body = {"mode": "shell", "workingDir": str(folder)}
    made = daemon.request("POST", "/api/sessions", body, headers).data()
    return SessionFiles(daemon, made["session"]["id"], headers or {})
