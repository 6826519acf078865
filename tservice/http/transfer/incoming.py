"""A request body that its handler reads while it arrives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from twisted.internet.defer import CancelledError, Deferred

from tservice.core.errors import ServiceError

HELD = 256 * 1024
"""Bytes that wait for the handler before the sender is told to wait; one read of the transport more
may be on its way."""


def _nothing() -> None:
    """There is nobody to tell."""


class Incoming:
    """What has come of a body and was not read yet; at most L{HELD} and a little.

    @ivar complete: nothing more comes: it is all here, or broke off.
    @ivar thrown: nobody wants what still comes.
    """

    def __init__(
        self,
        hold: Callable[[], None] = _nothing,
        go_on: Callable[[], None] = _nothing,
        complete: bool = True,
    ) -> None:
        """
        @param hold: has the sender wait; C{go_on}: no longer.
        @param complete: the body is empty.
        """
        self.complete = complete
        self._hold, self._go_on = hold, go_on
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._held = False
        self.thrown = False
        self._fault: BaseException | None = None
        self._waiting: Deferred[None] | None = None

    async def read(self) -> bytes:
        """All that is here, once something is; nothing at the body's end.

        @raise ServiceError: 413: it is too large.
        @raise CancelledError: the sender has left.
        """
        while not (self._pieces or self.complete):
            await self._next()
        if self._fault is not None:
            raise self._fault
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self._release()
        return data

    async def drain(self) -> None:
        """Wait for the body's end, and throw away what still comes."""
        self.thrown = True
        self._pieces.clear()
        self._release()
        while not self.complete:
            await self._next()

    # -- told by the request

    def feed(self, data: bytes) -> None:
        """More of it is here."""
        if self.complete or self.thrown:
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= HELD and not self._held:
            self._held = True
            self._hold()
        self._wake()

    def end(self) -> None:
        """All of it is here."""
        self.complete = True
        self._wake()

    def refuse(self, error: ServiceError) -> None:
        """Give up on it: whoever reads hears why."""
        self._break(error)

    def lose(self) -> None:
        """The sender has left."""
        if not self.complete:
            self.complete = True
            self._break(CancelledError())

    # -- inside

    def _break(self, error: BaseException) -> None:
        if self._fault is None:
            self._fault = error
        self.thrown = True
        self._pieces.clear()
        self._pieces.append(b"")
        self._wake()

    def _release(self) -> None:
        if self._held:
            self._held = False
            self._go_on()

    def _next(self) -> Deferred[None]:
        self._waiting = Deferred()
        return self._waiting

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.called:
            waiting.callback(None)
