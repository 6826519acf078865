"""Client side of WebSocket frames (RFC 6455)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
CONTINUATION = 0x0
BOUND = 64 * 1024 * 1024
"""Maximum size of a message in bytes. A snapshot contains the whole history of a terminal."""

_FIN, _RESERVED, _MASKED = 0x80, 0x70, 0x80


class FrameError(Exception):
    """Error for a received frame that violates the protocol."""


class ReceivedMessage(NamedTuple):
    """Complete message received from the service."""

    kind: int
    payload: bytes


def encode_frame(kind: int, payload: bytes, key: bytes) -> bytes:
    """Return one masked frame.

    @param kind: opcode of the frame.
    @param key: masking key of four random bytes.
    """
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", _FIN | kind, _MASKED | size)
    elif size < 65536:
        head = struct.pack("!BBH", _FIN | kind, _MASKED | 126, size)
    else:
        head = struct.pack("!BBQ", _FIN | kind, _MASKED | 127, size)
    mask = (key * (size // 4 + 1))[:size]
    mixed = int.from_bytes(payload, "big") ^ int.from_bytes(mask, "big")
    return head + key + mixed.to_bytes(size, "big")


class FrameDecoder:
    """Decoder that assembles messages from chunks of received data."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._kind = CONTINUATION
        self._fragments = bytearray()

    def feed(self, data: bytes) -> Iterator[ReceivedMessage]:
        """Yield the messages that C{data} completes.

        @raise FrameError: a frame is masked, compressed, out of order or too long.
        """
        self._data += data
        while (frame := self._next_frame()) is not None:
            first, payload = frame
            message = self._assemble_message(first & _FIN != 0, first & 0x0F, payload)
            if message is not None:
                yield message

    def _next_frame(self) -> tuple[int, bytes] | None:
        data = self._data
        if len(data) < 2:
            return None
        if data[0] & _RESERVED or data[1] & _MASKED:
            raise FrameError("a masked frame or one with reserved bits")
        size, start = data[1], 2
        if size > 125:
            form, start = ("!H", 4) if size == 126 else ("!Q", 10)
            if len(data) < start:
                return None
            (size,) = struct.unpack_from(form, data, 2)
        if size + len(self._fragments) > BOUND:
            raise FrameError("a message that is too long")
        if len(data) < start + size:
            return None
        payload = bytes(data[start : start + size])
        first = data[0]
        del data[: start + size]
        return first, payload

    def _assemble_message(self, final: bool, kind: int, payload: bytes) -> ReceivedMessage | None:
        if kind >= CLOSE:
            if not final:
                raise FrameError("a fragmented control frame")
            return ReceivedMessage(kind, payload)
        if (kind == CONTINUATION) != (self._kind != CONTINUATION):
            raise FrameError("a fragment out of order")
        self._kind = kind or self._kind
        self._fragments += payload
        if not final:
            return None
        found = ReceivedMessage(self._kind, bytes(self._fragments))
        self._kind = CONTINUATION
        self._fragments.clear()
        return found
