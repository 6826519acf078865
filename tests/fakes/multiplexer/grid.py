"""Screen grid of a fake pane, based on pyte and read the way tmux prints a pane."""

from __future__ import annotations

import copy
import functools
from collections import deque
from typing import Any

import pyte
from attrs import frozen

from tservice.mux.glyph_widths import CHARACTERS, group_runs
from tservice.mux.interface import GlyphRun
from tservice.mux.row_wrapping import is_full

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
_MODES_OF_TMUX = {
    "keypad_cursor_flag": 1,
    "origin_flag": 6,
    "wrap_flag": 7,
    "cursor_flag": 25,
    "mouse_standard_flag": 1000,
    "mouse_button_flag": 1002,
    "mouse_all_flag": 1003,
    "mouse_utf8_flag": 1005,
    "mouse_sgr_flag": 1006,
}
_ALTERNATE = 1049
_CURSOR = 25


class _HistoryScreen(pyte.Screen):
    """Pyte screen with history, an alternate screen and a record of wrapped rows.

    Each row has an attribute C{wrapped}, which moves with the row when the screen scrolls.
    """

    def __init__(self, cols: int, rows: int, history_limit: int) -> None:
        self.history: deque[Any] = deque(maxlen=history_limit)
        self._main: tuple[Any, Any] | None = None
        self._wrapping = False
        super().__init__(cols, rows)

    def draw(self, data: str) -> None:
        for character in data:
            # A wide character that does not fit wraps; pyte would cut it.
            wide = pyte.screens.wcwidth(character) == 2
            if wide and self._is_autowrapping and self.cursor.x == self.columns - 1:
                self.cursor.x = self.columns
            self._wrapping = True
            super().draw(character)
            self._wrapping = False

    def linefeed(self) -> None:
        if self._wrapping:
            self._get_row(self.cursor.y).wrapped = True
        super().linefeed()

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        whole = how == 2 or (how == 0 and self.cursor.x == 0)
        super().erase_in_line(how, private)
        if whole:
            self._clear_wrap_marks(self.cursor.y)

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        super().erase_in_display(how, *args, **kwargs)
        first = {0: self.cursor.y + 1, 1: 0}.get(how, 0)
        last = self.cursor.y if how == 1 else self.lines
        for y in range(first, last):
            self._clear_wrap_marks(y)

    def _clear_wrap_marks(self, y: int) -> None:
        """Clear the wrap marks of row C{y} and of the row above, as tmux does."""
        if all(cell == _BLANK for cell in self.buffer[y].values()):
            self.buffer.pop(y)
        self._get_row(y).wrapped = False
        above = self._get_row(y - 1) if y else next(reversed(self.history), None)
        if above is not None:
            above.wrapped = False

    def _get_row(self, y: int) -> Any:
        return self.buffer[y]

    @property
    def _is_autowrapping(self) -> bool:
        return pyte.modes.DECAWM in self.mode

    @property
    def is_alternate(self) -> bool:
        return self._main is not None

    @property
    def main_lines(self) -> Any:
        """Lines of the main screen while the alternate screen is shown."""
        return None if self._main is None else self._main[0]

    @property
    def main_cursor(self) -> tuple[int, int]:
        """Caret position of the main screen while the alternate screen is shown."""
        return (0, 0) if self._main is None else (self._main[1].x, self._main[1].y)

    def index(self) -> None:
        scrolls_all = self.margins is None or self.margins.top == 0
        bottom = self.margins.bottom if self.margins else self.lines - 1
        if scrolls_all and self.cursor.y == bottom and not self.is_alternate:
            self.history.append(copy.copy(self.buffer[0]))
        super().index()

    def set_mode(self, *modes: int, **kwargs: Any) -> None:
        super().set_mode(*modes, **kwargs)
        if _ALTERNATE in modes and kwargs.get("private") and not self.is_alternate:
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
    """State of a grid for a capture, without the lines.

    @ivar cursor_wraps: true if the caret is after the last column.
    """

    history_size: int
    cursor_x: int
    cursor_y: int
    cursor_wraps: bool
    cursor_visible: bool
    alternate_screen: bool
    modes: bytes
    main: tuple[bytes, ...]
    main_wrapped: frozenset[int]
    main_cursor: tuple[int, int]


