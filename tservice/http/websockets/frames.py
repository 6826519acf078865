"""Outgoing WebSocket messages, framed once for any number of sockets (RFC 6455, RFC 7692)."""

from __future__ import annotations

import struct
import zlib

DEFLATE_FROM = 1024
"""Payload size in bytes from which compression is worth its time; echoes of keystrokes are smaller.
"""

_FIN_TEXT, _FIN_BINARY, _COMPRESSED = 0x81, 0x82, 0x40


def encode_server_frame(first: int, payload: bytes) -> bytes:
    """Return a frame without a mask, as servers send them.

    @param first: the frame's first byte: FIN, reserved bits and opcode.
    """
    size = len(payload)
    if size < 126:
        return b"%c%c%b" % (first, size, payload)
    if size < 65536:
        return struct.pack("!BBH", first, 126, size) + payload
    return struct.pack("!BBQ", first, 127, size) + payload


def deflate_payload(payload: bytes) -> bytes:
    """Return C{payload} as one permessage-deflate message that does not depend on earlier messages.

    A client that keeps its context between messages can read it, because it contains no
    back-references.  Therefore the same bytes can go to every socket that negotiated the extension.
    """
    packer = zlib.compressobj(zlib.Z_BEST_SPEED, zlib.DEFLATED, -zlib.MAX_WBITS)
    return (packer.compress(payload) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


class SocketMessage:
    """Message to send to one or more sockets.

    @ivar payload: text in UTF-8, or bytes.
    @ivar binary: true for a binary message.
    """

    __slots__ = ("_deflated", "_first", "_plain", "binary", "payload")

    def __init__(self, payload: str | bytes) -> None:
        """@param payload: C{str} for a text message, C{bytes} for a binary one."""
        self.binary = isinstance(payload, bytes)
        self._first = _FIN_BINARY if self.binary else _FIN_TEXT
        self.payload = payload.encode() if isinstance(payload, str) else payload
        self._plain: bytes | None = None
        self._deflated: bytes | None = None

    def encode_message(self, deflate: bool) -> bytes:
        """Return the message as a frame; the bytes are cached and shared by all sockets.

        @param deflate: true if the socket negotiated permessage-deflate.
        """
        if deflate and len(self.payload) >= DEFLATE_FROM:
            return self._encode_compressed()
        if self._plain is None:
            self._plain = encode_server_frame(self._first, self.payload)
        return self._plain

    def _encode_compressed(self) -> bytes:
        if self._deflated is None:
            packed = deflate_payload(self.payload)
            shorter = len(packed) < len(self.payload)
            first = self._first | _COMPRESSED if shorter else self._first
            self._deflated = encode_server_frame(first, packed if shorter else self.payload)
        return self._deflated
