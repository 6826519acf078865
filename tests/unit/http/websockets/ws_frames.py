"""WebSocket frames as a client writes and reads them, for tests."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from attrs import frozen

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "keep-alive, Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@frozen
class ClientFrame:
    """A frame as the client sees it."""

    first: int
    payload: bytes

    @property
    def code(self) -> int:
        found: int = struct.unpack("!H", self.payload[:2])[0]
        return found


def read_frames(data: bytes) -> Iterator[ClientFrame]:
    """Server frames, unmasked."""
    while data:
        first, size, at = data[0], data[1], 2
        if size == 126:
            size, at = struct.unpack("!H", data[2:4])[0], 4
        elif size == 127:
            size, at = struct.unpack("!Q", data[2:10])[0], 10
        yield ClientFrame(first, data[at : at + size])
        data = data[at + size :]


def masked_frame(opcode: int, payload: bytes = b"", first: int = 0x80) -> bytes:
    """A client's frame, its mask all zero."""
    size = len(payload)
    if size < 126:
        start = struct.pack("!BB", first | opcode, 0x80 | size)
    elif size < 65536:
        start = struct.pack("!BBH", first | opcode, 0x80 | 126, size)
    else:
        start = struct.pack("!BBQ", first | opcode, 0x80 | 127, size)
    return start + b"\0\0\0\0" + payload


TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
