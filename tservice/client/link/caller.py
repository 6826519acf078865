"""Sequential API requests, each over a separate connection."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from tservice.client.errors import Unusable, unwrap_envelope
from tservice.client.link.address import ServiceAddress
from tservice.client.link.connection import HttpConnection, explain_error

TIMEOUT = 60.0
"""Seconds to wait for a response, in addition to the time that the request asks the service to
wait.
"""
SILENCE = 90.0
"""Seconds without a line after which an event stream counts as lost. The service sends
heartbeats.
"""
BOUND = 64 * 1024 * 1024
"""Maximum size of a response or message in bytes. The largest is a terminal's history of 32 MB."""
LINE_BOUND = 4 * 1024 * 1024
"""Maximum length of a line of the event stream in bytes."""


CUT_SHORT = "the answer was cut short"


class ResponseLost(Unusable):
    """Error for a service that could not be reached, or a response that was lost."""


class ApiCaller:
    """Blocking access to the API of one service."""

    def __init__(self, address: ServiceAddress) -> None:
        self.address = address

    def send_request(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """Send one request and return the payload of the response.

        @param path: path after C{/api/v1}. The first slash may be left out.
        @param wait_ms: milliseconds for which the service may delay its response.
        @raise ApiError: the status is not a success.
        @raise Lost: no response arrived.
        """
        content = None if body is None else json.dumps(body).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        with (
            self._open_connection(TIMEOUT + wait_ms / 1000) as connection,
            self._translate_errors(),
        ):
            connection.request(
                method,
                self.address.base + build_target(path, query),
                content,
                self._build_headers(headers),
            )
            answer = connection.getresponse()
            marked = answer.chunked or answer.length is not None
            found = answer.read(BOUND + 1)
        if len(found) > BOUND:
            raise Unusable("the answer is too long")
        # Bytes missing of the length: http.client does not report an answer that ends early.
        if answer.length:
            raise ResponseLost(CUT_SHORT)
        check_complete(answer.status, found, marked)
        return unwrap_envelope(answer.status, found)

    def iterate_events(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and payloads of the service's events, without terminal output
        (protocol-sse).

        @raise Lost: the stream ended.
        """
        with self._open_connection(SILENCE) as connection, self._translate_errors():
            # No session has this name: this leaves out the large events of all sessions.
            target = self.address.base + build_target("/events", {"sessions": "none"})
            connection.request("GET", target, headers=self._build_headers({}))
            answer = connection.getresponse()
            if answer.status != 200:
                unwrap_envelope(answer.status, answer.read(BOUND))
            yield from _parse_events(answer)
        raise ResponseLost("the service ended the event stream")

    def _build_headers(self, more: Mapping[str, str]) -> dict[str, str]:
        if not self.address.authorization:
            return dict(more)
        return {**more, "Authorization": self.address.authorization}

    def _open_connection(self, timeout: float) -> contextlib.closing[HttpConnection]:
        return contextlib.closing(HttpConnection(self.address, timeout))

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            raise ResponseLost(explain_error(error, self.address)) from None
        except ValueError as error:
            # http.client rejects an invalid method or header.
            raise Unusable(str(error)) from None


def check_complete(status: int, content: bytes, marked: bool) -> None:
    """Check that a response is complete, because a lost connection looks like its end.

    @param marked: true if the response announced its end, for example by its length.
    @raise Lost: the response is incomplete.
    """
    if marked or status // 100 != 2:
        return
    try:
        json.loads(content)
    except ValueError:
        raise ResponseLost(CUT_SHORT) from None


def build_target(path: str, query: Mapping[str, object] | None) -> str:
    """Return the request target: the API path and the query.

    @raise Unusable: the path is not percent-encoded.
    """
    given = {name: value for name, value in (query or {}).items() if value is not None}
    plain = path.removeprefix("/")
    if not plain.isascii() or not plain.isprintable() or " " in plain:
        raise Unusable("the path must be printable ASCII without blanks: percent-encode it")
    target = f"/api/v1/{plain}"
    return f"{target}?{urlencode(given)}" if given else target


def build_session_path(session_id: str, rest: str = "") -> str:
    """Return the path of an operation on a session.

    @param rest: path after the session id.
    """
    return f"/sessions/{quote(session_id, safe='')}{rest}"


def _parse_events(answer: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
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
