"""Screens built in tests: recordings with other text in them, other sizes, imitations."""

from __future__ import annotations

from tests.frames.score import RULES
from tservice.terminal.dialogs.dialogs import AgentDialog, read_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_status import ScreenReading, read_screen

WIDTH = 80
RULE = "─" * WIDTH
COMPOSER = f"{RULE}\n❯\u00a0\n{RULE}\n  ? for shortcuts"
PERMISSION = f"""{RULE}
 Bash command

   touch made.txt
   Make a file

 Do you want to proceed?
 ❯ 1. Yes
   2. Yes, and don’t ask again for: touch *
   3. No

 Esc to cancel · Tab to amend · ctrl+e to explain"""
TRUST = f"""{RULE}
 Accessing workspace:

 /srv/project

 Quick safety check: Is this a project you created or one you trust? (Like your own code.)

 ❯ 1. Yes, I trust this folder
   2. No, exit

 Enter to confirm · Esc to cancel"""


def text_frame(text: str, cols: int = WIDTH, rows: int = 24) -> ScreenFrame:
    """The text as a pane shows it: from the top, blank rows below."""
    lines = text.split("\n")
    lines += [""] * (rows - len(lines))
    return ScreenFrame.from_capture("\n".join(lines).encode(), cols)


def read_dialog_text(text: str, cli: str = "claude", cols: int = WIDTH) -> AgentDialog | None:
    """The dialog that the text shows."""
    return read_dialog(text_frame(text, cols), RULES[cli])


def read_status(text: str, cli: str = "claude", title: str = "") -> ScreenReading:
    """The judgement on the text."""
    return read_screen(text_frame(text), title, RULES[cli])


def option_labels(found: AgentDialog | None) -> list[str]:
    """The options' labels; empty without a dialog."""
    return [] if found is None else [option.label for option in found.options]


def option_descriptions(found: AgentDialog | None) -> list[str | None]:
    """What is said of each option; empty without a dialog."""
    return [] if found is None else [option.description for option in found.options]
