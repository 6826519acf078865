"""A session's output: a bounded ring of bytes with a running offset (architecture-streams)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from tservice.core.listeners import Listeners
from tservice.core.process.memory import give_back

SEGMENT = 64 * 1024


class OutputLog:
    """The last bytes of one life of a stream.

    Offsets only grow.  Readers keep their own offset and ask for what follows it; nobody's copy
    is made for nobody.  At most C{capacity} bytes plus one segment are kept: the oldest segment
    goes first, and a reader that still wanted it must take a snapshot.

    @ivar epoch: names this life of the stream; opaque.
    @ivar start: offset of the oldest byte kept.
    @ivar end: offset of the next byte to come.
    """

    def __init__(
        self, capacity: int, epoch: str, counted: Callable[[int], None] = lambda size: None
    ) -> None:
        """@param counted: told how many bytes each L{append} adds."""
        self.epoch = epoch
        self.start = 0
        self.end = 0
        self._counted = counted
        self._capacity = max(capacity, SEGMENT)
        self._segments: deque[bytearray] = deque()
        self._base = 0
        self._listeners = Listeners[Callable[[], None]]("the output")
        self._last: tuple[int, int, bytes] | None = None
        self._finished = False

    def append(self, data: bytes) -> None:
        """Add bytes at the end and tell every listener."""
        if not data:
            return
        self._store(data)
        self.end += len(data)
        self._counted(len(data))
        self._drop_oldest()
        self._tell()

    def gap(self) -> None:
        """Note that bytes were lost here: no reader from before can go on without a snapshot.

        The offset advances by one, so that even a reader that had everything is behind.
        """
        self.end += 1
        self.start = self._base = self.end
        self._segments.clear()
        self._last = None
        self._tell()

    def holds(self, offset: int) -> bool:
        """Whether a reader at C{offset} can go on without a snapshot."""
        return self.start <= offset <= self.end

    def read(self, offset: int, limit: int) -> bytes:
        """Up to C{limit} bytes from C{offset}.

        @raise LookupError: C{offset} is not held (see L{holds}).
        """
        if not self.holds(offset):
            raise LookupError(f"offset {offset} is outside {self.start}..{self.end}")
        stop = min(offset + limit, self.end)
        # Many readers stand at the same place: they share one copy.
        if self._last is not None and self._last[:2] == (offset, stop):
            return self._last[2]
        data = self._slice(offset, stop)
        self._last = (offset, stop, data)
        return data

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call C{listener} after every change; the returned function ends it."""
        remove = self._listeners.add(listener)

        def unsubscribe() -> None:
            remove()
            self._free_unread()

        return unsubscribe

    def finish(self) -> None:
        """Nothing more comes: what is kept is freed once nobody is subscribed."""
        self._finished = True
        self._free_unread()

    def _free_unread(self) -> None:
        if not self._finished or self._listeners or not self._segments:
            return
        self.start = self._base = self.end
        self._segments.clear()
        self._last = None
        give_back()

    def _store(self, data: bytes) -> None:
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

    def _slice(self, offset: int, stop: int) -> bytes:
        parts = []
        while offset < stop:
            index, inside = divmod(offset - self._base, SEGMENT)
            part = bytes(self._segments[index][inside : inside + stop - offset])
            parts.append(part)
            offset += len(part)
        return b"".join(parts)

    def _tell(self) -> None:
        self._listeners.tell(lambda listener: listener())
