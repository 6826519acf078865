"""The only place where words become text for a shell.  Pure.

What runs at the far end is always the same: L{LISTENER}, which reads one line from its standard
input and runs it.  So a login shell of any kind sees that text alone, no word of ours is on a
command line that others can read there, and what follows the line is the program's own input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MARK = b"tservice-begins\n"
"""Printed to both streams before anything of ours; see L{tservice.mux.preamble}."""

_MARKS = 'echo tservice-""begins; echo tservice-""begins >&2'
"""Not the mark as it stands, for a shell that echoes its commands would print it too soon."""

LISTENER = _MARKS + '; IFS= read -r tservice && eval "$tservice"'
"""No backslash and no quote of its kind in it: sh, bash, zsh, fish and csh take it alike."""

HEARING = ("sh", "-c", LISTENER)
"""For a way that passes words on."""

SPOKEN = f"exec sh -c '{LISTENER}'"
"""For a way that hands one text to somebody's login shell."""

_NEWLINE = b"tservice_nl=$(printf '\\nx'); tservice_nl=${tservice_nl%x}"


def quote(word: bytes) -> bytes:
    """C{word} as one word on one line.

    @raise ValueError: it holds a NUL, which no word can.
    """
    if b"\0" in word:
        raise ValueError("a word cannot hold a NUL")
    return b"'" + word.replace(b"'", b"'\"'\"'").replace(b"\n", b"'\"$tservice_nl\"'") + b"'"


def words(*given: bytes) -> bytes:
    """One command."""
    return b" ".join(quote(word) for word in given)


def exports(env: Mapping[bytes, bytes]) -> bytes:
    """Put variables into the environment.

    @raise ValueError: a name that is none, which a shell would take for something else.
    """
    for name in env:
        if not name.replace(b"_", b"a").isalnum() or not name.isascii() or name[:1].isdigit():
            raise ValueError(f"not the name of a variable: {name!r}")
    return b"; ".join(b"export %b=%b" % (name, quote(value)) for name, value in env.items())


def line(*programs: bytes) -> bytes:
    """What L{LISTENER} reads: the programs one after another.

    @param programs: text for a shell, with the words of others quoted.
    """
    return b"; ".join((_NEWLINE, *(part for part in programs if part))) + b"\n"


def script(text: str) -> bytes:
    """A packaged script without its comments, as one word for C{sh -c}."""
    kept: Iterable[str] = (row for row in text.splitlines() if not row.startswith("#"))
    return quote("\n".join(kept).encode())
