"""Parser of the question that a dialog asks, and of the command that the question is about
(protocol-approvals).

Rows of a command can look like a dialog. So a command counts as complete only if the start of the
dialog is certain. The proof is something that no command can draw: a box's edge, or a row further
to the left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from attrs import frozen

from tservice.terminal.dialogs.dialog_area import UPPER, DialogArea, is_tab_row
from tservice.terminal.frames.screen_frame import ScreenFrame

LINES = re.compile(r"[─━│┃║╭╮╰╯┌┐└┘├┤┬┴┼╌═╔╗╚╝▔▁▀▄█╹]+")
"""Characters with which rules, boxes and banners are drawn."""

KNOWN_QUESTION = re.compile(
    r"(?:Do you (?:want|trust|wish)|Would you like|Allow |Approve |Apply |Trust this|△ "
    r"|Ready to submit|Exit plan mode|Are you sure|How would you|Which )",
)
"""Pattern of the words with which the clients' own questions begin."""

_ASIDE = re.compile(r"(?:Reason|Tip|Note|Hint): |[$●⎿] ?")

_CUT = re.compile(
    r"(?:…|\.\.\.)\s*$|[\[(]?(?:…|\.\.\.) ?\+?\d|\blines? (?:hidden|not shown)|\bmore lines?\b"
    r"|\bview all\b|\bshow more\b",
    re.IGNORECASE,
)
"""Pattern of the marks with which clients replace omitted text."""
_SIDEBAR = re.compile(r"\S {3,}\S|^ {30,}\S")
_COLUMN_BESIDE = re.compile(r" {30,}\S.*$")
_RUN_ROW = "Would you like to run the following command?"
_SHELL_TITLE = re.compile(r"\s*\? Shell\b")
_PERMISSION = "△ Permission required"
_BAR = "┃"
BODY_ROWS = 6
"""Number of rows of a command that opencode shows without scrolling, on any screen."""


def find_question(
    frame: ScreenFrame, area: DialogArea, end: int, tabbed: bool
) -> tuple[str | None, int | None]:
    """Return the question and the row in which it begins; C{None} for both if there is none.

    @param end: the row of the first option.
    @param tabbed: the dialog begins with the tabs of a question dialog.
    """
    paragraphs = list(_split_paragraphs(frame, area.top, end))
    if tabbed:
        return _find_tabbed_question(paragraphs)
    known = [p for p in paragraphs if KNOWN_QUESTION.match(p[1]) and _extract_sentence(p[1])]
    others = [p for p in paragraphs if "?" in p[1] and area.bounded and not _ASIDE.match(p[1])]
    for at, text in [*reversed(known), *reversed(others)]:
        sentence = _extract_sentence(text)
        if sentence:
            return sentence, at
    return None, None


def _extract_sentence(text: str) -> str | None:
    if text.startswith("△ "):
        return text[2:]
    found = re.match(r".*?\?(?=$|[\s(])", text)
    return found[0] if found else None


def _find_tabbed_question(paragraphs: list[tuple[int, str]]) -> tuple[str | None, int | None]:
    """Return the question of a page with tabs, and its row.

    Any text between the tabs and the options can be the question.
    """
    rows = [p for p in paragraphs if not is_tab_row(p[1])]
    if not rows:
        return None, None
    if rows[0][1].startswith("Review your answers"):
        # Newer versions of Claude Code end with the answers.
        at, said = rows[-1] if KNOWN_QUESTION.match(rows[-1][1]) else rows[0]
        return said, at
    return " ".join(text for _, text in rows), rows[0][0]


def _split_paragraphs(frame: ScreenFrame, start: int, stop: int) -> Iterable[tuple[int, str]]:
    """Yield paragraphs with their first row; neighbouring rows with the same indent form a
    paragraph.
    """
    begin, words, indent = start, list[str](), -1
    for at in range(start, stop):
        row = frame.inner_rows[at]
        blank = not strip_drawing(row)
        depth = len(row) - len(row.lstrip(" "))
        if words and (blank or depth != indent or KNOWN_QUESTION.match(row.strip(" "))):
            yield begin, fold_whitespace(" ".join(words))
            words = []
        if not blank:
            begin = begin if words else at
            indent = depth
            words.append(row)
    if words:
        yield begin, fold_whitespace(" ".join(words))


