"""Answers of many bytes: how many are made at a time, and what is held until they are taken."""

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
"""Bytes that are written at a time: what is longer is written no faster than it is taken.  Beyond
64 KiB a transport says that it is full, so it never holds two of them."""

SMALL = 8 * 1024
"""The same over HTTP/2, where a hundred answers may wait in one connection."""

UNTAKEN, UNTAKEN_OF_ONE = 256 * 1024 * 1024, 128 * 1024 * 1024
"""Bytes of answers that wait to be taken, in all and of one account, at which no more begin:
the last of them may go beyond."""

MAKING, MAKING_OF_ONE = 4, 2
"""Calls whose answers may be large that are carried out at a time, in all and of one account: what
an answer is made from takes several times its bytes."""


class LargeAnswers:
    """Every answer that is counted, from its question until it has left or its reader has."""

    def __init__(self) -> None:
        self._untaken: Counter[str] = Counter()
        self._making = DeferredSemaphore(MAKING)
        # There for as long as a call holds it.
        self._own: WeakValueDictionary[str, DeferredSemaphore] = WeakValueDictionary()

    @property
    def untaken(self) -> int:
        """Bytes that wait to be taken."""
        return self._untaken.total()

    async def make(self, call: Any) -> object:
        """What the handler of C{call} returns, once it is its turn.

        @param call: a L{tservice.http.operations.Call}.
        @raise ServiceError: 429: too much waits to be taken already.
        """
        who: str = call.identity.username
        own = self._own.setdefault(who, DeferredSemaphore(MAKING_OF_ONE))
        async with own, self._making:
            # Else a hundred that are refused at once would each be called by the one before it.
            await sleep(call.request.site.reactor, 0)
            self._judge(who)
            return await call.operation.handler(call)

    def count(self, request: Any, who: str, size: int) -> None:
        """Hold C{size} bytes against C{who} until C{request} is over, if it L{waits}.

        @param request: a L{tservice.http.request.Request}.
        @raise ServiceError: 429: too much waits to be taken already.
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
            text = f"{UNTAKEN_OF_ONE >> 20} MiB of your answers wait to be taken; take them first"
        elif self.untaken >= UNTAKEN:
            text = f"{UNTAKEN >> 20} MiB of answers wait to be taken; try again"
        else:
            return
        raise ServiceError(ErrorCode.RATE_LIMITED, text)


def waits(request: Any, size: int) -> bool:
    """Whether an answer of C{size} bytes waits for its reader, and is counted for as long."""
    return size > (SMALL if request.clientproto == b"HTTP/2" else PIECE)


async def write_as_taken(request: Any, content: bytes) -> None:
    """Write a body as fast as it is taken; returns when all of it has left, or its reader has."""
    # Whoever cancels it has left or was cut off: there is nobody to tell.
    with closing(Outgoing(request)) as answer, suppress(CancelledError):
        answer.begin(request.code, {})
        for at in range(0, len(content), PIECE):
            await answer.write(content[at : at + PIECE])
