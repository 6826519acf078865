"""Capture of a pane's grid at one exact position of its stream."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Protocol

from attrs import evolve, frozen

from tservice.mux.interface import HISTORY_SIZE, Capture, MuxError
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux.commands import STATE, PaneState, Version, capture_rows, join
from tservice.mux.tmux.control import Block
from tservice.mux.wraps import is_multiple, wrapped_rows
from tservice.terminal.sgr import make_self_contained

PAGE = 1000
"""History lines of one command: 3 ms in which the pane's server does nothing else."""

AT_ONCE = 2 * PAGE
"""Maximum history lines that are read together with the screen in one command."""

HISTORY_MAX = 1_000_000
"""Maximum lines above the screen that the setting C{historyLimit} keeps."""

SCREEN_BYTES = 4 * 1024 * 1024
"""Maximum bytes of one screen: 500 columns by 200 rows with a different colour in every cell take
about as much.
"""

_PLAIN = b"\x1b[m\x1b(B"


class Send(Protocol):
    """Function that sends one line with a known number of commands."""

    def __call__(self, line: bytes, answers: int) -> Awaitable[list[Block]]: ...


@frozen
class _Moment:
    """Answers to one line of commands; all of them belong to C{offset} of the log.

    @ivar above: the lines of the requested history.
    @ivar behind_wrapped: indices of C{behind} that continue in the next row.
    @ivar wrapped: the same for C{screen}.
    @ivar goes_on: the last line of the history continues in the row below it.
    """

    offset: int
    state: PaneState
    behind: tuple[bytes, ...]
    screen: tuple[bytes, ...]
    behind_wrapped: frozenset[int]
    wrapped: frozenset[int]
    above: _Above
    goes_on: bool = False