class FakeGrid:
    """Terminal grid that processes output bytes and returns rows."""

    def __init__(self, cols: int, rows: int, history_limit: int) -> None:
        self._screen = _HistoryScreen(cols, rows, history_limit)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def title(self) -> str:
        """Title that the program set by OSC 0 or 2."""
        return str(self._screen.title)

    def has_mode(self, mode: int) -> bool:
        """Return true if the DEC private C{mode} is set."""
        return mode << 5 in self._screen.mode

    @property
    def flags(self) -> frozenset[str]:
        """Terminal modes that are set, by their names in tmux."""
        found = {name for name, mode in _MODES_OF_TMUX.items() if self.has_mode(mode)}
        found |= {"alternate_on"} if self._screen.is_alternate else set()
        return frozenset(
            found | ({"insert_flag"} if pyte.modes.IRM in self._screen.mode else set())
        )

    def feed(self, data: bytes) -> None:
        """Process C{data} as output of the pane."""
        self._stream.feed(data)

    def resize(self, cols: int, rows: int) -> None:
        """Resize the screen to this number of columns and rows."""
        self._screen.resize(rows, cols)
        self._screen.ensure_vbounds()
        self._screen.ensure_hbounds()

    def get_state(self) -> GridState:
        """Return the cursor, the modes and the number of history rows."""
        screen = self._screen
        main, main_wrapped = _render_rows(self._main_screen_rows(), screen.columns)
        return GridState(
            history_size=len(screen.history),
            cursor_x=min(screen.cursor.x, screen.columns - 1),
            cursor_y=screen.cursor.y,
            cursor_wraps=screen.cursor.x == screen.columns,
            cursor_visible=self.has_mode(_CURSOR),
            alternate_screen=screen.is_alternate,
            modes=self._build_mode_sequences(),
            main=main,
            main_wrapped=main_wrapped,
            main_cursor=screen.main_cursor,
        )

    def get_rows(self, history: int) -> tuple[bytes, ...]:
        """Return the last C{history} rows above the screen, then the screen."""
        return _render_rows(self._select_rows(history), self._screen.columns)[0]

    def find_wrapped_rows(self, history: int) -> frozenset[int]:
        """Return the indices of the rows of L{get_rows} that continue in the next row."""
        return _render_rows(self._select_rows(history), self._screen.columns)[1]

    def _select_rows(self, history: int) -> list[Any]:
        screen = self._screen
        above = list(screen.history)[len(screen.history) - history :] if history else []
        return [*above, *(screen.buffer[y] for y in range(screen.lines))]

    def _main_screen_rows(self) -> list[Any]:
        screen = self._screen
        return (
            []
            if screen.main_lines is None
            else [screen.main_lines.get(y) for y in range(screen.lines)]
        )

    def _build_mode_sequences(self) -> bytes:
        found = b"\x1b[?1049h" if self._screen.is_alternate else b""
        found += b"".join(sequence for mode, sequence in _MODES if self.has_mode(mode))
        return found if self.has_mode(_CURSOR) else found + b"\x1b[?25l"


@functools.cache
def measure_grid_glyphs() -> tuple[GlyphRun, ...]:
    """Return the widths that a fake grid gives to characters on which systems differ."""
    return group_runs((ord(each), max(pyte.screens.wcwidth(each), 0)) for each in CHARACTERS)


def _render_rows(rows: list[Any], cols: int) -> tuple[tuple[bytes, ...], frozenset[int]]:
    """Return the text of each row, and the indices of the rows that continue in the next one."""
    texts = [_render_row(row, cols, full=False) for row in rows]
    wrapped: set[int] = set()
    for at, row in enumerate(rows[:-1]):
        full = _render_row(row, cols, full=True)
        if getattr(row, "wrapped", False) and is_full(full, texts[at + 1], cols):
            wrapped.add(at)
            texts[at] = full
    return tuple(texts), frozenset(wrapped)


def _render_row(line: Any, cols: int, *, full: bool) -> bytes:
    if line is None:
        return b""
    out, style = [], ""
    for x in range(_count_written_cells(line, cols, full)):
        cell = line[x]
        wanted = _build_sgr(cell)
        if wanted != style:
            out.append(f"\x1b[0{wanted}m")
            style = wanted
        out.append(cell.data)
    if style:
        out.append("\x1b[0m")
    return "".join(out).encode("utf-8", "replace")


def _count_written_cells(line: Any, cols: int, full: bool) -> int:
    """Return the number of cells up to the last non-blank one. Missing cells count as blank.

    @param full: if true, count up to the last written cell, even if that cell is blank.
    """
    if line.default != _BLANK:
        return cols
    written = (x + 1 for x, cell in line.items() if x < cols and (full or cell != _BLANK))
    return max(written, default=0)


@functools.lru_cache(maxsize=4096)
def _build_sgr(cell: Any) -> str:
    parts = [code for name, code in _FLAGS if getattr(cell, name)]
    parts += _build_colour_codes(cell.fg, 30) + _build_colour_codes(cell.bg, 40)
    return "".join(f";{part}" for part in parts)


def _build_colour_codes(name: str, base: int) -> list[str]:
    if name == "default":
        return []
    if name in _COLOURS:
        return [str(base + _COLOURS.index(name))]
    plain = name.removeprefix("bright")
    if plain in _COLOURS:
        return [str(base + 60 + _COLOURS.index(plain))]
    red, green, blue = (int(name[i : i + 2], 16) for i in (0, 2, 4))
    return [str(base + 8), "2", str(red), str(green), str(blue)]
