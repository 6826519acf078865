"""Shell commands that run on the remote host.

They use only POSIX and tools that every system has: Debian's dash, Alpine's busybox.
"""

from __future__ import annotations

import os
from importlib import resources

from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.remote.shell_quoting import (
    build_export_commands,
    join_shell_commands,
    quote_script,
    quote_word,
    quote_words,
)
from tservice.mux.terminfo import COLOURS, ENTRIES, FALLBACK, FOLDERS, TERMINAL
from tservice.mux.tmux.control_client import FREE
from tservice.mux.tmux.setup import CONFIGURATION

PREFIX = "service-"
"""Prefix of a tmux server's name on the remote host; the session id follows (protocol-remote)."""

_KEEP = b'eval "$TSERVICE_PANE_KEEPER"'
_KEPT = ("TOKEN", "RUN", "KEEPER", "CONF", "PREFACE", "HISTORY", "TERM", "FG", "BG")

_OURS = b"unset " + b" ".join(b"TSERVICE_PANE_" + name.encode() for name in _KEPT)
_NOT_OURS = b"unset TMUX TMUX_PANE TERM_PROGRAM TERM_PROGRAM_VERSION SHLVL OLDPWD LINES COLUMNS"
OF_THE_WAY = b"unset TMUX TMUX_PANE SSH_CLIENT SSH_CONNECTION SSH_TTY"

FOLDER = b"tservice_d=${TMUX_TMPDIR:-/tmp}/tmux-$(id -u)"
"""Shell assignment of the variable that holds tmux's socket folder (mode 0700)."""

_BESIDE = (
    b"tservice_c=$(command -v -- %b); case $tservice_c in /*) tservice_c=${tservice_c%%/*}; "
    b'[ -x "$tservice_c/node" ] && PATH=$tservice_c:$PATH;; esac'
)
"""Shell command that adds a program's folder to C{PATH} if the folder also contains C{node}, so
that npm programs run with the Node.js of the same installation.
"""

_PRIVATE = (
    b'umask 077; mkdir -p "$tservice_d" || exit 73; '
    b'[ -O "$tservice_d" ] && [ ! -L "$tservice_d" ] || '
    b'{ echo "$tservice_d is another user\'s" >&2; exit 77; }'
)
NEEDS_TMUX = b"command -v tmux >/dev/null || { echo 'tmux is missing there' >&2; exit 127; }"


def format_server_name(session_id: str) -> str:
    """Return the name of a session's tmux server on the remote host."""
    return PREFIX + session_id


def build_tmux_command(name: str, *arguments: str) -> bytes:
    """Return a shell command that replaces the shell by tmux.

    @param name: the name of the tmux server.
    """
    return b"exec " + quote_words(*map(os.fsencode, ("tmux", "-u", "-L", name, *arguments)))


def build_attach_command(name: str, *arguments: str) -> bytes:
    """Return a command line that runs tmux with C{arguments} on the server C{name}."""
    return join_shell_commands(OF_THE_WAY, build_tmux_command(name, *arguments))


def build_start_command(name: str, spec: PaneSpec, token: bytes, preface: bytes) -> bytes:
    """Return a command line that starts a tmux server with C{spec} in it and becomes its first
    client.

    The command fails if a server of that name runs.

    @param token: unguessable word that authenticates the keeper's messages.
    @param preface: path of the file to print first; empty for none.
    @raise MuxError: a value cannot be stored in an environment.
    """
    conf = b"$tservice_d/" + os.fsencode(name) + b".conf"
    taken = b'[ -S "$tservice_d/%b" ] && %b display-message -p x >/dev/null 2>&1 && %b' % (
        os.fsencode(name),
        quote_words(b"tmux", b"-N", b"-L", os.fsencode(name)),
        b"{ echo 'a tmux server of that session still runs there' >&2; exit 75; }",
    )
    configuration = quote_script(CONFIGURATION.read_text("utf-8"))
    term = os.fsencode(spec.env.get("TERM", ""))
    try:
        added = {
            b"TOKEN": token,
            b"RUN": build_pane_command(spec, token),
            b"PREFACE": preface,
            b"HISTORY": b"%d" % spec.history_limit,
            b"FG": spec.colours.foreground.encode(),
            b"BG": spec.colours.background.encode(),
        }
        given = build_export_commands(
            {b"TSERVICE_PANE_" + key: value for key, value in added.items()}
        )
    except ValueError as error:
        raise MuxError(str(error)) from error
    size = ("-x", str(spec.cols), "-y", str(spec.rows))
    return join_shell_commands(
        NEEDS_TMUX,
        FOLDER,
        _PRIVATE,
        taken,
        b"echo %" + FREE,
        b"printf '%%s' %b > \"%b\" || exit 73" % (configuration, conf),
        OF_THE_WAY,
        given,
        _export_terminal(term),
        b"export TSERVICE_PANE_KEEPER=" + quote_script(_read_keeper_script()),
        b'export TSERVICE_PANE_CONF="%b"' % conf,
        b'exec tmux -u -L %b -f "%b" %b'
        % (
            quote_word(os.fsencode(name)),
            conf,
            quote_words(
                *map(os.fsencode, ("-C", "new-session", *size, "-c", "/", "--", "sh", "-c")), _KEEP
            ),
        ),
    )


def _export_terminal(named: bytes) -> bytes:
    """Return a shell command that chooses the pane's C{TERM}.

    @param named: C{TERM} of the pane's environment, which takes precedence; empty if not set.
    """
    if named:
        return b"export TSERVICE_PANE_TERM=" + quote_word(named)
    files = b" ".join(
        quote_word(f"{folder}/{entry}".encode()) for folder in FOLDERS for entry in ENTRIES
    )
    return (
        b"export TSERVICE_PANE_TERM=%b; for tservice_f in %b; do "
        b'[ ! -f "$tservice_f" ] || TSERVICE_PANE_TERM=%b; done'
        % (FALLBACK.encode(), files, TERMINAL.encode())
    )


