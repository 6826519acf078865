"""Parser of a running agent's settings from its screen (protocol-controls).

This module does no I/O.
"""

from __future__ import annotations

import re

from tservice.clis.interfaces import CommandControl, CycleControl
from tservice.terminal.dialogs.dialogs import AgentDialog
from tservice.terminal.frames.screen_frame import ScreenFrame

BEHIND = 4
"""Number of rows below a command in which the agent's response begins."""


def read_cycle_value(cycle: CycleControl, frame: ScreenFrame) -> str | None:
    """Return the value of a setting that the screen shows; C{None} if it shows none."""
    for row in reversed(frame.rows[: frame.last_row + 1]):
        for value, pattern in cycle.shown.items():
            if re.search(pattern, row):
                return value
    return cycle.otherwise


def choose_cycle_key(cycle: CycleControl, now: str | None, value: str) -> str:
    """Return the key to press to get from one value to another.

    @param now: the present value; C{None} if the screen shows none.
    @param value: the requested value.
    """
    order = list(cycle.shown)
    if cycle.back is None or now not in order or order.index(now) < order.index(value):
        return cycle.key
    return cycle.back


def find_confirming_option(command: CommandControl, dialog: AgentDialog | None) -> int | None:
    """Return the number of the option that confirms a change; C{None} without such a question."""
    if dialog is None or command.confirms is None:
        return None
    labels = {option.n: option.label for option in dialog.options}
    return next((n for n, label in labels.items() if re.search(command.confirms, label)), None)


def read_command_result(command: CommandControl, words: str, frame: ScreenFrame) -> str | None:
    """Return the agent's response to a command; C{None} if there is none yet.

    @param words: the text of the command; its last occurrence on the screen counts.
    """
    rows = frame.rows[: frame.last_row + 1]
    start, stop = 0, len(rows)
    if command.echoes:
        given = [at for at, row in enumerate(rows) if row.rstrip().endswith(words)]
        if not given:
            return None
        start, stop = given[-1] + 1, given[-1] + 1 + BEHIND
    found = [match[1] for row in rows[start:stop] if (match := re.search(command.told, row))]
    return found[-1].strip() if found else None
