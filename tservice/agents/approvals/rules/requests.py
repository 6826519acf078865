"""Requests of agents as hooks and inbox items show them, and the answers that rules may give.

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.agents.approvals.dialog_comparison import get_tool_identity, shows_summary
from tservice.agents.approvals.model import (
    PLAN_TOOL,
    QUESTION_TOOL,
    SHELL_TOOL,
    ApprovalItem,
    DialogKind,
    ItemKind,
)
from tservice.agents.approvals.rules.model import (
    FETCH_TOOLS,
    FILE_TOOLS,
    MCP_PREFIX,
    SHELL_TOOLS,
    RequestAnswer,
    RuleAction,
    ToolRequest,
)
from tservice.agents.dialog_likeness import strip_decoration
from tservice.sessions.interfaces import Session
from tservice.terminal.dialogs.dialog_kinds import is_decline_label

_ONCE = re.compile(r"(?:yes|allow|approve|run|proceed)\b.*", re.IGNORECASE | re.DOTALL)
_LASTING = re.compile(
    r"don.?t ask|not ask|always|\ball\b|session|during|every|remember|future|auto|switch|mode|and ",
    re.IGNORECASE,
)
_FRAME = re.compile(r"[\u2500-\u257f\s]")
"""White space and lines of boxes, which depend on the size of the terminal."""
_FETCH_INPUTS = frozenset({"prompt"})


def make_tool_request(item: ApprovalItem, session: Session | None = None) -> ToolRequest | None:
    """Return the request behind an item; C{None} if no hook reported a tool that asks for
    permission.

    @param session: the item's session; without it, the request is in no case, and the agent's
        current folder counts as the session's.
    """
    tool = item.tool_name
    if (
        item.kind is not ItemKind.PERMISSION
        or item.folder_digest is not None
        or tool is None
        or tool == SHELL_TOOL
        or item.tool_digest is None
        or item.dialog not in (None, DialogKind.PERMISSION.value)
    ):
        return None
    return ToolRequest(
        owner=item.owner or "",
        session_id=item.session_id,
        case_name=None if session is None else session.case_name,
        cli="" if session is None else session.mode,
        tool=tool,
        subject=item.tool_summary,
        working_dir=item.cwd or "/" if session is None else session.working_dir,
        cwd=item.cwd,
        is_complete=_is_complete(tool, item.tool_missing, item.tool_other),
    )


def make_hook_request(session: Session, data: Mapping[str, Any]) -> ToolRequest | None:
    """Return the request in the data of a hook; C{None} if the tool asks for no permission."""
    tool, subject, digest = get_tool_identity(data)
    if tool is None or digest is None or tool in (QUESTION_TOOL, PLAN_TOOL):
        return None
    return ToolRequest(
        owner=session.owner or "",
        session_id=session.id,
        case_name=session.case_name,
        cli=session.mode,
        tool=tool,
        subject=subject,
        working_dir=session.working_dir,
        cwd=data.get("cwd"),
        is_complete=_is_complete(tool, data.get("tool_missing"), data.get("tool_other")),
    )


def _is_complete(tool: str, missing: int | None, other: Iterable[str] | None) -> bool:
    """Return true if the summary of a tool's inputs decides what the tool does.

    @param missing: number of characters that the summary lacks.
    @param other: names of further inputs.
    """
    others = frozenset(other or ())
    if missing:
        return False
    if tool in SHELL_TOOLS:
        return not others
    if tool in FETCH_TOOLS:
        return others <= _FETCH_INPUTS
    # A command among the inputs of a file's tool would have become its summary.
    return tool not in FILE_TOOLS or "file_path" not in others


def shows_request(item: ApprovalItem) -> bool:
    """Return true if the dialog on the screen is about the tool that the hook reported.

    An agent that asks twice at once has two hooks and shows one dialog after the other.
    """
    if item.dialog is None:
        return True
    rows = (item.context or "").split("\n")
    tool, summary = item.tool_name or "", item.tool_summary
    if tool.startswith(MCP_PREFIX):
        name = tool.removeprefix(MCP_PREFIX).rpartition("__")[2]
        return strip_decoration(name) in strip_decoration("".join(rows))
    if summary is None or item.context_above:
        return False
    if tool in SHELL_TOOLS:
        return _has_rows_of(rows, summary)
    return shows_summary(rows, summary)


def _has_rows_of(rows: list[str], command: str) -> bool:
    """Return true if some consecutive rows show exactly a command, with any wrapping."""
    said, wanted = [_FRAME.sub("", row) for row in rows], _FRAME.sub("", command)
    for start in range(len(said)):
        joined = ""
        for row in said[start:]:
            joined += row
            if joined == wanted and wanted:
                return True
            if not wanted.startswith(joined):
                break
    return False


def make_rule_answer(item: ApprovalItem, action: RuleAction) -> DialogAnswer | None:
    """Return the answer of a rule to an item; C{None} if it has no option for this once."""
    if action is RuleAction.DENY:
        return DialogAnswer(action=AnswerAction.DENY, expect_frame=item.shown_frame)
    if item.dialog is None:
        return DialogAnswer(action=AnswerAction.APPROVE, expect_frame=item.shown_frame)
    for option in item.options:
        if _ONCE.fullmatch(option.label) and not (
            _LASTING.search(option.label) or is_decline_label(option.label)
        ):
            return DialogAnswer(
                action=AnswerAction.OPTION, options=(option.n,), expect_frame=item.shown_frame
            )
    return None


def classify_answer(item: ApprovalItem, answer: DialogAnswer) -> RequestAnswer:
    """Return what an answer to an item means for its request."""
    match answer.action:
        case AnswerAction.APPROVE:
            return RequestAnswer.ALLOWED
        case AnswerAction.DENY:
            return RequestAnswer.DENIED
        case AnswerAction.OPTION:
            labels = [option.label for option in item.options if option.n in answer.options]
            if any(map(is_decline_label, labels)):
                return RequestAnswer.DENIED
            return (
                RequestAnswer.ALLOWED
                if any(map(_ONCE.fullmatch, labels))
                else (RequestAnswer.OTHER)
            )
    return RequestAnswer.OTHER
