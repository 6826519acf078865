"""Quoting of arguments for a POSIX shell. No other module quotes shell text.

The remote command is always L{LISTENER}, which reads one line from its standard input and runs that
line. So every kind of login shell sees only that text, and no argument of the service shows on a
remote command line. The bytes after the line are the program's own input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MARK = b"tservice-begins\n"
"""Line that is printed to both streams before any other output of the service; see
L{tservice.mux.preamble}.
"""

_MARKS = 'echo tservice-""begins; echo tservice-""begins >&2'
"""Shell commands that print L{MARK}. They do not contain the mark literally, because a shell that
echoes its commands would print it too early.
"""

LISTENER = _MARKS + '; IFS= read -r tservice && eval "$tservice"'
"""Shell program that reads and runs one line. It contains no backslash and no single quote, so sh,
bash, zsh, fish and csh read it alike.
"""

HEARING = ("sh", "-c", LISTENER)
"""Remote command for a connection that passes a list of arguments on."""

SPOKEN = f"exec sh -c '{LISTENER}'"
"""Remote command for a connection that passes one text to a login shell."""

_NEWLINE = b"tservice_nl=$(printf '\\nx'); tservice_nl=${tservice_nl%x}"


def quote_word(word: bytes) -> bytes:
    """Quote C{word} as one shell word on one line.

    @raise ValueError: C{word} contains a NUL, which no shell word can contain.
    """
    if b"\0" in word:
        raise ValueError("a word cannot hold a NUL")
    return b"'" + word.replace(b"'", b"'\"'\"'").replace(b"\n", b"'\"$tservice_nl\"'") + b"'"


def quote_words(*given: bytes) -> bytes:
    """Return a shell command that consists of these words, each quoted."""
    return b" ".join(quote_word(word) for word in given)


def build_export_commands(env: Mapping[bytes, bytes]) -> bytes:
    """Return shell commands that export these environment variables.

    @raise ValueError: a name is not valid; the shell would read it as something else.
    """
    for name in env:
        if not name.replace(b"_", b"a").isalnum() or not name.isascii() or name[:1].isdigit():
            raise ValueError(f"invalid variable name: {name!r}")
    return b"; ".join(b"export %b=%b" % (name, quote_word(value)) for name, value in env.items())


def join_shell_commands(*programs: bytes) -> bytes:
    """Join shell commands into one line for L{LISTENER}.

    @param programs: shell text in which every untrusted word is quoted.
    """
    return b"; ".join((_NEWLINE, *(part for part in programs if part))) + b"\n"


def quote_script(text: str) -> bytes:
    """Return a packaged script without its comments, quoted as one word for C{sh -c}."""
    kept: Iterable[str] = (row for row in text.splitlines() if not row.startswith("#"))
    return quote_word("\n".join(kept).encode())
