"""Request body that its handler reads while it arrives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from twisted.internet.defer import CancelledError, Deferred

from tservice.core.errors import ServiceError

HELD = 256 * 1024
"""Unread bytes at which the sender is paused; one more read of the transport may follow."""


def _nothing() -> None:
    """Do nothing: the default for a body without a sender to pause."""


class Incoming:
    """Received and unread part of a body; at most L{HELD} and one read of the transport.

    @ivar complete: true if no more data follows: the body is complete, or broke off.
    @ivar thrown: true if the rest is discarded.
    """

    def __init__(
        self,
        hold: Callable[[], None] = _nothing,
        go_on: Callable[[], None] = _nothing,
        complete: bool = True,
    ) -> None:
        """@param hold: pauses the sender; C{go_on} resumes it.
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
        """Return the available data, waiting for some; empty at the body's end.

        @raise ServiceError: 413: it is too large.
        @raise CancelledError: the sender has disconnected.
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
        """Wait for the body's end, and discard the rest."""
        self.thrown = True
        self._pieces.clear()
        self._release()
        while not self.complete:
            await self._next()

    # -- called by the request

    def feed(self, data: bytes) -> None:
        """Add received data."""
        if self.complete or self.thrown:
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= HELD and not self._held:
            self._held = True
            self._hold()
        self._wake()

    def end(self) -> None:
        """Mark the body as complete."""
        self.complete = True
        self._wake()

    def refuse(self, error: ServiceError) -> None:
        """Refuse the body: readers get C{error}."""
        self._break(error)

    def lose(self) -> None:
        """Handle a disconnect of the sender."""
        if not self.complete:
            self.complete = True
            self._break(CancelledError())

    # -- internals

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
