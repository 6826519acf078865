"""Services that depend on each other, started in order and stopped in reverse order."""

from __future__ import annotations

from collections.abc import Callable

from twisted.application.service import IService, MultiService, Service
from twisted.internet.defer import Deferred, TimeoutError, maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

STOP_LIMIT = 10.0
"""Seconds that one service may take to stop; after that the services below are stopped anyway."""


class ServiceStack(MultiService):
    """Variant of L{MultiService} that stops each child only after those above it have stopped.

    A child that fails or hangs while stopping is logged and skipped, so that the store is always
    closed and the lock always released.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime) -> None:
        super().__init__()
        self._clock = clock

    def stopService(self) -> Deferred[None]:
        self.running = 0
        return Deferred.fromCoroutine(self._stop_children())

    async def _stop_children(self) -> None:
        for service in reversed(list(self)):
            await self._stop_child(service)

    async def _stop_child(self, service: IService) -> None:
        ended: Deferred[object] = maybeDeferred(service.stopService)
        try:
            await ended.addTimeout(STOP_LIMIT, self._clock)
        except TimeoutError:
            self._log.error("{service} did not stop in time", service=_service_name(service))
        except Exception:
            self._log.failure("{service} did not stop cleanly", service=_service_name(service))


class ClosingService(Service):
    """Service that calls a close function at its position in the stop order."""

    def __init__(self, name: str, close: Callable[[], object]) -> None:
        """@param close: called once when the service stops; may return a Deferred."""
        self.setName(name)
        self._close = close

    def stopService(self) -> Deferred[object]:
        super().stopService()
        return maybeDeferred(self._close)


def _service_name(service: IService) -> str:
    return str(getattr(service, "name", None) or type(service).__name__)
