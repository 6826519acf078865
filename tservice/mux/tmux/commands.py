"""Builders of tmux command lines and parsers of the answers."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from attrs import frozen

from tservice.mux.interface import MARK_ID_MAX, InputMark, MuxError, TerminalColours
from tservice.mux.keys import KEYS, encode_digit
from tservice.mux.tmux.control_parser import AnswerBlock

PANE = b"%0"
"""tmux id of a session's pane: the first and only one, unless a user adds panes by hand.

On a server that the service does not own, L{substitute_pane} replaces this id by the real one.
"""

WINDOW = b"@0"

BUFFER = b"tservice"

DEAD = b"tservice-dead"

IN_MODE = b"tservice-mode"

Version = tuple[int, int]

USUAL: Version = (3, 3)
"""tmux version that is assumed while the real version is unknown. Versions 3.2 to 3.5 are known."""

NUMBER_MAX = 2**31 - 1
"""Largest pid, size or count that is accepted from tmux."""

SIZE_MAX = 10_000
"""Maximum columns or rows of a tmux window."""

CELLS_MAX = 2**20
"""Maximum cells of a screen that is read; no real screen has more."""

TITLE_BYTES = 4096
"""Maximum bytes kept of a terminal's title. A program can set a title of a megabyte."""

ORPHANS_MAX = 16
"""Maximum number of orphaned control clients that are ended at a time. Usually there is one."""

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
    # Last, because it may contain anything.
    "pane_title",
)


def quote_argument(value: bytes) -> bytes:
    """Quote C{value} as one word of a command line; it may contain any byte except NUL.

    Control characters become octal escapes, so that the line stays one line. So does any text that
    could be taken for L{PANE}.
    """
    return quote_nested(value).replace(b"%", b"\\045")


def quote_nested(value: bytes) -> bytes:
    """Quote C{value} like L{quote_argument}, for commands within a command."""
    if b"\0" in value:
        raise ValueError("tmux accepts no NUL")
    return b'"' + _QUOTED.sub(lambda found: b"\\%03o" % found[0][0], value) + b'"'


def substitute_pane(line: bytes, pane: bytes) -> bytes:
    """Replace the id L{PANE} by the id C{pane} in a command line."""
    return line if pane == PANE else line.replace(PANE, pane)


def join_commands(*commands: bytes) -> bytes:
    """Join several commands into one line, which tmux runs without a pause.

    tmux does not run an incomplete line. So a service that dies while writing has no partial
    effect.
    """
    return b" ; ".join(commands)


def send_bytes(data: bytes) -> bytes:
    """Return a command that types C{data} unchanged into the pane."""
    return b"send-keys -t %b -H %b" % (PANE, data.hex(" ").encode())


def send_named_key(key: str) -> bytes:
    """Return a command that presses a key by its tmux name. tmux encodes the key by the pane's
    modes.
    """
    return b"send-keys -t %b %b" % (PANE, key.encode())


def press_key(name: str) -> bytes:
    """Return a command that presses a key of L{KEYS} or a digit."""
    if (byte := encode_digit(name)) is not None:
        return send_bytes(byte)
    key = KEYS[name]
    return send_bytes(key.plain) if key.literal else send_named_key(key.tmux)


def leave_copy_mode() -> bytes:
    """Return a command that ends tmux's copy mode, in which keys do not reach the program."""
    return b"copy-mode -q -t " + PANE


_UNREADABLE = b'display-message -p -t %b "#{?pane_dead,%b,%b}"' % (PANE, DEAD, IN_MODE)


def run_if_readable(*commands: bytes) -> bytes:
    """Return a command that runs C{commands} only if the pane's program can read input.

    C{commands} contain no single quote. The answer has one block more than there are commands. The
    last block is L{DEAD} if the pane's process has ended, or L{IN_MODE} in copy mode. tmux drops
    keys for a dead pane silently, and a paste crashes tmux 3.3a.
    """
    unread, typed = join_commands(*[_UNREADABLE] * len(commands)), join_commands(*commands)
    return b"if-shell -F -t %b '#{||:#{pane_dead},#{pane_in_mode}}' '%b' '%b'" % (
        PANE,
        unread,
        typed,
    )


def load_paste_buffer(data: bytes) -> bytes:
    """Return a command that loads C{data} into the buffer that L{PASTE} pastes.

    The text travels in the control channel, so it is in no file and on no command line.
    """
    return b"set-buffer -b %b -- %b" % (BUFFER, quote_argument(data))


