"""An answer that is written as fast as its reader takes it, and no faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IPushProducer
from zope.interface import implementer

from tservice.core.timers import cancel

STALLED_SECONDS = 120.0
"""For how long a reader may take nothing before it is cut off."""


@implementer(IPushProducer)
class Outgoing:
    """The answer to one request of an operation that streams.

    @ivar head_only: only its head is asked for (C{HEAD}).
    """

    def __init__(self, request: Any, still: Callable[[], bool] = lambda: True) -> None:
        """
        @param request: a L{tservice.http.request.Request}.
        @param still: whether its reader may have more; asked before each piece.
        """
        self._request, self._still = request, still
        self._clock = request.site.reactor
        self._open: Deferred[None] | None = None
        self._stalled: IDelayedCall | None = None
        self.head_only = self._request.method == b"HEAD"
        self._over = False

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Write the head."""
        self._request.setResponseCode(status)
        for name, value in headers.items():
            self._request.responseHeaders.setRawHeaders(name, [value])
        self._request.write(b"")
        if not self._request.gone:
            self._request.registerProducer(self, True)
            # Over HTTP/2 a connection that ends tells its requests alone.
            self._request.notifyFinish().addErrback(lambda _: self.stopProducing())

    async def write(self, data: bytes) -> None:
        """Send C{data}; returns once more may be sent.

        @raise CancelledError: the reader has left, or was cut off.
        """
        if not self._still():
            self.cut()
        if self._over or self._request.gone:
            raise CancelledError
        self._request.write(data)
        if self._open is not None:
            await self._open
            if self._over:
                raise CancelledError

    def cut(self) -> None:
        """End the connection, so that the reader sees that there was more to come."""
        self._over = True
        if not self._request.gone:
            self._request.abort()
        self.resumeProducing()

    def close(self) -> None:
        """No more comes; called whatever happened."""
        self._stop_timer()
        self._over = True
        if self._request.producer is self and not self._request.gone:
            self._request.unregisterProducer()

    # -- told by the transport

    def pauseProducing(self) -> None:
        if self._open is None:
            self._open = Deferred()
            self._stalled = self._clock.callLater(STALLED_SECONDS, self._stall)

    def resumeProducing(self) -> None:
        self._stop_timer()
        waiting, self._open = self._open, None
        if waiting is not None and not waiting.called:
            waiting.callback(None)

    def stopProducing(self) -> None:
        self._over = True
        self.resumeProducing()

    def _stall(self) -> None:
        self._stalled = None
        self.cut()

    def _stop_timer(self) -> None:
        cancel(self._stalled)
        self._stalled = None
