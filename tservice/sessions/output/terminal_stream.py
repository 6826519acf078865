"""Streams a pane's output to every terminal client of its session (architecture-streams)."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.mux.interface import GlyphRun, IPane, MuxError, PaneCapture
from tservice.sessions.output.capture_links import restore_capture_links
from tservice.sessions.output.flood_mode import FloodMode
from tservice.sessions.output.viewer import FRAME, TerminalViewer, ViewerSocket

QUIET = 0.008
"""Maximum delay of output in seconds. After this time without a frame, the next byte is sent
immediately.
"""

SNAPSHOT_HISTORY = 2000
"""Lines above the screen in a snapshot. A client reads more through the terminal's HTTP operation.
"""

RETRY = 1.0
"""Seconds until a failed snapshot is requested from the multiplexer again."""


class TerminalStream:
    """Distributes one pane's output to its viewers.

    The first output after a keystroke, or after a pause, is sent immediately. A flood is sent in
    frames of 32 KB or every 8 ms.

    @param needed: returns true if a wait needs every byte, which forbids flood mode.
    """

    _log = Logger()

    def __init__(
        self, pane: IPane, clock: IReactorTime, needed: Callable[[], bool] = lambda: False
    ) -> None:
        self.pane = pane
        self._clock = clock
        self._viewers: dict[TerminalViewer, None] = {}
        self._glyphs: tuple[GlyphRun, ...] = ()
        self._sent_at = 0.0
        self._end = pane.log.end
        self._timer: IDelayedCall | None = None
        self._retry: IDelayedCall | None = None
        self._wanting: dict[TerminalViewer, None] = {}
        self._capturing = False
        self._task: Deferred[None] | None = None
        self._flood = FloodMode(pane, clock, self._viewers.keys(), needed)
        self._unsubscribe = pane.log.subscribe(self._send_or_delay_output)

    @property
    def viewer_count(self) -> int:
        """Number of attached clients."""
        return len(self._viewers)

    def attach(
        self, wire: ViewerSocket, epoch: str | None, since: int | None, *, away: bool = False
    ) -> TerminalViewer:
        """Begin to send output to a client.

        If the log still holds C{since}, the client continues there. Otherwise it starts with a
        snapshot.

        @param epoch: epoch of the stream in which the client stopped; C{None} for a new client.
        @param since: offset at which the client stopped; C{None} for a new client.
        @param away: true if the host is out of reach, so that the pane cannot be captured now. The
            log is used, and a snapshot follows when the host is back.
        """
        log = self.pane.log
        viewer = TerminalViewer(wire, log, self._request_snapshot)
        self._viewers[viewer] = None
        viewer.glyphs = self._glyphs
        if since is not None and epoch == log.epoch and log.has_offset(since):
            viewer.send_hello(since, self.pane.cols, self.pane.rows, resumed=True)
            viewer.send_available()
        elif away:
            viewer.send_hello(log.start, self.pane.cols, self.pane.rows, resumed=False)
            viewer.send_available()
        else:
            viewer.request_first_snapshot()
        return viewer

    def detach(self, viewer: TerminalViewer) -> None:
        """Remove a client. This may be called twice."""
        self._viewers.pop(viewer, None)
        self._wanting.pop(viewer, None)

    def flush(self) -> None:
        """Send all waiting output now."""
        self._cancel_timer()
        self._sent_at = self._clock.seconds()
        self._end = self.pane.log.end
        for viewer in tuple(self._viewers):
            viewer.send_available()
        self._flood.begin_if_needed()

    def close(self) -> None:
        """Stop reading the pane."""
        self._unsubscribe()
        self._cancel_timer()
        cancel_call(self._retry)
        if self._task is not None:
            self._task.cancel()
        self._flood.close()
        self._viewers.clear()
        self._wanting.clear()

    def _send_or_delay_output(self) -> None:
        if not self._viewers:
            return
        if self.pane.log.end - self._end >= FRAME:
            self.flush()
            return
        if self._is_echo():
            self.flush()
            return
        if self._timer is not None:
            return
        wait = self._sent_at + QUIET - self._clock.seconds()
        if wait <= 0:
            self.flush()
        else:
            self._timer = self._clock.callLater(wait, self._handle_timer)

    def _is_echo(self) -> bool:
        """Return true if this is the first output since a key was typed. Such output is never
        delayed.
        """
        typed = self.pane.typed_at
        return typed is not None and typed > self._sent_at

    def _handle_timer(self) -> None:
        self._timer = None
        self.flush()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _request_snapshot(self, viewer: TerminalViewer) -> None:
        """Request a snapshot for a viewer.

        One capture runs at a time. It serves all viewers that requested it before its start.
        """
        self._wanting[viewer] = None
        if not self._capturing:
            self._capturing = True
            self._task = spawn_logged(self._capture_snapshots(), self._log, "a snapshot")

    async def _capture_snapshots(self) -> None:
        try:
            while self._wanting:
                wanting = tuple(self._wanting)
                self._wanting.clear()
                try:
                    self._glyphs = await self.pane.get_glyph_runs()
                    capture = await self.pane.capture_content(SNAPSHOT_HISTORY)
                except MuxError as error:
                    self._handle_snapshot_failure((*wanting, *self._wanting), error)
                    return
                self._distribute_snapshot(wanting, restore_capture_links(capture, self.pane.log))
        finally:
            self._capturing = False

    def _distribute_snapshot(
        self, wanting: tuple[TerminalViewer, ...], capture: PaneCapture
    ) -> None:
        for viewer in wanting:
            if viewer in self._viewers:
                viewer.glyphs = self._glyphs
                viewer.send_snapshot(capture)

    def _handle_snapshot_failure(
        self, wanting: tuple[TerminalViewer, ...], error: MuxError
    ) -> None:
        self._log.info("no snapshot of {id}: {why}", id=self.pane.session_id, why=str(error))
        self._wanting.clear()
        for viewer in wanting:
            viewer.handle_snapshot_failure()
        if self._retry is None or not self._retry.active():
            self._retry = self._clock.callLater(RETRY, self.flush)
