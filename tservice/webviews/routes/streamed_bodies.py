"""Bodies streamed between a browser and a target, which are never in memory completely."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IConsumer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http import PotentialDataLoss
from twisted.web.iweb import UNKNOWN_LENGTH, IBodyProducer
from zope.interface import implementer

from tservice.http.transfer.request_body import IncomingBody


class TargetBody(Protocol):
    """Body of a target's response, read as fast as the browser accepts it.

    @ivar broken: true if the connection was lost before the end of the body.
    """

    def __init__(self) -> None:
        self.broken = False
        self._held = IncomingBody(self._pause, self._resume, complete=False)

    async def read_chunk(self) -> bytes:
        """Wait for data and return it. Return an empty string at the end of the body."""
        return await self._held.read_data()

    def dataReceived(self, data: bytes) -> None:
        self._held.add_data(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        # Without a length or chunks, the connection's end is the end of the body.
        self.broken = reason.check(ResponseDone, PotentialDataLoss) is None
        self._held.set_complete()

    def _pause(self) -> None:
        transport: Any = self.transport
        transport.pauseProducing()

    def _resume(self) -> None:
        transport: Any = self.transport
        if not self._held.complete:
            transport.resumeProducing()


@implementer(IBodyProducer)
class BrowserBody:
    """Body of a browser's request, read as fast as the target accepts it.

    @ivar fault: error that interrupted the body, or C{None}.
    @ivar answered: true if the target has responded. The end of the body is then not awaited.
    """

    def __init__(self, incoming: IncomingBody, length: int | None) -> None:
        """Create a producer of the request's body.

        @param length: length that the browser announced; C{None} if the body is chunked.
        """
        self.fault: Exception | None = None
        self.answered = False
        self._incoming = incoming
        self.length: Any = UNKNOWN_LENGTH if length is None else length
        self._open: Deferred[None] | None = None
        self._paused = False
        self._task: Deferred[None] | None = None

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:
        done: Deferred[None] = Deferred(lambda _: self.stopProducing())
        self._task = Deferred.fromCoroutine(self._produce(consumer, done))
        return done

    async def _produce(self, consumer: IConsumer, done: Deferred[None]) -> None:
        try:
            while data := await self._incoming.read_data():
                consumer.write(data)
                if self._paused:
                    self._open = Deferred()
                    await self._open
        except CancelledError:
            return  # the canceller, such as a disconnected browser, waits for nothing
        except Exception as error:
            self.fault = error
            if not self.answered:
                done.errback(error)
            return
        done.callback(None)

    def pauseProducing(self) -> None:
        self._paused = True

    def resumeProducing(self) -> None:
        self._paused = False
        waiting, self._open = self._open, None
        if waiting is not None:
            waiting.callback(None)

    def stopProducing(self) -> None:
        if self._task is not None:
            self._task.cancel()
