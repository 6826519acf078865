"""Interface of the multiplexer to the rest of the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from attrs import field, frozen
from zope.interface import Attribute, Interface

from tservice.core.locations.location import Location
from tservice.mux.outputlog import OutputLog
from tservice.mux.process_family import LeftoverProcess

__all__ = [
    "COMMAND_TIMEOUT",
    "HISTORY_SIZE",
    "MARK_ID_MAX",
    "IMultiplexer",
    "IPane",
    "IPaneListener",
    "InputMark",
    "LeftoverProcess",
    "Liveness",
    "MuxBusy",
    "MuxError",
    "MuxTimeout",
    "PaneCapture",
    "PaneExit",
    "PaneGone",
    "PaneSpec",
    "ScreenGuard",
]

COMMAND_TIMEOUT = 5.0
"""Seconds that a command waits for its pane's server before it raises L{MuxTimeout}."""

HISTORY_SIZE = 48 * 1024 * 1024
"""Bytes of history in one capture, counting
L{LINE_COST<tservice.mux.tmux.control_parser.LINE_COST}> for
each row. It exceeds what a response shows. It stays below the limit for an answer of tmux, in
case that later rows are longer.
"""

MARK_ID_MAX = 16_384
"""Maximum number of characters in a mark's id."""


_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class MuxError(Exception):
    """The multiplexer failed; the text is one line for a log or a 422."""


class PaneGone(MuxError):
    """The pane no longer exists; nothing was done."""


class MuxTimeout(MuxError):
    """The answer did not come in time: the command may or may not have been done."""


class MuxBusy(MuxError):
    """Too many commands wait for this pane; nothing was done."""


