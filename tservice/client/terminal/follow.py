"""C{tail -f}: print a session's output as it arrives, made safe."""

from __future__ import annotations

import codecs
import select
from collections.abc import Callable
from typing import TextIO

from tservice.client.link.caller import Lost
from tservice.client.link.stream import Ended, Output, Stream
from tservice.client.terminal.safe import safe_text
from tservice.terminal.ansi import EscapeStripper

PAUSE = 1.0
"""Seconds between two tries to connect."""


Tell = Callable[[str], None]
# Without cursor movement a line that is redrawn is shown twice.
_MOVES = {ord(sign): None for sign in "\r\b\a"}


def follow(stream: Stream, out: TextIO, tell: Tell, warn: Tell, *, ansi: bool) -> None:
    """Print output until the session's process ends.

    @param stream: a stream that is not connected yet.
    @param tell: receives progress messages.
    @param warn: receives a message where output is missing: the service restarted or was too fast.
    @param ansi: keep escape sequences.
    @raise Unusable: the stream has ended for good; also C{ApiError}.
    """
    text = _Text(out, ansi)
    try:
        stream.connect()
        while not _take(stream, text, tell, warn):
            _await(stream, tell)
    finally:
        stream.close()


class _Text:
    """Printer of complete characters of a stream, made safe."""

    def __init__(self, out: TextIO, ansi: bool) -> None:
        self._out, self._ansi = out, ansi
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stripper = EscapeStripper()

    def print(self, data: bytes) -> None:
        found = self._decoder.decode(data if self._ansi else self._stripper.feed(data))
        shown = found if self._ansi else safe_text(found.translate(_MOVES))
        self._out.write(shown)
        self._out.flush()


def _take(stream: Stream, text: _Text, tell: Tell, warn: Tell) -> bool:
    """Print the received output; return true after the process ended."""
    try:
        for event in stream.receive():
            match event:
                case Ended():
                    return True
                case Output():
                    text.print(event.data)
                case _:
                    warn("some output is missing here")
    except Lost as error:
        tell(f"{error}; connecting again")
        stream.close()
    return False


def _await(stream: Stream, tell: Tell) -> None:
    """Block until there may be more output."""
    if stream.socket is None:
        try:
            stream.connect()
        except Lost:
            select.select([], [], [], PAUSE)
        else:
            tell("connected again")
        return
    if not stream.socket.ready:
        sending = [stream.socket] if stream.socket.unsent else []
        _, writable, _ = select.select([stream.socket], sending, [])
        if writable:
            stream.socket.flush()
