"""Reading a pane's grid at one exact position of its stream."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from attrs import frozen

from tservice.mux.interface import Capture, MuxError
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux.commands import STATE, PaneState, capture_rows, join
from tservice.mux.tmux.control import MAX_BLOCK, Block

PAGE = 1000
"""History lines of one command: 3 ms of the pane's server, which does nothing else meanwhile."""

AT_ONCE = 2 * PAGE
"""Up to so many lines are read with the screen in one command."""

HISTORY_MAX = 1_000_000
"""Lines above the screen: the most that the setting C{historyLimit} keeps."""

SCREEN_BYTES = 4 * 1024 * 1024
"""Of one screen: every cell of 500 columns by 200 rows in a colour of its own is about as much."""

_SCREEN = capture_rows(0, "-")
_BEHIND = capture_rows(0, "-", alternate=True)
_PLAIN = b"\x1b[m\x1b(B"


class Send(Protocol):
    """Sends one line of so many commands."""

    def __call__(self, line: bytes, answers: int) -> Awaitable[list[Block]]: ...


@frozen
class _Moment:
    """What one line of commands told: all of it belongs to C{offset} of the log."""

    offset: int
    state: PaneState
    behind: tuple[bytes, ...]
    above: tuple[bytes, ...]
    screen: tuple[bytes, ...]


async def capture(
    send: Send, log: OutputLog, history: int | None, extra_modes: bytes, quiet: bool
) -> Capture:
    """Read the screen and up to C{history} lines above it.

    Much history is read in pages, so that keys are not held up, and then the screen.  That is one
    picture only if the pane printed nothing meanwhile; if it did, everything is read again by a
    single command, which stops the pane's server (nobody else's) for about 2.5 us a line.

    @param extra_modes: sequences of modes that tmux does not tell.
    @param quiet: whether bytes of the pane would show in C{log}; pages need that.
    """
    if history is not None and history <= AT_ONCE:
        return _capture(await _read(send, log, history), log, extra_modes)
    start = await _read(send, log, 0)
    kept = min(start.state.history, HISTORY_MAX)
    wanted = kept if history is None else min(history, kept)
    if quiet and wanted > AT_ONCE:
        pages = await _pages(send, wanted)
        last = await _read(send, log, 0)
        if last.offset == start.offset and last.state == start.state and len(pages) == wanted:
            whole = _Moment(last.offset, last.state, last.behind, pages, last.screen)
            return _capture(whole, log, extra_modes)
    everything = history if history is not None else "-"
    return _capture(await _read(send, log, everything), log, extra_modes)


async def _read(send: Send, log: OutputLog, history: int | str) -> _Moment:
    above = () if history == 0 else (capture_rows(_start(history), -1),)
    commands = (STATE, _BEHIND, _SCREEN, *above)
    blocks = await send(join(*commands), len(commands))
    offset = log.end
    state = PaneState.parse(b"".join(blocks[0].lines))
    if len(blocks[2].lines) != state.rows:
        raise MuxError(f"a screen of {len(blocks[2].lines)} rows, not {state.rows}")
    if max(blocks[1].size, blocks[2].size) > SCREEN_BYTES:
        raise MuxError("the screen is too large")
    # Without history tmux takes the first row of the screen for the last above it.
    found = blocks[3].lines if above and state.history else ()
    return _Moment(offset, state, blocks[1].lines, found, blocks[2].lines)


def _start(history: int | str) -> int | str:
    return -history if isinstance(history, int) else history


async def _pages(send: Send, wanted: int) -> tuple[bytes, ...]:
    lines: list[bytes] = []
    size = 0
    for start in range(-wanted, 0, PAGE):
        blocks = await send(capture_rows(start, min(start + PAGE, 0) - 1), 1)
        found = list(blocks[0].lines)
        size += blocks[0].size
        if len(found) > PAGE or size > MAX_BLOCK:
            raise MuxError("the history is too large")
        if lines and found:
            found[0] = _PLAIN + found[0]
        lines += found
    return tuple(lines)


def _capture(moment: _Moment, log: OutputLog, extra_modes: bytes) -> Capture:
    state = moment.state
    alternate = "alternate_on" in state.flags
    return Capture(
        lines=_charsets(moment.above + moment.screen),
        history=len(moment.above),
        history_size=state.history,
        cols=state.cols,
        rows=state.rows,
        cursor_x=min(state.cursor[0], state.cols - 1),
        cursor_y=state.cursor[1],
        cursor_visible="cursor_flag" in state.flags,
        alternate_screen=alternate,
        modes=modes(state) + extra_modes,
        title=state.title,
        offset=moment.offset,
        epoch=log.epoch,
        finish=finish(state),
        main=_charsets(moment.behind) if alternate else (),
        main_cursor=state.saved_cursor if alternate else (0, 0),
    )


def _charsets(lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
    # tmux writes line drawing as SO and SI, which fresh terminals have no second set for.
    return tuple(
        line.replace(b"\x0e", b"\x1b(0").replace(b"\x0f", b"\x1b(B")
        if b"\x0e" in line or b"\x0f" in line
        else line
        for line in lines
    )


_SET = (
    ("alternate_on", b"\x1b[?1049h"),
    ("keypad_cursor_flag", b"\x1b[?1h"),
    ("keypad_flag", b"\x1b="),
    ("mouse_standard_flag", b"\x1b[?1000h"),
    ("mouse_button_flag", b"\x1b[?1002h"),
    ("mouse_all_flag", b"\x1b[?1003h"),
    ("mouse_utf8_flag", b"\x1b[?1005h"),
    ("mouse_sgr_flag", b"\x1b[?1006h"),
)


def modes(state: PaneState) -> bytes:
    """What puts a fresh terminal into the modes that tmux tells of."""
    found = b"".join(sequence for flag, sequence in _SET if flag in state.flags)
    return found if "cursor_flag" in state.flags else found + b"\x1b[?25l"


def finish(state: PaneState) -> bytes:
    """What must come after the rows, since it changes where and how they are written."""
    top, bottom = state.region
    found = b""
    if (top, bottom) != (0, state.rows - 1):
        found += b"\x1b[%d;%dr" % (top + 1, bottom + 1)
    if "insert_flag" in state.flags:
        found += b"\x1b[4h"
    if "wrap_flag" not in state.flags:
        found += b"\x1b[?7l"
    column, row = state.cursor
    if "origin_flag" in state.flags:
        found += b"\x1b[?6h"
        row -= top
    return found + b"\x1b[%d;%dH" % (row + 1, min(column, state.cols - 1) + 1)
