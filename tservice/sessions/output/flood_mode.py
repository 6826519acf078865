"""Flood mode: samples the screen of a pane that prints faster than any viewer reads
(architecture-streams).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.clock import wait_seconds
from tservice.core.kernel.tasks import spawn_logged
from tservice.mux.interface import IPane, MuxError, PaneCapture
from tservice.sessions.output.viewer import TerminalViewer

SAMPLE = 0.05
"""Seconds between two samples, which makes at most 20 a second."""

STILL = 3
"""Consecutive equal samples that end the flood."""


class FloodMode:
    """Pauses the pane's output while every viewer is behind, and shows the viewers samples of its
    screen.

    Clients that read slower than the pane prints do not slow the pane down.

    @param needed: returns true if a parked wait for output needs every byte. The pane is then never
        paused.
    @ivar is_active: true while the pane is being sampled.
    """

    _log = Logger()

    def __init__(
        self,
        pane: IPane,
        clock: IReactorTime,
        viewers: Collection[TerminalViewer],
        needed: Callable[[], bool],
    ) -> None:
        self._pane = pane
        self._clock = clock
        self._viewers = viewers
        self._needed = needed
        self._task: Deferred[None] | None = None
        self.is_active = False

    def begin_if_needed(self) -> None:
        """Begin flood mode if no viewer keeps up."""
        if not self.is_active and self._all_viewers_behind():
            self.is_active = True
            self._task = spawn_logged(self._sample_paused_pane(), self._log, "flood mode")

    def close(self) -> None:
        """Stop sampling. The pane is not changed, because its owner closes it."""
        if self._task is not None:
            self._task.cancel()

    def _all_viewers_behind(self) -> bool:
        return (
            not self._needed()
            and bool(self._viewers)
            and all(viewer.cannot_keep_up() for viewer in self._viewers)
        )

    async def _sample_paused_pane(self) -> None:
        try:
            await self._pane.pause_output()
            await self._sample_until_quiet()
            await self._pane.resume_output()
        except MuxError as error:
            self._log.info("flood mode ended: {why}", why=str(error))
        finally:
            self.is_active = False

    async def _sample_until_quiet(self) -> None:
        last: PaneCapture | None = None
        equal = 0
        while equal < STILL and self._viewers and not self._needed():
            capture = await self._pane.capture_content(0)
            equal = equal + 1 if last is not None and same_screen(last, capture) else 0
            if not equal:
                self._send_sample_to_viewers(capture)
            last = capture
            await wait_seconds(self._clock, SAMPLE)

    def _send_sample_to_viewers(self, capture: PaneCapture) -> None:
        for viewer in tuple(self._viewers):
            if viewer.can_send_more():
                viewer.send_snapshot(capture)


def same_screen(one: PaneCapture, two: PaneCapture) -> bool:
    """Return true if two captures show the same screen, so that nothing was printed in between."""
    return (
        one.lines == two.lines
        and one.history_size == two.history_size
        and (one.cursor_x, one.cursor_y) == (two.cursor_x, two.cursor_y)
    )
