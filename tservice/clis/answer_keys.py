"""Keys that answer an agent's dialogs (protocol-approvals, protocol-environment)."""

from __future__ import annotations

from typing import Literal

from tservice.clis.field_types import CliRecord

_Move = Literal["Up", "Down", "Left", "Right"]


class AnswerKeys(CliRecord):
    """Keys of an agent's dialogs, in addition to the digits and Enter.

    @ivar deny: refuses the request.
    @ivar back: moves the highlight to the previous option, where digits do not answer.
    @ivar forward: moves the highlight to the next option.
    """

    deny: Literal["Escape", "C-c"] = "Escape"
    back: _Move = "Up"
    forward: _Move = "Down"
