"""Relay of a web tab's WebSocket. The handshake is checked; later bytes pass unchanged."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from tservice.http.envelope import make_bare_refusal
from tservice.http.operations import OperationCall
from tservice.webviews import rewriting
from tservice.webviews.routes.relay import RelayContext, list_header_pairs
from tservice.webviews.routes.upstream import TargetConnector, format_host_header

HEAD_BYTES = 16 * 1024
HEAD_SECONDS = 20.0
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_ASKED = ("sec-websocket-version", "sec-websocket-protocol", "sec-websocket-extensions")
_ANSWERED = ("sec-websocket-protocol", "sec-websocket-extensions")


class TargetSocket(Protocol):
    """Connection to the target. It first collects the response's head, then forwards bytes.

    @ivar head: Deferred that fires with the head of the response.
    """

    def __init__(self) -> None:
        self.head: Deferred[bytes] = Deferred()
        self._peer: BrowserSocket | None = None
        self._waiting = b""

    def forward_to(self, peer: BrowserSocket) -> None:
        """Forward received bytes to C{peer} from now on."""
        self._peer = peer
        waiting, self._waiting = self._waiting, b""
        if waiting:
            peer.write_bytes(waiting)

    def dataReceived(self, data: bytes) -> None:
        if self._peer is not None:
            self._peer.write_bytes(data)
            return
        self._waiting += data
        top, end, rest = self._waiting.partition(b"\r\n\r\n")
        if self.head.called:
            return
        if end:
            self._waiting = rest
            transport: Any = self.transport
            transport.pauseProducing()
            self.head.callback(top)
        elif len(self._waiting) > HEAD_BYTES:
            self.head.errback(ConnectionError("the head is too long"))

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if not self.head.called:
            self.head.errback(reason)
        if self._peer is not None:
            self._peer.end_stream()


class BrowserSocket(Protocol):
    """Connection to the browser after the upgrade to a WebSocket."""

    def __init__(self, far: TargetSocket, head: bytes) -> None:
        self._far, self._head = far, head

    def connectionMade(self) -> None:
        near: Any = self.transport
        far: Any = self._far.transport
        near.write(self._head)
        # Each side is read at the pace of the other.
        near.registerProducer(far, True)
        far.registerProducer(near, True)
        self._far.forward_to(self)
        far.resumeProducing()

    def write_bytes(self, data: bytes) -> None:
        near: Any = self.transport
        near.write(data)

    def end_stream(self) -> None:
        near: Any = self.transport
        near.unregisterProducer()
        near.loseConnection()

    def dataReceived(self, data: bytes) -> None:
        far: Any = self._far.transport
        if data:
            far.write(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        far: Any = self._far.transport
        far.unregisterProducer()
        far.abortConnection()


async def relay_websocket(
    call: OperationCall, passage: RelayContext, upstream: TargetConnector, cookies: frozenset[str]
) -> None:
    """Relay a WebSocket until the browser's connection ends, which cancels this coroutine.

    @param cookies: names of the service's own cookies.
    @raise HttpRefusal: in plain text. 400 for an invalid handshake, or 502 if the target accepts no
        WebSocket.
    """
    request: Any = call.request
    key = call.get_header("sec-websocket-key") or ""
    if request.method != b"GET" or not key.isascii():
        raise make_bare_refusal(400, "Bad Request: no WebSocket handshake")
    far = await upstream.connect(passage.target, TargetSocket, passage.owner, passage.pin)
    try:
        far.transport.write(build_handshake(call, passage, key, cookies))
        far.head.addTimeout(HEAD_SECONDS, upstream.reactor)
        try:
            head = await far.head
        except Exception:
            raise make_bare_refusal(502, "Bad Gateway: the target accepts no WebSocket") from None
        request.upgrade_connection(BrowserSocket(far, build_handshake_answer(head, key)), b"")
        await Deferred()
    finally:
        far.transport.abortConnection()


def build_handshake(
    call: OperationCall, passage: RelayContext, key: str, cookies: frozenset[str]
) -> bytes:
    """Return the handshake request for the target.

    @param key: value of C{Sec-WebSocket-Key}.
    """
    given = list_header_pairs(call.request.requestHeaders)
    passed = rewriting.rewrite_request_headers(
        given,
        origin=passage.target.origin,
        prefix=passage.prefix,
        cookies=cookies,
        plain=False,
        kept=passage.jar.build_cookie_header(passage.path),
        apart=passage.is_isolated,
    )
    asked = [(name, value) for name, value in given if name.lower() in _ASKED]
    lines = [
        b"GET " + passage.resource + b" HTTP/1.1",
        b"Host: " + format_host_header(passage.target),
    ]
    fixed = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", key)]
    lines += [_header_line(name, value) for name, value in (*fixed, *asked, *passed)]
    return b"\r\n".join([*lines, b"", b""])


def _header_line(name: str, value: str) -> bytes:
    clean = value.replace("\r", " ").replace("\n", " ").replace("\0", " ")
    return f"{name}: {clean}".encode("latin-1", "replace")


def build_handshake_answer(head: bytes, key: str) -> bytes:
    """Check the target's handshake response, and return the response head for the browser.

    @param head: head of the target's response.
    @param key: value of C{Sec-WebSocket-Key}.
    @raise HttpRefusal: 502 in plain text if the response is not a valid WebSocket handshake.
    """
    status, *lines = head.split(b"\r\n")
    found = {}
    for line in lines:
        name, _, value = line.partition(b":")
        found[name.strip().lower().decode("latin-1")] = value.strip().decode("latin-1")
    digest = hashlib.sha1(key.encode() + _GUID, usedforsecurity=False).digest()
    accept = base64.b64encode(digest).decode()
    switched = status.split(b" ")[1:2] == [b"101"]
    if not switched or found.get("sec-websocket-accept") != accept:
        raise make_bare_refusal(502, "Bad Gateway: the target accepts no WebSocket")
    named = [(name, found[name]) for name in _ANSWERED if name in found]
    fixed = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept)]
    top = [b"HTTP/1.1 101 Switching Protocols"]
    return b"\r\n".join([*top, *(_header_line(*each) for each in (*fixed, *named)), b"", b""])
