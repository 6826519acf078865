"""Sockets as their handlers see them, without the library that implements them."""

from __future__ import annotations

from attrs import define
from zope.interface import Attribute, Interface

from tservice.http.websockets.frames import SocketMessage

GOING_AWAY, UNSUPPORTED, ABNORMAL, NO_CODE, INTERNAL = 1001, 1003, 1006, 1005, 1011


class ISocket(Interface):
    """Socket as its handler sees it.  Each method is a no-op once the socket is closed."""

    buffered: int = Attribute(
        "bytes not yet handed to the system: 0 while the peer reads, else true within 64 KiB"
    )
    writable: bool = Attribute("whether something sent now could arrive")

    def send(message: SocketMessage) -> None:
        """Send a message; the same message may be sent to several sockets."""

    def send_text(text: str) -> None:
        """Send a text message."""

    def send_binary(data: bytes) -> None:
        """Send a binary message."""

    def pause_reading() -> None:
        """Stop reading from the peer until L{resume_reading}; data that was already read is still
        delivered.
        """

    def resume_reading() -> None:
        """Continue reading."""

    def close(code: int = 1000, reason: str = "") -> None:
        """Send the queued data, then close the socket."""


class ISocketHandler(Interface):
    """Handler of one socket, returned by an operation of C{ResponseStyle.WEBSOCKET}.

    An exception from any of these methods is logged and closes the socket with 1011.
    """

    def socket_opened(socket: ISocket) -> None:
        """Store the socket, which is open now."""

    def text_received(data: str) -> None:
        """Handle a text message."""

    def binary_received(data: bytes) -> None:
        """Handle a binary message."""

    def sending_paused() -> None:
        """Stop sending until L{sending_resumed}, because the peer reads too slowly."""

    def sending_resumed() -> None:
        """Continue sending, because all data was passed to the system."""

    def socket_closed(code: int) -> None:
        """Handle the end of the socket; this is the last call.

        @param code: the close code; 1005 if the peer sent none, 1006 for a lost connection.
        """


@define
class SocketTraffic:
    """Number of bytes on the wire of all sockets, compressed and with frame headers.

    @ivar sent: bytes that were passed to the transport or queued for it.
    """

    sent: int = 0
    received: int = 0
