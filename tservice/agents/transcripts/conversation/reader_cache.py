"""Cache of the readers of conversations, with a bound on their memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TypeVar

from attrs import field, frozen

from tservice.agents.transcripts.conversation.file_reader import ComputeCost
from tservice.agents.transcripts.conversation.pages import ConversationReader
from tservice.agents.transcripts.conversation.readers import make_reader

READERS = 300
"""Maximum conversations whose index is kept; the least recently read ones are dropped."""
WEIGHT = 400_000
"""Maximum items of all kept indexes, except the one in use."""

_T = TypeVar("_T")


@frozen(eq=False)
class _CachedReader:
    reader: ConversationReader
    lock: Lock = field(factory=Lock)


class ReaderCache:
    """Readers by conversation; threads may use it.

    An index contains offsets only. So a caller who may not read a file learns nothing from the
    index that another caller's request left.
    """

    def __init__(self, compute_cost: ComputeCost) -> None:
        self._compute_cost = compute_cost
        self._readers: dict[tuple[str, str], _CachedReader] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._readers)

    def use_reader(
        self,
        path: Path,
        mode: str,
        work: Callable[[ConversationReader], _T],
        *,
        is_branch: bool = False,
    ) -> _T:
        """Return what C{work} returns for the reader of a conversation; call it from a thread.

        @param is_branch: true for a sub-agent's conversation.
        @raise OSError: see L{ConversationReader}.
        """
        key = (mode, str(path))
        with self._lock:
            cached = self._readers.pop(key, None)
            if cached is None:
                made = make_reader(path, mode, self._compute_cost, is_branch=is_branch)
                cached = _CachedReader(made)
            self._readers[key] = cached
        with cached.lock:
            found = work(cached.reader)
        with self._lock:
            self._drop_oldest(key)
        return found

    def _drop_oldest(self, used: tuple[str, str]) -> None:
        weight = sum(each.reader.weight for each in self._readers.values())
        for key, cached in tuple(self._readers.items()):
            if len(self._readers) <= READERS and weight <= WEIGHT:
                return
            if key != used:
                weight -= cached.reader.weight
                del self._readers[key]


def read_to_end(reader: ConversationReader) -> None:
    """Read all that is new.

    @raise OSError: see L{ConversationReader}.
    """
    while reader.read_more():
        pass
