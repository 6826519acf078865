"""Limits on large responses: how many are prepared concurrently, and how many bytes wait to be
read.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing, suppress
from typing import Any
from weakref import WeakValueDictionary

from twisted.internet.defer import CancelledError, DeferredSemaphore

from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.http.transfer.streamed_response import StreamedResponse

PIECE = 72 * 1024
"""Size in bytes of the pieces in which longer content is written, at the client's pace.

Beyond 64 KiB a transport reports that it is full, so it never holds two pieces.
"""

MAX_UNREAD, MAX_UNREAD_PER_ACCOUNT = 256 * 1024 * 1024, 128 * 1024 * 1024
"""Bytes of responses that wait to be read, in total and of one account, at which no more begin;
the last one may exceed them."""

MAX_PREPARING, MAX_PREPARING_PER_ACCOUNT = 4, 2
"""Limit on concurrent calls with possibly large responses, in total and of one account: preparing
a response takes several times its size in memory."""


class LargeResponses:
    """Counter of large responses that are being prepared or sent.

    A response counts from the request until it is sent or its client has disconnected.
    """

    def __init__(self) -> None:
        self._untaken: Counter[str] = Counter()
        self._making = DeferredSemaphore(MAX_PREPARING)
        # An entry exists as long as a call holds it.
        self._own: WeakValueDictionary[str, DeferredSemaphore] = WeakValueDictionary()

    @property
    def unread_bytes(self) -> int:
        """Number of response bytes that the clients have not read yet."""
        return self._untaken.total()

    async def run_call(self, call: Any) -> object:
        """Run the handler of C{call}, after waiting for a free slot, and return its result.

        @param call: a L{tservice.http.operations.OperationCall}.
        @raise ServiceError: 429: too many bytes wait to be read.
        """
        who: str = call.caller.username
        own = self._own.setdefault(who, DeferredSemaphore(MAX_PREPARING_PER_ACCOUNT))
        async with own, self._making:
            # Otherwise a hundred refused calls would each be run by the previous one, recursively.
            await wait_seconds(call.request.site.reactor, 0)
            self._check_limits(who)
            return await call.operation.handler(call)

    def count_response(self, request: Any, who: str, size: int) -> None:
        """Count C{size} bytes for the caller until C{request} has ended.

        Responses that are not L{written in pieces<is_written_in_pieces>} are not counted.

        @param request: a L{tservice.http.request.ServiceRequest}.
        @param who: the name of the caller's account.
        @raise ServiceError: 429: too many bytes wait to be read.
        """
        if request.gone or not is_written_in_pieces(size):
            return
        self._check_limits(who)
        self._untaken[who] += size

        def release_bytes(_: object) -> None:
            self._untaken[who] -= size
            if not self._untaken[who]:
                del self._untaken[who]

        request.notifyFinish().addBoth(release_bytes)

    def _check_limits(self, who: str) -> None:
        if self._untaken[who] >= MAX_UNREAD_PER_ACCOUNT:
            size = MAX_UNREAD_PER_ACCOUNT >> 20
            text = f"{size} MiB of your responses are waiting to be read; read them first"
        elif self.unread_bytes >= MAX_UNREAD:
            text = f"{MAX_UNREAD >> 20} MiB of responses are waiting to be read; try again later"
        else:
            return
        raise ServiceError(ErrorCode.RATE_LIMITED, text)


def is_written_in_pieces(size: int) -> bool:
    """Return whether a response of C{size} bytes is written at the client's pace, and counted until
    then.
    """
    return size > PIECE


async def write_in_pieces(request: Any, content: bytes) -> None:
    """Write a body in pieces; return when all of it is sent, or the client has disconnected."""
    # A cancellation means that the client has left or was disconnected: ignore it.
    with closing(StreamedResponse(request)) as answer, suppress(CancelledError):
        answer.write_head(request.code, {})
        for at in range(0, len(content), PIECE):
            await answer.write(content[at : at + PIECE])
