"""Captures a pane's screen and history at one exact position of the output stream."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Protocol

from attrs import evolve, frozen

from tservice.mux.interface import HISTORY_SIZE, MuxError, PaneCapture
from tservice.mux.outputlog import OutputLog
from tservice.mux.row_wrapping import fills_last_row, find_wrapped_rows
from tservice.mux.tmux.commands import STATE, PaneState, Version, capture_rows, join_commands
from tservice.mux.tmux.control_parser import AnswerBlock
from tservice.terminal.frames.sgr import make_self_contained

PAGE = 1000
"""History lines read by one command. The pane's server is blocked for 3 ms during this time."""

AT_ONCE = 2 * PAGE
"""Maximum history lines that are read together with the screen in one command."""

HISTORY_MAX = 1_000_000
"""Maximum lines above the screen that the setting C{historyLimit} keeps."""

SCREEN_BYTES = 4 * 1024 * 1024
"""Maximum bytes of one screen: 500 columns by 200 rows with a different colour in every cell take
about as much.
"""

_PLAIN = b"\x1b[m\x1b(B"


class SendCommands(Protocol):
    """Function that sends one line with a given number of tmux commands, and returns the
    answers.
    """

    def __call__(self, line: bytes, answers: int) -> Awaitable[list[AnswerBlock]]: ...


@frozen
class _CaptureSnapshot:
    """Answers to one line of commands. They all belong to C{offset} of the log.

    @ivar main_wrapped: indices of rows in C{main} that continue in the next row.
    @ivar wrapped: indices of rows in C{screen} that continue in the next row.
    @ivar history_lines: the lines of the requested history.
    @ivar is_history_continued: true if the last history line continues in the row below.
    """

    offset: int
    state: PaneState
    main: tuple[bytes, ...]
    screen: tuple[bytes, ...]
    main_wrapped: frozenset[int]
    wrapped: frozenset[int]
    history_lines: _HistoryLines
    is_history_continued: bool = False


async def capture_pane(
    send: SendCommands,
    log: OutputLog,
    history: int | None,
    extra_modes: bytes,
    quiet: bool,
    version: Version,
) -> PaneCapture:
    """Read the screen and up to C{history} rows above it. C{None} reads the whole history.

    Long history is read in pages, so that keys are not delayed, and then the screen is read. The
    result is consistent only if the pane printed nothing in that time. If the pane printed, one
    command reads everything again that fits. That command stops only the pane's own server, for
    about 2.5 us a row.

    @param extra_modes: escape sequences of modes that tmux does not report.
    @param quiet: true if new output of the pane would be visible in C{log}. Without this, history
        is not read in pages.
    @param version: the version of the pane's tmux.
    """
    if history is not None and history <= AT_ONCE:
        return _build_capture(await _read_snapshot(send, log, history, version), log, extra_modes)
    start = await _read_snapshot(send, log, 0, version)
    kept = min(start.state.history, HISTORY_MAX)
    wanted = kept if history is None else min(history, kept)
    everything: int | str = history if history is not None else "-"
    if wanted > AT_ONCE:
        pages = await _read_pages(send, wanted, version)
        last = await _read_snapshot(send, log, 0, version)
        if quiet and last == start and not _count_overwritten_rows(start.state, version):
            moment = evolve(
                last,
                history_lines=pages,
                is_history_continued=bool(pages.wrapped & {len(pages.lines) - 1}),
            )
            return _build_capture(moment, log, extra_modes)
        if pages.rows < wanted:
            everything = pages.rows
    return _build_capture(await _read_snapshot(send, log, everything, version), log, extra_modes)


async def _read_snapshot(
    send: SendCommands, log: OutputLog, history: int | str, version: Version, spoiled: int = 0
) -> _CaptureSnapshot:
    """Capture the state, the screen and C{history} rows of scrollback of a pane in one exchange.

    @param history: number of scrollback rows, or a position as tmux understands it.
    @param spoiled: number of screen rows that tmux has overwritten. As many rows at the end of the
        history belong to the screen instead.
    """
    behind = partial(capture_rows, 0, "-", alternate=True, version=version)
    screen = partial(capture_rows, -spoiled, "-", version=version)
    above = (
        ()
        if history == 0
        else _history_commands(_compute_first_row(history, spoiled), -1 - spoiled, version)
    )
    commands = (STATE, behind(), behind(joined=True), screen(), screen(joined=True), *above)
    state_block, *blocks = await send(join_commands(*commands), len(commands))
    offset = log.end
    state = PaneState.parse_state(b"".join(state_block.lines))
    if not spoiled and _count_overwritten_rows(state, version):
        return await _read_snapshot(send, log, history, version, 1)
    if len(blocks[2].lines) != state.rows + spoiled:
        raise MuxError(f"a screen of {len(blocks[2].lines)} rows, not {state.rows}")
    if max(block.size for block in blocks[:4]) > SCREEN_BYTES:
        raise MuxError("the screen is too large")
    state = evolve(state, history=max(0, state.history - spoiled))
    # Without history, tmux takes the first row of the screen as the last above it.
    found = tuple(blocks[4:]) if state.history else ()
    rows = state.history if isinstance(history, str) else min(history, state.history)
    wrapped = find_wrapped_rows(blocks[2].lines, blocks[3].lines, state.cols)
    return _CaptureSnapshot(
        offset=offset,
        state=state,
        main=_strip_unwritten_cells(blocks[0].lines, version),
        screen=_strip_unwritten_cells(blocks[2].lines[: state.rows], version),
        main_wrapped=find_wrapped_rows(blocks[0].lines, blocks[1].lines, state.cols),
        wrapped=wrapped - {state.rows - 1},
        history_lines=_HistoryLines(_strip_unwritten_cells(found[0].lines, version), rows)
        if found
        else _HistoryLines((), 0),
        is_history_continued=bool(found) and _is_row_continued(found[1]),
    )


