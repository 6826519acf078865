"""Detection of the rows that a dialog covers."""

from __future__ import annotations

import re

from attrs import frozen

from tservice.terminal.frames.screen_frame import ScreenFrame

TALLEST = 60
"""Maximum number of rows that are examined, from the bottom up."""

UPPER = "╭┌╔"
LOWER = "╰└╚"
"""Characters with which the lower edges of boxes begin; C{UPPER} are those of the upper edges."""

_BAR = "┃"
_TABS = re.compile(r"(?:← +)?[☐☒☑✔] +\S.*")
_LAST_OPTION = re.compile(r" *(?:[❯›●>] *)?[2-9][.)]")


@frozen
class DialogArea:
    """Rows that a dialog covers, C{top} to C{bottom}.

    @ivar bounded: an edge or a rule is right above the rows, so none of them is cut off.
    """

    top: int
    bottom: int
    bounded: bool


def find_dialog_area(frame: ScreenFrame, at: int) -> DialogArea:
    """Return the dialog around row C{at}, which begins below the nearest rule or upper edge."""
    closed = 0
    for top in range(at, max(-1, at - TALLEST), -1):
        if frame.is_edge(top):
            # A box that is closed above row C{at} is inside the dialog: a table, a preview.
            upper = frame.rows[top].lstrip(" ")[0] in UPPER
            if upper and not closed:
                return DialogArea(top + 1, frame.last_row, bounded=True)
            closed = max(0, closed - 1) if upper else closed + 1
        elif frame.is_rule(top) and not closed and _is_upper_rule(frame, top):
            return DialogArea(top + 1, frame.last_row, bounded=True)
    return DialogArea(max(0, at - TALLEST + 1), frame.last_row, bounded=False)


def find_bar_area(frame: ScreenFrame, at: int) -> DialogArea | None:
    """Return the rows around row C{at} that have a bar at their left (opencode).

    The result is C{None} if there is no bar, or if its upper end is not on the screen.
    """
    top = at
    while top and frame.rows[top].lstrip(" ").startswith(_BAR):
        top -= 1
    if top == at or frame.rows[top].lstrip(" ").startswith(_BAR):
        return None
    return DialogArea(top + 1, frame.last_row, bounded=True)


def _is_upper_rule(frame: ScreenFrame, at: int) -> bool:
    """Return true if a rule is the upper edge of a dialog, not the rule before its last option."""
    following = frame.find_filled_rows(at + 1, min(at + 3, frame.last_row + 1))
    # A plan is shown between dashed lines, with a rule below them.
    above = frame.find_filled_rows(at - 2, at)
    if not following or (above and set(frame.rows[above[-1]].strip(" ")) == {"╌"}):
        return False
    return _LAST_OPTION.match(frame.inner_rows[following[0]]) is None


def is_tab_row(text: str) -> bool:
    """Return true if a text looks like a row of tabs."""
    return bool(_TABS.fullmatch(text))


def parse_tabs(frame: ScreenFrame, area: DialogArea) -> tuple[tuple[str, bool], ...]:
    """Return the tabs in a question dialog's first row, without its Submit page.

    Each tab has a label, and true if its question has been answered.
    """
    first = frame.find_filled_rows(area.top, min(area.top + 3, frame.last_row + 1))
    row = frame.inner_rows[first[0]].strip(" ") if first and area.bounded else ""
    if not is_tab_row(row) or row[0] == "✔":
        return ()
    chips = re.findall(r"([☐☒☑✔]) +(.*?)(?= {2,}| *→|$)", row)
    return tuple((label, mark in "☒☑") for mark, label in chips if mark != "✔")
