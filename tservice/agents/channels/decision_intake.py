"""Intake of hooks that wait for a decision (protocol-hook-decision)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tservice.agents.channels.held_hooks import HeldHooks
from tservice.agents.hooks.intake import HookIntake
from tservice.agents.model import HookEvent
from tservice.core.callers.identity import Identity
from tservice.sessions.interfaces import ISessions
from tservice.settings.interfaces import ISettings

INPUT_CHARS = 256 * 1024
"""Maximum size of a tool's inputs, as JSON, whose hook is held; the rest is left to the keys."""


class DecisionIntake:
    """Handler of all hooks that wait for a decision.

    Only the session's own agent waits. An agent that another agent started shows no dialog, so it
    would wait in vain.
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

    async def wait_for_decision(
        self, session_id: str, data: Mapping[str, Any] | None, caller: Identity | None
    ) -> bytes:
        """Handle the event of a dialog, and return the agent's decision; empty if keys answer it.

        @raise ServiceError: 404: no such session, or not visible to C{caller}.
        """
        notice = self._hooks.handle_hook_event(
            HookEvent.PERMISSION_PROMPT, session_id, data, caller
        )
        digest = notice.data.get("tool_digest")
        if not notice.own or digest is None or not self._may_hold(session_id):
            return b""
        tool_input: Mapping[str, Any] = (data or {})["tool_input"]
        if len(json.dumps(tool_input)) > INPUT_CHARS:
            return b""
        return await self._held.hold_hook(session_id, digest, tool_input)

    def _may_hold(self, session_id: str) -> bool:
        chosen = self._settings.get()
        mode = self._sessions().get(session_id).mode
        return chosen.approvals_inbox_enabled and mode not in chosen.agent_channels_off
