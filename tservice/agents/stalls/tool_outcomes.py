"""Outcomes of an agent's tools, from the items of its conversation.  Nothing here does I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from attrs import frozen

from tservice.agents.stalls.model import ToolOutcome
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    ItemKind,
    ToolCall,
    ToolStatus,
)
from tservice.core.values.text import shorten_text

_TITLE = 160


@frozen(kw_only=True)
class TurnTools:
    """Tools of the turn that runs.

    @ivar outcomes: calls that have ended, oldest first.
    @ivar is_running: true if a call has not ended.
    """

    outcomes: tuple[ToolOutcome, ...] = ()
    is_running: bool = False


def read_turn_tools(items: Sequence[ConversationItem]) -> TurnTools:
    """Return the tools of the last turn in the newest items of a conversation."""
    if not items:
        return TurnTools()
    turn = items[-1].turn
    calls = [
        item.tool
        for item in items
        if item.tool is not None and item.kind is ItemKind.TOOL and item.turn == turn
    ]
    return TurnTools(
        outcomes=tuple(_make_outcome(call) for call in calls if _has_ended(call)),
        is_running=any(call.status is ToolStatus.RUNNING for call in calls[-8:]),
    )


def _has_ended(call: ToolCall) -> bool:
    return call.status in (ToolStatus.DONE, ToolStatus.FAILED)


def _make_outcome(call: ToolCall) -> ToolOutcome:
    failed = call.status is ToolStatus.FAILED or call.exit_code not in (None, 0)
    given = json.dumps([call.name, call.input], sort_keys=True, default=str)
    return ToolOutcome(
        title=shorten_text(call.title, _TITLE),
        call=_digest(given),
        failed=failed,
        path=call.diffs[0].path if call.diffs else None,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