class Liveness(Enum):
    """Result of a probe. After L{UNKNOWN} nothing is changed and nothing is killed."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


def _check_colour(_: object, attribute: object, value: str) -> None:
    if not _COLOUR.fullmatch(value):
        raise ValueError(f"not a colour: {value!r}")


@frozen(kw_only=True)
class TerminalColours:
    """Foreground and background colours that a terminal reports (OSC 10 and 11), as C{#rrggbb}.

    @raise ValueError: a value has another form.
    """

    foreground: str = field(default="#dbe3ea", validator=_check_colour)
    background: str = field(default="#0a0d10", validator=_check_colour)


DARK = TerminalColours()
LIGHT = TerminalColours(foreground="#1d2630", background="#fdfdfc")


@frozen(kw_only=True)
class PaneSpec:
    """Description of a pane to start.

    @ivar session_id: a lowercase UUID; it names the server's socket.
    @ivar env: the whole environment of the pane. The multiplexer, being the terminal, adds only
        C{TERM} and C{COLORTERM} if they are missing.
    @ivar history_limit: lines kept above the screen.
    @ivar place: the place in which it runs.
    @ivar colours: the colours that its terminal reports from the start.
    @ivar preface: bytes printed before the program starts, as if an earlier program had printed
        them. A preface that cannot be delivered is left out.
    """

    session_id: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    cols: int = 120
    rows: int = 40
    history_limit: int = 100_000
    place: Location
    preface: bytes = field(default=b"", repr=False)
    colours: TerminalColours = DARK


@frozen(kw_only=True)
class PaneExit:
    """Exit of a pane's process; both C{status} and C{signal} are C{None} if the outcome is unknown.

    @ivar at: Unix milliseconds at which the exit was noticed.
    """

    status: int | None
    signal: str | None
    at: int


@frozen(kw_only=True)
class PaneCapture:
    """Content of a pane at one exact position of its output stream.

    @ivar lines: text with SGR escapes: first the history, then exactly C{rows} screen rows (the
        screen starts at C{history}). An entry of the history is a line: the rows over which the
        multiplexer wrapped it are joined. An entry of the screen is one row of the grid up to the
        last written cell. Colours continue from entry to entry; the first entry of the history and
        that of the screen begin without any.
    @ivar history: the number of history entries in C{lines}: the newest of the requested ones that
        fit into L{HISTORY_SIZE}.
    @ivar history_rows: rows of the grid that these entries take.
    @ivar history_size: rows of history that the pane holds.
    @ivar wrapped: indices of the entries of C{lines} that the multiplexer wrapped: each continues
        in the next entry.
    @ivar modes: escape sequences that put a fresh terminal into the pane's modes (alternate screen,
        mouse, bracketed paste, application cursor and keypad, cursor visibility); they go before
        the screen's rows.
    @ivar finish: escape sequences that must follow the screen's rows (scroll region, origin, insert
        and wrap modes, caret). L{tservice.terminal.snapshot.build_snapshot} combines all of them.
    @ivar main: the rows of the main screen while the alternate screen is shown.
    @ivar main_wrapped: the same as C{wrapped}, for C{main}.
    @ivar main_cursor: column and row of the caret on the main screen.
    @ivar offset: the end of the log just before the capture; bytes from this offset on follow it.
    """

    lines: tuple[bytes, ...]
    history: int
    history_size: int
    cols: int
    rows: int
    cursor_x: int
    cursor_y: int
    cursor_visible: bool
    alternate_screen: bool
    modes: bytes
    title: str
    offset: int
    epoch: str
    finish: bytes = b""
    history_rows: int = 0
    wrapped: frozenset[int] = frozenset()
    main: tuple[bytes, ...] = ()
    main_wrapped: frozenset[int] = frozenset()
    main_cursor: tuple[int, int] = (0, 0)


GlyphRun = tuple[int, int, int]
"""First and last character of a run, and the number of cells of each; 0 means that it is not shown.
"""


@frozen(kw_only=True)
class InputMark:
    """Record of the last typed input, which the pane's server stores in the same command as the
    keys.

    It resolves the doubt after a crash of this process between typing and recording: the server did
    both or neither.

    @ivar id: names one accepted input: letters, digits and dashes, at most L{MARK_ID_MAX}.
    @ivar step: names its stage in letters, for example C{pasted} or C{entered}.
    @ivar done: bytes of a raw write typed so far.
    """

    id: str
    step: str = "written"
    done: int = 0


@frozen(kw_only=True)
class ScreenGuard:
    """Snapshot of the screen on which a key press can depend.

    @ivar capture: the screen, without history.
    @ivar still: the pane was quiet before the snapshot, so every later byte is noticed. Without it,
        only the rows are compared.
    @ivar seal: private data of the multiplexer.
    """

    capture: PaneCapture
    still: bool
    seal: tuple[int, int | None]


class IPaneListener(Interface):
    """Receiver of a pane's events. Bytes are read from its L{OutputLog} instead.

    Exactly one of C{pane_exited} and C{pane_lost} is called, once. After a call of C{kill}, neither
    is.
    """

    def pane_exited(ending: PaneExit) -> None:
        """Handle the end of the process; all its output is in the log or in the next capture."""

    def pane_lost() -> None:
        """Handle the loss of the server and the pane; the outcome of the process is unknown."""

    def pane_resized(cols: int, rows: int) -> None:
        """Handle a new size."""

    def pane_titled(title: str) -> None:
        """Handle a new title, set by the program in the pane."""


class IPane(Interface):
    """Pane with its own server and its only control client.

    Every coroutine except C{probe_process} may raise L{PaneGone}, L{MuxTimeout} or L{MuxBusy}.
    After the
    process has ended, typing raises L{PaneGone}. Its remaining content can be captured until the
    pane is killed.
    """

    session_id: str = Attribute("id of its session")
    log: OutputLog = Attribute("every byte that the pane printed")
    pid: int | None = Attribute("the process in the pane; None once it has ended")
    ending: PaneExit | None = Attribute("exit of the process; None while it runs")
    cols: int = Attribute("columns as applied")
    rows: int = Attribute("rows as applied")
    title: str = Attribute("the pane's title, set by the program")
    paused: bool = Attribute("true between pause and resume")
    typed_at: float | None = Attribute("clock seconds of the last typing without a guard")

    def add_listener(listener: IPaneListener) -> Callable[[], None]:
        """Add a listener; the returned function removes it."""

    async def write_bytes(data: bytes, mark: InputMark | None = None) -> None:
        """Type C{data} unchanged, leaving copy mode first; return once the pane has it.

        Long data goes in pieces; C{mark} advances with each (C{done} counts the bytes typed). If
        C{mark.done} is above zero, that many bytes of C{data} are skipped, because they were typed
        before.
        """

    async def send_key(name: str, mark: InputMark | None = None) -> None:
        """Press one key of C{keys.KEYS}, for example C{Enter}, C{S-Tab} or C{C-c}."""

    async def paste(text: str, mark: InputMark | None = None) -> None:
        """Paste C{text}, with paste brackets if the program enabled them; line feeds stay line
        feeds.

        ESC and other C0 bytes except TAB and LF are stripped, so that the text cannot leave the
        paste.
        """

    async def guard_screen() -> ScreenGuard:
        """Return a snapshot of the screen, so that a key can be pressed only while the screen is
        unchanged.
        """

    async def press_if(key: str, guard: ScreenGuard, rows: Sequence[int], times: int = 1) -> bool:
        """Press a key of C{keys.KEYS} or a digit, unless the screen changed since C{guard_screen}.

        The server checks and presses in one step. It sees all output after C{guard_screen}, and no
        other
        input comes in between. Output that the program has not printed yet cannot be seen.

        @param rows: the rows of the screen that must be unchanged.
        @param times: the number of presses, at most 50.
        @return: false if the screen changed or other input was typed through this pane; no key was
            pressed.
        """

    async def paste_if(text: str, guard: ScreenGuard, rows: Sequence[int]) -> bool:
        """Paste C{text} under the conditions of L{press_if}."""

    async def read_last_mark() -> InputMark | None:
        """Return the mark of the last input typed with one; it outlives this process."""

    async def resize(cols: int, rows: int) -> None:
        """Give the pane this size; listeners are notified once it is applied."""

    async def set_colours(colours: TerminalColours) -> None:
        """Set the colours that the terminal reports, to this program and to later ones.

        This does nothing if the terminal belongs to another server owner.
        """

    async def get_glyph_runs() -> tuple[GlyphRun, ...]:
        """Return the cells that the terminal gives to characters on which systems differ.

        tmux is queried once. The result is empty if the widths are unknown.
        """

    async def capture_content(history: int | None = 0) -> PaneCapture:
        """Read the screen and up to C{history} lines above it (C{None}: all)."""

    async def probe_process() -> Liveness:
        """Return the liveness of the process. Never raises."""

    async def pause_output() -> None:
        """Stop receiving the pane's bytes while it runs: they are dropped (the log has a gap)."""

    async def resume_output() -> None:
        """Receive bytes again from now on; capture the current state afterwards."""

    async def kill() -> tuple[LeftoverProcess, ...]:
        """End the pane and its server; return once they are gone.

        @return: the processes that its program has left behind, as far as they are visible.
        """


class IMultiplexer(Interface):
    """Owner of all panes. The panes outlive this process."""

    output_bytes: int = Attribute("bytes of output read from all panes since the start")

    async def create_pane(spec: PaneSpec) -> IPane:
        """Start C{spec} on a new server.

        @raise MuxError: it could not be started, or a server of that session still runs.
        """

    async def adopt_pane(session_id: str, place: Location) -> IPane | None:
        """Adopt a pane that is already running; return C{None} if no server answers.

        @param place: the place in which it was started.
        @raise MuxError: this service runs no panes in that place. This does not prove that nothing
            runs there.
        @raise MuxTimeout: a server exists but does not answer: its state is unknown, so leave it
            alone.
        """

    async def find_session_ids() -> frozenset[str]:
        """Return the session ids whose sockets exist; a socket may be stale.

        Places that do not answer now are skipped.
        """

    async def close() -> None:
        """Detach from every pane; the panes keep running."""
