"""Adapter of Claude Code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tservice.clis.agents.adapter import AgentAdapter, OneShotCommand
from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import (
    Injection,
    InjectionTarget,
    ModelInjection,
    to_json,
)
from tservice.clis.capabilities import CustomModelStyle
from tservice.clis.model import PRIMARY

KEY_TAIL = 20
"""Number of characters at the end of a key by which Claude Code recognizes an approved key."""


def _build_injection(target: InjectionTarget) -> Injection:
    by_key = target.sends_api_key
    model = target.model_id
    user = target.find_user_folder("CLAUDE_CONFIG_DIR", ".claude")
    state: dict[str, Any] = {"hasCompletedOnboarding": True}
    # A key that is not longer than its tail would be stored completely.
    if by_key and len(target.key) > KEY_TAIL:
        approved = {"approved": [target.key[-KEY_TAIL:]], "rejected": []}
        state["customApiKeyResponses"] = approved
    return Injection(
        env={
            "ANTHROPIC_BASE_URL": target.root,
            "ANTHROPIC_MODEL": model,
            "ANTHROPIC_SMALL_FAST_MODEL": model,
            "ANTHROPIC_DEFAULT_OPUS_MODEL": model,
            "ANTHROPIC_DEFAULT_SONNET_MODEL": model,
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": model,
            "CLAUDE_CODE_SUBAGENT_MODEL": model,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CONFIG_DIR": str(target.folder),
        },
        secrets={"ANTHROPIC_API_KEY" if by_key else "ANTHROPIC_AUTH_TOKEN": target.key},
        unset=(
            "ANTHROPIC_*",
            "AWS_BEARER_TOKEN_BEDROCK",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_FOUNDRY",
            "CLAUDE_CODE_USE_VERTEX",
        ),
        files={".claude.json": to_json(state)},
        links={"projects": user / "projects"},
        trusted=_find_state_file(target, user),
    )


def _find_state_file(target: InjectionTarget, user: Path) -> Path:
    """Return the path of the user's Claude Code state file.

    The file is next to C{.claude}, unless a variable moves that folder; then it is inside.
    """
    moved = target.env.get("CLAUDE_CONFIG_DIR", "").startswith("/")
    return (user if moved else user.parent) / ".claude.json"


ADAPTER = AgentAdapter(
    mode=PRIMARY,
    conversations=ConversationStore(
        below=".claude/projects",
        moves={"CLAUDE_CONFIG_DIR": "projects"},
        depth=2,
        records_prompts_at_once=True,
        records_enter_time=True,
    ),
    model_injection=ModelInjection(style=CustomModelStyle.CLAUDE_ENV, build=_build_injection),
    one_shot=OneShotCommand(
        arguments=(
            "--print",
            "--output-format",
            "json",
            "--tools",
            "",
            "--safe-mode",
            "--strict-mcp-config",
            "--no-session-persistence",
        ),
        model_flag="--model",
    ),
)
