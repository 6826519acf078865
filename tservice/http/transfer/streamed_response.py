"""Response that is written at the client's pace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IPushProducer
from zope.interface import implementer

from tservice.core.kernel.timers import cancel_call

STALLED_SECONDS = 120.0
"""Seconds without progress after which a client is disconnected."""


@implementer(IPushProducer)
class StreamedResponse:
    """Response to one request of an operation that streams.

    @ivar head_only: true if only the headers are requested (C{HEAD}).
    """

    def __init__(self, request: Any, still: Callable[[], bool] = lambda: True) -> None:
        """@param request: a L{tservice.http.request.ServiceRequest}.
        @param still: called before each piece; returns false if the client may receive no more.
        """
        self._request, self._still = request, still
        self._clock = request.site.reactor
        self._open: Deferred[None] | None = None
        self._stalled: IDelayedCall | None = None
        self.head_only = self._request.method == b"HEAD"
        self._over = False

    def write_head(self, status: int, headers: Mapping[str, str]) -> None:
        """Write the status and headers."""
        self._request.setResponseCode(status)
        for name, value in headers.items():
            self._request.responseHeaders.setRawHeaders(name, [value])
        self._request.write(b"")
        if not self._request.gone:
            self._request.registerProducer(self, True)

    async def write(self, data: bytes) -> None:
        """Send C{data}; return once more data may be sent.

        @raise CancelledError: the client has disconnected, or was disconnected.
        """
        if not self._still():
            self.abort_response()
        if self._over or self._request.gone:
            raise CancelledError
        self._request.write(data)
        if self._open is not None:
            await self._open
            if self._over:
                raise CancelledError

    def abort_response(self) -> None:
        """Abort the connection, so that the client sees that the response is incomplete."""
        self._over = True
        if not self._request.gone:
            self._request.abort()
        self.resumeProducing()

    def close(self) -> None:
        """End the response; call this in every case, also after an error."""
        self._stop_timer()
        self._over = True
        if self._request.producer is self and not self._request.gone:
            self._request.unregisterProducer()

    # -- called by the transport

    def pauseProducing(self) -> None:
        if self._open is None:
            self._open = Deferred()
            self._stalled = self._clock.callLater(STALLED_SECONDS, self._abort_stalled)

    def resumeProducing(self) -> None:
        self._stop_timer()
        waiting, self._open = self._open, None
        if waiting is not None and not waiting.called:
            waiting.callback(None)

    def stopProducing(self) -> None:
        self._over = True
        self.resumeProducing()

    def _abort_stalled(self) -> None:
        self._stalled = None
        self.abort_response()

    def _stop_timer(self) -> None:
        cancel_call(self._stalled)
        self._stalled = None
