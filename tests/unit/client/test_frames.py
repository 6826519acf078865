"""Tests for L{tservice.client.link.frames}, against frames of the service's own making."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.client.link import frames
from tservice.client.link.frames import (
    BINARY,
    PING,
    TEXT,
    FrameDecoder,
    FrameError,
    ReceivedMessage,
    encode_frame,
)
from tservice.http.websockets.frames import encode_server_frame

FIN = 0x80


class FrameDecoderTests(SynchronousTestCase):
    def decode(self, *pieces: bytes) -> list[ReceivedMessage]:
        decoder = FrameDecoder()
        return [message for piece in pieces for message in decoder.feed(piece)]

    @settings(max_examples=example_count(300), deadline=None)
    @given(st.lists(st.binary(max_size=400), max_size=8), st.integers(1, 50))
    def test_frames_are_decoded_at_any_cut(self, payloads: list[bytes], size: int) -> None:
        whole = b"".join(encode_server_frame(FIN | BINARY, payload) for payload in payloads)
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        self.assertEqual([ReceivedMessage(BINARY, one) for one in payloads], self.decode(*pieces))

    def test_frames_of_every_length_are_decoded(self) -> None:
        for size in (0, 125, 126, 65535, 65536):
            self.assertEqual(
                [ReceivedMessage(TEXT, b"x" * size)],
                self.decode(encode_server_frame(FIN | TEXT, b"x" * size)),
            )

    def test_fragments_with_a_ping_between_are_joined(self) -> None:
        found = self.decode(encode_server_frame(TEXT, b"a"), encode_server_frame(FIN | PING, b"p"),
                            encode_server_frame(0, b"b"),
                            encode_server_frame(FIN, b"c"),
                            encode_server_frame(FIN | TEXT, b"d"))  # fmt: skip
        self.assertEqual(
            [
                ReceivedMessage(PING, b"p"),
                ReceivedMessage(TEXT, b"abc"),
                ReceivedMessage(TEXT, b"d"),
            ],
            found,
        )

    def test_protocol_violations_are_refused(self) -> None:
        for data in (
            encode_server_frame(FIN | 0x40 | TEXT, b"compressed"),
            encode_frame(TEXT, b"masked", b"keyk"),
            encode_server_frame(FIN, b"no beginning"),
            encode_server_frame(TEXT, b"a") + encode_server_frame(FIN | TEXT, b"b"),
            encode_server_frame(PING, b"in pieces"),
            struct.pack("!BBQ", FIN | BINARY, 127, frames.BOUND + 1),
        ):
            self.assertRaises(FrameError, self.decode, data)

    def test_fragments_are_bounded_together(self) -> None:
        self.patch(frames, "BOUND", 10)
        self.assertRaises(
            FrameError,
            self.decode,
            encode_server_frame(BINARY, b"123456"),
            encode_server_frame(0, b"123456"),
        )


class EncodedTests(SynchronousTestCase):
    @settings(max_examples=example_count(300), deadline=None)
    @given(st.binary(max_size=300), st.binary(min_size=4, max_size=4))
    def test_payload_is_masked(self, payload: bytes, key: bytes) -> None:
        frame = encode_frame(TEXT, payload, key)
        self.assertTrue(frame[1] & 0x80)
        mixed = frame[len(frame) - len(payload) :]
        plain = bytes(byte ^ key[at % 4] for at, byte in enumerate(mixed))
        self.assertEqual(payload, plain)

    def test_length_fields_are_encoded(self) -> None:
        for size, head in ((125, 2), (126, 4), (65535, 4), (65536, 10)):
            self.assertEqual(head + 4 + size, len(encode_frame(BINARY, b"x" * size, b"keyk")))
