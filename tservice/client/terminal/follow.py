"""C{tail -f}: print the output of a session as it arrives, without dangerous characters."""

from __future__ import annotations

import codecs
import select
from collections.abc import Callable
from typing import TextIO

from tservice.client.link.caller import ResponseLost
from tservice.client.link.stream import OutputReceived, ProcessEnded, TerminalConnection
from tservice.client.terminal.safe import safe_text
from tservice.terminal.frames.ansi import EscapeStripper

PAUSE = 1.0
"""Seconds between two tries to connect."""


Tell = Callable[[str], None]
# Without cursor movement a line that is redrawn is shown twice.
_MOVES = {ord(sign): None for sign in "\r\b\a"}


def follow_stream(
    stream: TerminalConnection, out: TextIO, tell: Tell, warn: Tell, *, ansi: bool
) -> None:
    """Print output until the session's process ends.

    @param stream: a stream that is not connected yet.
    @param tell: called with progress messages.
    @param warn: called with a message if output is missing, because the service was restarted or
        the output was too fast.
    @param ansi: true to keep escape sequences.
    @raise Unusable: the stream has ended permanently. The same holds for C{ApiError}.
    """
    text = _SafeTextPrinter(out, ansi)
    try:
        stream.connect()
        while not _print_received_output(stream, text, tell, warn):
            _wait_for_output(stream, tell)
    finally:
        stream.close()


class _SafeTextPrinter:
    """Printer that decodes a stream, and prints complete characters without dangerous ones."""

    def __init__(self, out: TextIO, ansi: bool) -> None:
        self._out, self._ansi = out, ansi
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stripper = EscapeStripper()

    def print_chunk(self, data: bytes) -> None:
        found = self._decoder.decode(data if self._ansi else self._stripper.feed(data))
        shown = found if self._ansi else safe_text(found.translate(_MOVES))
        self._out.write(shown)
        self._out.flush()


def _print_received_output(
    stream: TerminalConnection, text: _SafeTextPrinter, tell: Tell, warn: Tell
) -> bool:
    """Print the output received so far. Return true if the process has ended."""
    try:
        for event in stream.receive_events():
            match event:
                case ProcessEnded():
                    return True
                case OutputReceived():
                    text.print_chunk(event.data)
                case _:
                    warn("some output is missing here")
    except ResponseLost as error:
        tell(f"{error}; connecting again")
        stream.close()
    return False


def _wait_for_output(stream: TerminalConnection, tell: Tell) -> None:
    """Block until more output may be available."""
    if stream.socket is None:
        try:
            stream.connect()
        except ResponseLost:
            select.select([], [], [], PAUSE)
        else:
            tell("connected again")
        return
    if not stream.socket.has_pending_data:
        sending = [stream.socket] if stream.socket.unsent else []
        _, writable, _ = select.select([stream.socket], sending, [])
        if writable:
            stream.socket.flush()
