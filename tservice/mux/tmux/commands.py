"""Command lines for tmux and what their answers say.  Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from attrs import frozen

from tservice.mux.interface import MARK_ID_MAX, Colours, Mark, MuxError
from tservice.mux.keys import KEYS, digit
from tservice.mux.tmux.control import Block

PANE = b"%0"
"""The pane of a session: the first and, unless somebody adds to it by hand, only one.

On a server that is not ours it is another one, and L{of_pane} puts that in its place.
"""

WINDOW = b"@0"

BUFFER = b"tservice"

DEAD = b"tservice-dead"

IN_MODE = b"tservice-mode"

Version = tuple[int, int]

USUAL: Version = (3, 3)
"""The tmux that is meant where none says which it is; 3.2 to 3.5 are known."""

NUMBER_MAX = 2**31 - 1
"""No process number, size or count that tmux tells is larger."""

SIZE_MAX = 10_000
"""Columns or rows that tmux gives a window at most."""

CELLS_MAX = 2**20
"""Cells of a screen that are read: more than fit on any that is looked at."""

TITLE_BYTES = 4096
"""Of a title; a program can set one of a megabyte."""

ORPHANS_MAX = 16
"""Clients of earlier services that are ended at one time; there is one, or two."""

_MARK_ID = re.compile(rf"[A-Za-z0-9-]{{1,{MARK_ID_MAX}}}")
_MARK_STEP = re.compile(r"[A-Za-z]{1,32}")
_VERSION = re.compile(rb"([0-9]{1,4})\.([0-9]{1,4})")
_QUOTED = re.compile(rb'[\x01-\x1f\x7f"\\$]')

_FIELDS = (
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pane_pid",
    "pane_width",
    "pane_height",
    "history_size",
    "cursor_x",
    "cursor_y",
    "cursor_flag",
    "alternate_on",
    "alternate_saved_x",
    "alternate_saved_y",
    "insert_flag",
    "keypad_cursor_flag",
    "keypad_flag",
    "mouse_standard_flag",
    "mouse_button_flag",
    "mouse_all_flag",
    "mouse_utf8_flag",
    "mouse_sgr_flag",
    "origin_flag",
    "wrap_flag",
    "scroll_region_upper",
    "scroll_region_lower",
    "@tservice_pid",
    "@tservice_token",
    "@tservice_modes",
    "version",
    # Last, since it may hold anything.
    "pane_title",
)


def quote(value: bytes) -> bytes:
    """C{value} as one word of a command line, whatever bytes but NUL it holds.

    Control characters are written as octal escapes, so that the line stays one line; so is what
    could be taken for L{PANE}.
    """
    return nest(value).replace(b"%", b"\\045")


def nest(value: bytes) -> bytes:
    """As L{quote}, for commands within a command."""
    if b"\0" in value:
        raise ValueError("tmux takes no NUL")
    return b'"' + _QUOTED.sub(lambda found: b"\\%03o" % found[0][0], value) + b'"'


def of_pane(line: bytes, pane: bytes) -> bytes:
    """A line of L{PANE} as one of C{pane}."""
    return line if pane == PANE else line.replace(PANE, pane)


def join(*commands: bytes) -> bytes:
    """Several commands as one line; tmux runs them without a pause, or none at all.

    An incomplete line is not run, so a service that dies while it writes leaves nothing half.
    """
    return b" ; ".join(commands)


def send_bytes(data: bytes) -> bytes:
    """Type C{data} as it is."""
    return b"send-keys -t %b -H %b" % (PANE, data.hex(" ").encode())


def send_named(key: str) -> bytes:
    """Press a key that tmux encodes by the modes of the pane."""
    return b"send-keys -t %b %b" % (PANE, key.encode())


def press(name: str) -> bytes:
    """Press a key of L{KEYS}, or a digit."""
    if (byte := digit(name)) is not None:
        return send_bytes(byte)
    key = KEYS[name]
    return send_bytes(key.plain) if key.literal else send_named(key.tmux)


def leave_copy_mode() -> bytes:
    """Keys that arrive in copy mode are swallowed."""
    return b"copy-mode -q -t " + PANE


def while_read(*commands: bytes) -> bytes:
    """Run C{commands}, which hold no single quote, if a program is there that reads what is typed.

    It gives one answer more than there are commands; the last is L{DEAD} if the pane's process is
    over, else L{IN_MODE} in copy mode.  Keys for a dead pane would be dropped without a word, and
    a paste makes tmux 3.3a crash.
    """
    why = b'display-message -p -t %b "#{?pane_dead,%b,%b}"' % (PANE, DEAD, IN_MODE)
    unread, typed = join(*[why] * len(commands)), join(*commands)
    return b"if-shell -F -t %b '#{||:#{pane_dead},#{pane_in_mode}}' '%b' '%b'" % (
        PANE,
        unread,
        typed,
    )


def set_buffer(data: bytes) -> bytes:
    """Hand tmux what L{PASTE} pastes.

    The text travels in the control channel: no file, no command line of a process.
    """
    return b"set-buffer -b %b -- %b" % (BUFFER, quote(data))


PASTE = b"paste-buffer -p -r -d -b %b -t %b" % (BUFFER, PANE)
"""Paste, in brackets where the program asked for them; LF stays LF."""


DROP_PASTE = b"delete-buffer -b " + BUFFER
"""Forgets what L{paste} loaded but did not insert."""


def set_option(name: str, value: bytes) -> bytes:
    """Keep C{value} on the pane's server."""
    return b"set-option -p -t %b @tservice_%b %b" % (PANE, name.encode(), quote(value))


