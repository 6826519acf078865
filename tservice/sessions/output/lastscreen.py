"""What a pane showed last, for a place that may not be reached (protocol-terminal)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms
from tservice.core.tasks import spawn
from tservice.core.timers import cancel
from tservice.mux.interface import Capture, IPane, MuxError

AFTER = 0.25
"""Seconds from a pane's output to the look at it: at most four looks a second."""


@frozen
class SeenScreen:
    """A capture, and when it was made in Unix milliseconds."""

    capture: Capture
    at: int


class LastScreen:
    """Looks at a pane after it has printed, and keeps what it saw.

    A host that is lost says nothing before, so its screens are looked at while it is there.

    @param wanted: returns whether the pane's place may be out of reach at all.
    @ivar seen: C{None}: nothing was seen yet.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, pane: IPane, wanted: Callable[[], bool]) -> None:
        self._clock = clock
        self._pane = pane
        self._wanted = wanted
        self._timer: IDelayedCall | None = None
        self._looking: Deferred[None] | None = None
        self.seen: SeenScreen | None = None

    def printed(self) -> None:
        """Look at the pane soon."""
        if self._timer is None and self._looking is None and self._wanted():
            self._timer = self._clock.callLater(AFTER, self._look)

    def saw(self, capture: Capture) -> None:
        """Somebody has looked at the screen, without its history."""
        if self._wanted():
            self.seen = SeenScreen(capture, now_ms(self._clock))

    def close(self) -> None:
        """Look no more; what was seen stays."""
        cancel(self._timer)
        self._timer = None
        if self._looking is not None:
            self._looking.cancel()

    def _look(self) -> None:
        self._timer = None
        self._looking = spawn(self._capture(), self._log, "looking at a remote screen")
        self._looking.addBoth(self._looked, self._pane.log.end)

    async def _capture(self) -> None:
        try:
            capture = await self._pane.capture(0)
        except MuxError as error:
            self._log.debug("a screen was not seen: {error}", error=error)
        else:
            self.saw(capture)

    def _looked(self, _: object, offset: int) -> None:
        self._looking = None
        if self._pane.log.end > offset:
            self.printed()
