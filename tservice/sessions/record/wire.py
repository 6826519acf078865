"""A session as clients see it (protocol-session)."""

from __future__ import annotations

from typing import Any

import attrs
from pydantic.alias_generators import to_camel

from tservice.sessions.record.display import display_model
from tservice.sessions.record.model import Session

_ALWAYS: tuple[str, ...] = (
    "id",
    "pid",
    "status",
    "mode",
    "name",
    "name_source",
    "working_dir",
    "created_at",
    "last_activity_at",
    "pinned",
    "cols",
    "rows",
    "limit_paused",
    "flicker_filter",
    "total_cost",
    "location",
    "hooks_available",
)
_OPTIONAL = (
    "case_name",
    "last_submit_at",
    "owner",
    "parent_session_id",
    "pinned_at",
    "context_used_percentage",
    "status_reason",
)
_NESTED = (
    "auto_compact",
    "auto_clear",
    "auto_resume",
    "nice",
    "tokens",
    "custom_model",
    "pane_exit",
    "remote",
    "container",
)


def record_json(record: attrs.AttrsInstance) -> dict[str, Any]:
    """A small record with camelCase names; what is C{None} is left out."""
    fields = attrs.asdict(record, recurse=False)
    return {to_camel(name): value for name, value in fields.items() if value is not None}


def session_json(session: Session) -> dict[str, Any]:
    """The record for an answer or an event; values of C{env_overrides} are never in it."""
    answer: dict[str, Any] = {to_camel(name): getattr(session, name) for name in _ALWAYS}
    for name in _OPTIONAL:
        if getattr(session, name) is not None:
            answer[to_camel(name)] = getattr(session, name)
    for name in _NESTED:
        if getattr(session, name) is not None:
            answer[to_camel(name)] = record_json(getattr(session, name))
    answer["color"] = session.colour
    answer["params"] = dict(session.params)
    answer["conversationIds"] = list(session.conversation_ids)
    answer |= _model_json(session) | _flags_json(session)
    return answer


def _model_json(session: Session) -> dict[str, Any]:
    shown = display_model(session.models)
    if shown is None:
        return {"displayModel": None}
    return {"displayModel": shown[0], "displayModelSource": shown[1]}


def _flags_json(session: Session) -> dict[str, bool]:
    flags = {"detached": session.detached, "respawnBlocked": session.respawn_blocked}
    return {name: True for name, value in flags.items() if value}
