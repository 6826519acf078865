"""Large responses: limits on how many are prepared at a time, and on the bytes that wait to be
read.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing, suppress
from typing import Any
from weakref import WeakValueDictionary

from twisted.internet.defer import CancelledError, DeferredSemaphore

from tservice.core.clock import sleep
from tservice.core.errors import ErrorCode, ServiceError
from tservice.http.transfer.outgoing import Outgoing

PIECE = 72 * 1024
"""Bytes that are written at a time: longer content is written at the client's pace.  Beyond 64 KiB
a transport reports that it is full, so it never holds two pieces.
"""

SMALL = 8 * 1024
"""Piece size over HTTP/2, where a hundred responses may wait in one connection."""

UNTAKEN, UNTAKEN_OF_ONE = 256 * 1024 * 1024, 128 * 1024 * 1024
"""Bytes of responses that wait to be read, in total and of one account, at which no more begin;
the last one may exceed them."""

MAKING, MAKING_OF_ONE = 4, 2
"""Limit on concurrent calls with possibly large responses, in total and of one account: preparing
a response takes several times its size in memory."""


class LargeAnswers:
    """Counter of large responses, from the request until each is sent or its client has left."""

    def __init__(self) -> None:
        self._untaken: Counter[str] = Counter()
        self._making = DeferredSemaphore(MAKING)
        # An entry exists as long as a call holds it.
        self._own: WeakValueDictionary[str, DeferredSemaphore] = WeakValueDictionary()

    @property
    def untaken(self) -> int:
        """Number of bytes that wait to be read."""
        return self._untaken.total()

    async def make(self, call: Any) -> object:
        """Run the handler of C{call} when its turn comes, and return its result.

        @param call: a L{tservice.http.operations.Call}.
        @raise ServiceError: 429: too many bytes wait to be read.
        """
        who: str = call.identity.username
        own = self._own.setdefault(who, DeferredSemaphore(MAKING_OF_ONE))
        async with own, self._making:
            # Otherwise a hundred refused calls would each be run by the previous one, recursively.
            await sleep(call.request.site.reactor, 0)
            self._judge(who)
            return await call.operation.handler(call)

    def count(self, request: Any, who: str, size: int) -> None:
        """Count C{size} bytes for C{who} until C{request} has ended, if it L{waits}.

        @param request: a L{tservice.http.request.Request}.
        @raise ServiceError: 429: too many bytes wait to be read.
        """
        if request.gone or not waits(request, size):
            return
        self._judge(who)
        self._untaken[who] += size

        def over(_: object) -> None:
            self._untaken[who] -= size
            if not self._untaken[who]:
                del self._untaken[who]

        request.notifyFinish().addBoth(over)

    def _judge(self, who: str) -> None:
        if self._untaken[who] >= UNTAKEN_OF_ONE:
            size = UNTAKEN_OF_ONE >> 20
            text = f"{size} MiB of your responses are waiting to be read; read them first"
        elif self.untaken >= UNTAKEN:
            text = f"{UNTAKEN >> 20} MiB of responses are waiting to be read; try again later"
        else:
            return
        raise ServiceError(ErrorCode.RATE_LIMITED, text)


def waits(request: Any, size: int) -> bool:
    """Return whether a response of C{size} bytes is written at the client's pace, and counted until
    then.
    """
    return size > (SMALL if request.clientproto == b"HTTP/2" else PIECE)


async def write_as_taken(request: Any, content: bytes) -> None:
    """Write a body at the client's pace; return when all of it is sent, or the client has left."""
    # A cancellation means that the client has left or was disconnected: ignore it.
    with closing(Outgoing(request)) as answer, suppress(CancelledError):
        answer.begin(request.code, {})
        for at in range(0, len(content), PIECE):
            await answer.write(content[at : at + PIECE])
