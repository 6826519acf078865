"""C{tsctl attach}: this terminal as one of a session's terminals."""

from __future__ import annotations

import codecs
import contextlib
import os
import select

from tservice.client.errors import Unusable
from tservice.client.link.caller import Lost
from tservice.client.link.stream import Ended, Output, Redraw, Stream
from tservice.client.terminal.filter import CLEAR, Filter
from tservice.client.terminal.keys import Detacher
from tservice.client.terminal.raw import EndedBySignal, raw, resizes, write_all

PAUSE = 1.0
"""Seconds between two tries to connect; a key triggers a try."""
PATIENCE = 5.0
"""Seconds that one try takes at most, as the detach key waits for it."""
CHUNK = 4096

# Only the title shows a lost connection: the screen belongs to the session.
LOST = b"\x1b[22;2t\x1b]2;tsctl: connection lost, connecting again\x1b\\"
FOUND = b"\x1b[23;2t"
BELL = b"\x07"


class AttachedTerminal:
    """Local terminal attached to a session.

    @ivar ended: how the process ended, once it has.
    """

    def __init__(
        self, stream: Stream, keyboard: int, screen: int, detacher: Detacher, *, read_only: bool
    ) -> None:
        """Create an attached terminal.

        @param stream: a connected stream.
        @param keyboard: descriptor of a terminal.
        @param screen: descriptor of the same terminal.
        """
        self._stream, self._detacher = stream, detacher
        self._keyboard, self._screen = keyboard, screen
        self._read_only = read_only
        self._filter = Filter()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._told = False
        self.ended: Ended | None = None

    def run(self) -> int:
        """Run until the user detaches, the process ends or a signal arrives.

        @return: the exit status.
        @raise Unusable: the stream has ended for good; also C{ApiError}.
        """
        try:
            with raw(self._keyboard, self._screen), resizes() as resized:
                with contextlib.suppress(Lost):
                    self._fit()
                while self._turn(resized):
                    pass
        except EndedBySignal as killed:
            return 128 + killed.number
        finally:
            self._stream.close()
        return 0

    def _turn(self, resized: int) -> bool:
        """Wait for events and handle them; return false to stop."""
        try:
            socket = self._stream.socket
            if socket is None:
                self._reconnect()
                socket = self._stream.socket
            if socket is not None and socket.ready:
                return self._draw()
            readable = self._select(resized)
            if resized in readable:
                self._fit(resized)
            if self._keyboard in readable and not self._type():
                return False
            return self._draw()
        except Lost:
            self._stream.close()
            self._tell(True)
            return True

    def _select(self, resized: int) -> set[int]:
        socket = self._stream.socket
        reading, writing = [resized], []
        # A long paste waits in the terminal; the detach key must work without a connection.
        if socket is None or self._stream.open_to_input:
            reading.append(self._keyboard)
        if socket is not None:
            reading.append(socket.fileno())
            if socket.unsent:
                writing.append(socket.fileno())
        found, writable, _ = select.select(reading, writing, [], PAUSE if socket is None else None)
        if socket is not None and writable:
            socket.flush()
        return set(found)

    def _reconnect(self) -> None:
        with contextlib.suppress(Lost):
            self._stream.connect(PATIENCE)
            self._tell(False)

    def _tell(self, lost: bool) -> None:
        if lost is not self._told:
            write_all(self._screen, LOST if lost else FOUND)
            self._told = lost

    def _draw(self) -> bool:
        for event in self._stream.receive():
            match event:
                case Output(data=data):
                    write_all(self._screen, self._filter.feed(data))
                case Redraw(data=data):
                    self._filter = Filter()
                    write_all(self._screen, CLEAR + self._filter.feed(data))
                case Ended():
                    self.ended = event
                    return False
        return True

    def _type(self) -> bool:
        """Forward typed input; return false after the detach key."""
        data = os.read(self._keyboard, CHUNK)
        if not data:
            raise Unusable("the terminal is gone")
        typed, detached = self._detacher.feed(data)
        text = self._decoder.decode(typed)
        if text and not self._read_only:
            if self._stream.open_to_input:
                self._stream.type(text)
            else:
                write_all(self._screen, BELL)
        return not detached

    def _fit(self, resized: int | None = None) -> None:
        if resized is not None:
            with contextlib.suppress(BlockingIOError):
                os.read(resized, CHUNK)
        if self._read_only:
            return
        size = os.get_terminal_size(self._screen)
        if size.columns and size.lines:
            self._stream.resize(size.columns, size.lines)
