"""Sequential API requests, each on a separate connection."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from tservice.client.errors import Unusable, unwrap
from tservice.client.link.address import Address
from tservice.client.link.connection import Connection, explained

TIMEOUT = 60.0
"""Seconds to wait for an answer, plus the requested wait."""
SILENCE = 90.0
"""Seconds without a line before an event stream is given up; the service sends heartbeats."""
BOUND = 64 * 1024 * 1024
"""Largest answer in bytes; the longest is a terminal's history of 32 MB."""
LINE_BOUND = 4 * 1024 * 1024
"""Longest line of the event stream in bytes."""


CUT_SHORT = "the answer was cut short"


class Lost(Unusable):
    """The service could not be reached, or its answer was lost."""


class Caller:
    """Blocking access to the API of one service."""

    def __init__(self, address: Address) -> None:
        self.address = address

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return its payload.

        @param path: the part after C{/api/v1}; the first slash is optional.
        @param wait_ms: time that the service was asked to hold its answer.
        @raise ApiError: the status is no success.
        @raise Lost: no answer arrived.
        """
        content = None if body is None else json.dumps(body).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        with self._open(TIMEOUT + wait_ms / 1000) as connection, self._faults():
            connection.request(
                method, self.address.base + target_of(path, query), content, self._headers(headers)
            )
            answer = connection.getresponse()
            marked = answer.chunked or answer.length is not None
            found = answer.read(BOUND + 1)
        if len(found) > BOUND:
            raise Unusable("the answer is too long")
        # Bytes missing of the length: http.client does not report an answer that ends early.
        if answer.length:
            raise Lost(CUT_SHORT)
        check_whole(answer.status, found, marked)
        return unwrap(answer.status, found)

    def events(self) -> Iterator[tuple[str, Any]]:
        """Yield names and payloads of the event stream (protocol-sse), without terminal output.

        @raise Lost: the stream ended.
        """
        with self._open(SILENCE) as connection, self._faults():
            # No session has this name: this leaves out the large events of all sessions.
            target = self.address.base + target_of("/events", {"sessions": "none"})
            connection.request("GET", target, headers=self._headers({}))
            answer = connection.getresponse()
            if answer.status != 200:
                unwrap(answer.status, answer.read(BOUND))
            yield from _events(answer)
        raise Lost("the service ended the event stream")

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        if not self.address.authorization:
            return dict(more)
        return {**more, "Authorization": self.address.authorization}

    def _open(self, timeout: float) -> contextlib.closing[Connection]:
        return contextlib.closing(Connection(self.address, timeout))

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            raise Lost(explained(error, self.address)) from None
        except ValueError as error:
            # http.client rejects an invalid method or header.
            raise Unusable(str(error)) from None


def check_whole(status: int, content: bytes, marked: bool) -> None:
    """Check that an answer is complete: its end may be a broken connection.

    @param marked: the end was announced.
    @raise Lost: the answer is incomplete.
    """
    if marked or status // 100 != 2:
        return
    try:
        json.loads(content)
    except ValueError:
        raise Lost(CUT_SHORT) from None


def target_of(path: str, query: Mapping[str, object] | None) -> str:
    """Return the request target from the service's root on.

    @raise Unusable: the path is not percent-encoded.
    """
    given = {name: value for name, value in (query or {}).items() if value is not None}
    plain = path.removeprefix("/")
    if not plain.isascii() or not plain.isprintable() or " " in plain:
        raise Unusable("the path must be printable ASCII without blanks: percent-encode it")
    target = f"/api/v1/{plain}"
    return f"{target}?{urlencode(given)}" if given else target


def session_path(session_id: str, rest: str = "") -> str:
    """Return the path of a session's operation."""
    return f"/sessions/{quote(session_id, safe='')}{rest}"


def _events(answer: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
    name, data = "", ""
    while line := answer.readline(LINE_BOUND + 1):
        if len(line) > LINE_BOUND:
            raise Unusable("a line of the event stream is too long")
        field, _, value = line.decode("utf-8", "replace").rstrip("\r\n").partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value
        elif not field and name:
            yield name, json.loads(data)
            name, data = "", ""
