"""Bodies in chunks: as twisted.web reads them, in fewer calls."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.http import _ChunkedTransferDecoder, _MalformedChunkedDataError

from tservice.core.net.chunked_body import BatchedChunkDecoder

TINY = b"1\r\nx\r\n"


def plain(content: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(content), content)


ODD = [
    b"2;a=b\r\nxy\r\n", b"02\r\nxy\r\n", b"2 \r\nxy\r\n", b"\r\n", b"2\r\nxyz\r\n", b"-1\r\n\r\n",
    b"2;\x00\r\nxy\r\n", b"0x2\r\nxy\r\n", b"A\r\n0123456789\r\n", b"2\nxy\n", b"0\r\n",
    b"\r\n\r\n",
    b"0\r\n\r\n", b"0\r\na: b\r\n\r\n", b"+2\r\nxy\r\n", b"fffffffff\r\n", b"2\r", b"\r\nxy\r",
    b"0", b"1" * 2000,
]  # fmt: skip
BODIES = st.lists(st.one_of(st.binary(max_size=40).map(plain), st.sampled_from(ODD)), max_size=12)


class DecodedChunks:
    """What a decoder told."""

    def __init__(self) -> None:
        self.body = b""
        self.calls = 0
        self.behind: bytes | None = None

    def took(self, data: bytes) -> None:
        self.body += data
        self.calls += 1

    def finished(self, behind: bytes) -> None:
        self.behind = behind


def read(data: list[bytes], most: int | None = None, *, base: bool = False) -> tuple[object, ...]:
    """Body, what came behind it, the fault, and whether the end was seen."""
    told = DecodedChunks()
    if base:
        decoder = _ChunkedTransferDecoder(told.took, told.finished)
    else:
        decoder = BatchedChunkDecoder(told.took, told.finished, most)
    fault = ""
    try:
        for piece in data:
            if told.behind is None:
                decoder.dataReceived(piece)
                while isinstance(decoder, BatchedChunkDecoder) and decoder.more:
                    decoder.dataReceived(b"")
            else:
                told.behind += piece
    except _MalformedChunkedDataError as error:
        fault = str(error)
    return told.body, told.behind, fault, decoder.state == "FINISHED"


class ChunksTests(SynchronousTestCase):
    @given(
        BODIES, st.lists(st.integers(0, 400), max_size=6), st.one_of(st.none(), st.integers(1, 5))
    )
    def test_chunks_decode_like_the_base_class(
        self, parts: list[bytes], cuts: list[int], most: int | None
    ) -> None:
        whole = b"".join(parts)
        places = [0, *sorted(cut for cut in cuts if cut < len(whole)), len(whole)]
        pieces = [whole[a:b] for a, b in pairwise(places)]
        self.assertEqual(read(pieces, base=True), read(pieces, most))

    def test_all_chunks_of_a_read_are_one_call(self) -> None:
        told = DecodedChunks()
        decoder = BatchedChunkDecoder(told.took, told.finished)
        decoder.dataReceived(TINY * 10_000 + b"2\r\na")
        self.assertEqual((1, b"x" * 10_000 + b"a"), (told.calls, told.body))
        self.assertEqual((10_001, False), (decoder.pieces, decoder.more))
        decoder.dataReceived(b"b\r\n0\r\n\r\nGET /")
        self.assertEqual((2, b"GET /"), (told.calls, told.behind))

    def test_pieces_over_the_bound_wait_for_the_next_call(self) -> None:
        """What is over it waits for the next call, whatever it looks like."""
        for chunk in (TINY, b"1;a=b\r\nx\r\n"):
            told = DecodedChunks()
            decoder = BatchedChunkDecoder(told.took, told.finished, 100)
            decoder.dataReceived(chunk * 250)
            self.assertEqual((100, True), (len(told.body), decoder.more))
            decoder.buffer_data(b"0\r\n\r\n")
            decoder.dataReceived(b"")
            self.assertEqual((200, True, None), (len(told.body), decoder.more, told.behind))
            decoder.dataReceived(b"")
            self.assertEqual((250, False, b""), (len(told.body), decoder.more, told.behind))

    def test_data_before_a_fault_is_delivered(self) -> None:
        told = DecodedChunks()
        with self.assertRaises(_MalformedChunkedDataError):
            BatchedChunkDecoder(told.took, told.finished).dataReceived(TINY * 3 + b"z\r\n")
        self.assertEqual(b"xxx", told.body)
