"""Adapter of Codex."""

from __future__ import annotations

from tservice.clis.agents.adapter import AgentAdapter, OneShotCommand
from tservice.clis.agents.codex.app_server import SERVER_CHANNEL
from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import (
    KEY_VARIABLE,
    PROVIDER,
    Injection,
    InjectionTarget,
    ModelInjection,
    quote_toml_string,
)
from tservice.clis.capabilities import CustomModelStyle


def _build_injection(target: InjectionTarget) -> Injection:
    lines = [
        f"model = {quote_toml_string(target.model_id)}",
        f"model_provider = {quote_toml_string(PROVIDER)}",
        "check_for_update_on_startup = false",
    ]
    if target.context_length is not None:
        lines.append(f"model_context_window = {target.context_length}")
    lines += [
        f"[model_providers.{PROVIDER}]",
        f"name = {quote_toml_string(target.label)}",
        f"base_url = {quote_toml_string(target.root + '/v1')}",
        'wire_api = "responses"',
        f"env_key = {quote_toml_string(KEY_VARIABLE)}",
    ]
    # Otherwise the agent's commands, and snapshots of their environment, have the key.
    policy = ["[shell_environment_policy]", f"exclude = [{quote_toml_string(KEY_VARIABLE)}]"]
    if target.sends_api_key:
        lines.append(f'env_http_headers = {{ "x-api-key" = {quote_toml_string(KEY_VARIABLE)} }}')
    user = target.find_user_folder("CODEX_HOME", ".codex")
    return Injection(
        env={"CODEX_HOME": str(target.folder)},
        secrets={KEY_VARIABLE: target.key},
        unset=("OPENAI_*", "AZURE_OPENAI_*", "CODEX_API_KEY"),
        files={"config.toml": "\n".join([*lines, *policy]) + "\n"},
        links={"sessions": user / "sessions"},
    )


ADAPTER = AgentAdapter(
    mode="codex",
    conversations=ConversationStore(
        below=".codex/sessions",
        moves={"CODEX_HOME": "sessions"},
        depth=4,
        lists_todos=True,
        records_prompts_at_once=True,
    ),
    model_injection=ModelInjection(style=CustomModelStyle.CODEX_HOME, build=_build_injection),
    one_shot=OneShotCommand(
        arguments=(
            "exec",
            "--sandbox",
            "read-only",
            "--skip-git-repo-check",
            "--ephemeral",
            "--color",
            "never",
            "-",
        )
    ),
    server_channel=SERVER_CHANNEL,
)
