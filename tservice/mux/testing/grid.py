"""The grid of a fake pane: pyte, read the way tmux prints a pane."""

from __future__ import annotations

import copy
import functools
from collections import deque
from typing import Any

import pyte
from attrs import frozen

_COLOURS = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_FLAGS = (
    ("bold", "1"),
    ("italics", "3"),
    ("underscore", "4"),
    ("blink", "5"),
    ("reverse", "7"),
    ("strikethrough", "9"),
)
_BLANK = pyte.screens.Char(" ")
_MODES = (
    (1000, b"\x1b[?1000h"),
    (1002, b"\x1b[?1002h"),
    (1003, b"\x1b[?1003h"),
    (1006, b"\x1b[?1006h"),
    (2004, b"\x1b[?2004h"),
    (1, b"\x1b[?1h"),
)
_ALTERNATE = 1049
_CURSOR = 25


class _Screen(pyte.Screen):
    """A pyte screen that keeps history and has an alternate screen."""

    def __init__(self, cols: int, rows: int, history_limit: int) -> None:
        self.history: deque[Any] = deque(maxlen=history_limit)
        self._main: tuple[Any, Any] | None = None
        super().__init__(cols, rows)

    @property
    def alternate(self) -> bool:
        return self._main is not None

    @property
    def behind(self) -> Any:
        """The lines of the main screen while the alternate one is shown."""
        return None if self._main is None else self._main[0]

    @property
    def behind_cursor(self) -> tuple[int, int]:
        """And the caret there."""
        return (0, 0) if self._main is None else (self._main[1].x, self._main[1].y)

    def index(self) -> None:
        scrolls_all = self.margins is None or self.margins.top == 0
        bottom = self.margins.bottom if self.margins else self.lines - 1
        if scrolls_all and self.cursor.y == bottom and not self.alternate:
            self.history.append(copy.copy(self.buffer[0]))
        super().index()

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        super().set_mode(*modes, **kwargs)
        if _ALTERNATE in modes and kwargs.get("private") and not self.alternate:
            self._main = (copy.deepcopy(dict(self.buffer)), copy.copy(self.cursor))
            self.erase_in_display(2)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:
        super().reset_mode(*modes, **kwargs)
        if _ALTERNATE in modes and kwargs.get("private") and self._main is not None:
            lines, self.cursor = self._main
            self._main = None
            self.buffer.clear()
            self.buffer.update(lines)


@frozen(kw_only=True)
class GridState:
    """What a capture shows, apart from the lines."""

    history_size: int
    cursor_x: int
    cursor_y: int
    cursor_visible: bool
    alternate_screen: bool
    modes: bytes
    main: tuple[bytes, ...]
    main_cursor: tuple[int, int]


class FakeGrid:
    """Bytes in, rows out."""

    def __init__(self, cols: int, rows: int, history_limit: int) -> None:
        self._screen = _Screen(cols, rows, history_limit)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def title(self) -> str:
        """What the program set by OSC 0 or 2."""
        return str(self._screen.title)

    def has(self, mode: int) -> bool:
        """Whether the DEC private C{mode} is set."""
        return mode << 5 in self._screen.mode

    def feed(self, data: bytes) -> None:
        """The pane printed C{data}."""
        self._stream.feed(data)

    def resize(self, cols: int, rows: int) -> None:
        """Give the screen this size."""
        self._screen.resize(rows, cols)
        self._screen.ensure_vbounds()
        self._screen.ensure_hbounds()

    def state(self) -> GridState:
        """Cursor, modes and the amount of history."""
        screen = self._screen
        return GridState(
            history_size=len(screen.history),
            cursor_x=min(screen.cursor.x, screen.columns - 1),
            cursor_y=screen.cursor.y,
            cursor_visible=self.has(_CURSOR),
            alternate_screen=screen.alternate,
            modes=self._modes(),
            main=self._main(),
            main_cursor=screen.behind_cursor,
        )

    def lines(self, history: int) -> tuple[bytes, ...]:
        """The last C{history} lines above the screen, then the screen."""
        screen = self._screen
        above = list(screen.history)[len(screen.history) - history :] if history else []
        rows = [screen.buffer[y] for y in range(screen.lines)]
        return tuple(_render(line, screen.columns) for line in [*above, *rows])

    def _main(self) -> tuple[bytes, ...]:
        screen = self._screen
        if screen.behind is None:
            return ()
        rows = [screen.behind.get(y) for y in range(screen.lines)]
        return tuple(b"" if row is None else _render(row, screen.columns) for row in rows)

    def _modes(self) -> bytes:
        found = b"\x1b[?1049h" if self._screen.alternate else b""
        found += b"".join(sequence for mode, sequence in _MODES if self.has(mode))
        return found if self.has(_CURSOR) else found + b"\x1b[?25l"


def _render(line: Any, cols: int) -> bytes:
    out, style = [], ""
    for x in range(_written(line, cols)):
        cell = line[x]
        wanted = _sgr(cell)
        if wanted != style:
            out.append(f"\x1b[0{wanted}m")
            style = wanted
        out.append(cell.data)
    if style:
        out.append("\x1b[0m")
    return "".join(out).encode("utf-8", "replace")


def _written(line: Any, cols: int) -> int:
    """How many cells a row has up to the last that is no blank; those not kept are the default."""
    if line.default != _BLANK:
        return cols
    return max((x + 1 for x, cell in line.items() if x < cols and cell != _BLANK), default=0)


@functools.lru_cache(maxsize=4096)
def _sgr(cell: Any) -> str:
    parts = [code for name, code in _FLAGS if getattr(cell, name)]
    parts += _colour(cell.fg, 30) + _colour(cell.bg, 40)
    return "".join(f";{part}" for part in parts)


def _colour(name: str, base: int) -> list[str]:
    if name == "default":
        return []
    if name in _COLOURS:
        return [str(base + _COLOURS.index(name))]
    plain = name.removeprefix("bright")
    if plain in _COLOURS:
        return [str(base + 60 + _COLOURS.index(plain))]
    red, green, blue = (int(name[i : i + 2], 16) for i in (0, 2, 4))
    return [str(base + 8), "2", str(red), str(green), str(blue)]
