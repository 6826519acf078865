"""The terminal in raw mode, given back as it was whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import termios
import tty
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from tservice.client.terminal.filter import RESTORE

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


class EndedBySignal(BaseException):
    """A signal ends the program: not an error, so that no handler of errors keeps it.

    @ivar number: which.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def raw(descriptor: int, output: int) -> Iterator[None]:
    """Have the terminal raw in the block; then restore its settings and its modes.

    @raise Killed: in the block, when a signal of L{ENDING} comes.
    """
    before = termios.tcgetattr(descriptor)
    handlers = {number: signal.getsignal(number) for number in ENDING}
    try:
        for number in ENDING:
            signal.signal(number, _end)
        tty.setraw(descriptor, termios.TCSANOW)
        yield
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        # The terminal itself may be what went away.
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
        with contextlib.suppress(OSError):
            write_all(output, RESTORE + b"\x1b[999;1H\r\n")
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def resizes() -> Iterator[int]:
    """A descriptor that is readable after the window changed its size."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    handler = signal.signal(signal.SIGWINCH, lambda number, frame: None)
    wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGWINCH, handler)
        os.close(reader)
        os.close(writer)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it.

    @raise OSError: the terminal is gone.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise EndedBySignal(number)
