"""Adapter of Gemini CLI."""

from __future__ import annotations

from pathlib import Path

from tservice.clis.agents.adapter import AgentAdapter, OneShotCommand
from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import (
    Injection,
    InjectionTarget,
    ModelInjection,
    to_json,
)
from tservice.clis.capabilities import CustomModelStyle


def _build_injection(target: InjectionTarget) -> Injection:
    # Without a separate home it uses the provider of the user's last sign-in.
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    user = target.find_user_folder("GEMINI_CLI_HOME", "") / ".gemini"
    own = (".gemini/settings.json", ".gemini/trustedFolders.json")
    return Injection(
        env={
            "GOOGLE_GEMINI_BASE_URL": target.root,
            "GEMINI_MODEL": target.model_id,
            "GEMINI_CLI_HOME": str(target.folder),
        },
        secrets={"GEMINI_API_KEY": target.key},
        unset=(
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_ACCESS_TOKEN",
            "GOOGLE_GENAI_USE_GCA",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_VERTEX_BASE_URL",
        ),
        files=dict(zip(own, (to_json(settings), to_json({})), strict=True)),
        bases={name: user / Path(name).name for name in own},
        links={f".gemini/{name}": user / name for name in ("tmp", "history")},
    )


ADAPTER = AgentAdapter(
    mode="gemini",
    conversations=ConversationStore(
        below=".gemini/tmp",
        moves={"GEMINI_CLI_HOME": ".gemini/tmp"},
        depth=3,
        # Other files are next to it.
        parent="chats",
        lists_todos=True,
    ),
    model_injection=ModelInjection(style=CustomModelStyle.GEMINI_ENV, build=_build_injection),
    one_shot=OneShotCommand(
        arguments=(
            "--skip-trust",
            "--approval-mode",
            "default",
            "--output-format",
            "json",
            "--prompt",
            "Do as the text above says.",
        )
    ),
)
