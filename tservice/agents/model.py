"""Hook events and plan usage: their records and pure rules (protocol-hooks)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import frozen

from tservice.core.text import cut_marked, get_kept_part, replace_harmful_characters


class HookEvent(StrEnum):
    """Hook event of an agent; each is broadcast as C{hook:<name>}."""

    PERMISSION_PROMPT = "permission_prompt"
    ELICITATION_DIALOG = "elicitation_dialog"
    ELICITATION_COMPLETE = "elicitation_complete"
    ELICITATION_RESPONSE = "elicitation_response"
    IDLE_PROMPT = "idle_prompt"
    STOP = "stop"
    PROMPT_SUBMITTED = "prompt_submitted"
    AGENT_WORKING = "agent_working"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    TEAMMATE_IDLE = "teammate_idle"
    TASK_COMPLETED = "task_completed"
    TASK_CREATED = "task_created"
    TOOL_STARTED = "tool_started"
    TOOL_ENDED = "tool_ended"
    PERMISSION_DENIED = "permission_denied"
    SUBAGENT_STARTED = "subagent_started"
    SUBAGENT_STOPPED = "subagent_stopped"


DIALOGS = frozenset({HookEvent.PERMISSION_PROMPT, HookEvent.ELICITATION_DIALOG})
"""Events that report a dialog."""

WORK = frozenset(
    {
        HookEvent.TOOL_STARTED,
        HookEvent.TOOL_ENDED,
        HookEvent.SUBAGENT_STARTED,
        HookEvent.SUBAGENT_STOPPED,
    }
)
"""Events that report the actions of a turn."""

NAME_CHARS = 200
PATH_CHARS = 4096
"""The longest path that Linux opens."""
MESSAGE_CHARS = 4000
COMMAND_CHARS = 16 * 1024
"""Maximum characters of a command that a person decides on (protocol-approvals)."""

_TEXTS = {
    "hook_event_name": NAME_CHARS,
    "tool_name": NAME_CHARS,
    "session_id": NAME_CHARS,
    "cwd": PATH_CHARS,
    "permission_mode": NAME_CHARS,
    "transcript_path": PATH_CHARS,
    "message": MESSAGE_CHARS,
    "model": NAME_CHARS,
}
_INPUTS = {
    "command": COMMAND_CHARS,
    "file_path": PATH_CHARS,
    "url": PATH_CHARS,
    "query": PATH_CHARS,
    "description": PATH_CHARS,
}
SUMMARIES = tuple(_INPUTS)
"""Inputs of a tool that can be its summary, in order of preference (protocol-approvals)."""
_ASIDES = frozenset({"description", "timeout", "run_in_background"})
"""Inputs that do not change the effect of a tool."""
OTHER_INPUTS = 20
"""Maximum number of names of further inputs that are kept."""


@frozen(kw_only=True)
class HookNotice:
    """Hook event, checked and reduced.

    @ivar at: Unix milliseconds of its arrival.
    @ivar data: only the values that L{reduce_data} keeps.
    @ivar source: the reason for the conversation's start, of a C{session_start}.
    @ivar subagent: a subagent reports it.
    @ivar background: the number of tasks that run in parallel to the turns, if reported.
    """

    session_id: str
    event: HookEvent
    at: int
    data: Mapping[str, Any]
    source: str = ""
    subagent: bool = False
    background: int | None = None

    @property
    def name(self) -> str:
        """Agent's own name of the event; empty if it gave none."""
        return str(self.data.get("hook_event_name", ""))


def reduce_data(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the kept part of a hook's payload: the keys of protocol-hooks, truncated and without
    control characters.

    Values of an unexpected type are left out. For a failed turn (C{StopFailure}), the C{message} is
    the agent's last message, else the name of its error. C{tool_digest} and the other keys of
    L{_describe_missing} describe the inputs of a tool beyond the kept ones.
    """
    given = dict(data or {})
    if given.get("hook_event_name") == "StopFailure":
        given["message"] = given.get("last_assistant_message") or given.get("error")
    kept: dict[str, Any] = _truncate_values(given, _TEXTS)
    if isinstance(given.get("stop_hook_active"), bool):
        kept["stop_hook_active"] = given["stop_hook_active"]
    if isinstance(given.get("tool_input"), dict):
        kept["tool_input"] = _truncate_values(given["tool_input"], _INPUTS)
        kept |= _describe_missing(given["tool_input"])
    return kept


def find_summary_key(tool_input: Mapping[str, Any]) -> str | None:
    """Return the name of the input that best describes the tool's action."""
    given = (key for key in SUMMARIES if isinstance(tool_input.get(key), str) and tool_input[key])
    return next(given, None)


def _describe_missing(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digest of all inputs of a tool, and the part of them that its summary does not
    show.

    C{tool_missing} counts characters of the summary, C{tool_other} names further inputs.
    """
    whole = json.dumps(given, sort_keys=True, separators=(",", ":"))
    told: dict[str, Any] = {"tool_digest": hashlib.sha256(whole.encode()).hexdigest()}
    key = find_summary_key(given)
    missing = 0 if key is None else len(given[key]) - len(get_kept_part(given[key], _INPUTS[key]))
    if missing:
        told["tool_missing"] = missing
    others = sorted(str(name) for name in given if name != key and name not in _ASIDES)
    if others:
        told["tool_other"] = [
            cut_marked(replace_harmful_characters(name), 100) for name in others[:OTHER_INPUTS]
        ]
    return told


def _truncate_values(given: Mapping[str, Any], lengths: Mapping[str, int]) -> dict[str, Any]:
    return {
        key: cut_marked(replace_harmful_characters(given[key]), length)
        for key, length in lengths.items()
        if isinstance(given.get(key), str)
    }


@frozen(kw_only=True)
class UsageWindow:
    """Usage of one rate-limit window.

    @ivar used_percentage: 0 to 100.
    @ivar reset_at: Unix milliseconds; C{None} if the agent does not report it.
    """

    used_percentage: float
    reset_at: int | None = None


@frozen(kw_only=True)
class PlanUsage:
    """Usage of the plan's limits, as an agent reported it last.

    @ivar at: Unix milliseconds of the report.
    """

    five_hour: UsageWindow | None = None
    seven_day: UsageWindow | None = None
    at: int
