"""Interfaces and data types of the multiplexer for other packages."""

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
"""Seconds to wait for a server's answer to a command before L{MuxTimeout} is raised."""

HISTORY_SIZE = 48 * 1024 * 1024
"""Maximum bytes of history in one capture, with
L{LINE_COST<tservice.mux.tmux.control_parser.LINE_COST}> added for each row.

The value exceeds the history in any HTTP response. It stays below the limit for an answer of tmux,
because later rows may be longer.
"""

MARK_ID_MAX = 16_384
"""Maximum number of characters in a mark's id."""


_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class MuxError(Exception):
    """Error of the multiplexer. The text is one line for a log message or a 422 response."""


class PaneGone(MuxError):
    """Raised if the pane no longer exists. The command had no effect."""


class MuxTimeout(MuxError):
    """Raised if the server did not answer in time. The command may have been performed or not."""


class MuxBusy(MuxError):
    """Raised if too many commands wait for the pane. The command was not sent."""


class Liveness(Enum):
    """Result of a check whether a process is alive. After L{UNKNOWN}, callers change and kill
    nothing.
    """

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


def _check_colour(_: object, attribute: object, value: str) -> None:
    if not _COLOUR.fullmatch(value):
        raise ValueError(f"not a colour: {value!r}")


@frozen(kw_only=True)
class TerminalColours:
    """Foreground and background colours that a terminal reports (OSC 10 and 11), as C{#rrggbb}.

    @raise ValueError: a colour is not of the form C{#rrggbb}.
    """

    foreground: str = field(default="#dbe3ea", validator=_check_colour)
    background: str = field(default="#0a0d10", validator=_check_colour)


DARK = TerminalColours()
LIGHT = TerminalColours(foreground="#1d2630", background="#fdfdfc")


