"""What the rest of the program knows of the multiplexer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from attrs import field, frozen
from zope.interface import Attribute, Interface

from tservice.core.places.place import Place
from tservice.mux.family import Leftover
from tservice.mux.outputlog import OutputLog

__all__ = [
    "COMMAND_TIMEOUT",
    "HISTORY_SIZE",
    "MARK_ID_MAX",
    "Capture",
    "Guard",
    "IMultiplexer",
    "IPane",
    "IPaneListener",
    "Leftover",
    "Liveness",
    "Mark",
    "MuxBusy",
    "MuxError",
    "MuxTimeout",
    "PaneExit",
    "PaneGone",
    "PaneSpec",
]

COMMAND_TIMEOUT = 5.0
"""Seconds that a command waits for its pane's server before it raises L{MuxTimeout}."""

HISTORY_SIZE = 48 * 1024 * 1024
"""Bytes of the history in one capture, with L{LINE_COST<tservice.mux.tmux.control.LINE_COST}> for
each row.  It is more than an answer shows, and less than an answer of tmux may have, in case that
the rows which follow are longer."""

MARK_ID_MAX = 16_384
"""Characters of a mark's id."""


_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class MuxError(Exception):
    """The multiplexer could not do it; the text is one line for a log or a 422."""


class PaneGone(MuxError):
    """There is no pane any more; nothing was done."""


class MuxTimeout(MuxError):
    """No answer in time: it may or may not have been done."""


class MuxBusy(MuxError):
    """Too much waits for this pane already; nothing was done."""


class Liveness(Enum):
    """A probe's answer; L{UNKNOWN} changes nothing and kills nothing."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


def _check_colour(_: object, attribute: object, value: str) -> None:
    if not _COLOUR.fullmatch(value):
        raise ValueError(f"not a colour: {value!r}")


@frozen(kw_only=True)
class Colours:
    """What a terminal tells a program of its text and its ground (OSC 10 and 11), as C{#rrggbb}.

    @raise ValueError: one of them is no such colour.
    """

    foreground: str = field(default="#dbe3ea", validator=_check_colour)
    background: str = field(default="#0a0d10", validator=_check_colour)


DARK = Colours()
LIGHT = Colours(foreground="#1d2630", background="#fdfdfc")


@frozen(kw_only=True)
class PaneSpec:
    """What to run.

    @ivar session_id: names the server's socket; a lowercase UUID.
    @ivar env: the whole environment of the pane; nothing else reaches it but C{TERM} and
        C{COLORTERM}, which the multiplexer adds where they are not named: it is the terminal.
    @ivar history_limit: lines kept above the screen.
    @ivar place: where it runs.
    @ivar colours: what its terminal says of its colours, from the first moment on.
    @ivar preface: printed before the program starts, as if a program of before had; one that
        cannot be passed on is left out.
    """

    session_id: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    cols: int = 120
    rows: int = 40
    history_limit: int = 100_000
    place: Place
    preface: bytes = field(default=b"", repr=False)
    colours: Colours = DARK


@frozen(kw_only=True)
class PaneExit:
    """How the process in a pane ended; C{None} in both means that nobody knows.

    @ivar at: Unix milliseconds when it was noticed.
    """

    status: int | None
    signal: str | None
    at: int


@frozen(kw_only=True)
class Capture:
    """A pane's content at one exact position of its output stream.

    @ivar lines: text with SGR escapes, history first, then exactly C{rows} screen rows (the
        screen starts at C{history}).  An entry of the history is a line: the rows that the
        multiplexer wrapped it over are joined.  An entry of the screen is one row of the grid up to
        the last cell that was written.  Colours run on from entry to entry; the first entry of the
        history and that of the screen begin from none.
    @ivar history: how many of C{lines} are history: of what was asked for, the newest that
        L{HISTORY_SIZE} has room for.
    @ivar history_rows: rows of the grid that these lines take.
    @ivar history_size: rows of history that the pane holds.
    @ivar wrapped: the indices of those of C{lines} that the multiplexer wrapped: each goes on in
        the next entry.
    @ivar modes: escape sequences that put a fresh terminal into the pane's modes (alternate
        screen, mouse, bracketed paste, application cursor and keypad, cursor visibility); they go
        before the screen's rows.
    @ivar finish: escape sequences that must follow the screen's rows (scroll region, origin,
        insert and wrap modes, caret).  L{tservice.terminal.snapshot.snapshot} puts it all together.
    @ivar main: while the alternate screen is shown, the rows of the main screen behind it.
    @ivar main_wrapped: as C{wrapped}, of C{main}.
    @ivar main_cursor: and the caret's column and row there.
    @ivar offset: the log's end just before the capture: bytes from here on follow it.
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
"""The first and the last of some characters, and how many cells each takes; 0: it is not shown."""


@frozen(kw_only=True)
class Mark:
    """What was typed last, kept by the pane's server in the same command as the keys.

    A crash of this process between typing and noting it down so leaves no doubt: the pane's
    server either did both or neither.

    @ivar id: names one accepted input; letters, digits, dashes, L{MARK_ID_MAX} at most.
    @ivar step: names its stage, for example C{pasted} or C{entered}; letters.
    @ivar done: bytes of a raw write typed so far.
    """

    id: str
    step: str = "written"
    done: int = 0


