"""Decisions of Claude Code's C{PermissionRequest} hook (protocol-hook-decision).

Only answers whose effect is the same as that of the dialog's key become decisions. The others, such
as a rule or another mode, are left to the keys. This module does no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.agents.approvals.model import PLAN_TOOL, QUESTION_TOOL, ApprovalItem, DialogKind

DENIED = "The user does not want to proceed with this tool use."
"""Message for the agent if a person gives no reason."""

_ALLOW: Mapping[str, Any] = {"behavior": "allow"}
_YES = "yes"
_NO = "no"


def make_decision(
    item: ApprovalItem, answer: DialogAnswer, tool_input: Mapping[str, Any]
) -> bytes | None:
    """Return the output of the hook for an answer; C{None} if the answer needs keys.

    @param tool_input: the inputs of the tool, as the hook reported them.
    """
    decision = _decide(item, answer, tool_input)
    return None if decision is None else _format_output(decision)


def make_rule_decision(*, allows: bool) -> bytes:
    """Return the output of the hook for a rule's decision, which has the effect of a key."""
    return _format_output(_ALLOW if allows else _deny(None))


def _format_output(decision: Mapping[str, Any]) -> bytes:
    told = {"hookEventName": "PermissionRequest", "decision": decision}
    return json.dumps({"hookSpecificOutput": told}).encode()


def _decide(
    item: ApprovalItem, answer: DialogAnswer, tool_input: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    if answer.action is AnswerAction.DENY:
        return _deny(answer.reason)
    if item.tool_name == QUESTION_TOOL:
        return _answer_question(item, answer, tool_input)
    if item.tool_name == PLAN_TOOL or item.dialog != DialogKind.PERMISSION:
        return None
    match _get_permission_label(item, answer):
        case "yes":
            return _ALLOW
        case "no":
            return _deny(None)
        case _:
            return None


def _deny(reason: str | None) -> dict[str, Any]:
    """Return the refusal; without a reason the turn ends, as it does by the dialog's key."""
    return {"behavior": "deny", "message": reason or DENIED, "interrupt": reason is None}


def _get_permission_label(item: ApprovalItem, answer: DialogAnswer) -> str | None:
    """Return the label of the chosen option in lower case; C{None} if there is none."""
    labels = {option.n: option.label.strip().lower() for option in item.options}
    if answer.action is AnswerAction.APPROVE:
        return _YES if _YES in labels.values() else None
    return labels.get(answer.options[0]) if answer.action is AnswerAction.OPTION else None


def _answer_question(
    item: ApprovalItem, answer: DialogAnswer, tool_input: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the decision with the answer to the agent's only question.

    Several questions are pages of one dialog, which a person answers one after the other.
    """
    questions = tool_input.get("questions")
    if not isinstance(questions, list) or len(questions) != 1:
        return None
    (asked,) = questions
    if not isinstance(asked, Mapping) or not isinstance(asked.get("question"), str):
        return None
    chosen = _choose_texts(item, answer, asked)
    if chosen is None:
        return None
    answers = {asked["question"]: ", ".join(chosen)}
    return {"behavior": "allow", "updatedInput": {**tool_input, "answers": answers}}


def _choose_texts(
    item: ApprovalItem, answer: DialogAnswer, asked: Mapping[str, Any]
) -> Sequence[str] | None:
    several = asked.get("multiSelect") is True
    match answer.action:
        case AnswerAction.TEXT if not several:
            return (answer.text,)
        case AnswerAction.OPTION if not several:
            numbers: Sequence[int] = answer.options
        case AnswerAction.APPROVE if not several:
            numbers = (1,)
        case AnswerAction.OPTIONS if several:
            numbers = answer.options
        case _:
            return None
    shown = {option.n: option.label for option in item.options}
    labels = _read_labels(asked.get("options"))
    texts = [labels[n - 1] for n in numbers if n <= len(labels) and _is_same(labels, shown, n)]
    return texts if texts and len(texts) == len(numbers) else None


def _read_labels(options: object) -> list[str]:
    """Return the labels of a question's options; empty if one has none."""
    if not isinstance(options, list):
        return []
    labels = [option.get("label") for option in options if isinstance(option, Mapping)]
    found = [label for label in labels if isinstance(label, str)]
    return found if len(found) == len(options) else []


def _is_same(labels: Sequence[str], shown: Mapping[int, str], number: int) -> bool:
    """Return true if the option that a person saw has the label that the agent gave."""
    return labels[number - 1].split() == shown.get(number, "").split()
