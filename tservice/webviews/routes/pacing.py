"""HTTP connection to a target that shares the reactor fairly while a response arrives."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web._newclient import Request
from twisted.web.iweb import IResponse

from tservice.core.net.chunked_body import BatchedChunkDecoder
from tservice.core.net.http_client import BoundedHttpClient
from tservice.http.connections.fair_scheduler import CONNECTION_SHARE, FairScheduler

CHUNKS = 32
"""Number of chunks of a response that are read in one turn."""


class PacedConnection(BoundedHttpClient):
    """HTTP client that lets other connections run while a response arrives in very many chunks."""

    def __init__(self, turns: FairScheduler) -> None:
        """Create a client.

        @param turns: scheduler that assigns turns for reading.
        """
        super().__init__()
        self._turns = turns
        self._chunks: BatchedChunkDecoder | None = None
        self._waits = self._paused = False

    def request(self, request: Request) -> Deferred[IResponse]:
        """Send a request as the base class does, but let this object handle pauses of the
        response.
        """
        answer = super().request(request)
        parser: Any = self._parser
        parser.transport._producer = self
        return answer

    def _is_reading_chunks(self, took: Any, finished: Any) -> BatchedChunkDecoder:
        self._chunks = BatchedChunkDecoder(took, finished, CHUNKS * CONNECTION_SHARE)
        return self._chunks

    # # -- called by the transport

    def dataReceived(self, data: bytes) -> None:
        if self._chunks is None:
            super().dataReceived(data)
            self._charge_and_requeue()
            return
        self._chunks.buffer_data(data)
        if not self._waits:
            self._read_if_budget_left()

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]
        self._turns.remove_connection(self)
        if self._waits:
            while self._read_share():
                pass
        super().connectionLost(reason)

    # # -- called by the reader of the answer

    def pauseProducing(self) -> None:
        self._paused = True
        self._transport.pauseProducing()

    def resumeProducing(self) -> None:
        self._paused = False
        if not self._waits:
            self._transport.resumeProducing()

    def stopProducing(self) -> None:
        self._transport.stopProducing()

    def loseConnection(self) -> None:
        """Close the connection."""
        self._transport.loseConnection()

    # # -- called by the scheduler

    def process_share(self) -> None:
        """Read as much of the waiting data as one turn permits."""
        self._waits = False
        self._read_share()
        self._charge_and_requeue()
        if self._parser is not None and not (self._waits or self._paused):
            self._transport.resumeProducing()

    # -- inside

    @property
    def _transport(self) -> Any:
        return self.transport

    def _read_if_budget_left(self) -> None:
        if self._turns.has_budget_left():
            self._read_share()
            self._charge_and_requeue()
        else:
            self._queue_for_turn()

    def _charge_and_requeue(self) -> None:
        """Report the amount read to the scheduler, and request another turn if more data waits."""
        if self._chunks is None:
            return
        self._turns.charge_budget(1 + self._chunks.pieces // CHUNKS)
        if self._parser is not None and self._chunks.more:
            self._queue_for_turn(again=True)

    def _queue_for_turn(self, *, again: bool = False) -> None:
        self._waits = True
        self._transport.pauseProducing()
        self._turns.queue_connection(self, again=again)

    def _read_share(self) -> bool:
        """Read as much of the body as one turn permits. Return true if more data waits."""
        if self._parser is None or self._chunks is None:
            return False
        try:
            self._parser.rawDataReceived(b"")
        except Exception:
            self._giveUp(Failure())
        return self._chunks.more
