"""Changes of a session's record that its transcript causes.

This module does no I/O.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tservice.agents.model import CONVERSATIONS
from tservice.agents.todos import decode_todos, find_current_todo
from tservice.agents.transcripts.model import ReadPosition, TranscriptTally
from tservice.agents.transcripts.prices import PriceTable
from tservice.agents.transcripts.usage.record import UsageTotals
from tservice.clis.interfaces import CONVERSATION_STORES
from tservice.sessions.interfaces import ModelSource, Session, SessionStatus, TokenUsage

EARLY_MS = 1000
"""Maximum milliseconds by which a prompt may seem older than its Enter."""

LISTING = frozenset(mode for mode, store in CONVERSATION_STORES.items() if store.lists_todos)
"""Modes whose transcripts contain a to-do list that no hook reports."""


def find_changed_fields(
    session: Session,
    tally: TranscriptTally,
    totals: UsageTotals,
    prices: PriceTable,
    window: int | None,
) -> dict[str, Any]:
    """Return the fields of the session's record that change, with their new values.

    If a status line reports the same figures, its values take precedence, because the transcript is
    incomplete.
    """
    told = session.statusline_telemetry or ModelSource.STATUSLINE in session.models
    tokens = TokenUsage.from_counts(totals.input, totals.output)
    fields: dict[str, Any] = {}
    if tokens.total and not told:
        fields["tokens"] = tokens
        fields["total_cost"] = round(prices.compute_cost(totals), 6)
        fields["cost_unknown"] = prices.lacks_price(totals) or None
    elif totals.cost > session.total_cost:
        fields["total_cost"] = round(totals.cost, 6)
    shown = session.models.get(ModelSource.SCREEN, "")
    full = prices.compute_context_percentage(tally, shown, window)
    if full is not None and tally.context and not told:
        fields["context_used_percentage"] = full
    known = session.conversation_ids
    if tally.conversation is not None and tally.conversation not in known:
        fields["conversation_ids"] = (*known, tally.conversation)[-CONVERSATIONS:]
    return {name: value for name, value in fields.items() if getattr(session, name) != value}


def find_recent_path(session: Session, place: ReadPosition) -> Path | None:
    """Return the conversation that was read last, if it contains the prompt of the running turn.

    Otherwise the result is C{None}, and all conversations must be searched.
    """
    prompt, submitted = place.tally.prompted_at, session.last_submit_at
    if session.status is not SessionStatus.BUSY or session.mode not in LISTING:
        return None
    if prompt is None or submitted is None or prompt < submitted - EARLY_MS:
        return None
    return Path(place.path)


def find_changed_todos(session: Session, tally: TranscriptTally, begun: int) -> dict[str, Any]:
    """Return the change to the to-do list of the session's record; empty if nothing changes.

    A list is shown once the present process has received a prompt in its conversation. The list of
    an earlier process is obsolete.

    @param begun: start of the process, in Unix milliseconds.
    """
    if session.pid is None or tally.prompted_at is None or tally.prompted_at < begun:
        return {}
    todos = decode_todos(tally.todos)
    if (todos or None) == session.todos:
        return {}
    return {"todos": todos or None, "current_task": find_current_todo(todos)}
