"""C{tsctl attach}: use this terminal for a session."""

from __future__ import annotations

import codecs
import contextlib
import os
import select

from tservice.client.errors import Unusable
from tservice.client.link.caller import ResponseLost
from tservice.client.link.stream import (
    OutputReceived,
    ProcessEnded,
    RedrawReceived,
    TerminalConnection,
)
from tservice.client.terminal.filter import CLEAR, OutputFilter
from tservice.client.terminal.keys import DetachKeyFinder
from tservice.client.terminal.raw import TerminatedBySignal, raw_mode, watch_resizes, write_all

PAUSE = 1.0
"""Seconds between two attempts to connect. A pressed key starts an attempt at once."""
PATIENCE = 5.0
"""Maximum duration of an attempt in seconds. The detach key is not handled during an attempt."""
CHUNK = 4096

# Only the title shows a lost connection: the screen belongs to the session.
LOST_TITLE = b"\x1b[22;2t\x1b]2;tsctl: connection lost, connecting again\x1b\\"
RESTORED_TITLE = b"\x1b[23;2t"
BELL = b"\x07"


class AttachedTerminal:
    """Local terminal that is attached to a session.

    @ivar ended: event for the end of the process, or C{None} while it runs.
    """

    def __init__(
        self,
        stream: TerminalConnection,
        keyboard: int,
        screen: int,
        detacher: DetachKeyFinder,
        *,
        read_only: bool,
    ) -> None:
        """Attach a terminal.

        @param stream: a connected stream.
        @param keyboard: descriptor of the terminal for input.
        @param screen: descriptor of the same terminal for output.
        @param read_only: true to send no input.
        """
        self._stream, self._detacher = stream, detacher
        self._keyboard, self._screen = keyboard, screen
        self._read_only = read_only
        self._filter = OutputFilter()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shows_lost = False
        self.ended: ProcessEnded | None = None

    def run(self) -> int:
        """Run until the user detaches, the process ends or a signal arrives.

        @return: exit status of C{tsctl}.
        @raise Unusable: the stream has ended permanently. The same holds for C{ApiError}.
        """
        try:
            with raw_mode(self._keyboard, self._screen), watch_resizes() as resized:
                with contextlib.suppress(ResponseLost):
                    self._send_size()
                while self._process_events(resized):
                    pass
        except TerminatedBySignal as killed:
            return 128 + killed.number
        finally:
            self._stream.close()
        return 0

    def _process_events(self, resized: int) -> bool:
        """Wait for input, output or a resize, and handle it. Return false if the session was left.

        @param resized: descriptor that becomes readable after a resize.
        """
        try:
            socket = self._stream.socket
            if socket is None:
                self._try_reconnect()
                socket = self._stream.socket
            if socket is not None and socket.has_pending_data:
                return self._draw_output()
            readable = self._wait_for_input_or_output(resized)
            if resized in readable:
                self._send_size(resized)
            if self._keyboard in readable and not self._forward_input():
                return False
            return self._draw_output()
        except ResponseLost:
            self._stream.close()
            self._show_connection_state(True)
            return True

    def _wait_for_input_or_output(self, resized: int) -> set[int]:
        socket = self._stream.socket
        reading, writing = [resized], []
        # A long paste waits in the terminal; the detach key must work without a connection.
        if socket is None or self._stream.can_accept_input:
            reading.append(self._keyboard)
        if socket is not None:
            reading.append(socket.fileno())
            if socket.unsent:
                writing.append(socket.fileno())
        found, writable, _ = select.select(reading, writing, [], PAUSE if socket is None else None)
        if socket is not None and writable:
            socket.flush()
        return set(found)

    def _try_reconnect(self) -> None:
        with contextlib.suppress(ResponseLost):
            self._stream.connect(PATIENCE)
            self._show_connection_state(False)

    def _show_connection_state(self, lost: bool) -> None:
        if lost is not self._shows_lost:
            write_all(self._screen, LOST_TITLE if lost else RESTORED_TITLE)
            self._shows_lost = lost

    def _draw_output(self) -> bool:
        for event in self._stream.receive_events():
            match event:
                case OutputReceived(data=data):
                    write_all(self._screen, self._filter.feed(data))
                case RedrawReceived(data=data):
                    self._filter = OutputFilter()
                    write_all(self._screen, CLEAR + self._filter.feed(data))
                case ProcessEnded():
                    self.ended = event
                    return False
        return True

    def _forward_input(self) -> bool:
        """Send typed input to the session. Return false if the detach key was pressed."""
        data = os.read(self._keyboard, CHUNK)
        if not data:
            raise Unusable("the terminal is gone")
        typed, detached = self._detacher.split_at_detach_keys(data)
        text = self._decoder.decode(typed)
        if text and not self._read_only:
            if self._stream.can_accept_input:
                self._stream.type_text(text)
            else:
                write_all(self._screen, BELL)
        return not detached

    def _send_size(self, resized: int | None = None) -> None:
        if resized is not None:
            with contextlib.suppress(BlockingIOError):
                os.read(resized, CHUNK)
        if self._read_only:
            return
        size = os.get_terminal_size(self._screen)
        if size.columns and size.lines:
            self._stream.request_size(size.columns, size.lines)
