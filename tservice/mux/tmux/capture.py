"""Reading a pane's grid at one exact position of its stream."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from attrs import evolve, frozen

from tservice.mux.interface import HISTORY_SIZE, Capture, MuxError
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux.commands import STATE, PaneState, Version, capture_rows, join
from tservice.mux.tmux.control import Block

PAGE = 1000
"""History lines of one command: 3 ms of the pane's server, which does nothing else meanwhile."""

AT_ONCE = 2 * PAGE
"""Up to so many lines are read with the screen in one command."""

HISTORY_MAX = 1_000_000
"""Lines above the screen: the most that the setting C{historyLimit} keeps."""

SCREEN_BYTES = 4 * 1024 * 1024
"""Of one screen: every cell of 500 columns by 200 rows in a colour of its own is about as much."""

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
    send: Send,
    log: OutputLog,
    history: int | None,
    extra_modes: bytes,
    quiet: bool,
    version: Version,
) -> Capture:
    """Read the screen and up to C{history} lines above it.

    Much history is read in pages, so that keys are not held up, and then the screen.  That is one
    picture only if the pane printed nothing meanwhile; if it did, all that there was room for is
    read again by a single command, which stops the pane's server (nobody else's) for about 2.5 us
    a line.

    @param extra_modes: sequences of modes that tmux does not tell.
    @param quiet: whether bytes of the pane would show in C{log}; pages need that.
    @param version: of the pane's tmux.
    """
    if history is not None and history <= AT_ONCE:
        return _capture(await _read(send, log, history, version), log, extra_modes)
    start = await _read(send, log, 0, version)
    kept = min(start.state.history, HISTORY_MAX)
    wanted = kept if history is None else min(history, kept)
    everything: int | str = history if history is not None else "-"
    if wanted > AT_ONCE:
        pages = await _pages(send, wanted, version)
        last = await _read(send, log, 0, version)
        still = (last.offset, last.state) == (start.offset, start.state)
        if pages.fit and quiet and still and not _spoiled(start.state, version):
            return _capture(evolve(last, above=pages.rows), log, extra_modes)
        if pages.cut:
            everything = len(pages.rows)
    return _capture(await _read(send, log, everything, version), log, extra_modes)


async def _read(
    send: Send, log: OutputLog, history: int | str, version: Version, spoiled: int = 0
) -> _Moment:
    """@param spoiled: so many rows of the screen are tmux' own, and as many above it are not."""
    behind = capture_rows(0, "-", alternate=True, version=version)
    screen = capture_rows(-spoiled, "-", version=version)
    top = _start(history, spoiled)
    above = () if history == 0 else (capture_rows(top, -1 - spoiled, version=version),)
    commands = (STATE, behind, screen, *above)
    blocks = await send(join(*commands), len(commands))
    offset = log.end
    state = PaneState.parse(b"".join(blocks[0].lines))
    if not spoiled and _spoiled(state, version):
        return await _read(send, log, history, version, 1)
    if len(blocks[2].lines) != state.rows + spoiled:
        raise MuxError(f"a screen of {len(blocks[2].lines)} rows, not {state.rows}")
    if max(blocks[1].size, blocks[2].size) > SCREEN_BYTES:
        raise MuxError("the screen is too large")
    state = evolve(state, history=max(0, state.history - spoiled))
    # Without history tmux takes the first row of the screen for the last above it.
    found = blocks[3].lines if above and state.history else ()
    shown = tuple(blocks[2].lines[: state.rows])
    if version < (3, 3):
        return _Moment(offset, state, _written(blocks[1].lines), _written(found), _written(shown))
    return _Moment(offset, state, blocks[1].lines, found, shown)


def _spoiled(state: PaneState, version: Version) -> int:
    """Rows at the bottom into which tmux has written that a pane is dead: before 3.3 one."""
    scrolled = state.history and "alternate_on" not in state.flags
    return int(version < (3, 3) and state.dead and bool(scrolled))


def _written(rows: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Rows without the cells that nothing was written to, with which tmux before 3.3 fills them up.

    Behind a colour they are left as they are: they may be seen.
    """
    found: list[bytes] = []
    plain = True
    for row in rows:
        coloured = row.rfind(b"\x1b[")
        found.append(row.rstrip(b" ") if plain and coloured < 0 else row)
        if coloured >= 0:
            plain = row.startswith(b"\x1b[0m", coloured)
    return tuple(found)


def _start(history: int | str, spoiled: int) -> int | str:
    return -history - spoiled if isinstance(history, int) else history


@frozen
class _Pages:
    """Rows above the screen.

    @ivar cut: there was no room for older ones.
    @ivar fit: they are as many as were wanted, or as there was room for.
    """

    rows: tuple[bytes, ...]
    cut: bool
    fit: bool


async def _pages(send: Send, wanted: int, version: Version) -> _Pages:
    """The newest C{wanted} rows above the screen, as far as L{HISTORY_SIZE} has room for them.

    Of a page that there is no room for its newer half is read, down to a single row.
    """
    pages: list[tuple[bytes, ...]] = []
    count = size = 0
    step = PAGE
    while count < wanted and step:
        step = min(step, wanted - count)
        rows = capture_rows(-count - step, -count - 1, version=version)
        [block] = await send(rows, 1)
        if size + block.size > HISTORY_SIZE:
            step //= 2
            continue
        if len(block.lines) != step:
            # The history was emptied meanwhile.
            return _Pages((), cut=False, fit=False)
        pages.append(_written(block.lines) if version < (3, 3) else block.lines)
        count, size = count + step, size + block.size
    return _Pages(_joined(pages), cut=not step, fit=True)


def _joined(pages: list[tuple[bytes, ...]]) -> tuple[bytes, ...]:
    """@param pages: the newest first; each begins from no colour, and may end in one."""
    rows: list[bytes] = []
    for page in reversed(pages):
        rows += (_PLAIN + page[0], *page[1:]) if rows else page
    return tuple(rows)


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