PASTE = b"paste-buffer -p -r -d -b %b -t %b" % (BUFFER, PANE)
"""Command that pastes the buffer, with brackets if the program enabled them. LF is not converted.
"""


DROP_PASTE = b"delete-buffer -b " + BUFFER
"""Command that deletes the buffer of L{load_paste_buffer}, used if the buffer was not pasted."""


def set_option(name: str, value: bytes) -> bytes:
    """Return a command that stores C{value} as a user option on the pane's server."""
    return b"set-option -p -t %b @tservice_%b %b" % (PANE, name.encode(), quote_argument(value))


def set_mark(mark: InputMark) -> bytes:
    """Return a command that stores C{mark} on the pane's server.

    @raise ValueError: the id or the step of the mark contains invalid characters.
    """
    if not _MARK_ID.fullmatch(mark.id) or not _MARK_STEP.fullmatch(mark.step):
        raise ValueError(f"not a mark: {mark}")
    # Neither contains anything that L{quote_argument} would escape.
    name, step = mark.id.encode(), mark.step.encode()
    return b'set-option -p -t %b @tservice_mark "%b:%b:%d"' % (PANE, name, step, mark.done)


def parse_mark(text: bytes) -> InputMark | None:
    """Parse a mark that L{set_mark} stored. Return C{None} if no valid mark is stored."""
    if not text:
        return None
    try:
        name, step, done = text.decode("ascii").split(":")
        return InputMark(id=name, step=step, done=int(done))
    except ValueError as error:
        raise MuxError(f"not a mark: {text[:200]!r}") from error


def print_format(text: str) -> bytes:
    """Return a command that prints the value of a tmux format."""
    return b"display-message -p -t %b %b" % (PANE, _quote_literal(text))


def capture_rows(
    start: int | str,
    end: int | str,
    alternate: bool = False,
    version: Version = USUAL,
    *,
    joined: bool = False,
) -> bytes:
    """Return a command that prints the rows C{start} to C{end}.

    Row 0 is the first row of the screen, row -1 the last one above it. C{-} means the outermost
    row.

    @param alternate: print the rows of the main screen while the alternate screen is shown.
    @param version: the version of the tmux that runs the command.
    @param joined: print rows that tmux wrapped as one line. The output does not show if the last
        row continues.
    """
    hidden = b" -a -q" if alternate else b""
    # From 3.4 on, rows are filled up with cells that were never written, except with -T.
    written = b" -T" if version >= (3, 4) else b""
    rows = f" -S {start} -E {end}".encode()
    # Trailing blanks of a row may have a colour, so they are kept (-N). -J keeps them by itself.
    kept = b" -J" if joined else b" -N"
    return b"capture-pane -p -e%b%b%b -t %b%b" % (kept, written, hidden, PANE, rows)


def _quote_literal(text: str) -> bytes:
    return b"'" + text.encode() + b"'"


HELD = b"held"
"""Name of the pane option that records the session's pane on a server that the service does not
own.
"""

PANES = (
    b"list-panes -s -F '#{pane_id} #{&&:#{window_active},#{pane_active}} #{@tservice_%b}'" % HELD
)
"""Command that prints a line for each pane of the client's tmux session; see L{choose_pane}."""

_CHOICE = re.compile(rb"(%[0-9]{1,9}) ([01]) (.*)")


def choose_pane(lines: Sequence[bytes], session_id: str) -> bytes | None:
    """Return the id of the pane to attach to. C{None} means that there is none.

    The pane that the session used before takes precedence over the active pane.

    @param lines: the answer to L{PANES}.
    """
    found = [match.groups() for line in lines if (match := _CHOICE.fullmatch(line))]
    held = [pane for pane, _, name in found if name == session_id.encode()]
    active = [pane for pane, is_active, _ in found if is_active == b"1"]
    return next(iter((*held, *active)), None)


def set_colours(colours: TerminalColours) -> bytes:
    """Return a command that makes tmux report C{colours} to programs.

    In control mode, the option has no other effect.
    """
    style = f"fg={colours.foreground},bg={colours.background}"
    return b"set-option -p -t %b window-style %b" % (PANE, quote_argument(style.encode()))


def print_known_characters(characters: Sequence[str]) -> tuple[bytes, ...]:
    """Return commands that print those of the given characters that tmux knows.

    L{tservice.mux.glyph_widths.parse_known_characters} parses the answer. tmux 3.3 never answers a
    query for the width of a character that it does not know.
    """
    option = b"@tservice_glyphs"
    return (
        set_option("glyphs", ",".join(characters).encode()),
        b"show-options -p -t %b %b" % (PANE, option),
        b"set-option -p -u -t %b %b" % (PANE, option),
    )


