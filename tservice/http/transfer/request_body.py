"""Request body that a handler reads while it arrives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from twisted.internet.defer import CancelledError, Deferred

from tservice.core.kernel.errors import ServiceError

BUFFER_BYTES = 256 * 1024
"""Number of unread bytes at which the sender is paused; one more read of the transport may follow.
"""


def _do_nothing() -> None:
    """Do nothing: the default for a body without a sender to pause."""


class IncomingBody:
    """Buffer for the part of a body that was received but not read by the handler.

    The buffer holds at most L{BUFFER_BYTES} and one read of the transport.

    @ivar complete: true if no more data follows: the body is complete, or broke off.
    @ivar discards_rest: true if the rest of the body is discarded.
    """

    def __init__(
        self,
        hold: Callable[[], None] = _do_nothing,
        go_on: Callable[[], None] = _do_nothing,
        complete: bool = True,
    ) -> None:
        """@param hold: pauses the sender.
        @param go_on: resumes the sender.
        @param complete: true for an empty body.
        """
        self.complete = complete
        self._hold, self._go_on = hold, go_on
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._held = False
        self.discards_rest = False
        self._fault: BaseException | None = None
        self._waiting: Deferred[None] | None = None

    async def read_data(self) -> bytes:
        """Wait for data and return it; an empty result means the end of the body.

        @raise ServiceError: 413: the body is too large.
        @raise CancelledError: the sender has disconnected.
        """
        while not (self._pieces or self.complete):
            await self._wait_for_data()
        if self._fault is not None:
            raise self._fault
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self._resume_sender()
        return data

    # -- called by the request

    def add_data(self, data: bytes) -> None:
        """Add received data to the buffer, and pause the sender if the buffer is full."""
        if self.complete or self.discards_rest:
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= BUFFER_BYTES and not self._held:
            self._held = True
            self._hold()
        self._wake_reader()

    def set_complete(self) -> None:
        """Mark the body as complete."""
        self.complete = True
        self._wake_reader()

    def refuse_body(self, error: ServiceError) -> None:
        """Refuse the body: L{read_data} raises C{error} from now on."""
        self._end_with_error(error)

    def handle_disconnect(self) -> None:
        """End the body, because the sender has disconnected."""
        if not self.complete:
            self.complete = True
            self._end_with_error(CancelledError())

    # -- internals

    def _end_with_error(self, error: BaseException) -> None:
        if self._fault is None:
            self._fault = error
        self.discards_rest = True
        self._pieces.clear()
        self._pieces.append(b"")
        self._wake_reader()

    def _resume_sender(self) -> None:
        if self._held:
            self._held = False
            self._go_on()

    def _wait_for_data(self) -> Deferred[None]:
        self._waiting = Deferred()
        return self._waiting

    def _wake_reader(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.called:
            waiting.callback(None)
