"""Environment with which a tmux server is started on this machine."""

from __future__ import annotations

import os

from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.terminfo import COLOURS, FALLBACK
from tservice.mux.tmux import keeper


def build_environment(
    spec: PaneSpec,
    token: bytes,
    *,
    foreign: bool = False,
    preface: bytes = b"",
    terminal: str = FALLBACK,
) -> dict[bytes, bytes]:
    """Return the environment of the server. It holds the pane's variables and those for the keeper.

    The keeper removes its own variables.

    @param token: unguessable word that authenticates the keeper's messages.
    @param foreign: pass every variable to the keeper under a prefixed name, which means nothing to
        the programs in between.
    @param preface: path of the file with C{spec.preface}; empty for none.
    @param terminal: C{TERM} of the pane, unless its environment sets C{TERM}.
    @raise MuxError: a name or a value cannot be stored in an environment.
    """
    given = {"TERM": terminal, "COLORTERM": COLOURS, **spec.env}
    own = {os.fsencode(name): os.fsencode(value) for name, value in given.items()}
    term = own[b"TERM"]
    added = {b"TOKEN": token, b"CWD": os.fsencode(spec.cwd), b"TERM": term}
    added[b"HISTORY"] = b"%d" % spec.history_limit
    added[b"FG"] = spec.colours.foreground.encode()
    added[b"BG"] = spec.colours.background.encode()
    if preface:
        added[b"PREFACE"] = preface
    added |= {b"ARG%d" % at: os.fsencode(word) for at, word in enumerate(spec.argv)}
    hidden = own if foreign else own.keys() & set(keeper.OVERWRITTEN)
    added |= {b"ENV_" + name: own[name] for name in hidden}
    added[b"ENV_TERM"] = term
    found = ({} if foreign else own) | {
        keeper.PREFIX + name: value for name, value in added.items()
    }
    for name, value in found.items():
        if not name or b"=" in name or b"\0" in name + value:
            raise MuxError(f"invalid environment variable: {name!r}")
    return found
