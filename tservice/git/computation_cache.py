"""Cache that runs at most one computation at a time for each key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


@frozen(kw_only=True)
class _CachedValue(Generic[_V]):
    value: _V
    until: float


class ComputationCache(Generic[_K, _V]):
    """Cache of at most C{size} values, each for C{ttl} seconds.

    The least recently used is dropped first.

    A caller that asks for a key while its value is computed waits for that computation.  Cancelling
    the wait does not stop the computation, because others may wait for it.  Its commands have time
    limits.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, *, ttl: float, size: int) -> None:
        self._clock = clock
        self._ttl = ttl
        self._size = size
        self._kept: OrderedDict[_K, _CachedValue[_V]] = OrderedDict()
        self._flying: dict[_K, list[Deferred[_V]]] = {}

    def get_cached(self, key: _K) -> _V | None:
        """Return the cached value of C{key}; C{None} if there is none or it has expired."""
        kept = self._kept.get(key)
        if kept is None or kept.until <= self._clock.seconds():
            return None
        self._kept.move_to_end(key)
        return kept.value

    async def get_or_compute(self, key: _K, work: Callable[[], Coroutine[Any, Any, _V]]) -> _V:
        """Return the value of C{key}, and compute it if necessary.

        If a computation for C{key} is running, wait for it.  Otherwise call C{work} and cache its
        result.  An error is raised in all waiting callers, and is not cached.
        """
        waiter: Deferred[_V] = Deferred(lambda gone: self._remove_waiter(key, gone))
        if key in self._flying:
            self._flying[key].append(waiter)
        else:
            self._flying[key] = [waiter]
            done = Deferred.fromCoroutine(work())
            done.addCallbacks(
                lambda value: self._cache_and_deliver_result(key, value),
                lambda failure: self._deliver_failure(key, failure),
            )
        return await waiter

    def _remove_waiter(self, key: _K, gone: Deferred[_V]) -> None:
        self._flying[key].remove(gone)

    def _cache_and_deliver_result(self, key: _K, value: _V) -> None:
        self._kept[key] = _CachedValue(value=value, until=self._clock.seconds() + self._ttl)
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        for waiter in self._flying.pop(key):
            waiter.callback(value)

    def _deliver_failure(self, key: _K, failure: Failure) -> None:
        waiting = self._flying.pop(key)
        if not waiting:
            self._log.failure("a computation without waiting callers failed", failure)
        for waiter in waiting:
            waiter.errback(failure)
