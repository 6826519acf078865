"""Intake of hooks that wait for a decision (protocol-hook-decision)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.defer import Deferred

from tservice.agents.approvals.rules.model import RuleAction
from tservice.agents.channels.claude_decisions import make_rule_decision
from tservice.agents.channels.held_hooks import HeldHooks
from tservice.agents.hooks.intake import HookIntake
from tservice.agents.model import HookEvent
from tservice.core.callers.identity import Identity
from tservice.sessions.interfaces import ISessions
from tservice.settings.interfaces import ISettings

INPUT_CHARS = 256 * 1024
"""Maximum size of a tool's inputs, as JSON, whose hook is held; the rest is left to the keys."""


def _leave_to_person(session_id: str, data: Mapping[str, Any]) -> RuleAction:
    """Decide nothing: the default of C{decide_by_rule}."""
    return RuleAction.ASK


class DecisionIntake:
    """Handler of all hooks that wait for a decision.

    A rule that decides the request answers the hook at once: nothing is announced, and no screen is
    read. Only the session's own agent waits. An agent that another agent started shows no dialog,
    so it would wait in vain.

    @ivar decide_by_rule: returns the decision of the approval rules on the request in a hook's
        data, and records it unless it is to ask.
    """

    def __init__(
        self,
        hooks: HookIntake,
        held: HeldHooks,
        settings: ISettings,
        sessions: Callable[[], ISessions],
    ) -> None:
        self._hooks = hooks
        self._held = held
        self._settings = settings
        self._sessions = sessions
        self.decide_by_rule: Callable[[str, Mapping[str, Any]], RuleAction] = _leave_to_person

    async def wait_for_decision(
        self, session_id: str, data: Mapping[str, Any] | None, caller: Identity | None
    ) -> bytes:
        """Handle the event of a dialog, and return the agent's decision; empty if keys answer it.

        @raise ServiceError: 404: no such session, or not visible to C{caller}.
        """
        notice = self._hooks.read_hook_event(HookEvent.PERMISSION_PROMPT, session_id, data, caller)
        digest = notice.data.get("tool_digest")
        may_answer = notice.own and digest is not None and self._may_hold(session_id)
        if may_answer:
            decided = self.decide_by_rule(session_id, notice.data)
            if decided is not RuleAction.ASK:
                return make_rule_decision(allows=decided is RuleAction.ALLOW)
        tool_input: Mapping[str, Any] = (data or {}).get("tool_input") or {}
        if digest is None or not may_answer or len(json.dumps(tool_input)) > INPUT_CHARS:
            self._hooks.announce_hook_event(notice, data)
            return b""
        # An item that the event leads to says what the held hook can take.
        held = Deferred.fromCoroutine(self._held.hold_hook(session_id, digest, tool_input))
        self._hooks.announce_hook_event(notice, data)
        return await held

    def _may_hold(self, session_id: str) -> bool:
        chosen = self._settings.get()
        mode = self._sessions().get(session_id).mode
        return chosen.approvals_inbox_enabled and mode not in chosen.agent_channels_off
