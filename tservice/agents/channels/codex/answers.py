"""Answers to the questions of a Codex server (protocol-codex-server).

Only answers whose effect is the same as that of the dialog's key become decisions. The others, such
as a rule for later commands, are left to the keys.
"""

from __future__ import annotations

from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.agents.approvals.model import ApprovalItem
from tservice.agents.channels.codex.servers import CodexServers, PendingRequest

ALLOW = "accept"
DENY = "cancel"
"""Refuses the command and ends the turn, as the dialog's key does."""

_LABELS = (
    ("yes, proceed", ALLOW),
    ("no, and tell codex what to do differently", DENY),
)
"""Beginnings of the options' labels; their keys follow in brackets."""


class ServerQuestions:
    """Questions of all servers (L{tservice.agents.channels.channel_answerer.QuestionSource})."""

    takes_reasons = False

    def __init__(self, servers: CodexServers) -> None:
        self._servers = servers

    def find_question(self, item: ApprovalItem) -> PendingRequest | None:
        return self._servers.find_request(item.session_id, item.tool_digest)

    def make_decision(
        self, item: ApprovalItem, answer: DialogAnswer, question: PendingRequest
    ) -> str | None:
        decision = _choose_decision(item, answer)
        return decision if decision in question.request.decisions else None

    def release_question(self, question: PendingRequest) -> None:
        """Do nothing, because keys answer the dialog anyway."""

    def give_decision(self, question: PendingRequest, decision: str) -> bool:
        return self._servers.answer_request(question, decision)


def _choose_decision(item: ApprovalItem, answer: DialogAnswer) -> str | None:
    """Return the decision of an answer; C{None} if it needs keys.

    The server takes no reason.
    """
    if answer.reason is not None:
        return None
    labels = {option.n: option.label.strip().lower() for option in item.options}
    match answer.action:
        case AnswerAction.APPROVE:
            label = labels.get(1, "")
        case AnswerAction.DENY:
            return DENY
        case AnswerAction.OPTION:
            label = labels.get(answer.options[0], "")
        case _:
            return None
    found = [
        decision for start, decision in _LABELS if label == start or label.startswith(f"{start} (")
    ]
    return found[0] if found else None
