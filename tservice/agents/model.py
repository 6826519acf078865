"""Records of hook events and plan usage, and the rules that fill them (protocol-hooks)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import frozen

from tservice.core.values.text import cut_with_note, get_kept_part, replace_harmful_characters


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
"""Hook events that report a dialog."""

WORK = frozenset(
    {
        HookEvent.TOOL_STARTED,
        HookEvent.TOOL_ENDED,
        HookEvent.SUBAGENT_STARTED,
        HookEvent.SUBAGENT_STOPPED,
    }
)
"""Hook events that report an action in a turn."""

NAME_CHARS = 200
PATH_CHARS = 4096
"""Maximum characters of a path that Linux can open."""
CONVERSATIONS = 50
"""Maximum number of conversation ids that a session keeps; the newest are kept."""
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
_KEPT_INPUTS = {**_INPUTS, "plan": COMMAND_CHARS}
SUMMARIES = tuple(_INPUTS)
"""Inputs of a tool that can summarize its action, in order of preference (protocol-approvals)."""
_ASIDES = frozenset({"description", "timeout", "run_in_background"})
"""Inputs that do not change the effect of a tool."""
OTHER_INPUTS = 20
"""Maximum number of names of a tool's further inputs that are kept."""


@frozen(kw_only=True)
class HookNotice:
    """Hook event after validation and reduction.

    @ivar at: Unix milliseconds at which the event arrived.
    @ivar data: the values that L{reduce_data} keeps.
    @ivar source: the reason why the conversation started, for a C{session_start}.
    @ivar own: the session's own agent reports the event, of a mode with hooks.
    @ivar subagent: a subagent reports the event.
    @ivar background: the number of tasks that run in parallel to the turns; C{None} if not
        reported.
    """

    session_id: str
    event: HookEvent
    at: int
    data: Mapping[str, Any]
    source: str = ""
    own: bool = False
    subagent: bool = False
    background: int | None = None

    @property
    def name(self) -> str:
        """Agent's own name of the event; empty if the agent sent none."""
        return str(self.data.get("hook_event_name", ""))


def reduce_data(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values of a hook's payload that the service keeps.

    These are the keys of protocol-hooks, truncated and without control characters. Values of an
    unexpected type are left out. For a failed turn (C{StopFailure}), the C{message} is the agent's
    last message, otherwise the name of its error. C{tool_digest} and the other keys of
    L{_describe_unsummarized_inputs} describe those inputs of a tool that are not kept.
    """
    given = dict(data or {})
    if given.get("hook_event_name") == "StopFailure":
        given["message"] = given.get("last_assistant_message") or given.get("error")
    kept: dict[str, Any] = _select_truncated_values(given, _TEXTS)
    if isinstance(given.get("stop_hook_active"), bool):
        kept["stop_hook_active"] = given["stop_hook_active"]
    if isinstance(given.get("tool_input"), dict):
        kept["tool_input"] = _select_truncated_values(given["tool_input"], _KEPT_INPUTS)
        kept |= _describe_unsummarized_inputs(given["tool_input"])
    return kept


def find_summary_key(tool_input: Mapping[str, Any]) -> str | None:
    """Return the name of the input that best describes the tool's action."""
    given = (key for key in SUMMARIES if isinstance(tool_input.get(key), str) and tool_input[key])
    return next(given, None)


def _describe_unsummarized_inputs(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digest of all inputs of a tool, and a description of the inputs outside its
    summary.

    C{tool_missing} is the number of characters that the summary lacks, C{tool_other} lists the
    names of further inputs.
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
            cut_with_note(replace_harmful_characters(name), 100) for name in others[:OTHER_INPUTS]
        ]
    return told


def _select_truncated_values(
    given: Mapping[str, Any], lengths: Mapping[str, int]
) -> dict[str, Any]:
    return {
        key: cut_with_note(replace_harmful_characters(given[key]), length)
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
    """Usage of the plan's limits in an agent's last report.

    @ivar at: Unix milliseconds of the report.
    """

    five_hour: UsageWindow | None = None
    seven_day: UsageWindow | None = None
    at: int