def print_widths(characters: Sequence[str]) -> bytes:
    """Return a command that prints the number of cells of each character. tmux must know each
    character.
    """
    return print_format("".join(f"#{{w:#{{l:{character}}}}}" for character in characters))


IS_THERE = b"has-session -t " + PANE
"""Command that fails if the pane does not exist. In that case, L{print_format} prints nothing."""


def request_client_size(cols: int, rows: int) -> bytes:
    """Return a command that sets the size of this control client.

    Other clients of the server may have another size.
    """
    return b"refresh-client -C %dx%d" % (cols, rows)


CLIENTS = (
    b"list-clients -F '#{?client_control_mode,#{client_pid},}'",
    b"display-message -p '#{client_pid}'",
)
"""Commands that print the pids of all control clients and of the service's own (see
L{parse_orphan_pids}).
"""


def parse_orphan_pids(answers: Sequence[AnswerBlock]) -> list[int]:
    """Return the pids of control clients that earlier runs of the service left.

    If a service is killed while its pane prints, its client never ends. The client waits forever to
    write the rest of its output to a pipe that is no longer read. Until then it blocks the pane,
    and it ignores a request to exit. The service may have been killed before it sent anything to
    the server, so no client is known by name. The server belongs to the service alone, and no other
    program connects to it in control mode.

    @param answers: the answers to L{CLIENTS}.
    """
    clients, own = (answer.lines for answer in answers[:2])
    found = [parse_number(line) for line in clients if line not in own]
    return [pid for pid in found if pid is not None][:ORPHANS_MAX]


STATE = print_format(",".join(f"#{{{name}}}" for name in _FIELDS))
"""Command that prints the pane's state as one line, for L{PaneState.parse_state}."""


@frozen(kw_only=True)
class PaneState:
    """State of a pane as tmux reports it at one moment.

    @ivar version: the version of tmux.
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
    def parse_state(cls, line: bytes) -> PaneState:
        """Parse the answer to L{STATE}.

        @raise MuxError: the line does not describe a pane's state.
        """
        values = line.split(b",", len(_FIELDS) - 1)
        if len(values) != len(_FIELDS):
            raise MuxError(f"not the state of a pane: {line[:200]!r}")
        got = dict(zip(_FIELDS, values, strict=True))
        cols, rows = parse_size(got["pane_width"], got["pane_height"])

        def parse_field(name: str) -> int:
            found = parse_number(got[name])
            return 0 if found is None else found

        return cls(
            version=parse_version(got["version"]),
            dead=got["pane_dead"] == b"1",
            status=parse_number(got["pane_dead_status"]),
            signal=name_signal(parse_number(got["pane_dead_signal"])),
            pid=parse_field("pane_pid"),
            cols=cols,
            rows=rows,
            history=parse_field("history_size"),
            cursor=(parse_field("cursor_x"), parse_field("cursor_y")),
            flags=frozenset(name for name, value in got.items() if value == b"1"),
            saved_cursor=(parse_field("alternate_saved_x"), parse_field("alternate_saved_y")),
            region=(parse_field("scroll_region_upper"), parse_field("scroll_region_lower")),
            kept_pid=parse_number(got["@tservice_pid"]),
            token=got["@tservice_token"],
            modes=got["@tservice_modes"],
            title=got["pane_title"][:TITLE_BYTES].decode("utf-8", "replace"),
        )


def parse_version(text: bytes) -> Version:
    """Parse the major and minor number of a tmux version such as C{3.3a} or C{next-3.6}."""
    found = _VERSION.search(text)
    return USUAL if found is None else (int(found[1]), int(found[2]))


def parse_number(text: bytes) -> int | None:
    """Parse a number that tmux printed. Return C{None} for text that tmux would not print."""
    if not text.isdigit() or len(text) > len(str(NUMBER_MAX)):
        return None
    number = int(text)
    return number if number <= NUMBER_MAX else None


def parse_size(cols: bytes, rows: bytes) -> tuple[int, int]:
    """Parse the columns and rows of a window.

    @raise MuxError: no window has that size.
    """
    wide, high = parse_number(cols), parse_number(rows)
    if not wide or not high or max(wide, high) > SIZE_MAX or wide * high > CELLS_MAX:
        raise MuxError(f"not the size of a pane: {cols[:20]!r} by {rows[:20]!r}")
    return wide, high


def name_signal(number: int | None) -> str | None:
    """Return the name of a signal: C{SIGTERM} for 15, C{SIG<number>} for an unknown number."""
    if not number:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
