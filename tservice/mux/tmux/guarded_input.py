"""Commands that type keys only while the screen is unchanged.

The condition and the key travel in one command line, and tmux reads nothing from a pane while it
runs a line. So the screen cannot change between the check and the key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from tservice.mux.interface import MuxError
from tservice.mux.tmux.commands import PANE, print_format, quote_nested
from tservice.mux.tmux.control_parser import AnswerBlock

STAMP = print_format("#{window_activity}")
"""Command that prints the time of the last output in seconds."""

_PASS = b"pressed"
_TIME = re.compile(rb"[0-9]{1,20}")
_LITERAL = re.compile(r"[A-Za-z0-9 ]")
_CLASS = re.compile(r"[!\"$&'()*+./:;<=>?@_`|~-]")
"""Characters that are literal inside brackets. Elsewhere, tmux's formats and time stamps give them
a meaning.
"""


def parse_activity(block: AnswerBlock) -> int | None:
    """Return the time of the last output in seconds; C{None} if that second is not over yet.

    If the second is over, later output has a later time. So an equal time proves that the pane was
    quiet.

    @param block: the answer to L{STAMP}, whose time is by the same clock.
    """
    text = b"".join(block.lines)
    if not _TIME.fullmatch(text):
        raise MuxError(f"not a time: {text[:80]!r}")
    return int(text) if int(text) < block.time else None


def build_condition(
    screen: Sequence[str], rows: Iterable[int], second: int | None, size: tuple[int, int]
) -> bytes:
    """Return a tmux format that is true while the screen is unchanged.

    Rows are compared at their positions. Characters with a meaning in formats match any character.

    @param screen: the text of each screen row, without styles.
    @param rows: indices of the rows to compare. Blank rows are ignored.
    @param second: Unix second of the pane's last output, which must still be the same (see
        L{parse_activity}). C{None} compares only the rows.
    @param size: columns and rows of the pane.
    """
    found, wanted = ["#{pane_width}", "#{pane_height}"], [str(number) for number in size]
    if second is not None:
        found.append("#{window_activity}")
        wanted.append(str(second))
    for row in rows:
        text = screen[row].rstrip()
        if text:
            found.append("#{C/r:^" + _build_pattern(text, _bracket_character) + "$}")
            wanted.append(str(_find_first_row(screen, text) + 1))
    return f"#{{==:{'-'.join(found)},{'-'.join(wanted)}}}".encode()


def build_guarded_command(
    test: bytes, keys: Sequence[bytes], otherwise: Sequence[bytes] = ()
) -> bytes:
    """Return a command that runs C{keys} if C{test} is true, otherwise C{otherwise}.

    The answer has L{count_answers} blocks.

    @param test: tmux format made by L{build_condition}.
    """
    size = max(len(keys), len(otherwise))
    nothing = b"display-message -p ''"
    yes = [b"display-message -p " + _PASS, *keys, *[nothing] * (size - len(keys))]
    no = [nothing, *otherwise, *[nothing] * (size - len(otherwise))]
    branches = quote_nested(b" ; ".join(yes)) + b" " + quote_nested(b" ; ".join(no))
    return b"if-shell -F -t %b %b %b" % (PANE, quote_nested(test), branches)


def count_answers(keys: Sequence[bytes], otherwise: Sequence[bytes] = ()) -> int:
    """Return the number of blocks that answer L{build_guarded_command}."""
    return 2 + max(len(keys), len(otherwise))


def has_guard_passed(blocks: Sequence[AnswerBlock]) -> bool:
    """Return true if the condition held and the keys were sent."""
    return any(block.lines == (_PASS,) for block in blocks)


def _bracket_character(sign: str) -> str:
    return f"[{sign}]" if _CLASS.fullmatch(sign) else "."


def _escape_character(sign: str) -> str:
    return re.escape(sign) if _CLASS.fullmatch(sign) else "."


def _build_pattern(text: str, special: Callable[[str], str]) -> str:
    out: list[str] = []
    for sign in text:
        if _LITERAL.fullmatch(sign):
            out.append(sign)
        elif sign.isascii():
            out.append(special(sign))
        elif out[-1:] != [".+"]:
            # The number of characters in tmux depends on its locale.
            out.append(".+")
    return "".join(out)


def _find_first_row(screen: Sequence[str], text: str) -> int:
    """Return the index of the first row that contains C{text}, which is the row that tmux finds."""
    pattern = re.compile(_build_pattern(text, _escape_character))
    return next(at for at, row in enumerate(screen) if pattern.fullmatch(row.rstrip()))