def _history_commands(top: int | str, bottom: int, version: Version) -> tuple[bytes, bytes]:
    """Return two commands: one prints history rows as lines, the other prints the last row and the
    row below it.
    """
    lines = capture_rows(top, bottom, version=version, joined=True)
    return lines, capture_rows(bottom, bottom + 1, version=version, joined=True)


def _is_row_continued(edge: AnswerBlock) -> bool:
    """Return true if the two rows in the answer C{edge} were printed as one line."""
    return len(edge.lines) == 1


def _count_overwritten_rows(state: PaneState, version: Version) -> int:
    """Return the number of bottom rows that tmux overwrote with its notice of a dead pane.

    This is one row before tmux 3.3, and none in later versions.
    """
    scrolled = state.history and "alternate_on" not in state.flags
    return int(version < (3, 3) and state.dead and bool(scrolled))


def _strip_unwritten_cells(rows: tuple[bytes, ...], version: Version) -> tuple[bytes, ...]:
    """Remove the blanks with which tmux before 3.3 fills each row up to its end.

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


def _compute_first_row(history: int | str, spoiled: int) -> int | str:
    return -history - spoiled if isinstance(history, int) else history


@frozen
class _HistoryLines:
    """History lines above the screen.

    @ivar rows: the number of screen rows that the lines take: as many as requested or as fit.
    @ivar wrapped: indices of the lines that continue in the next line, or in the screen.
    """

    lines: tuple[bytes, ...]
    rows: int
    wrapped: frozenset[int] = frozenset()


async def _read_pages(send: SendCommands, wanted: int, version: Version) -> _HistoryLines:
    """Read the newest C{wanted} rows above the screen, as far as they fit into L{HISTORY_SIZE}.

    If a page does not fit, only its newer half is read, down to a single row.
    """
    pages: list[tuple[tuple[bytes, ...], bool]] = []
    count = size = 0
    step = PAGE
    while count < wanted and step:
        step = min(step, wanted - count)
        commands = _history_commands(-count - step, -count - 1, version)
        lines, edge = await send(join_commands(*commands), len(commands))
        if size + lines.size > HISTORY_SIZE:
            step //= 2
            continue
        pages.append((_strip_unwritten_cells(lines.lines, version), _is_row_continued(edge)))
        count, size = count + step, size + lines.size
    return _join_pages(pages, count)


def _join_pages(pages: list[tuple[tuple[bytes, ...], bool]], rows: int) -> _HistoryLines:
    """Return the lines of all pages as one history, oldest first.

    @param pages: the pages, newest first. Each begins without a colour and may end in one. The flag
        of a page is true if its last line continues in the page below.
    """
    lines: list[bytes] = []
    wrapped: set[int] = set()
    for page, goes_on in reversed(pages):
        lines += (_PLAIN + page[0], *page[1:]) if lines and page else page
        if goes_on and lines:
            wrapped.add(len(lines) - 1)
    return _HistoryLines(tuple(lines), rows, frozenset(wrapped))


def _build_capture(moment: _CaptureSnapshot, log: OutputLog, extra_modes: bytes) -> PaneCapture:
    state = moment.state
    alternate = "alternate_on" in state.flags
    above = moment.history_lines
    history = len(above.lines)
    wrapped = {history + row for row in moment.wrapped} | (above.wrapped - {history - 1})
    if moment.is_history_continued and history and fills_last_row(above.lines[-1], state.cols):
        wrapped.add(history - 1)
    screen = _translate_charsets(moment.screen)
    return PaneCapture(
        lines=_translate_charsets(above.lines) + screen,
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
        modes=build_mode_sequences(state) + extra_modes,
        title=state.title,
        offset=moment.offset,
        epoch=log.epoch,
        finish=build_finish_sequences(state, screen),
        main=_translate_charsets(moment.main) if alternate else (),
        main_wrapped=moment.main_wrapped if alternate else frozenset(),
        main_cursor=state.saved_cursor if alternate else (0, 0),
    )


def _translate_charsets(lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
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


def build_mode_sequences(state: PaneState) -> bytes:
    """Return escape sequences that put a newly reset terminal into the modes that tmux reports."""
    found = b"".join(sequence for flag, sequence in _SET if flag in state.flags)
    return found if "cursor_flag" in state.flags else found + b"\x1b[?25l"


def build_finish_sequences(state: PaneState, screen: Sequence[bytes]) -> bytes:
    """Return escape sequences that must follow the rows, because they change how rows are
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