@frozen(kw_only=True)
class Guard:
    """A look at the screen that a key can be bound to.

    @ivar capture: the screen, without history.
    @ivar still: the pane was quiet before the look, so that any byte printed since is noticed.
        Without that the rows alone are compared.
    @ivar seal: the multiplexer's own.
    """

    capture: Capture
    still: bool
    seal: tuple[int, int | None]


class IPaneListener(Interface):
    """Hears of a pane's life.  Bytes are read from its L{OutputLog} instead.

    Of C{pane_exited} and C{pane_lost} one is told, once; neither to whom has called C{kill}.
    """

    def pane_exited(ending: PaneExit) -> None:
        """The process is over; every byte it wrote is in the log or in the next capture."""

    def pane_lost() -> None:
        """The server is gone and took the pane with it; how the process ended is unknown."""

    def pane_resized(cols: int, rows: int) -> None:
        """The size has changed."""

    def pane_titled(title: str) -> None:
        """The program in the pane set its title."""


class IPane(Interface):
    """One pane: its own server and its only control client.

    Every coroutine but C{probe} may raise L{PaneGone}, L{MuxTimeout} or L{MuxBusy}.  Once the
    process is over, typing raises L{PaneGone}; what it left behind can still be captured until
    the pane is killed.
    """

    session_id: str = Attribute("the session that it belongs to")
    log: OutputLog = Attribute("every byte that the pane printed")
    pid: int | None = Attribute("the process in the pane; None once it is over")
    ending: PaneExit | None = Attribute("how it ended, once it has")
    cols: int = Attribute("columns as applied")
    rows: int = Attribute("rows as applied")
    title: str = Attribute("the pane's title as the program set it")
    paused: bool = Attribute("true between pause and resume")
    typed_at: float | None = Attribute(
        "clock seconds when typing without a guard was last sent or done"
    )

    def listen(listener: IPaneListener) -> Callable[[], None]:
        """Start telling C{listener}; the returned function ends it."""

    async def write(data: bytes, mark: Mark | None = None) -> None:
        """Type C{data} as it is, leaving copy mode first; returns once the pane has it.

        Long data goes in pieces; C{mark} moves on with each (C{done} counts the bytes typed).
        With C{mark.done} above zero that many bytes of C{data} are skipped: they were typed before.
        """

    async def send_key(name: str, mark: Mark | None = None) -> None:
        """Press one key of C{keys.KEYS}, for example C{Enter}, C{S-Tab} or C{C-c}."""

    async def paste(text: str, mark: Mark | None = None) -> None:
        """Bracketed paste where the program asked for it; line feeds stay line feeds.

        ESC and other C0 bytes but TAB and LF are stripped, so that the text cannot leave the paste.
        """

    async def guard() -> Guard:
        """Look at the screen, so that a key can be pressed only while it stays as it is."""

    async def press_if(key: str, guard: Guard, rows: Sequence[int], times: int = 1) -> bool:
        """Press a key of C{keys.KEYS} or a digit, unless the screen changed since C{guard}.

        The server looks and presses in one step: what was printed after C{guard} is seen, and
        nothing else is typed in between.  What the program has not printed yet nobody can see.

        @param rows: the screen's rows that must stand where they stood.
        @param times: how often it is pressed, 50 times at most.
        @return: false: it changed, or something was typed through this pane; nothing was pressed.
        """

    async def paste_if(text: str, guard: Guard, rows: Sequence[int]) -> bool:
        """As L{press_if}, but L{paste} C{text}."""

    async def last_mark() -> Mark | None:
        """The mark of the last thing typed with one; it outlives this process."""

    async def resize(cols: int, rows: int) -> None:
        """Give the pane this size; listeners hear of it once it is applied."""

    async def set_colours(colours: Colours) -> None:
        """Have the terminal say this of its colours when a program asks, also later and to others.

        It does nothing where the terminal is somebody else's.
        """

    async def glyphs() -> tuple[GlyphRun, ...]:
        """How many cells the terminal gives to characters on which systems differ; asked once.

        Empty where that cannot be told.
        """

    async def capture(history: int | None = 0) -> Capture:
        """Read the screen and up to C{history} lines above it (C{None}: all)."""

    async def probe() -> Liveness:
        """Is the process alive?  Never raises."""

    async def pause() -> None:
        """Let the pane run without its bytes: they are dropped (the log takes a gap)."""

    async def resume() -> None:
        """Go on taking bytes from now; capture first-hand state afterwards."""

    async def kill() -> tuple[Leftover, ...]:
        """End the pane and its server; returns once they are gone.

        @return: the processes that its program has left behind, as far as they can be seen.
        """


class IMultiplexer(Interface):
    """Where panes live.  They outlive this process."""

    output_bytes: int = Attribute("output of all panes that was read since the start, in bytes")

    async def create(spec: PaneSpec) -> IPane:
        """Start C{spec} on a server of its own.

        @raise MuxError: it could not be started, or a server of that session still runs.
        """

    async def adopt(session_id: str, place: Place) -> IPane | None:
        """Take up a pane that runs already; C{None} when no server answers there.

        @param place: where it was started.
        @raise MuxError: nothing runs in such a place as far as this service can tell, which is
            no proof that nothing does.
        @raise MuxTimeout: a server is there but does not answer: unknown, so leave it alone.
        """

    async def found() -> frozenset[str]:
        """The session ids whose sockets exist; a socket may be stale.

        Places that do not answer now are passed over.
        """

    async def close() -> None:
        """Let go of every pane; they run on."""
