"""Choice of the keys that answer a folder-trust dialog, one at a time (protocol-trust)."""

from __future__ import annotations

from tservice.terminal.dialogs.dialog_kinds import DialogKind, is_trust_label
from tservice.terminal.dialogs.dialogs import read_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules


def is_trust_dialog(frame: ScreenFrame, rules: ScreenRules) -> bool:
    """Return true if C{frame} shows a folder-trust dialog.

    The phrases of protocol-trust must belong to the dialog itself. A permission dialog about a file
    that quotes them is no trust dialog.
    """
    dialog = read_dialog(frame, rules)
    return dialog is not None and dialog.kind is DialogKind.TRUST


def choose_next_key(frame: ScreenFrame, rules: ScreenRules) -> str | None:
    """Return the next key to press in the trust dialog: C{Down}, C{Up} or C{Enter}.

    The key is Enter only if this frame shows the marker on the option that trusts the folder. The
    result is C{None} if the frame shows no trust dialog or cannot be read. Capture the screen again
    after each key.
    """
    dialog = read_dialog(frame, rules)
    if dialog is None or dialog.kind is not DialogKind.TRUST:
        return None
    selected = [option for option in dialog.options if option.selected]
    wanted = [option for option in dialog.options if is_trust_label(option.label)]
    if len(selected) != 1 or not wanted:
        return None
    if is_trust_label(selected[0].label):
        return "Enter"
    return "Down" if wanted[0].n > selected[0].n else "Up"