def set_mark(mark: Mark) -> bytes:
    """Keep C{mark}.

    @raise ValueError: its id or step has other characters than it may.
    """
    if not _MARK_ID.fullmatch(mark.id) or not _MARK_STEP.fullmatch(mark.step):
        raise ValueError(f"not a mark: {mark}")
    return set_option("mark", f"{mark.id}:{mark.step}:{mark.done}".encode())


def read_mark(text: bytes) -> Mark | None:
    """What L{set_mark} kept; C{None} where nothing was."""
    if not text:
        return None
    try:
        name, step, done = text.decode("ascii").split(":")
        return Mark(id=name, step=step, done=int(done))
    except ValueError as error:
        raise MuxError(f"not a mark: {text[:200]!r}") from error


def show(text: str) -> bytes:
    """Print a format."""
    return b"display-message -p -t %b %b" % (PANE, _literal(text))


def capture_rows(
    start: int | str,
    end: int | str,
    alternate: bool = False,
    version: Version = USUAL,
    *,
    joined: bool = False,
) -> bytes:
    """Print rows; 0 is the first of the screen, -1 the last above it, C{-} the far end.

    @param version: of the tmux that is asked.
    @param joined: rows that tmux wrapped are printed as one line.  Nobody can tell whether the last
        row goes on.
    """
    hidden = b" -a -q" if alternate else b""
    # From 3.4 on rows are filled up with cells that nothing was ever written to, but for -T.
    written = b" -T" if version >= (3, 4) else b""
    rows = f" -S {start} -E {end}".encode()
    # Blanks at the end of a row may have a colour, so they are kept (-N).  So does -J by itself.
    kept = b" -J" if joined else b" -N"
    return b"capture-pane -p -e%b%b%b -t %b%b" % (kept, written, hidden, PANE, rows)


def _literal(text: str) -> bytes:
    return b"'" + text.encode() + b"'"


HELD = b"held"
"""The option of the pane that a session has on a server that is not ours."""

PANES = (
    b"list-panes -s -F '#{pane_id} #{&&:#{window_active},#{pane_active}} #{@tservice_%b}'" % HELD
)
"""Prints a line for each pane of the client's session; see L{chosen}."""

_CHOICE = re.compile(rb"(%[0-9]{1,9}) ([01]) (.*)")


def chosen(lines: Sequence[bytes], session_id: str) -> bytes | None:
    """The pane to attach to: the one that the session had, else the one that is looked at.

    @param lines: the answer to L{PANES}.
    """
    found = [match.groups() for line in lines if (match := _CHOICE.fullmatch(line))]
    held = [pane for pane, _, name in found if name == session_id.encode()]
    active = [pane for pane, is_active, _ in found if is_active == b"1"]
    return next(iter((*held, *active)), None)


def set_colours(colours: Colours) -> bytes:
    """Have tmux answer with C{colours}; nothing else in control mode depends on them."""
    style = f"fg={colours.foreground},bg={colours.background}"
    return b"set-option -p -t %b window-style %b" % (PANE, quote(style.encode()))


def known_characters(characters: Sequence[str]) -> tuple[bytes, ...]:
    """Print which of C{characters} tmux knows; L{tservice.mux.glyphs.read_known} reads it.

    tmux 3.3 never answers when it is asked for the width of one that it does not know.
    """
    option = b"@tservice_glyphs"
    return (
        set_option("glyphs", ",".join(characters).encode()),
        b"show-options -p -t %b %b" % (PANE, option),
        b"set-option -p -u -t %b %b" % (PANE, option),
    )


