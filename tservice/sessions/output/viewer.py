"""One terminal client: where it stands in the output, and when it must skip ahead
(protocol-websocket)."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from tservice.mux.interface import Capture, GlyphRun
from tservice.mux.outputlog import OutputLog
from tservice.terminal.snapshot import snapshot_text

FRAME = 32 * 1024
"""Most output bytes in one frame."""

WINDOW = 4 * 1024 * 1024
"""Bytes unsent or un-got beyond which a client skips ahead by a snapshot."""

DRAWING = 1024 * 1024
"""Bytes sent beyond the client's last C{got} at which the service waits for the next."""


EARLY = 8
"""Frames kept for a client that waits for its hello; of more the newest."""


class ViewerSocket(Protocol):
    """What a viewer needs of its socket; the bytes queued there are bounded by C{writable}."""

    def send_text(self, text: str) -> None:
        """Queue a text frame."""

    def send_binary(self, data: bytes) -> None:
        """Queue a binary frame."""

    def writable(self) -> bool:
        """False while the transport asks for a pause."""


def frame(kind: str, **fields: object) -> str:
    """A text frame of the protocol."""
    return json.dumps({"t": kind, **fields}, ensure_ascii=False, separators=(",", ":"))


class Viewer:
    """Sends one client what follows its offset, as far as the client takes it.

    A client that is too far behind, or out of the ring, is marked and left alone until its socket
    drains; then it gets one snapshot and goes on from there.  So a stalled client costs no memory
    beyond its socket's buffer.

    @ivar offset: the next byte to send.
    @ivar glyphs: how many cells the pane gives to some characters, as far as it is known.
    @ivar behind: true from falling too far behind to the snapshot that repairs it.
    """

    def __init__(
        self, wire: ViewerSocket, log: OutputLog, want_snapshot: Callable[[Viewer], None]
    ) -> None:
        self._wire = wire
        self._log = log
        self._want_snapshot = want_snapshot
        self._got: int | None = None
        self._asked = False
        self._greeted = False
        self._later: deque[str] = deque(maxlen=EARLY)
        self.offset = 0
        self.behind = False
        self.glyphs: Sequence[GlyphRun] = ()

    @property
    def epoch(self) -> str:
        """The life of the stream that this viewer follows."""
        return self._log.epoch

    def hello(self, offset: int, cols: int, rows: int, *, resumed: bool) -> None:
        """Greet: the next binary frame starts at C{offset}."""
        self.offset = offset
        self._greeted = True
        self._wire.send_text(
            frame(
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

    def tell(self, text: str) -> None:
        """Send a frame that is not output; the hello comes before any."""
        if self._greeted:
            self._wire.send_text(text)
        else:
            self._later.append(text)

    def greet_with_snapshot(self) -> None:
        """Begin afresh: hello and snapshot follow once the pane was captured."""
        self.behind = True
        self._ask()

    def snapshot(self, capture: Capture) -> None:
        """Replace the client's screen and go on from the capture's offset."""
        if not self._greeted:
            self.hello(capture.offset, capture.cols, capture.rows, resumed=False)
        self.behind = self._asked = False
        self.offset = capture.offset
        if self._got is not None:
            self._got = capture.offset
        self._wire.send_text(
            frame(
                "snapshot",
                offset=capture.offset,
                cols=capture.cols,
                rows=capture.rows,
                data=snapshot_text(capture),
            )
        )
        self.pump()

    def snapshot_failed(self) -> None:
        """The snapshot did not come about; the next L{pump} asks again."""
        self._asked = False

    def got(self, offset: int) -> None:
        """The client has drawn everything before C{offset}; nonsense is ignored."""
        if offset <= self.offset:
            self._got = max(self._got or 0, offset)
            self.pump()

    def pump(self) -> None:
        """Send what there is and the client takes; ask for a snapshot where it must skip."""
        if self._too_far():
            self.behind = True
        if self.behind:
            self._ask()
            return
        while self.offset < self._log.end and self.takes_more():
            data = self._log.read(self.offset, FRAME)
            self.offset += len(data)
            self._wire.send_binary(data)

    def takes_more(self) -> bool:
        """Whether the socket is writable and the client has drawn most of what it was sent."""
        return self._wire.writable() and self._drawing() < DRAWING

    def left_behind(self) -> bool:
        """Whether it cannot follow: too far behind, and not ready for the snapshot either.

        A newcomer is not slow, nor is one that only met a gap in the output.
        """
        return self.behind and self._greeted and not self.takes_more()

    def _too_far(self) -> bool:
        if not self._log.holds(self.offset):
            return True
        drawn = self.offset if self._got is None else min(self._got, self.offset)
        return self._log.end - drawn > WINDOW

    def _drawing(self) -> int:
        return 0 if self._got is None else self.offset - self._got

    def _ask(self) -> None:
        # A snapshot queued behind a full socket would be stale and cost memory.
        if self._asked or not self.takes_more():
            return
        self._asked = True
        self._want_snapshot(self)
