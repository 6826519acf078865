"""The recorded dialogs that make items."""

from __future__ import annotations

import re

from attrs import frozen

from tests.frames import HERE
from tests.frames.score import RULES
from tservice.agents.approvals.model import makes_item
from tservice.terminal.dialogs.dialogs import AgentDialog, read_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame


@frozen
class RecordedDialog:
    """A recorded dialog."""

    cli: str
    name: str
    data: bytes
    frame: ScreenFrame
    dialog: AgentDialog

    @property
    def size(self) -> tuple[int, int]:
        found = re.match(r"(\d+)x(\d+)_", self.name)
        return (int(found[1]), int(found[2])) if found else (120, 40)


def recorded_dialogs_of(cli: str = "claude") -> list[RecordedDialog]:
    """Every recorded dialog that an agent raised."""
    found = []
    for path in sorted((HERE / cli).rglob("*.ansi.txt")):
        data = path.read_bytes()
        frame = ScreenFrame.from_capture(data)
        dialog = read_dialog(frame, RULES[cli])
        if dialog is not None and makes_item(dialog):
            found.append(RecordedDialog(cli, path.name, data, frame, dialog))
    return found
