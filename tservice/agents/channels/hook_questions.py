"""Answers that reach Claude Code through its held hook instead of by keys."""

from __future__ import annotations

from tservice.agents.approvals.answer_steps import DialogAnswer
from tservice.agents.approvals.model import ApprovalItem
from tservice.agents.channels.claude_decisions import make_decision
from tservice.agents.channels.held_hooks import HeldHook, HeldHooks


class HookQuestions:
    """Questions of held hooks (L{tservice.agents.channels.channel_answerer.QuestionSource})."""

    takes_reasons = True

    def __init__(self, held: HeldHooks) -> None:
        self._held = held

    def find_question(self, item: ApprovalItem) -> HeldHook | None:
        return self._held.find_hook(item.session_id, item.tool_digest)

    def make_decision(
        self, item: ApprovalItem, answer: DialogAnswer, question: HeldHook
    ) -> bytes | None:
        return make_decision(item, answer, question.tool_input)

    def release_question(self, question: HeldHook) -> None:
        self._held.release_hook(question)

    def give_decision(self, question: HeldHook, decision: bytes) -> bool:
        return self._held.answer_hook(question, decision)
