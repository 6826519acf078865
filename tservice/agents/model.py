"""Hook events and plan usage: their records and pure rules (protocol-hooks)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from attrs import frozen

from tservice.core.text import cut_marked, defused, kept_of


class HookEvent(StrEnum):
    """What an agent's hooks tell of; each is broadcast as C{hook:<name>}."""

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
"""The events that tell of a dialog."""

WORK = frozenset(
    {
        HookEvent.TOOL_STARTED,
        HookEvent.TOOL_ENDED,
        HookEvent.SUBAGENT_STARTED,
        HookEvent.SUBAGENT_STOPPED,
    }
)
"""The events that tell what a turn does."""

NAME_CHARS = 200
PATH_CHARS = 4096
"""The longest path that Linux opens."""
MESSAGE_CHARS = 4000
COMMAND_CHARS = 16 * 1024
"""Of a command that a person decides on (protocol-approvals)."""

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
"""Inputs of a tool that can be its summary, the first that is there (protocol-approvals)."""
_ASIDES = frozenset({"description", "timeout", "run_in_background"})
"""Inputs that change nothing in what a tool does."""
OTHER_INPUTS = 20
"""Names of further inputs that are kept."""


@frozen(kw_only=True)
class HookNotice:
    """One hook event, checked and reduced.

    @ivar at: Unix milliseconds when it arrived.
    @ivar data: only what L{reduce_data} keeps.
    @ivar source: why a conversation began, of a C{session_start}.
    @ivar subagent: an agent of the agent's own tells it.
    @ivar background: how many tasks run beside the turns, where it tells.
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
        """The agent's own name of the event; empty where it gave none."""
        return str(self.data.get("hook_event_name", ""))


def reduce_data(data: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is kept of a hook's payload: the keys of protocol-hooks, cut to their lengths and
    defused.

    A value of another type than its key has is left out.  Of a failed turn (C{StopFailure}) the
    C{message} is the agent's last word, else the name of its error.  C{tool_digest} and the other
    keys of L{_missing} tell what a tool is given beyond what is kept.
    """
    given = dict(data or {})
    if given.get("hook_event_name") == "StopFailure":
        given["message"] = given.get("last_assistant_message") or given.get("error")
    kept: dict[str, Any] = _cut(given, _TEXTS)
    if isinstance(given.get("stop_hook_active"), bool):
        kept["stop_hook_active"] = given["stop_hook_active"]
    if isinstance(given.get("tool_input"), dict):
        kept["tool_input"] = _cut(given["tool_input"], _INPUTS)
        kept |= _missing(given["tool_input"])
    return kept


def summary_key(tool_input: Mapping[str, Any]) -> str | None:
    """Return the name of the input that tells best what the tool does."""
    given = (key for key in SUMMARIES if isinstance(tool_input.get(key), str) and tool_input[key])
    return next(given, None)


def _missing(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digest of all that a tool is given, and what its summary does not show of it.

    C{tool_missing} counts characters of the summary, C{tool_other} names further inputs.
    """
    whole = json.dumps(given, sort_keys=True, separators=(",", ":"))
    told: dict[str, Any] = {"tool_digest": hashlib.sha256(whole.encode()).hexdigest()}
    key = summary_key(given)
    missing = 0 if key is None else len(given[key]) - len(kept_of(given[key], _INPUTS[key]))
    if missing:
        told["tool_missing"] = missing
    others = sorted(str(name) for name in given if name != key and name not in _ASIDES)
    if others:
        told["tool_other"] = [cut_marked(defused(name), 100) for name in others[:OTHER_INPUTS]]
    return told


def _cut(given: Mapping[str, Any], lengths: Mapping[str, int]) -> dict[str, Any]:
    return {
        key: cut_marked(defused(given[key]), length)
        for key, length in lengths.items()
        if isinstance(given.get(key), str)
    }


@frozen(kw_only=True)
class Window:
    """How much of one rate-limit window is used.

    @ivar used_percentage: 0 to 100.
    @ivar reset_at: Unix milliseconds; C{None} where the agent does not say.
    """

    used_percentage: float
    reset_at: int | None = None


@frozen(kw_only=True)
class PlanUsage:
    """What is used of the plan's limits, as an agent told last.

    @ivar at: Unix milliseconds when it was told.
    """

    five_hour: Window | None = None
    seven_day: Window | None = None
    at: int
