"""Last screen of a pane whose host may become unreachable (protocol-terminal)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.mux.interface import IPane, MuxError, PaneCapture

AFTER = 0.25
"""Seconds from a pane's output to its capture, which makes at most four captures a second."""


@frozen
class CapturedScreen:
    """Capture of a screen, with its time in Unix milliseconds."""

    capture: PaneCapture
    at: int


class LastScreen:
    """Captures a pane after each output, and keeps the last capture.

    A host may become unreachable without warning, so its screens are captured while it is
    reachable.

    @param wanted: returns true if the pane's location can become unreachable at all.
    @ivar captured: the last capture; C{None} if nothing was captured yet.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, pane: IPane, wanted: Callable[[], bool]) -> None:
        self._clock = clock
        self._pane = pane
        self._wanted = wanted
        self._timer: IDelayedCall | None = None
        self._looking: Deferred[None] | None = None
        self.captured: CapturedScreen | None = None

    def schedule_capture(self) -> None:
        """Schedule a capture of the pane."""
        if self._timer is None and self._looking is None and self._wanted():
            self._timer = self._clock.callLater(AFTER, self._start_capture)

    def record_capture(self, capture: PaneCapture) -> None:
        """Keep a capture of the screen that another reader made. Its history is dropped."""
        if self._wanted():
            self.captured = CapturedScreen(capture, get_unix_ms(self._clock))

    def close(self) -> None:
        """Stop capturing. The last capture is kept."""
        cancel_call(self._timer)
        self._timer = None
        if self._looking is not None:
            self._looking.cancel()

    def _start_capture(self) -> None:
        self._timer = None
        self._looking = spawn_logged(self._capture_pane(), self._log, "capturing a remote screen")
        self._looking.addBoth(self._handle_capture_end, self._pane.log.end)

    async def _capture_pane(self) -> None:
        try:
            capture = await self._pane.capture_content(0)
        except MuxError as error:
            self._log.debug("a screen was not captured: {error}", error=error)
        else:
            self.record_capture(capture)

    def _handle_capture_end(self, _: object, offset: int) -> None:
        self._looking = None
        if self._pane.log.end > offset:
            self.schedule_capture()
