"""WebSocket to the service. Opening it blocks; reading and writing do not.

The protocol itself is the library's, without its input and output: the socket has to be the one of
L{open_socket}, and a selector or the reactor waits for it.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Iterator
from typing import NamedTuple

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import Event
from websockets.uri import WebSocketURI

from tservice.client.errors import unwrap_envelope
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import BOUND, ResponseLost
from tservice.client.link.connection import explain_error, open_socket

CHUNK = 64 * 1024
BINARY, CLOSE = Opcode.BINARY, Opcode.CLOSE


class ReceivedMessage(NamedTuple):
    """Complete message received from the service."""

    kind: Opcode
    payload: bytes


class WebSocket:
    """Open WebSocket whose methods never block. Its creator has to close it.

    @ivar unsent: bytes that the operating system has not accepted yet.
    """

    def __init__(self, address: ServiceAddress, target: str, patience: float) -> None:
        """Connect and perform the handshake.

        @param target: path and query of the request.
        @param patience: seconds that each step may take.
        @raise ApiError: the service refused.
        @raise Lost: the service cannot be reached.
        """
        self._address = address
        path, _, query = f"{address.base}{target}".partition("?")
        uri = WebSocketURI(address.tls, address.host, address.port, path, query)
        self._protocol = ClientProtocol(uri, max_size=BOUND)
        self._fragments = bytearray()
        self._kind = Opcode.CONT
        self.unsent = b""
        with self._translate_errors():
            self._socket = open_socket(address, patience)
        try:
            with self._translate_errors():
                self._early = self._perform_handshake()
            self._socket.setblocking(False)
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """Return the file descriptor for a selector."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    @property
    def has_pending_data(self) -> bool:
        """True if received data waits in buffers, where a selector does not see it."""
        return bool(self._early) or (
            isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0
        )

    def receive_messages(self) -> Iterator[ReceivedMessage]:
        """Yield the messages received so far, and respond to pings.

        @raise Lost: the connection has ended.
        """
        events, self._early = self._early or self._receive_events(), []
        self._flush_protocol()
        for event in events:
            message = self._assemble_message(event)
            if message is not None:
                yield message
        if self._protocol.parser_exc is not None:
            raise ResponseLost(f"the service violates the protocol: {self._protocol.parser_exc}")

    def send_text(self, text: str) -> None:
        """Send a text message. Bytes that do not fit are sent by a later L{flush}.

        @raise Lost: the connection has ended.
        """
        try:
            self._protocol.send_text(text.encode())
        except InvalidState:
            raise ResponseLost("the connection was closed") from None
        self._flush_protocol()

    def flush(self) -> None:
        """Send as much of L{unsent} as the operating system accepts.

        @raise Lost: the connection has ended.
        """
        with self._translate_errors():
            while self.unsent:
                try:
                    sent = self._socket.send(self.unsent[:CHUNK])
                except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                    return
                self.unsent = self.unsent[sent:]

    def _flush_protocol(self) -> None:
        self.unsent += b"".join(self._protocol.data_to_send())
        self.flush()

    def _receive_events(self) -> list[Event]:
        with self._translate_errors():
            try:
                data = self._socket.recv(CHUNK)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return []
        if not data:
            raise ResponseLost("the connection was cut")
        self._protocol.receive_data(data)
        return self._protocol.events_received()

    def _assemble_message(self, event: Event) -> ReceivedMessage | None:
        """Return the message that a frame completes. A close is one, for the caller."""
        if not isinstance(event, Frame) or event.opcode in (Opcode.PING, Opcode.PONG):
            return None
        if event.opcode is Opcode.CLOSE:
            return ReceivedMessage(event.opcode, bytes(event.data))
        if event.opcode is not Opcode.CONT:
            self._kind = event.opcode
        self._fragments += event.data
        if not event.fin:
            return None
        found = ReceivedMessage(self._kind, bytes(self._fragments))
        self._fragments.clear()
        return found

    def _perform_handshake(self) -> list[Event]:
        """Perform the handshake. Return what came after it."""
        request = self._protocol.connect()
        if self._address.authorization:
            request.headers["Authorization"] = self._address.authorization
        self._protocol.send_request(request)
        self._socket.sendall(b"".join(self._protocol.data_to_send()))
        events: list[Event] = []
        while not events and self._protocol.handshake_exc is None:
            data = self._socket.recv(CHUNK)
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            events = self._protocol.events_received()
        if self._protocol.handshake_exc is None:
            return events[1:]
        for event in events:
            if isinstance(event, Response):
                # Raises an error, unless the status is a success.
                unwrap_envelope(event.status_code, bytes(event.body))
                raise ResponseLost("the service does not accept WebSockets there")
        raise ResponseLost("the service ended the handshake, or does not speak HTTP")

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ResponseLost(explain_error(error, self._address)) from None
