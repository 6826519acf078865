"""WebSockets of the operations table, implemented by Autobahn on a connection of the site.

An operation of L{ResponseStyle.WEBSOCKET} returns an L{ISocketHandler}.  The gate refuses with HTTP
responses, without an upgrade.  If the operation itself refuses, the socket is accepted and then
closed with a code, so that a page can see the reason (protocol-websocket).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from twisted.application.service import Service
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.http.envelope import HttpRefusal, HttpResponse, make_failure_response
from tservice.http.kernel import IUpgrades
from tservice.http.operations import OperationCall
from tservice.http.request import ServiceRequest
from tservice.http.security.page_key import PROTOCOL, offered_subprotocols
from tservice.http.validation.body_limits import ANY_MESSAGE, SocketLimits
from tservice.http.websockets.interface import (
    GOING_AWAY,
    ISocket,
    ISocketHandler,
    SocketTraffic,
)

if TYPE_CHECKING:
    from tservice.http.websockets.connection import ServerSocket

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
    """Raised by an operation to accept the socket and then close it with a code.

    @ivar reason: the reason of the close; at most 123 bytes of UTF-8 reach the client.
    """

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class FeatureDisabled(ServiceError):
    """Error of a feature that is switched off, which names the setting.

    An HTTP request gets a 403, and a WebSocket is closed with 4004.
    """

    def __init__(self, setting: str, reason: str) -> None:
        """@param setting: the name of the setting.
        @param reason: the reason of the WebSocket's close.
        """
        super().__init__(ErrorCode.FORBIDDEN, f"the setting {setting} is off")
        self.reason = reason


def find_close_code(error: ServiceError) -> CloseSocket | None:
    """Return the close code and reason for C{error}.

    @return: C{None} if the error is answered by an HTTP response, as for an invalid query.
    """
    if isinstance(error, FeatureDisabled):
        return CloseSocket(NO_SUCH, error.reason)
    code = _CODES.get(error.code)
    return None if code is None else CloseSocket(code, error.message)


@implementer(ISocketHandler)
class _ClosingHandler:
    """Handler that closes the socket as soon as it is open."""

    def __init__(self, close: CloseSocket) -> None:
        self._close = close

    def socket_opened(self, socket: ISocket) -> None:
        socket.close(self._close.code, self._close.reason)

    def text_received(self, data: str) -> None:
        """Ignore the message, since the socket is closing."""

    def binary_received(self, data: bytes) -> None:
        """Ignore the message, since the socket is closing."""

    def sending_paused(self) -> None:
        """Do nothing, since nothing is sent."""

    def sending_resumed(self) -> None:
        """Do nothing, since nothing is sent."""

    def socket_closed(self, code: int) -> None:
        """Do nothing, since there is nothing to release."""


def _check_handshake(request: ServiceRequest) -> None:
    """Refuse an invalid handshake, so that Autobahn receives only valid ones.

    @raise HttpRefusal: 426 with an error envelope.
    """
    key = request.getHeader("sec-websocket-key") or ""
    try:
        good = len(base64.b64decode(key, validate=True)) == 16
    except (binascii.Error, ValueError):
        good = False
    if (
        request.method == b"GET"
        and "websocket" in _list_header_values(request, "upgrade")
        and "upgrade" in _list_header_values(request, "connection")
        and request.getHeader("sec-websocket-version") == "13"
        and good
    ):
        return
    refused = make_failure_response(
        ServiceError(ErrorCode.INVALID_INPUT, "upgrade: must be a WebSocket"), 426
    )
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    raise HttpRefusal(HttpResponse(status=426, content=refused.content, headers=headers))


@implementer(IUpgrades)
class WebSockets(Service):
    """Service that holds all open sockets.

    @ivar traffic: bytes that all sockets have sent and received since the start.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self.traffic = SocketTraffic()
        self._open: dict[ServerSocket, Identity | None] = {}
        self._emptied: Deferred[None] | None = None
        self._factory: Any = None

    @property
    def socket_count(self) -> int:
        """Number of open sockets."""
        return len(self._open)

    async def serve_socket(self, call: OperationCall) -> None:
        """Upgrade the connection, run the operation's handler, and return when the socket is
        closed.

        @raise HttpRefusal: the request is not a WebSocket handshake.
        @raise ServiceError: the operation refused with an error that has no close code.
        """
        request = cast(ServiceRequest, call.request)
        _check_handshake(request)
        try:
            handler = cast(ISocketHandler, await call.operation.handler(call))
            call.caller.reauthorize()  # from here on a lost right closes the socket
        except CloseSocket as close:
            handler = _ClosingHandler(close)
        except ServiceError as error:
            handler = _make_closing_handler(error)
        await self._upgrade_request(request, handler, call.caller, call.operation.socket)

    async def refuse_socket(self, request: ServiceRequest, error: ServiceError) -> None:
        """Upgrade the connection, then close it with the code for C{error}."""
        _check_handshake(request)
        await self._upgrade_request(request, _make_closing_handler(error), None)

    async def _upgrade_request(
        self,
        request: ServiceRequest,
        handler: ISocketHandler,
        identity: Identity | None,
        bounds: SocketLimits = ANY_MESSAGE,
    ) -> None:
        # Autobahn takes 6 MB and 60 ms to import, and many services have no WebSocket for days.
        from tservice.http.websockets.connection import ServerSocket, make_factory

        self._factory = self._factory or make_factory(self._clock)
        turns = request.site.turns
        socket = ServerSocket(
            handler, self._clock, self._handle_closed, self.traffic, turns, bounds
        )
        socket.factory = self._factory
        cookies = request.responseHeaders.getRawHeaders("Set-Cookie") or []
        socket.extra_headers = {"Set-Cookie": cookies} if cookies else {}
        self._open[socket] = identity
        request.upgrade_connection(socket, _make_handshake_head(request))
        # This wait ends by cancellation: the request ends with the connection.
        await Deferred()

    def _handle_closed(self, socket: ServerSocket) -> None:
        del self._open[socket]
        if self._emptied is not None and not self._open:
            self._emptied.callback(None)
            self._emptied = None

    def drop_connections(self, whose: Callable[[Identity], bool]) -> None:
        """Close the sockets of callers whose access was revoked.

        @param whose: returns whether a caller is affected.
        """
        for socket, identity in tuple(self._open.items()):
            if identity is not None and whose(identity):
                socket.close(NOT_YOURS, "signed out")

    def stopService(self) -> Deferred[None]:
        """Close every socket with 1001.

        @return: fires when all sockets are closed.  Sockets that do not answer in time are aborted.
        """
        super().stopService()
        if not self._open:
            return succeed(None)
        emptied = self._emptied = Deferred()
        for socket in tuple(self._open):
            socket.close(GOING_AWAY, "the service is stopping")
        return emptied


def _make_closing_handler(error: ServiceError) -> _ClosingHandler:
    close = find_close_code(error)
    if close is None:
        raise error
    return _ClosingHandler(close)


def _list_header_values(request: ServiceRequest, name: str) -> list[str]:
    """Return the comma-separated values of a header, in lower case."""
    return [word.strip().lower() for word in ",".join(request.header_values(name)).split(",")]


def _make_handshake_head(request: ServiceRequest) -> bytes:
    """Return the bytes of a request head for Autobahn, which parses one itself.

    The head has only the headers that Autobahn needs.  The gate and L{_check_handshake} have
    checked the others, and Autobahn splits lines differently.
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
    if PROTOCOL in offered_subprotocols(request):
        lines.append(f"Sec-WebSocket-Protocol: {PROTOCOL}")
    return "\r\n".join([*lines, "", ""]).encode("ascii", "replace")
