"""Quoting of words for a POSIX shell; no other module does this. Pure.

The remote command is always the same: L{LISTENER}, which reads one line from its standard input and
runs it. So every kind of login shell sees only that text, and no argument of ours shows on a remote
command line. The bytes after the line are the program's own input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MARK = b"tservice-begins\n"
"""Line that is printed to both streams before any other output of ours; see
L{tservice.mux.preamble}.
"""

_MARKS = 'echo tservice-""begins; echo tservice-""begins >&2'
"""Commands that print the mark. They do not contain the mark literally, because a shell that echoes
its commands would print it too early.
"""

LISTENER = _MARKS + '; IFS= read -r tservice && eval "$tservice"'
"""Program that runs one line. It contains no backslash and no single quote, so sh, bash, zsh, fish
and csh read it alike.
"""

HEARING = ("sh", "-c", LISTENER)
"""Command for a connection that passes words on."""

SPOKEN = f"exec sh -c '{LISTENER}'"
"""Command for a connection that passes one text to a login shell."""

_NEWLINE = b"tservice_nl=$(printf '\\nx'); tservice_nl=${tservice_nl%x}"


def quote_word(word: bytes) -> bytes:
    """Quote C{word} as one word on one line.

    @raise ValueError: it contains a NUL, which no word can.
    """
    if b"\0" in word:
        raise ValueError("a word cannot hold a NUL")
    return b"'" + word.replace(b"'", b"'\"'\"'").replace(b"\n", b"'\"$tservice_nl\"'") + b"'"


def quote_words(*given: bytes) -> bytes:
    """Return a command with each word quoted."""
    return b" ".join(quote_word(word) for word in given)


def export_variables(env: Mapping[bytes, bytes]) -> bytes:
    """Return commands that export variables.

    @raise ValueError: a name is not valid; the shell would read it as something else.
    """
    for name in env:
        if not name.replace(b"_", b"a").isalnum() or not name.isascii() or name[:1].isdigit():
            raise ValueError(f"invalid variable name: {name!r}")
    return b"; ".join(b"export %b=%b" % (name, quote_word(value)) for name, value in env.items())


def join_programs(*programs: bytes) -> bytes:
    """Join programs into one line for L{LISTENER}.

    @param programs: shell text with all foreign words quoted.
    """
    return b"; ".join((_NEWLINE, *(part for part in programs if part))) + b"\n"


def quote_script(text: str) -> bytes:
    """Return a packaged script without its comments, as one word for C{sh -c}."""
    kept: Iterable[str] = (row for row in text.splitlines() if not row.startswith("#"))
    return quote_word("\n".join(kept).encode())
