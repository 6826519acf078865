"""Rate limit for work of which only the latest request matters."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.tasks import spawn_logged

_Demand = TypeVar("_Demand")


class RequestCoalescer(Generic[_Demand]):
    """Runs C{work} immediately for the first request. Of further requests that come too soon, only
    the last is run later.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        seconds: float,
        work: Callable[[_Demand], Coroutine[Any, Any, object]],
    ) -> None:
        """@param seconds: minimum time from one start of C{work} to the next. A start also waits
            for the end
            of the run before.
        @param work: handles a request.
        """
        self._clock, self._seconds, self._work = clock, seconds, work
        self._demand: _Demand | None = None
        self._pause: IDelayedCall | None = None
        self._busy = self._stopped = False

    def submit_request(self, demand: _Demand) -> None:
        """Handle C{demand} now or soon, unless a later request replaces it."""
        self._demand = demand
        self._run_waiting_request()

    def stop(self) -> None:
        """Start no more work. Running work continues."""
        self._stopped, self._demand = True, None
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def _run_waiting_request(self) -> None:
        if self._demand is None or self._stopped or self._busy or self._pause is not None:
            return
        demand, self._demand = self._demand, None
        self._busy = True
        self._pause = self._clock.callLater(self._seconds, self._run_after_interval)
        spawn_logged(self._work(demand), self._log, "coalesced work").addBoth(self._run_after_done)

    def _run_after_interval(self) -> None:
        self._pause = None
        self._run_waiting_request()

    def _run_after_done(self, _: object) -> None:
        self._busy = False
        self._run_waiting_request()
