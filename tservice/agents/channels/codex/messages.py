"""Messages of Codex' server (protocol-codex-server). This module does no I/O."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from tservice.agents.approvals.model import SHELL_TOOL
from tservice.agents.channels.reported_status import ReportedState

REQUEST = "item/commandExecution/requestApproval"
"""Method of a question about a command. Those about files and permissions are not understood."""

UNWANTED = (
    "account/rateLimits/updated",
    "command/exec/outputDelta",
    "item/agentMessage/delta",
    "item/commandExecution/outputDelta",
    "item/commandExecution/terminalInteraction",
    "item/completed",
    "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated",
    "item/mcpToolCall/progress",
    "item/plan/delta",
    "item/reasoning/summaryPartAdded",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "item/started",
    "rawResponse/completed",
    "rawResponseItem/completed",
    "thread/readState/changed",
    "thread/tokenUsage/updated",
    "turn/completed",
    "turn/diff/updated",
    "turn/plan/updated",
    "turn/started",
)
"""Notifications that the server is asked not to send: they are many or large, or of no use."""

_ID_CHARS = 100
_SHELLS = frozenset({"bash", "zsh", "sh"})
_PLAIN = frozenset(
    {
        "availableDecisions",
        "command",
        "commandActions",
        "cwd",
        "itemId",
        "proposedExecpolicyAmendment",
        "proposedNetworkPolicyAmendments",
        "reason",
        "startedAtMs",
        "threadId",
        "turnId",
    }
)
"""Fields of a question that do not widen what its command may do."""
_DEFAULTS: Mapping[str, object] = {"kind": "command", "environmentId": "local", "approvalId": None}

_PART = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)|([^\s'\"\\]+)|(\s+)", re.DOTALL)
_ESCAPED = re.compile(r"\\([$`\"\\])")


@frozen(kw_only=True)
class ServerThread:
    """Conversation of a server.

    @ivar is_main: a person talks to the agent in it. Others give titles, or are subagents'.
    @ivar is_shown: a person can see it, with its questions.
    """

    id: str
    is_main: bool
    is_shown: bool
    state: ReportedState
    waiting_for: str


@frozen(kw_only=True)
class CommandRequest:
    """Question about a command, which waits for an answer.

    @ivar id: the server's own id.
    @ivar data: the question in the fields of a hook.
    @ivar decisions: simple answers that the server takes.
    """

    id: int | str
    thread_id: str
    data: Mapping[str, Any] = field(repr=False)
    decisions: frozenset[str]


def parse_message(payload: bytes) -> Mapping[str, Any] | None:
    """Return the message in C{payload}; C{None} if it is no JSON object."""
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def parse_thread(found: object) -> ServerThread | None:
    """Return the conversation that a server describes; C{None} if it is not understood."""
    about = found if isinstance(found, dict) else {}
    status = parse_thread_status(about.get("status"))
    name = _get_id(about.get("id"))
    if status is None or name is None:
        return None
    shown = about.get("ephemeral") is False
    return ServerThread(
        id=name,
        is_main=shown and about.get("parentThreadId") is None,
        is_shown=shown,
        state=status[0],
        waiting_for=status[1],
    )


def parse_thread_status(found: object) -> tuple[ReportedState, str] | None:
    """Return the state of a conversation, and what it waits for; C{None} if it has none."""
    about = found if isinstance(found, dict) else {}
    match about.get("type"):
        case "idle" | "systemError":
            return ReportedState.IDLE, ""
        case "active":
            flags = about.get("activeFlags")
            return _read_flags(flags if isinstance(flags, list) else [])
    return None


def _read_flags(flags: list[object]) -> tuple[ReportedState, str]:
    if "waitingOnApproval" in flags:
        return ReportedState.WAITING, "approval"
    if "waitingOnUserInput" in flags:
        return ReportedState.WAITING, "user input"
    return ReportedState.BUSY, ""


def parse_request(message: Mapping[str, Any]) -> CommandRequest | None:
    """Return the question about a command in a message; C{None} if it is none."""
    given = message.get("params")
    found = message.get("id")
    name = found if type(found) is int else _get_id(found)
    if message.get("method") != REQUEST or not isinstance(given, dict):
        return None
    thread, command = _get_id(given.get("threadId")), given.get("command")
    if thread is None or not isinstance(command, str) or name is None:
        return None
    others = {
        key: value
        for key, value in given.items()
        if key not in _PLAIN and value is not None and _DEFAULTS.get(key) != value
    }
    decisions = given.get("availableDecisions")
    return CommandRequest(
        id=name,
        thread_id=thread,
        data={
            "hook_event_name": "PermissionRequest",
            "tool_name": SHELL_TOOL,
            "tool_input": {**others, "command": unwrap_shell(command)},
            "cwd": given.get("cwd"),
            "message": given.get("reason"),
        },
        decisions=frozenset(
            each for each in (decisions if isinstance(decisions, list) else []) if type(each) is str
        ),
    )


def _get_id(found: object) -> str | None:
    return found if isinstance(found, str) and 0 < len(found) <= _ID_CHARS else None


def unwrap_shell(command: str) -> str:
    """Return the script of a command that gives it to a shell, as the agent shows it.

    Any other command is returned as it is.
    """
    words = _split_words(command)
    if words is None or len(words) != 3 or words[1] not in ("-lc", "-c"):
        return command
    return words[2] if os.path.basename(words[0]) in _SHELLS else command


def _split_words(command: str) -> list[str] | None:
    """Return the words of a quoted command; C{None} if its quotes are not closed.

    In double quotes a backslash quotes what it does in a shell, other than in L{shlex}.
    """
    words: list[str] = []
    end, is_open = 0, False
    for part in _PART.finditer(command):
        if part.start() != end:
            return None
        end = part.end()
        single, double, escaped, bare, blank = part.groups()
        if blank is not None:
            is_open = False
            continue
        text = single if single is not None else escaped if escaped is not None else bare
        text = text if text is not None else _ESCAPED.sub(r"\1", double)
        words[-1:] = [words[-1] + text] if is_open else [*words[-1:], text]
        is_open = True
    return words if end == len(command) else None
