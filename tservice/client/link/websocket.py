"""WebSocket to the service. Opening it blocks; reading and writing do not."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import secrets
import ssl
from collections.abc import Iterator

from tservice.client.errors import unwrap_envelope
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import ResponseLost
from tservice.client.link.connection import explain_error, open_socket
from tservice.client.link.frames import (
    CLOSE,
    PING,
    PONG,
    TEXT,
    FrameDecoder,
    FrameError,
    ReceivedMessage,
    encode_frame,
)

HEAD_BOUND = 64 * 1024
CHUNK = 64 * 1024
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3


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
        self._decoder = FrameDecoder()
        self.unsent = b""
        with self._translate_errors():
            self._socket = open_socket(address, patience)
        try:
            with self._translate_errors():
                self._early = self._perform_handshake(f"{address.base}{target}")
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
        """True if received data waits in TLS buffers, where a selector does not see it."""
        return bool(self._early) or (
            isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0
        )

    def receive_messages(self) -> Iterator[ReceivedMessage]:
        """Yield the messages received so far, and respond to pings.

        @raise Lost: the connection has ended.
        """
        for message in self._decode_messages(self._read_chunk()):
            if message.kind == PING:
                self._send_frame(PONG, message.payload)
            elif message.kind == CLOSE:
                # Answered, as the protocol requires; the caller interprets it.
                self._send_frame(CLOSE, message.payload[:2])
                yield message
            elif message.kind != PONG:
                yield message

    def send_text(self, text: str) -> None:
        """Send a text message. Bytes that do not fit are sent by a later L{flush}.

        @raise Lost: the connection has ended.
        """
        self._send_frame(TEXT, text.encode())

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

    def _send_frame(self, kind: int, payload: bytes) -> None:
        self.unsent += encode_frame(kind, payload, secrets.token_bytes(4))
        self.flush()

    def _read_chunk(self) -> bytes:
        if self._early:
            early, self._early = self._early, b""
            return early
        with self._translate_errors():
            try:
                data = self._socket.recv(CHUNK)
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return b""
        if not data:
            raise ResponseLost("the connection was cut")
        return data

    def _decode_messages(self, data: bytes) -> Iterator[ReceivedMessage]:
        try:
            yield from self._decoder.feed(data)
        except FrameError as error:
            raise ResponseLost(f"the service sends {error}") from None

    def _perform_handshake(self, target: str) -> bytes:
        """Perform the handshake. Return the bytes that were received after the head of the
        response.
        """
        key = base64.b64encode(secrets.token_bytes(16))
        self._socket.sendall(self._build_request(target, key.decode()))
        head, early = self._read_head()
        status, headers = _parse_head(head)
        if status != 101:
            # Raises an error, as the status is no success.
            unwrap_envelope(status, self._read_body(early, headers))
        digest = hashlib.sha1(key + _MAGIC, usedforsecurity=False).digest()
        if (
            status != 101
            or headers.get("sec-websocket-accept") != base64.b64encode(digest).decode()
        ):
            raise ResponseLost("the service does not accept WebSockets there")
        return early

    def _build_request(self, target: str, key: str) -> bytes:
        address = self._address
        host = f"[{address.host}]" if ":" in address.host else address.host
        lines = [
            f"GET {target} HTTP/1.1",
            f"Host: {host}" if address.port in (80, 443) else f"Host: {host}:{address.port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
        ]
        if address.authorization:
            lines.append(f"Authorization: {address.authorization}")
        return "\r\n".join([*lines, "", ""]).encode("ascii")

    def _read_head(self) -> tuple[bytes, bytes]:
        found = b""
        while b"\r\n\r\n" not in found:
            data = self._socket.recv(CHUNK)
            if not data or len(found) > HEAD_BOUND:
                raise ResponseLost("the service ended the handshake")
            found += data
        head, _, early = found.partition(b"\r\n\r\n")
        return head, early

    def _read_body(self, early: bytes, headers: dict[str, str]) -> bytes:
        length = headers.get("content-length", "0")
        wanted = min(int(length), HEAD_BOUND) if length.isdigit() else 0
        while len(early) < wanted and (data := self._socket.recv(CHUNK)):
            early += data
        return early

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ResponseLost(explain_error(error, self._address)) from None


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
        raise ResponseLost("the service does not speak HTTP")
    pairs = (line.partition(":") for line in lines)
    return int(words[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}
