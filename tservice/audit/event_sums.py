"""Summaries that combine many similar events into one entry, such as typing or wrong passwords."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from attrs import define
from twisted.internet.interfaces import IDelayedCall, IReactorTime

MAX_OPEN = 100
"""Maximum number of open sums; further events are added to one common sum."""


@define
class _OpenSum:
    timer: IDelayedCall
    times: int = 0
    amount: int = 0


SumListener = Callable[[Hashable, int, int], None]
"""Callback for a finished sum, with the key, the number of events and the total amount.

The key is C{None} for the common sum.
"""


class EventSummarizer:
    """Adds up the events of each key during a period that the first event begins."""

    def __init__(self, clock: IReactorTime, seconds: float, finish: SumListener) -> None:
        self._clock, self._seconds, self._finish = clock, seconds, finish
        self._sums: dict[Hashable, _OpenSum] = {}

    def add(self, key: Hashable, amount: int = 0, rest: Hashable = None) -> bool:
        """Add one event to the sum of C{key}.

        @param amount: added to the sum's total, such as the number of typed characters.
        @param rest: the key of the common sum, used if too many sums are open.  Callers must use
            only a few different values.
        @return: true if the event began a new sum, except for the common sum.
        """
        if not self.has_room(key):
            key = rest
        found = self._sums.get(key)
        opened = found is None
        if found is None:
            timer = self._clock.callLater(self._seconds, self._finish_sum, key)
            found = self._sums[key] = _OpenSum(timer)
        found.times += 1
        found.amount += amount
        return opened and key != rest

    def has_room(self, key: Hashable) -> bool:
        """Return whether C{key} has an open sum, or can get one."""
        return key in self._sums or len(self._sums) < MAX_OPEN

    def close(self) -> None:
        """Finish every open sum now."""
        for key in tuple(self._sums):
            self._sums[key].timer.cancel()
            self._finish_sum(key)

    def _finish_sum(self, key: Hashable) -> None:
        found = self._sums.pop(key)
        self._finish(key, found.times, found.amount)
