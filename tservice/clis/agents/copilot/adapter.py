"""Adapter of GitHub Copilot CLI."""

from __future__ import annotations

from tservice.clis.agents.adapter import AgentAdapter
from tservice.clis.agents.conversation_store import ConversationStore

ADAPTER = AgentAdapter(
    mode="copilot",
    conversations=ConversationStore(
        below=".copilot/session-state",
        moves={"COPILOT_HOME": "session-state"},
        depth=2,
        named_by_folder=True,
    ),
)
