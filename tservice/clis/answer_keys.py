"""Keys to press for answering an agent's dialogs (protocol-approvals, protocol-environment)."""

from __future__ import annotations

from typing import Literal

from tservice.clis.field_types import CliRecord

_Move = Literal["Up", "Down", "Left", "Right"]


class AnswerKeys(CliRecord):
    """Keys that an agent's dialogs accept, in addition to the digits and Enter.

    @ivar deny: key that refuses the request.
    @ivar back: key that highlights the previous option, for agents whose dialogs ignore digits.
    @ivar forward: key that highlights the next option.
    """

    deny: Literal["Escape", "C-c"] = "Escape"
    back: _Move = "Up"
    forward: _Move = "Down"
