"""The terminal side of a played agent: raw mode, reads, and drawing."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Protocol

from attrs import frozen

from tests.agents.mock_tui.keys import Key, KeyDecoder

TICK = 0.02
"""Seconds between two looks at timers, gates and children."""

READ = 65536
_SGR = re.compile(r"\x1b\[[0-9;]*m")


@frozen(kw_only=True)
class MockView:
    """What should be on the screen.

    @ivar done: rows that will not change any more; they scroll away upwards.
    @ivar live: rows at the bottom that are drawn again each time.
    @ivar cursor: row in C{live} and column of the cursor.
    @ivar epoch: changes when everything before is to be wiped.
    """

    done: Sequence[str]
    live: Sequence[str]
    title: str
    cursor: tuple[int, int] | None = None
    epoch: int = 0


class MockApp(Protocol):
    """A played agent."""

    alternate: bool
    ended: int | None
    farewell: Sequence[str]

    def keys(self, keys: list[Key]) -> None:
        """The keys of one read."""

    def tick(self, now: float) -> None:
        """Time passed."""

    def view(self, columns: int, rows: int) -> MockView:
        """The screen now."""

    def close(self) -> None:
        """End child processes."""


def clip(row: str, columns: int) -> str:
    """The row cut to the screen's width; sequences of colour take no room."""
    plain = _SGR.sub("", row)
    return row if len(plain) <= columns else plain[:columns]


def folded(text: str, columns: int, first: str, rest: str) -> list[str]:
    """Text folded at blanks, with a mark before its first row and blanks before others."""
    rows: list[str] = []
    room = max(columns - len(first), 8)
    for line in text.split("\n"):
        while len(line) > room:
            cut = line.rfind(" ", 1, room + 1)
            cut = room if cut < 1 else cut
            rows.append(line[:cut])
            line = line[cut:].lstrip(" ")
        rows.append(line)
    return [(first if number == 0 else rest) + row for number, row in enumerate(rows)]


class ViewPainter:
    """Turns views into bytes, as programs on the main screen do it."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._shown: MockView | None = None
        self._size = (0, 0)
        self._height = 0
        self._at = 0

    def draw(self, view: MockView, columns: int, rows: int) -> None:
        """Bring the screen from the last view to this one."""
        last, wiped = self._shown, (columns, rows) != self._size
        if last == view and not wiped:
            return
        out = ["\x1b[?25l"]
        if last is None or wiped or view.epoch != last.epoch:
            out.append("\x1b[2J\x1b[3J\x1b[H")
            fresh: Sequence[str] = view.done
        else:
            up = f"\x1b[{self._at}A" if self._at else ""
            out.append(f"\r{up}\x1b[J")
            fresh = view.done[len(last.done) :]
        live = [clip(row, columns) for row in view.live][-(rows - 1) :]
        out += [clip(row, columns) + "\r\n" for row in fresh]
        out.append("\r\n".join(live))
        out.append(self._place(view, len(view.live) - len(live), len(live)))
        if last is None or view.title != last.title:
            out.append(f"\x1b]0;{view.title}\x07")
        self._write("".join(out))
        self._shown, self._size = view, (columns, rows)

    def _place(self, view: MockView, hidden: int, height: int) -> str:
        if view.cursor is None:
            self._at = max(height - 1, 0)
            return ""
        row = max(view.cursor[0] - hidden, 0)
        self._at = row
        up = height - 1 - row
        back = f"\x1b[{up}A" if up else ""
        return f"{back}\r\x1b[{view.cursor[1]}C\x1b[?25h"


def _write_all(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def run(app: MockApp) -> int:
    """Play until the app ends; its exit status."""
    entry = sys.stdin.fileno()
    before = termios.tcgetattr(entry)
    tty.setraw(entry)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    enter = "\x1b[?1049h\x1b[?1000h\x1b[?1006h" if app.alternate else ""
    leave = "\x1b[?1006l\x1b[?1000l\x1b[?1049l" if app.alternate else ""
    _write_all(f"{enter}\x1b[?2004h")
    try:
        _loop(app, entry)
    finally:
        app.close()
        _write_all(f"\x1b[?2004l{leave}\x1b[?25h\r\n")
        termios.tcsetattr(entry, termios.TCSADRAIN, before)
    for row in app.farewell:
        print(row)
    return app.ended or 0


def _loop(app: MockApp, entry: int) -> None:
    painter, decoder = ViewPainter(_write_all), KeyDecoder()
    while app.ended is None:
        app.tick(time.monotonic())
        size = os.get_terminal_size(entry)
        painter.draw(app.view(size.columns, size.lines), size.columns, size.lines)
        ready, _, _ = select.select([entry], [], [], TICK)
        if ready:
            data = os.read(entry, READ)
            if not data:
                return
            app.tick(time.monotonic())
            app.keys(decoder.feed(data))
