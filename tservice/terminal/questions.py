"""Find the sentence that a dialog asks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tservice.terminal.area import Area, is_tabs
from tservice.terminal.screen import Frame

LINES = re.compile(r"[─━│┃║╭╮╰╯┌┐└┘├┤┬┴┼╌═╔╗╚╝▔▁▀▄█╹]+")
"""What rules, boxes and banners are drawn with."""

KNOWN_QUESTION = re.compile(
    r"(?:Do you (?:want|trust|wish)|Would you like|Allow |Approve |Apply |Trust this|△ "
    r"|Ready to submit|Exit plan mode|Are you sure|How would you|Which )",
)
"""How the clients' own questions begin."""

_ASIDE = re.compile(r"(?:Reason|Tip|Note|Hint): |[$●⎿] ?")


def question_of(frame: Frame, area: Area, end: int, tabbed: bool) -> tuple[str | None, int | None]:
    """The sentence asked and the row it begins in."""
    paragraphs = list(_paragraphs(frame, area.top, end))
    if tabbed:
        return _tabbed_question(paragraphs)
    known = [p for p in paragraphs if KNOWN_QUESTION.match(p[1]) and _sentence(p[1])]
    others = [p for p in paragraphs if "?" in p[1] and area.bounded and not _ASIDE.match(p[1])]
    for at, text in [*reversed(known), *reversed(others)]:
        sentence = _sentence(text)
        if sentence:
            return sentence, at
    return None, None


def _sentence(text: str) -> str | None:
    if text.startswith("△ "):
        return text[2:]
    found = re.match(r".*?\?(?=$|[\s(])", text)
    return found[0] if found else None


def _tabbed_question(paragraphs: list[tuple[int, str]]) -> tuple[str | None, int | None]:
    """A question page says what it likes between its tabs and its options."""
    rows = [p for p in paragraphs if not is_tabs(p[1])]
    if not rows:
        return None, None
    if rows[0][1].startswith("Review your answers"):
        # Newer versions of Claude Code end in the answers.
        at, said = rows[-1] if KNOWN_QUESTION.match(rows[-1][1]) else rows[0]
        return said, at
    return " ".join(text for _, text in rows), rows[0][0]


def _paragraphs(frame: Frame, start: int, stop: int) -> Iterable[tuple[int, str]]:
    """Rows of text that belong together: neighbours with the same indent."""
    begin, words, indent = start, list[str](), -1
    for at in range(start, stop):
        row = frame.inner[at]
        blank = not plain(row)
        depth = len(row) - len(row.lstrip(" "))
        if words and (blank or depth != indent or KNOWN_QUESTION.match(row.strip(" "))):
            yield begin, fold(" ".join(words))
            words = []
        if not blank:
            begin = begin if words else at
            indent = depth
            words.append(row)
    if words:
        yield begin, fold(" ".join(words))


def plain(row: str) -> str:
    """A row without what boxes are drawn with."""
    return LINES.sub("", row).strip()


def fold(text: str) -> str:
    """White space folded to single blanks."""
    return " ".join(text.split())
