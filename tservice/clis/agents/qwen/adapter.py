"""Adapter of Qwen Code."""

from __future__ import annotations

import re

from tservice.clis.agents.adapter import AgentAdapter
from tservice.clis.agents.conversation_store import ConversationStore

_OTHER = re.compile(r"[^A-Za-z0-9]")


def _encode_folder(working_dir: str) -> str:
    return _OTHER.sub("-", working_dir)


ADAPTER = AgentAdapter(
    mode="qwen",
    conversations=ConversationStore(
        below=".qwen/projects",
        moves={"QWEN_HOME": "projects"},
        depth=3,
        parent="chats",
        encode_folder=_encode_folder,
    ),
)
