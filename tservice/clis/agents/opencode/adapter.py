"""Adapter of opencode."""

from __future__ import annotations

from typing import Any

from tservice.clis.agents.adapter import AgentAdapter, OneShotCommand
from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import (
    PROVIDER,
    Injection,
    InjectionTarget,
    ModelInjection,
    to_json,
)
from tservice.clis.capabilities import CustomModelStyle


def _build_injection(target: InjectionTarget) -> Injection:
    options: dict[str, Any] = {"baseURL": f"{target.root}/v1", "apiKey": target.key}
    if target.sends_api_key:
        options["headers"] = {"x-api-key": target.key}
    model: dict[str, Any] = {"name": target.model_id}
    if target.context_length is not None:
        model["limit"] = {
            "context": target.context_length,
            "output": max(1, target.context_length // 4),
        }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": target.label,
        "options": options,
        "models": {target.model_id: model},
    }
    name = f"{PROVIDER}/{target.model_id}"
    content = {"provider": {PROVIDER: provider}, "model": name, "small_model": name}
    return Injection(
        secrets={"OPENCODE_CONFIG_CONTENT": to_json(content)},
        unset=("OPENCODE_CONFIG_CONTENT",),
    )


ADAPTER = AgentAdapter(
    mode="opencode",
    conversations=ConversationStore(
        below=".local/share/opencode/opencode.db",
        moves={"XDG_DATA_HOME": "opencode/opencode.db"},
        depth=0,
        lists_todos=True,
    ),
    model_injection=ModelInjection(style=CustomModelStyle.OPENCODE_CONTENT, build=_build_injection),
    one_shot=OneShotCommand(arguments=("run", "--pure", "Do as the text on standard input says.")),
)
