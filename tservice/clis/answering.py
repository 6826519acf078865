"""Which keys answer an agent's dialogs (protocol-approvals, protocol-environment)."""

from __future__ import annotations

from typing import Literal

from tservice.clis.words import Record

_Move = Literal["Up", "Down", "Left", "Right"]


class AnswerKeys(Record):
    """The keys of an agent's dialogs, beside the digits and Enter.

    @ivar deny: refuses what is asked.
    @ivar back: moves the highlight to the option before, where digits do not answer.
    @ivar forward: moves it to the option behind.
    """

    deny: Literal["Escape", "C-c"] = "Escape"
    back: _Move = "Up"
    forward: _Move = "Down"
