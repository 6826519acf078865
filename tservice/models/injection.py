"""Changes to a pane's environment and files that make an agent use an endpoint.

The styles are those of the registry's C{customModel.style} (protocol-models). Variables that could
send the agent, the endpoint's key or a key of the user to another endpoint are removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from tservice.clis.interfaces import CustomModelStyle
from tservice.models.model import AuthStyle, ModelEndpoint

NO_KEY = "no-key"
"""Placeholder for endpoints without a key, because agents do not start without one."""
KEY_VARIABLE = "CUSTOM_MODEL_KEY"
PROVIDER = "custom"
KEY_TAIL = 20
"""Number of characters at the end of a key by which Claude Code recognizes an approved key."""


@frozen(kw_only=True)
class InjectionTarget:
    """Endpoint and model to use, and the folder for the agent's files.

    @ivar folder: folder that only this session uses.
    @ivar env: environment of the pane before the changes.
    """

    endpoint: ModelEndpoint
    model_id: str
    folder: Path
    env: Mapping[str, str]
    working_dir: str

    @property
    def key(self) -> str:
        """Key of the endpoint, or L{NO_KEY} if it has none."""
        return self.endpoint.key or NO_KEY

    @property
    def context_length(self) -> int | None:
        """Context length of the model in tokens; C{None} if the endpoint did not report it."""
        return self.endpoint.find_context_length(self.model_id)

    def find_user_folder(self, variable: str, default: str) -> Path:
        """Return the folder in which the user's agent keeps its files.

        @param variable: environment variable that can specify the folder.
        @param default: path below the home folder if the variable is not set.
        """
        moved = self.env.get(variable, "")
        return Path(moved) if moved.startswith("/") else Path(self.env.get("HOME", "/")) / default


@frozen(kw_only=True)
class Injection:
    """Changes to a pane's environment and files.

    @ivar env: variables that any process may see.
    @ivar secrets: variables that only the pane's program may see.
    @ivar unset: names of variables that the pane must not inherit. A C{*} at the end makes a
        prefix.
    @ivar files: contents of files by name. They are written into the session's folder.
    @ivar bases: names in C{files}, each with an existing file. Both are JSON. The contents are
        merged into those of the existing file.
    @ivar links: names of symbolic links in the session's folder, each with the user's folder that
        it points to.
    @ivar trusted: path of the user's Claude Code state file. The trust of the working folder is
        copied from there into the session's file of the same name. C{None} if it is not copied.
    """

    env: Mapping[str, str] = field(factory=dict)
    secrets: Mapping[str, str] = field(factory=dict, repr=False)
    unset: tuple[str, ...] = ()
    files: Mapping[str, str] = field(factory=dict, repr=False)
    bases: Mapping[str, Path] = field(factory=dict)
    links: Mapping[str, Path] = field(factory=dict)
    trusted: Path | None = None


def build_injection(style: CustomModelStyle, target: InjectionTarget) -> Injection | None:
    """Return the changes that make an agent of C{style} use C{target}; C{None} if that is not
    supported.
    """
    form = _FORMS.get(style)
    return None if form is None else form(target)


def remove_variables(env: Mapping[str, str], unset: tuple[str, ...]) -> dict[str, str]:
    """Return C{env} without the variables in C{unset}, where a C{*} at the end makes a prefix."""
    prefixes = tuple(name[:-1] for name in unset if name.endswith("*"))
    return {
        name: value
        for name, value in env.items()
        if name not in unset and not (prefixes and name.startswith(prefixes))
    }


def _claude_injection(target: InjectionTarget) -> Injection:
    style = target.endpoint.auth_style
    by_key = style is AuthStyle.API_KEY
    model = target.model_id
    user = target.find_user_folder("CLAUDE_CONFIG_DIR", ".claude")
    state: dict[str, Any] = {"hasCompletedOnboarding": True}
    # A key that is not longer than its tail would be stored completely.
    if by_key and len(target.key) > KEY_TAIL:
        approved = {"approved": [target.key[-KEY_TAIL:]], "rejected": []}
        state["customApiKeyResponses"] = approved
    return Injection(
        env={
            "ANTHROPIC_BASE_URL": target.endpoint.root,
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
        files={".claude.json": _to_json(state)},
        links={"projects": user / "projects"},
        trusted=_find_claude_state(target, user),
    )


def _find_claude_state(target: InjectionTarget, user: Path) -> Path:
    """Return the path of the user's Claude Code state file.

    The file is next to C{.claude}, unless a variable moves that folder; then it is inside.
    """
    moved = target.env.get("CLAUDE_CONFIG_DIR", "").startswith("/")
    return (user if moved else user.parent) / ".claude.json"


def _opencode_injection(target: InjectionTarget) -> Injection:
    options: dict[str, Any] = {"baseURL": f"{target.endpoint.root}/v1", "apiKey": target.key}
    if target.endpoint.auth_style is AuthStyle.API_KEY:
        options["headers"] = {"x-api-key": target.key}
    model: dict[str, Any] = {"name": target.model_id}
    if target.context_length is not None:
        model["limit"] = {
            "context": target.context_length,
            "output": max(1, target.context_length // 4),
        }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": target.endpoint.label,
        "options": options,
        "models": {target.model_id: model},
    }
    name = f"{PROVIDER}/{target.model_id}"
    content = {"provider": {PROVIDER: provider}, "model": name, "small_model": name}
    return Injection(
        secrets={"OPENCODE_CONFIG_CONTENT": _to_json(content)},
        unset=("OPENCODE_CONFIG_CONTENT",),
    )


def _codex_injection(target: InjectionTarget) -> Injection:
    lines = [
        f"model = {_quote_toml_string(target.model_id)}",
        f"model_provider = {_quote_toml_string(PROVIDER)}",
        "check_for_update_on_startup = false",
    ]
    if target.context_length is not None:
        lines.append(f"model_context_window = {target.context_length}")
    lines += [
        f"[model_providers.{PROVIDER}]",
        f"name = {_quote_toml_string(target.endpoint.label)}",
        f"base_url = {_quote_toml_string(target.endpoint.root + '/v1')}",
        'wire_api = "responses"',
        f"env_key = {_quote_toml_string(KEY_VARIABLE)}",
    ]
    # Otherwise the agent's commands, and snapshots of their environment, have the key.
    policy = ["[shell_environment_policy]", f"exclude = [{_quote_toml_string(KEY_VARIABLE)}]"]
    if target.endpoint.auth_style is AuthStyle.API_KEY:
        lines.append(f'env_http_headers = {{ "x-api-key" = {_quote_toml_string(KEY_VARIABLE)} }}')
    user = target.find_user_folder("CODEX_HOME", ".codex")
    return Injection(
        env={"CODEX_HOME": str(target.folder)},
        secrets={KEY_VARIABLE: target.key},
        unset=("OPENAI_*", "AZURE_OPENAI_*", "CODEX_API_KEY"),
        files={"config.toml": "\n".join([*lines, *policy]) + "\n"},
        links={"sessions": user / "sessions"},
    )


def _gemini_injection(target: InjectionTarget) -> Injection:
    # Without a separate home it uses the provider of the user's last sign-in.
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    user = target.find_user_folder("GEMINI_CLI_HOME", "") / ".gemini"
    own = (".gemini/settings.json", ".gemini/trustedFolders.json")
    return Injection(
        env={
            "GOOGLE_GEMINI_BASE_URL": target.endpoint.root,
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
        files=dict(zip(own, (_to_json(settings), _to_json({})), strict=True)),
        bases={name: user / Path(name).name for name in own},
        links={f".gemini/{name}": user / name for name in ("tmp", "history")},
    )


def _pi_injection(target: InjectionTarget) -> Injection:
    model: dict[str, Any] = {"id": target.model_id, "name": target.model_id}
    if target.context_length is not None:
        model["contextWindow"] = target.context_length
    # Versions differ in how they name a variable. All of them run a command for a value.
    key = f'!printf %s "${{{KEY_VARIABLE}:-none}}"'
    provider: dict[str, Any] = {
        "baseUrl": f"{target.endpoint.root}/v1",
        "api": "openai-completions",
        "apiKey": key,
        "models": [model],
    }
    if target.endpoint.auth_style is AuthStyle.API_KEY:
        provider["headers"] = {"x-api-key": key}
    chosen = {"defaultProvider": PROVIDER, "defaultModel": target.model_id}
    user = target.find_user_folder("PI_CODING_AGENT_DIR", ".pi/agent")
    return Injection(
        env={"PI_CODING_AGENT_DIR": str(target.folder), "PI_OFFLINE": "1"},
        secrets={KEY_VARIABLE: target.key},
        files={
            "models.json": _to_json({"providers": {PROVIDER: provider}}),
            "settings.json": _to_json(chosen),
        },
        links={"sessions": user / "sessions"},
    )


def _to_json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)


def _quote_toml_string(text: str) -> str:
    """Return a TOML string. A JSON string is valid TOML, except for the DEL character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_FORMS: Mapping[CustomModelStyle, Callable[[InjectionTarget], Injection]] = {
    CustomModelStyle.CLAUDE_ENV: _claude_injection,
    CustomModelStyle.OPENCODE_CONTENT: _opencode_injection,
    CustomModelStyle.CODEX_HOME: _codex_injection,
    CustomModelStyle.GEMINI_ENV: _gemini_injection,
    CustomModelStyle.PI_HOME: _pi_injection,
}
