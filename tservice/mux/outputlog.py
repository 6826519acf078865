"""Output log of a session: a bounded ring of bytes with a growing offset (architecture-streams)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tservice.core.kernel.listeners import ListenerList
from tservice.core.process.memory import release_free_memory

SEGMENT = 64 * 1024


class OutputLog:
    """Most recent bytes of one epoch of an output stream.

    Offsets only grow. Readers keep their own offset and read from there; the log makes no copies
    for them in advance. At most C{capacity} bytes plus one segment are kept. The oldest segment is
    dropped first, and a reader that still needed it must take a snapshot.

    @ivar epoch: opaque name of this epoch of the stream.
    @ivar start: offset of the oldest byte kept.
    @ivar end: offset of the next byte.
    """

    def __init__(
        self, capacity: int, epoch: str, counted: Callable[[int], None] = lambda size: None
    ) -> None:
        """@param capacity: number of bytes to keep.
        @param epoch: opaque name of this epoch of the stream.
        @param counted: called with the number of bytes that each L{append} adds.
        """
        self.epoch = epoch
        self.start = 0
        self.end = 0
        self._counted = counted
        self._capacity = max(capacity, SEGMENT)
        self._segments: deque[bytearray] = deque()
        self._base = 0
        self._listeners = ListenerList[Callable[[], None]]("the output")
        self._last: tuple[int, int, bytes] | None = None
        self._finished = False

    def append(self, data: bytes) -> None:
        """Add bytes at the end and notify every listener."""
        if not data:
            return
        self._store_bytes(data)
        self.end += len(data)
        self._counted(len(data))
        self._drop_oldest()
        self._notify_listeners()

    def add_gap(self) -> None:
        """Record that bytes were lost here. Every reader needs a snapshot before it can continue.

        The offset advances by one, so that this also holds for a reader that had read everything.
        """
        self.end += 1
        self.start = self._base = self.end
        self._segments.clear()
        self._last = None
        self._notify_listeners()

    def has_offset(self, offset: int) -> bool:
        """Return true if a reader at C{offset} can continue without a snapshot."""
        return self.start <= offset <= self.end

    def read(self, offset: int, limit: int) -> bytes:
        """Return up to C{limit} bytes from C{offset}.

        @raise LookupError: C{offset} is not held (see L{has_offset}).
        """
        if not self.has_offset(offset):
            raise LookupError(f"offset {offset} is outside {self.start}..{self.end}")
        stop = min(offset + limit, self.end)
        # Many readers are at the same offset: they share one copy.
        if self._last is not None and self._last[:2] == (offset, stop):
            return self._last[2]
        data = self._copy_range(offset, stop)
        self._last = (offset, stop, data)
        return data

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call C{listener} after every change; the returned function unsubscribes."""
        remove = self._listeners.add(listener)

        def unsubscribe() -> None:
            remove()
            self._free_bytes_if_unused()

        return unsubscribe

    def finish(self) -> None:
        """Mark the end of the output. The bytes are freed once the last subscriber is gone."""
        self._finished = True
        self._free_bytes_if_unused()

    def _free_bytes_if_unused(self) -> None:
        if not self._finished or self._listeners or not self._segments:
            return
        self.start = self._base = self.end
        self._segments.clear()
        self._last = None
        release_free_memory()

    def _store_bytes(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if not self._segments or len(self._segments[-1]) == SEGMENT:
                self._segments.append(bytearray())
            last = self._segments[-1]
            room = SEGMENT - len(last)
            last += view[:room]
            view = view[room:]

    def _drop_oldest(self) -> None:
        while self.end - self._base - len(self._segments[0]) >= self._capacity:
            self._base += len(self._segments.popleft())
            self.start = self._base

    def _copy_range(self, offset: int, stop: int) -> bytes:
        parts = []
        while offset < stop:
            index, inside = divmod(offset - self._base, SEGMENT)
            part = bytes(self._segments[index][inside : inside + stop - offset])
            parts.append(part)
            offset += len(part)
        return b"".join(parts)

    def _notify_listeners(self) -> None:
        self._listeners.notify_all(lambda listener: listener())