def widths_of(characters: Sequence[str]) -> bytes:
    """Print how many cells each takes; tmux must know all of them."""
    return show("".join(f"#{{w:#{{l:{character}}}}}" for character in characters))


IS_THERE = b"has-session -t " + PANE
"""Fails where there is no such pane; L{show} prints nothings then."""


def client_size(cols: int, rows: int) -> bytes:
    """What the client asks for, where others may want another size."""
    return b"refresh-client -C %dx%d" % (cols, rows)


CLIENTS = (
    b"list-clients -F '#{?client_control_mode,#{client_pid},}'",
    b"display-message -p '#{client_pid}'",
)
"""Says which clients talk to the server as the service does, and which is its own (see
L{orphans})."""


def orphans(answers: Sequence[Block]) -> list[int]:
    """The clients of earlier services that are still there, from the answers to L{CLIENTS}.

    The client of a service that was killed while its pane printed never ends: tmux waits for
    ever until the rest of its output is written to a pipe that nobody reads, keeps the pane from
    printing meanwhile and does not end itself either when it is told to.  The service may have
    been killed before it said anything to the server, so none is known by name: the server is
    the service's alone, and nobody else talks to it in control mode.
    """
    clients, own = (answer.lines for answer in answers[:2])
    found = [optional(line) for line in clients if line not in own]
    return [pid for pid in found if pid is not None][:ORPHANS_MAX]


STATE = show(",".join(f"#{{{name}}}" for name in _FIELDS))
"""Prints one line for L{PaneState.parse}."""


@frozen(kw_only=True)
class PaneState:
    """What tmux tells of a pane, all of one moment.

    @ivar version: of tmux itself.
    """

    version: Version
    dead: bool
    status: int | None
    signal: str | None
    pid: int
    cols: int
    rows: int
    history: int
    cursor: tuple[int, int]
    flags: frozenset[str]
    saved_cursor: tuple[int, int]
    region: tuple[int, int]
    kept_pid: int | None
    token: bytes
    modes: bytes
    title: str

    @classmethod
    def parse(cls, line: bytes) -> PaneState:
        """Read the answer to L{STATE}.

        @raise MuxError: it is none.
        """
        values = line.split(b",", len(_FIELDS) - 1)
        if len(values) != len(_FIELDS):
            raise MuxError(f"not the state of a pane: {line[:200]!r}")
        got = dict(zip(_FIELDS, values, strict=True))
        cols, rows = size(got["pane_width"], got["pane_height"])

        def number(name: str) -> int:
            found = optional(got[name])
            return 0 if found is None else found

        return cls(
            version=read_version(got["version"]),
            dead=got["pane_dead"] == b"1",
            status=optional(got["pane_dead_status"]),
            signal=signal_name(optional(got["pane_dead_signal"])),
            pid=number("pane_pid"),
            cols=cols,
            rows=rows,
            history=number("history_size"),
            cursor=(number("cursor_x"), number("cursor_y")),
            flags=frozenset(name for name, value in got.items() if value == b"1"),
            saved_cursor=(number("alternate_saved_x"), number("alternate_saved_y")),
            region=(number("scroll_region_upper"), number("scroll_region_lower")),
            kept_pid=optional(got["@tservice_pid"]),
            token=got["@tservice_token"],
            modes=got["@tservice_modes"],
            title=got["pane_title"][:TITLE_BYTES].decode("utf-8", "replace"),
        )


def read_version(text: bytes) -> Version:
    """The two numbers of what tmux calls itself: C{3.3a}, C{next-3.6}."""
    found = _VERSION.search(text)
    return USUAL if found is None else (int(found[1]), int(found[2]))


def optional(text: bytes) -> int | None:
    """A number, or C{None} for what is no number that tmux tells."""
    if not text.isdigit() or len(text) > len(str(NUMBER_MAX)):
        return None
    number = int(text)
    return number if number <= NUMBER_MAX else None


def size(cols: bytes, rows: bytes) -> tuple[int, int]:
    """Columns and rows.

    @raise MuxError: no window has that size.
    """
    wide, high = optional(cols), optional(rows)
    if not wide or not high or max(wide, high) > SIZE_MAX or wide * high > CELLS_MAX:
        raise MuxError(f"not the size of a pane: {cols[:20]!r} by {rows[:20]!r}")
    return wide, high


def signal_name(number: int | None) -> str | None:
    """C{SIGTERM} for 15; a number without a name as C{SIG<number>}."""
    if not number:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