@frozen(kw_only=True)
class PaneSpec:
    """Description of a pane to start.

    @ivar session_id: a lowercase UUID, which becomes part of the name of the server's socket.
    @ivar env: the whole environment of the pane. The multiplexer, being the terminal, adds only
        C{TERM} and C{COLORTERM} if they are missing.
    @ivar history_limit: maximum number of lines kept above the screen.
    @ivar place: the location in which the pane runs.
    @ivar colours: the colours that the pane's terminal reports from the start.
    @ivar preface: bytes that appear in the terminal before the program's output, as if an earlier
        program had printed them. A preface that cannot be delivered is left out.
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
    """Exit of a pane's process. C{status} and C{signal} are both C{None} if the outcome is unknown.

    @ivar at: time at which the multiplexer noticed the exit, in Unix milliseconds.
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
        and wrap modes, caret). L{tservice.terminal.frames.snapshot.build_snapshot} combines
        all of them.
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

    After a crash of this process, the mark shows if an input was typed: the server stored the mark
    and typed the keys, or did neither.

    @ivar id: identifies one accepted input. It has letters, digits and dashes, at most
        L{MARK_ID_MAX}.
    @ivar step: stage of the input in letters, for example C{pasted} or C{entered}.
    @ivar done: number of bytes of a raw write that were typed so far.
    """

    id: str
    step: str = "written"
    done: int = 0


@frozen(kw_only=True)
class ScreenGuard:
    """Snapshot of the screen. A guarded key press happens only if the screen still matches.

    @ivar capture: the screen, without history.
    @ivar still: true if the pane was quiet before the snapshot, so that every later byte is
        noticed. Otherwise only the rows are compared.
    @ivar seal: private data of the multiplexer.
    """

    capture: PaneCapture
    still: bool
    seal: tuple[int, int | None]


class IPaneListener(Interface):
    """Receiver of a pane's events. The pane's output is not an event; it is in the L{OutputLog}.

    A listener receives exactly one call of C{pane_exited} or C{pane_lost}. After a call of
    L{IPane.kill} it receives neither.
    """

    def pane_exited(ending: PaneExit) -> None:
        """Handle the end of the pane's process. All output is in the log or in the next capture.

        @param ending: exit status or signal of the process.
        """

    def pane_lost() -> None:
        """Handle the loss of the server and its pane. The exit status of the process is unknown."""

    def pane_resized(cols: int, rows: int) -> None:
        """Handle a new size of the pane, in columns and rows."""

    def pane_titled(title: str) -> None:
        """Handle a new title, set by the program in the pane."""


class IPane(Interface):
    """Pane on a separate server, with the only control client of that server.

    Every coroutine except C{probe_process} may raise L{PaneGone}, L{MuxTimeout} or L{MuxBusy}.
    After the process has ended, typing raises L{PaneGone}. The remaining content can be captured
    until the pane is killed.
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
        """Leave copy mode and type C{data} unchanged. Return once the pane has received all of it.

        Long data is sent in pieces, and C{mark} advances with each piece (C{done} counts the typed
        bytes). If C{mark.done} is above zero, that many bytes of C{data} are skipped, because they
        were typed before.

        @param mark: stored by the server together with the keys; C{None} stores no mark.
        """

    async def send_key(name: str, mark: InputMark | None = None) -> None:
        """Press one key of L{tservice.mux.keys.KEYS}, for example C{Enter}, C{S-Tab} or C{C-c}."""

    async def paste(text: str, mark: InputMark | None = None) -> None:
        """Paste C{text}, with paste brackets if the program enabled them. Line feeds are not
        converted.

        ESC and other C0 bytes except TAB and LF are stripped, so that the text cannot leave the
        paste.
        """

    async def guard_screen() -> ScreenGuard:
        """Return a snapshot of the screen, so that a key can be pressed only while the screen is
        unchanged.
        """

    async def press_if(key: str, guard: ScreenGuard, rows: Sequence[int], times: int = 1) -> bool:
        """Press a key of L{tservice.mux.keys.KEYS} or a digit, unless the screen changed since
        C{guard_screen}.

        The server checks the screen and presses the key in one step. The check covers all output
        since C{guard_screen}, and no other input comes between check and key. Output that the
        program has not printed yet is not covered.

        @param guard: snapshot that L{guard_screen} returned.
        @param rows: indices of the screen rows that must be unchanged.
        @param times: the number of presses, at most 50.
        @return: false if the screen changed or other input was typed through this pane. In this
            case no key was pressed.
        """

    async def paste_if(text: str, guard: ScreenGuard, rows: Sequence[int]) -> bool:
        """Paste C{text}, unless the screen changed since C{guard_screen}; see L{press_if}."""

    async def read_last_mark() -> InputMark | None:
        """Return the mark of the last input that was typed with a mark; C{None} if no mark is
        stored.

        The mark survives a restart of this service.
        """

    async def resize(cols: int, rows: int) -> None:
        """Resize the pane to this number of columns and rows. Listeners are notified afterwards."""

    async def set_colours(colours: TerminalColours) -> None:
        """Set the colours that the pane's terminal reports to programs from now on.

        On a tmux server that the service does not own, this does nothing.
        """

    async def get_glyph_runs() -> tuple[GlyphRun, ...]:
        """Return the widths that tmux gives to characters on which systems differ.

        The first call queries tmux. The result is empty if the widths are unknown.
        """

    async def capture_content(history: int | None = 0) -> PaneCapture:
        """Read the screen and up to C{history} lines above it. C{None} reads the whole history."""

    async def probe_process() -> Liveness:
        """Check if the pane's process is alive. This never raises an exception."""

    async def pause_output() -> None:
        """Drop the pane's output until L{resume_output} is called. The program keeps running, and
        the log gets a gap.
        """

    async def resume_output() -> None:
        """Receive the pane's output again. The caller captures the screen afterwards to close the
        gap.
        """

    async def kill() -> tuple[LeftoverProcess, ...]:
        """End the pane and its server. Return once both are gone.

        @return: the processes that the pane's program left behind, as far as they are visible.
        """


class IMultiplexer(Interface):
    """Registry of all panes. Panes keep running after this process has ended."""

    output_bytes: int = Attribute("bytes of output read from all panes since the start")

    async def create_pane(spec: PaneSpec) -> IPane:
        """Start a new tmux server with a pane as described by C{spec}.

        @raise MuxError: the pane cannot be started, or a server of the same session still runs.
        """

    async def adopt_pane(session_id: str, place: Location) -> IPane | None:
        """Attach to a pane that is already running. Return C{None} if no server answers.

        @param place: the location in which the pane was started.
        @raise MuxError: this service runs no panes in that location. A pane may still run there.
        @raise MuxTimeout: a server exists but does not answer. Its state is unknown, so the caller
            must not touch it.
        """

    async def find_session_ids() -> frozenset[str]:
        """Return the ids of the sessions that have a socket. A socket may be left from an ended
        server.

        Locations that do not answer now are skipped.
        """

    async def close() -> None:
        """Detach from every pane; the panes keep running."""
