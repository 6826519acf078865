"""Adapter of pi."""

from __future__ import annotations

import re
from typing import Any

from tservice.clis.agents.adapter import AgentAdapter, OneShotCommand
from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import (
    KEY_VARIABLE,
    PROVIDER,
    Injection,
    InjectionTarget,
    ModelInjection,
    to_json,
)
from tservice.clis.agents.pi.status_channel import STATUS_CHANNEL
from tservice.clis.capabilities import CustomModelStyle


def _build_injection(target: InjectionTarget) -> Injection:
    model: dict[str, Any] = {"id": target.model_id, "name": target.model_id}
    if target.context_length is not None:
        model["contextWindow"] = target.context_length
    # Versions differ in how they name a variable. All of them run a command for a value.
    key = f'!printf %s "${{{KEY_VARIABLE}:-none}}"'
    provider: dict[str, Any] = {
        "baseUrl": f"{target.root}/v1",
        "api": "openai-completions",
        "apiKey": key,
        "models": [model],
    }
    if target.sends_api_key:
        provider["headers"] = {"x-api-key": key}
    chosen = {"defaultProvider": PROVIDER, "defaultModel": target.model_id}
    user = target.find_user_folder("PI_CODING_AGENT_DIR", ".pi/agent")
    return Injection(
        env={"PI_CODING_AGENT_DIR": str(target.folder), "PI_OFFLINE": "1"},
        secrets={KEY_VARIABLE: target.key},
        files={
            "models.json": to_json({"providers": {PROVIDER: provider}}),
            "settings.json": to_json(chosen),
        },
        links={"sessions": user / "sessions"},
    )


def _encode_folder(working_dir: str) -> str:
    return f"--{re.sub('[/:]', '-', working_dir[1:])}--"


ADAPTER = AgentAdapter(
    mode="pi",
    conversations=ConversationStore(
        below=".pi/agent/sessions",
        moves={"PI_CODING_AGENT_SESSION_DIR": "", "PI_CODING_AGENT_DIR": "sessions"},
        depth=2,
        encode_folder=_encode_folder,
    ),
    model_injection=ModelInjection(style=CustomModelStyle.PI_HOME, build=_build_injection),
    one_shot=OneShotCommand(
        arguments=(
            "--print",
            "--no-tools",
            "--no-session",
            "Do as the text on standard input says.",
        )
    ),
    server_channel=STATUS_CHANNEL,
)