def strip_drawing(row: str) -> str:
    """Return a row without box drawing characters."""
    return LINES.sub("", row).strip()


def fold_whitespace(text: str) -> str:
    """Return a text with white space folded to single blanks."""
    return " ".join(text.split())


@frozen(kw_only=True)
class ShownCommand:
    """Command as a dialog shows it, one line for each row of the screen.

    @ivar whole: no part of the command is missing.
    """

    text: str
    whole: bool


def read_command(frame: ScreenFrame, top: int, end: int) -> ShownCommand | None:
    """Return the command that a dialog shows in the rows C{top} to C{end}; C{None} without one.

    @param end: the row of the first option.
    """
    return (
        _read_codex_command(frame, top, end)
        or _read_opencode_command(frame, end)
        or _read_gemini_command(frame, top, end)
    )


def _read_codex_command(frame: ScreenFrame, top: int, end: int) -> ShownCommand | None:
    rows = [row.strip() for row in frame.rows[:end]]
    if _RUN_ROW not in rows[top:]:
        return None
    asked = next(at for at in range(top, end) if rows[at] == _RUN_ROW)
    start = next((at for at in range(asked, end) if rows[at].startswith("$ ")), None)
    if start is None:
        return None
    # The dialog's rows are indented: text at the left edge belongs to earlier output.
    above = next((row for row in reversed(frame.rows[:asked]) if row.strip()), "")
    begins = above[:1].strip() != ""
    text = [frame.rows[at].removeprefix("  ") for at in range(start, end)]
    return _build_command([text[0].removeprefix("$ "), *text[1:]], begins)


def _read_opencode_command(frame: ScreenFrame, end: int) -> ShownCommand | None:
    top = end
    while top and frame.rows[top - 1].lstrip(" ").startswith(_BAR):
        top -= 1
    rows = [row.lstrip(" ").removeprefix(_BAR) for row in frame.rows[top:end]]
    filled = [at for at, row in enumerate(rows) if row.strip()]
    titled = filled and rows[filled[0]].strip().startswith(_PERMISSION)
    start = next((at for at in filled if rows[at].startswith("  $ ")), None)
    if start is None or not any(_PERMISSION in row for row in rows):
        return None
    text = [_COLUMN_BESIDE.sub("", row.removeprefix("  ")) for row in rows[start:]]
    begins = bool(titled) and top > 0 and not rows[-1].strip() and filled[-1] - start < BODY_ROWS
    return _build_command(
        [text[0].removeprefix("$ "), *text[1:]], begins and not _has_side_column(rows)
    )


def _has_side_column(rows: Sequence[str]) -> bool:
    """Return true if a separate column is next to the dialog's rows."""
    return any(_SIDEBAR.search(row) for row in rows)


def _read_gemini_command(frame: ScreenFrame, top: int, end: int) -> ShownCommand | None:
    edge = frame.rows[top - 1].lstrip(" ")[:1] if top else ""
    if edge not in UPPER or not edge or not _SHELL_TITLE.match(frame.inner_rows[top]):
        return None
    inside = [row.strip(" ").removeprefix("│").removesuffix("│") for row in frame.rows[top:end]]
    boxed = [at for at, row in enumerate(inside) if row.strip()[:1] in ("╭", "╰")]
    if len(boxed) != 2:
        return None
    rows = [inside[at].strip(" ").removeprefix("│ ") for at in range(boxed[0] + 1, boxed[1])]
    return _build_command([row.removesuffix("│") for row in rows], begins=True)


def _build_command(rows: Sequence[str], begins: bool) -> ShownCommand:
    text = "\n".join(row.rstrip() for row in rows).strip("\n")
    whole = begins and not any(_CUT.search(row) for row in rows)
    return ShownCommand(text=text, whole=whole and bool(text.strip()))
