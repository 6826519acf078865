"""Sends output to one terminal client: tracks its position, and skips output for a slow client
(protocol-websocket).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from tservice.mux.interface import GlyphRun, PaneCapture
from tservice.mux.outputlog import OutputLog
from tservice.terminal.frames.snapshot import build_snapshot_text

FRAME = 32 * 1024
"""Maximum output bytes in one frame."""

WINDOW = 4 * 1024 * 1024
"""Maximum bytes unsent or unacknowledged. A client with more skips ahead by a snapshot."""

DRAWING = 1024 * 1024
"""Maximum bytes sent beyond the client's last acknowledgement (C{got}). The service then waits for
the next one.
"""


EARLY = 8
"""Maximum number of frames kept for a client that waits for its hello frame. The newest are kept.
"""


class ViewerSocket(Protocol):
    """Socket of a viewer. C{is_writable} limits the bytes that are queued in the socket."""

    def send_text(self, text: str) -> None:
        """Queue a text frame."""

    def send_binary(self, data: bytes) -> None:
        """Queue a binary frame."""

    def is_writable(self) -> bool:
        """Return false while the transport asks for a pause."""


def format_frame(kind: str, **fields: object) -> str:
    """Return a text frame of type C{kind} with these fields, as JSON."""
    return json.dumps({"t": kind, **fields}, ensure_ascii=False, separators=(",", ":"))


class TerminalViewer:
    """Sends one client the output from its offset on, at the client's speed.

    A client that is too far behind, or whose offset left the log, is marked and gets nothing until
    its socket drains. Then it gets one snapshot and continues from there. So a stalled client costs
    no memory beyond its socket's buffer.

    @ivar offset: offset of the next byte to send.
    @ivar glyphs: widths that the pane gives to some characters, as far as known.
    @ivar is_behind: true from the time the client is too far behind until it gets a snapshot.
    """

    def __init__(
        self, wire: ViewerSocket, log: OutputLog, want_snapshot: Callable[[TerminalViewer], None]
    ) -> None:
        self._wire = wire
        self._log = log
        self._want_snapshot = want_snapshot
        self._got: int | None = None
        self._asked = False
        self._greeted = False
        self._later: deque[str] = deque(maxlen=EARLY)
        self.offset = 0
        self.is_behind = False
        self.glyphs: Sequence[GlyphRun] = ()

    @property
    def epoch(self) -> str:
        """Epoch of the stream that this viewer follows."""
        return self._log.epoch

    def send_hello(self, offset: int, cols: int, rows: int, *, resumed: bool) -> None:
        """Send the hello frame. The next binary frame starts at C{offset}.

        @param resumed: true if the client continues without a snapshot.
        """
        self.offset = offset
        self._greeted = True
        self._wire.send_text(
            format_frame(
                "hello",
                v=1,
                epoch=self._log.epoch,
                offset=offset,
                cols=cols,
                rows=rows,
                resumed=resumed,
                **({"widths": self.glyphs} if self.glyphs else {}),
            )
        )
        while self._later:
            self._wire.send_text(self._later.popleft())

    def send_frame(self, text: str) -> None:
        """Send a text frame that is not output. Before the hello frame, it is kept for later."""
        if self._greeted:
            self._wire.send_text(text)
        else:
            self._later.append(text)

    def request_first_snapshot(self) -> None:
        """Request a snapshot. The hello frame and the snapshot are sent once the pane was
        captured.
        """
        self.is_behind = True
        self._request_snapshot()

    def send_snapshot(self, capture: PaneCapture) -> None:
        """Send a snapshot that replaces the client's screen, and continue from the snapshot's
        offset.
        """
        if not self._greeted:
            self.send_hello(capture.offset, capture.cols, capture.rows, resumed=False)
        self.is_behind = self._asked = False
        self.offset = capture.offset
        if self._got is not None:
            self._got = capture.offset
        self._wire.send_text(
            format_frame(
                "snapshot",
                offset=capture.offset,
                cols=capture.cols,
                rows=capture.rows,
                data=build_snapshot_text(capture),
            )
        )
        self.send_available()

    def handle_snapshot_failure(self) -> None:
        """Record that the snapshot failed; the next L{send_available} requests another."""
        self._asked = False

    def acknowledge_drawn(self, offset: int) -> None:
        """Record that the client has drawn everything before C{offset}. Ignore an invalid
        offset.
        """
        if offset <= self.offset:
            self._got = max(self._got or 0, offset)
            self.send_available()

    def send_available(self) -> None:
        """Send available output at the client's speed. If the client must skip output, request a
        snapshot.
        """
        if self._is_too_far():
            self.is_behind = True
        if self.is_behind:
            self._request_snapshot()
            return
        while self.offset < self._log.end and self.can_send_more():
            data = self._log.read(self.offset, FRAME)
            self.offset += len(data)
            self._wire.send_binary(data)

    def can_send_more(self) -> bool:
        """Return true if the socket is writable and the client has drawn most of the sent
        output.
        """
        return self._wire.is_writable() and self._count_undrawn() < DRAWING

    def cannot_keep_up(self) -> bool:
        """Return true if the client is too far behind and not yet ready for a snapshot.

        A new client is not slow, nor is one that only met a gap in the output.
        """
        return self.is_behind and self._greeted and not self.can_send_more()

    def _is_too_far(self) -> bool:
        if not self._log.has_offset(self.offset):
            return True
        drawn = self.offset if self._got is None else min(self._got, self.offset)
        return self._log.end - drawn > WINDOW

    def _count_undrawn(self) -> int:
        return 0 if self._got is None else self.offset - self._got

    def _request_snapshot(self) -> None:
        # A snapshot queued on a full socket would be stale and cost memory.
        if self._asked or not self.can_send_more():
            return
        self._asked = True
        self._want_snapshot(self)
