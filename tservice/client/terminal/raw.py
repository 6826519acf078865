"""Raw mode of the terminal. The former mode is restored in every case."""

from __future__ import annotations

import contextlib
import os
import signal
import termios
import tty
from collections.abc import Iterator
from types import FrameType
from typing import Any, NoReturn

from tservice.client.terminal.filter import RESTORE
from tservice.client.terminal.guard import guard_block

Settings = list[Any]
"""Terminal settings in the form that C{termios} uses."""
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


class TerminatedBySignal(BaseException):
    """Raised when a signal ends the program. It does not derive from C{Exception}, so that no error
    handler catches it.

    @ivar number: number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def raw_mode(descriptor: int, output: int) -> Iterator[None]:
    """Put the terminal into raw mode during the block, and restore its settings and modes
    afterwards.

    If this process is killed, another process restores them.

    @param descriptor: descriptor of the terminal for input.
    @param output: descriptor of the terminal for output.
    @raise TerminatedBySignal: a signal of L{ENDING} arrived during the block.
    """
    before = termios.tcgetattr(descriptor)
    handlers = {number: signal.getsignal(number) for number in ENDING}
    try:
        for number in ENDING:
            signal.signal(number, _raise_ended)
        tty.setraw(descriptor, termios.TCSANOW)
        ours = termios.tcgetattr(descriptor)
        with guard_block(
            (descriptor, output), lambda: restore_terminal(descriptor, output, before, ours)
        ):
            yield
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        restore_terminal(descriptor, output, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def restore_terminal(
    descriptor: int, output: int, settings: Settings, only: Settings | None = None
) -> None:
    """Restore the settings and modes of a terminal.

    @param only: restore the settings only if the current ones equal these, because a shell may have
        changed them since.
    """
    # The terminal itself may be gone.
    with contextlib.suppress(OSError, termios.error):
        if only is None or termios.tcgetattr(descriptor) == only:
            termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    with contextlib.suppress(OSError):
        write_all(output, RESTORE + b"\x1b[999;1H\r\n")


@contextlib.contextmanager
def watch_resizes() -> Iterator[int]:
    """Yield a descriptor that becomes readable after the window was resized."""
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
    """Write all of C{data}, and wait while the terminal accepts no more.

    @raise OSError: the terminal was closed.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _raise_ended(number: int, frame: FrameType | None) -> NoReturn:
    raise TerminatedBySignal(number)