def build_pane_command(spec: PaneSpec, token: bytes) -> bytes:
    """Return the shell command that starts the program of C{spec} inside the pane.

    @param token: unguessable word that authenticates the keeper's messages.
    @raise ValueError: a value cannot be stored in an environment.
    """
    said = b"printf '\\033]7773;%%s;%%s;%%s\\007' %b " % quote_word(token)
    failed = b"{ %b failed 2; exit 127; }" % said
    argv = [os.fsencode(word) for word in spec.argv]
    given = {"COLORTERM": COLOURS, **spec.env}
    env = {os.fsencode(name): os.fsencode(value) for name, value in given.items()}
    return join_shell_commands(
        b'export TERM="$TSERVICE_PANE_TERM"',
        _OURS,
        _NOT_OURS,
        build_export_commands(env),
        _BESIDE % quote_words(*argv[:1]),
        b"cd -- %b 2>/dev/null || %b" % (quote_word(os.fsencode(spec.cwd)), failed),
        b"command -v -- %b >/dev/null 2>&1 || %b" % (quote_words(*argv[:1]), failed),
        said + b'started "$$"',
        b"exec " + quote_words(*argv),
    )


REACHED, ENDED = b"here\n", b"gone\n"


def build_reachability_command(name: str) -> bytes:
    """Return a command line that prints L{REACHED} or L{ENDED}. Other output is inconclusive.

    The command checks twice, because a starting server refuses connections for a moment.
    """
    file = quote_word(os.fsencode(name))
    ask = quote_words(b"tmux", b"-N", b"-L", os.fsencode(name), b"display-message", b"-p", b"x")
    refused = b'*"no server running"*|*"error connecting"*'
    return join_shell_commands(
        NEEDS_TMUX,
        FOLDER,
        b'tservice_ask() { [ -S "$tservice_d/"%b ] || { echo gone; exit 0; }; '
        b"tservice_said=$(%b 2>&1) && { echo here; exit 0; }; }" % (file, ask),
        b"tservice_ask; sleep 1; tservice_ask",
        b'case $tservice_said in %b) echo gone;; *) echo "$tservice_said" >&2; exit 75;; esac'
        % refused,
    )


def build_cleanup_command(name: str) -> bytes:
    """Return a command line that removes the files of an ended server, and the folder if it is then
    empty.
    """
    file = quote_word(os.fsencode(name))
    names = b" ".join(b'"$tservice_d/"%b%b' % (file, end) for end in (b"", b".conf", b".preface"))
    return join_shell_commands(
        FOLDER, b"rm -f -- %b" % names, b'rmdir -- "$tservice_d" 2>/dev/null; true'
    )


FOUND = join_shell_commands(
    FOLDER,
    b'for tservice_f in "$tservice_d"/service-*; do [ -S "$tservice_f" ] && '
    b"printf '%s\\n' \"${tservice_f##*/}\"; done; true",
)
"""Shell command that prints the names of the service's tmux servers on the remote host."""


def build_preface_command(name: str) -> bytes:
    """Return a command line that writes its standard input to a file and prints the file's path."""
    file = b'"$tservice_d/"%b.preface' % quote_word(os.fsencode(name))
    return join_shell_commands(FOLDER, _PRIVATE, b"cat > %b && printf '%%s' %b" % (file, file))


_IDENTITY = (
    b"tservice_id() { if [ -r /proc/$1/stat ]; then read -r tservice_s < /proc/$1/stat || return; "
    b'set -- ${tservice_s##*) }; [ "$1" = Z ] || echo "s${20}"; '
    b'else ps -o lstart= -p "$1" 2>/dev/null; fi; }'
)


def build_identity_command(pid: int) -> bytes:
    """Return a command line that prints the start time of this user's process with that pid. The
    start time distinguishes the process from a later one with the same pid.
    """
    return join_shell_commands(
        _IDENTITY, b"kill -0 %d 2>/dev/null && tservice_id %d; true" % (pid, pid)
    )


def build_signal_command(pid: int, identity: bytes, name: bytes) -> bytes:
    """Return a command line that signals the process if its start time still matches.

    The command prints C{alive} or C{dead}.

    @param identity: the start time as printed by L{build_identity_command}.
    @param name: the name of the signal.
    """
    same = b'[ "$(tservice_id %d)" = %b ]' % (pid, quote_word(identity))
    return join_shell_commands(
        _IDENTITY, b"if %b; then kill -%b %d; echo alive; else echo dead; fi" % (same, name, pid)
    )


def build_listener_command(name: str) -> bytes:
    """Return a command line that prints the pid of the tmux server C{name}.

    Empty output means that the pid is unknown.
    """
    return join_shell_commands(
        FOLDER,
        b'tservice_p=$(cd -P -- "$tservice_d" && pwd)/%b' % quote_word(os.fsencode(name)),
        b'tservice_i=$(P="$tservice_p" awk \'$4 == "00010000" && $8 == ENVIRON["P"] '
        b"{print $7; exit}' /proc/net/unix)",
        b'[ -n "$tservice_i" ] || exit 0',
        b'ls -l /proc/[0-9]*/fd 2>/dev/null | awk -v s="socket:[$tservice_i]" '
        b"'/^\\/proc/ {split($0, p, \"/\")} $NF == s {print p[3]; exit}'",
    )


def _read_keeper_script() -> str:
    return resources.files(__package__).joinpath("keeper.sh").read_text("utf-8")
