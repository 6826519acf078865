"""WebSockets of the operations table, spoken by Autobahn on a connection of our site.

An operation of L{Style.WEBSOCKET} returns an L{ISocketHandler}.  The gate's refusals are HTTP
answers without an upgrade; what the operation itself refuses is accepted and then closed with
a code, so that a page can see why (protocol-websocket).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from autobahn.twisted.websocket import WebSocketServerFactory
from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.http.bounds import ANY_MESSAGE, SocketBounds
from tservice.http.envelope import Refusal, Response, failure
from tservice.http.kernel import IUpgrades
from tservice.http.operations import Call
from tservice.http.pagekey import PROTOCOL, protocols
from tservice.http.request import Request
from tservice.http.websockets.connection import (
    GOING_AWAY,
    MAX_MESSAGE,
    ISocket,
    ISocketHandler,
    Socket,
    Traffic,
)

NOT_YOURS, NO_SUCH, TOO_MANY = 4003, 4004, 4008
"""Close codes of session rules (protocol-websocket)."""

_CODES: Mapping[ErrorCode, int] = {
    ErrorCode.FORBIDDEN: NOT_YOURS,
    ErrorCode.PASSWORD_CHANGE_REQUIRED: NOT_YOURS,
    ErrorCode.NOT_FOUND: NO_SUCH,
    ErrorCode.RATE_LIMITED: TOO_MANY,
    ErrorCode.SESSION_BUSY: TOO_MANY,
    ErrorCode.CONFLICT: TOO_MANY,
}


class CloseSocket(Exception):
    """Raised by an operation: accept the socket, then close it with this code.

    @ivar reason: at most 123 bytes of UTF-8 reach the client.
    """

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class SwitchedOff(ServiceError):
    """A feature that is off: a 403 that names its setting, and on a WebSocket a close with 4004."""

    def __init__(self, setting: str, reason: str) -> None:
        """@param reason: of the close."""
        super().__init__(ErrorCode.FORBIDDEN, f"the setting {setting} is off")
        self.reason = reason


def closing(error: ServiceError) -> CloseSocket | None:
    """The close that tells C{error}; C{None} for what is answered in HTTP, like a bad query."""
    if isinstance(error, SwitchedOff):
        return CloseSocket(NO_SUCH, error.reason)
    code = _CODES.get(error.code)
    return None if code is None else CloseSocket(code, error.message)


@implementer(ISocketHandler)
class _Closer:
    """Closes as soon as the socket is open."""

    def __init__(self, close: CloseSocket) -> None:
        self._close = close

    def opened(self, socket: ISocket) -> None:
        socket.close(self._close.code, self._close.reason)

    def text(self, data: str) -> None:
        """The socket is closing."""

    def binary(self, data: bytes) -> None:
        """The socket is closing."""

    def paused(self) -> None:
        """Nothing is sent."""

    def resumed(self) -> None:
        """Nothing is sent."""

    def closed(self, code: int) -> None:
        """Nothing to let go of."""


def _accept(offers: Iterable[object]) -> PerMessageDeflateOfferAccept | None:
    """Take the first permessage-deflate offer whose window our shared frames fit in."""
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer) and offer.request_max_window_bits in (0, 15):
            return PerMessageDeflateOfferAccept(
                offer, request_no_context_takeover=offer.accept_no_context_takeover
            )
    return None


def _check(request: Request) -> None:
    """Refuse what is no handshake, so that Autobahn only ever sees good ones.

    @raise Refusal: 426, an envelope.
    """
    key = request.getHeader("sec-websocket-key") or ""
    try:
        good = len(base64.b64decode(key, validate=True)) == 16
    except (binascii.Error, ValueError):
        good = False
    if (
        request.method == b"GET"
        and "websocket" in _words(request, "upgrade")
        and "upgrade" in _words(request, "connection")
        and request.getHeader("sec-websocket-version") == "13"
        and good
        and request.can_upgrade
    ):
        return
    refused = failure(ServiceError(ErrorCode.INVALID_INPUT, "upgrade: must be a WebSocket"), 426)
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    raise Refusal(Response(status=426, content=refused.content, headers=headers))


@implementer(IUpgrades)
class WebSockets(Service):
    """Every open socket.

    @ivar traffic: what all of them have sent and received since the start.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self.traffic = Traffic()
        self._open: dict[Socket, Identity | None] = {}
        self._emptied: Deferred[None] | None = None
        self._factory: Any = WebSocketServerFactory(reactor=clock, server="")
        self._factory.setProtocolOptions(
            versions=[13],
            webStatus=False,
            maxMessagePayloadSize=MAX_MESSAGE,
            maxFramePayloadSize=MAX_MESSAGE,
            failByDrop=False,
            # These timers would run on the global reactor; Socket has its own.
            openHandshakeTimeout=0,
            closeHandshakeTimeout=0,
            perMessageCompressionAccept=_accept,
        )

    @property
    def count(self) -> int:
        """How many sockets are open."""
        return len(self._open)

    async def serve(self, call: Call) -> None:
        """Upgrade, hand the socket to the operation, and stay until it is closed.

        @raise Refusal: it is no WebSocket handshake.
        @raise ServiceError: a refusal that has no close code.
        """
        request = cast(Request, call.request)
        _check(request)
        try:
            handler = cast(ISocketHandler, await call.operation.handler(call))
            call.again()  # from here on it is in the list of those that a lost right closes
        except CloseSocket as close:
            handler = _Closer(close)
        except ServiceError as error:
            handler = _closer(error)
        await self._upgrade(request, handler, call.identity, call.operation.socket)

    async def refuse(self, request: Request, error: ServiceError) -> None:
        """Upgrade, then close with the code that belongs to C{error}."""
        _check(request)
        await self._upgrade(request, _closer(error), None)

    async def _upgrade(
        self,
        request: Request,
        handler: ISocketHandler,
        identity: Identity | None,
        bounds: SocketBounds = ANY_MESSAGE,
    ) -> None:
        turns = request.site.turns
        socket = Socket(handler, self._clock, self._gone, self.traffic, turns, bounds)
        socket.factory = self._factory
        cookies = request.responseHeaders.getRawHeaders("Set-Cookie") or []
        socket.extra_headers = {"Set-Cookie": cookies} if cookies else {}
        self._open[socket] = identity
        request.upgrade(socket, _handshake(request))
        # Ends by being cancelled: the request is over when the connection is.
        await Deferred()

    def _gone(self, socket: Socket) -> None:
        del self._open[socket]
        if self._emptied is not None and not self._open:
            self._emptied.callback(None)
            self._emptied = None

    def drop(self, whose: Callable[[Identity], bool]) -> None:
        """Close the sockets of those whose right to them is over."""
        for socket, identity in tuple(self._open.items()):
            if identity is not None and whose(identity):
                socket.close(NOT_YOURS, "signed out")

    def stopService(self) -> Deferred[None]:
        """Close every socket with 1001.

        @return: fires when all are gone; those that do not answer are cut after a while.
        """
        super().stopService()
        if not self._open:
            return succeed(None)
        emptied = self._emptied = Deferred()
        for socket in tuple(self._open):
            socket.close(GOING_AWAY, "the service is stopping")
        return emptied


def _closer(error: ServiceError) -> _Closer:
    close = closing(error)
    if close is None:
        raise error
    return _Closer(close)


def _words(request: Request, name: str) -> list[str]:
    """The words of a header that is a list of them."""
    return [word.strip().lower() for word in ",".join(request.header_values(name)).split(",")]


def _handshake(request: Request) -> bytes:
    """A head with all that Autobahn needs to know: it wants to read one itself.

    L{_check} and the gate have judged the rest, and Autobahn takes lines apart in other places.
    """
    lines = [
        "GET / HTTP/1.1",
        "Host: localhost",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {request.getHeader('sec-websocket-key')}",
    ]
    offers = ",".join(request.header_values("sec-websocket-extensions"))
    if offers:
        lines.append(f"Sec-WebSocket-Extensions: {offers}")
    if PROTOCOL in protocols(request):
        lines.append(f"Sec-WebSocket-Protocol: {PROTOCOL}")
    return "\r\n".join([*lines, "", ""]).encode("ascii", "replace")