async def capture(
    send: Send,
    log: OutputLog,
    history: int | None,
    extra_modes: bytes,
    quiet: bool,
    version: Version,
) -> Capture:
    """Read the screen and up to C{history} rows above it.

    Long history is read in pages, so that keys are not delayed, and then the screen. The result is
    consistent only if the pane printed nothing in that time. If it printed, a single command reads
    everything again that has room. That command stops the pane's server, and no other, for about
    2.5 us a row.

    @param extra_modes: sequences of modes that tmux does not report.
    @param quiet: true if bytes of the pane would show in C{log}; pages need that.
    @param version: the version of the pane's tmux.
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
        if quiet and last == start and not _spoiled(start.state, version):
            moment = evolve(last, above=pages, goes_on=bool(pages.wrapped & {len(pages.lines) - 1}))
            return _capture(moment, log, extra_modes)
        if pages.rows < wanted:
            everything = pages.rows
    return _capture(await _read(send, log, everything, version), log, extra_modes)


async def _read(
    send: Send, log: OutputLog, history: int | str, version: Version, spoiled: int = 0
) -> _Moment:
    """@param spoiled: the number of screen rows that tmux has overwritten; as many rows above are
    part of the screen.
    """
    behind = partial(capture_rows, 0, "-", alternate=True, version=version)
    screen = partial(capture_rows, -spoiled, "-", version=version)
    above = () if history == 0 else _above(_start(history, spoiled), -1 - spoiled, version)
    commands = (STATE, behind(), behind(joined=True), screen(), screen(joined=True), *above)
    state_block, *blocks = await send(join(*commands), len(commands))
    offset = log.end
    state = PaneState.parse(b"".join(state_block.lines))
    if not spoiled and _spoiled(state, version):
        return await _read(send, log, history, version, 1)
    if len(blocks[2].lines) != state.rows + spoiled:
        raise MuxError(f"a screen of {len(blocks[2].lines)} rows, not {state.rows}")
    if max(block.size for block in blocks[:4]) > SCREEN_BYTES:
        raise MuxError("the screen is too large")
    state = evolve(state, history=max(0, state.history - spoiled))
    # Without history, tmux takes the first row of the screen as the last above it.
    found = tuple(blocks[4:]) if state.history else ()
    rows = state.history if isinstance(history, str) else min(history, state.history)
    wrapped = wrapped_rows(blocks[2].lines, blocks[3].lines, state.cols)
    return _Moment(
        offset=offset,
        state=state,
        behind=_written(blocks[0].lines, version),
        screen=_written(blocks[2].lines[: state.rows], version),
        behind_wrapped=wrapped_rows(blocks[0].lines, blocks[1].lines, state.cols),
        wrapped=wrapped - {state.rows - 1},
        above=_Above(_written(found[0].lines, version), rows) if found else _Above((), 0),
        goes_on=bool(found) and _goes_on(found[1]),
    )


def _above(top: int | str, bottom: int, version: Version) -> tuple[bytes, bytes]:
    """Return commands that print rows as lines, and then the last of them with the row below it."""
    lines = capture_rows(top, bottom, version=version, joined=True)
    return lines, capture_rows(bottom, bottom + 1, version=version, joined=True)


def _goes_on(edge: Block) -> bool:
    """Return true if the two rows are one line."""
    return len(edge.lines) == 1


def _spoiled(state: PaneState, version: Version) -> int:
    """Return the number of bottom rows that tmux overwrote with its notice of a dead pane: one
    before 3.3.
    """
    scrolled = state.history and "alternate_on" not in state.flags
    return int(version < (3, 3) and state.dead and bool(scrolled))


def _written(rows: tuple[bytes, ...], version: Version) -> tuple[bytes, ...]:
    """Return rows without the never written cells with which tmux before 3.3 fills them up.

    Cells after a colour are kept, because they may be visible.
    """
    if version >= (3, 3):
        return rows
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
class _Above:
    """Lines above the screen.

    @ivar rows: the number of rows they take: as many as requested, or as fit.
    @ivar wrapped: the indices of lines that continue in the next one, or in the screen.
    """

    lines: tuple[bytes, ...]
    rows: int
    wrapped: frozenset[int] = frozenset()


async def _pages(send: Send, wanted: int, version: Version) -> _Above:
    """Read the newest C{wanted} rows above the screen, as far as they fit into L{HISTORY_SIZE}.

    If a page does not fit, only its newer half is read, down to a single row.
    """
    pages: list[tuple[tuple[bytes, ...], bool]] = []
    count = size = 0
    step = PAGE
    while count < wanted and step:
        step = min(step, wanted - count)
        commands = _above(-count - step, -count - 1, version)
        lines, edge = await send(join(*commands), len(commands))
        if size + lines.size > HISTORY_SIZE:
            step //= 2
            continue
        pages.append((_written(lines.lines, version), _goes_on(edge)))
        count, size = count + step, size + lines.size
    return _joined(pages, count)


def _joined(pages: list[tuple[tuple[bytes, ...], bool]], rows: int) -> _Above:
    """@param pages: the newest first. Each begins without a colour and may end in one. The flag of
    a page is true if its last line continues in the page below it.
    """
    lines: list[bytes] = []
    wrapped: set[int] = set()
    for page, goes_on in reversed(pages):
        lines += (_PLAIN + page[0], *page[1:]) if lines and page else page
        if goes_on and lines:
            wrapped.add(len(lines) - 1)
    return _Above(tuple(lines), rows, frozenset(wrapped))


def _capture(moment: _Moment, log: OutputLog, extra_modes: bytes) -> Capture:
    state = moment.state
    alternate = "alternate_on" in state.flags
    above = moment.above
    history = len(above.lines)
    wrapped = {history + row for row in moment.wrapped} | (above.wrapped - {history - 1})
    if moment.goes_on and history and is_multiple(above.lines[-1], state.cols):
        wrapped.add(history - 1)
    screen = _charsets(moment.screen)
    return Capture(
        lines=_charsets(above.lines) + screen,
        history=history,
        history_rows=above.rows,
        history_size=state.history,
        wrapped=frozenset(wrapped),
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
        finish=finish(state, screen),
        main=_charsets(moment.behind) if alternate else (),
        main_wrapped=moment.behind_wrapped if alternate else frozenset(),
        main_cursor=state.saved_cursor if alternate else (0, 0),
    )


def _charsets(lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
    # tmux writes line drawing as SO and SI, for which fresh terminals have no second set.
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
    """Return sequences that put a fresh terminal into the modes that tmux reports."""
    found = b"".join(sequence for flag, sequence in _SET if flag in state.flags)
    return found if "cursor_flag" in state.flags else found + b"\x1b[?25l"


def finish(state: PaneState, screen: Sequence[bytes]) -> bytes:
    """Return sequences that must follow the rows, because they change where and how rows are
    written.
    """
    top, bottom = state.region
    found = b""
    if (top, bottom) != (0, state.rows - 1):
        found += b"\x1b[%d;%dr" % (top + 1, bottom + 1)
    column, row = state.cursor
    place = row
    if "origin_flag" in state.flags:
        found += b"\x1b[?6h"
        place -= top
    if column >= state.cols:
        # After the last column the next character wraps; only writing the row reaches that state.
        found += b"\x1b[%d;1H" % (place + 1) + b"".join(
            [*make_self_contained(screen)][row : row + 1]
        )
    else:
        found += b"\x1b[%d;%dH" % (place + 1, column + 1)
    # The other modes would change how that is written.
    if "insert_flag" in state.flags:
        found += b"\x1b[4h"
    return found + (b"" if "wrap_flag" in state.flags else b"\x1b[?7l")
