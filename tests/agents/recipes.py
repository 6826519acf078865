"""How each CLI is made to start in an empty home and to talk to the stub model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

KEY = "sk-ant-stub-0123456789abcdef"
"""A key that opens nothing."""

CLAUDE_READY = "^\u276f\xa0"
"""Claude Code's composer row, which is on the screen while it is busy too."""


@frozen(kw_only=True)
class RunLocation:
    """Where a CLI runs and whom it asks.

    @ivar url: the stub model, without a trailing slash.
    """

    home: Path
    work: Path
    url: str


@frozen(kw_only=True)
class ClientLaunch:
    """What to start.

    @ivar env: beyond the base environment of L{world.base_env}.
    """

    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _write_json(path: Path, data: Mapping[str, Any]) -> None:
    _write(path, json.dumps(data, indent=1))


def claude(place: RunLocation, *, trusted: bool, subscription: bool = False) -> ClientLaunch:
    """Claude Code past its onboarding.

    @param subscription: use a login token rather than a key; then the client
        reads plan usage from the answers' headers.
    """
    state: dict[str, Any] = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
    }
    if trusted:
        state["projects"] = {str(place.work): {"hasTrustDialogAccepted": True}}
    _write_json(place.home / ".claude.json", state)
    credential = "CLAUDE_CODE_OAUTH_TOKEN" if subscription else "ANTHROPIC_API_KEY"
    return ClientLaunch(
        env={
            "ANTHROPIC_BASE_URL": place.url,
            credential: KEY,
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
        }
    )


def codex(place: RunLocation, *, trusted: bool) -> ClientLaunch:
    """Codex with the stub as its provider; its trust page needs a git folder.

    Its background server outlives the pane: L{world.World.close} ends it.
    """
    lines = [
        'model = "stub-model"',
        'model_provider = "stub"',
        'approval_policy = "on-request"',
        "check_for_update_on_startup = false",
        "[model_providers.stub]",
        'name = "stub"',
        f'base_url = "{place.url}/v1"',
        'wire_api = "responses"',
        'env_key = "STUB_KEY"',
        # Since 0.152 it has its list only where it is wanted.
        "[tools.update_plan]",
        "enabled = true",
    ]
    if trusted:
        lines += [f'[projects."{place.work}"]', 'trust_level = "trusted"']
    _write(place.home / ".codex" / "config.toml", "\n".join(lines) + "\n")
    return ClientLaunch(env={"STUB_KEY": KEY})


def gemini(place: RunLocation, *, trusted: bool) -> ClientLaunch:
    """Gemini CLI with a key chosen as its way to sign in."""
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    _write_json(place.home / ".gemini" / "settings.json", settings)
    if trusted:
        folders = {str(place.work): "TRUST_FOLDER"}
        _write_json(place.home / ".gemini" / "trustedFolders.json", folders)
    return ClientLaunch(
        env={
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": place.url,
            "GEMINI_CLI_DISABLE_AUTO_UPDATE": "1",
        }
    )


def know_no_models(home: Path) -> None:
    """Leave opencode an empty list of the world's models, as if it had fetched that.

    It reads thousands of its own otherwise, on every start: 4 s of processor time.
    """
    _write_json(home / ".cache" / "opencode" / "models.json", {})


def opencode(place: RunLocation, *, trusted: bool) -> ClientLaunch:
    """opencode, which knows no trust dialog."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stub",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": KEY},
        "models": {"stub-model": {"name": "Stub Model"}},
    }
    config = {
        "provider": {"stub": provider},
        "model": "stub/stub-model",
        "small_model": "stub/stub-model",
        "autoupdate": False,
        "permission": {"bash": "ask", "edit": "ask"},
    }
    _write_json(place.home / ".config" / "opencode" / "opencode.json", config)
    know_no_models(place.home)
    return ClientLaunch(
        env={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    )


def pi(place: RunLocation, *, trusted: bool) -> ClientLaunch:
    """pi, which asks for nothing."""
    provider = {
        "baseUrl": f"{place.url}/v1",
        "api": "openai-completions",
        "apiKey": KEY,
        "models": [{"id": "stub-model", "name": "Stub Model", "contextWindow": 128000}],
    }
    _write_json(place.home / ".pi" / "agent" / "models.json", {"providers": {"stub": provider}})
    return ClientLaunch(arguments=("--offline", "--provider", "stub", "--model", "stub-model"))


def qwen(place: RunLocation, *, trusted: bool) -> ClientLaunch:
    """qwen-code with an OpenAI endpoint; it trusts every folder unless that is switched on."""
    settings: dict[str, Any] = {
        "security": {
            "auth": {"selectedType": "openai"},
            "folderTrust": {"enabled": True},
        },
        "model": {"name": "stub-model"},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "memory": {"enableManagedAutoMemory": False},
    }
    _write_json(place.home / ".qwen" / "settings.json", settings)
    if trusted:
        folders = {str(place.work): "TRUST_FOLDER"}
        _write_json(place.home / ".qwen" / "trustedFolders.json", folders)
    return ClientLaunch(
        env={
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{place.url}/v1",
            "OPENAI_MODEL": "stub-model",
        }
    )


def copilot(place: RunLocation, *, trusted: bool) -> ClientLaunch:
    """GitHub Copilot CLI with a provider of its own, which needs no sign-in."""
    if trusted:
        _write_json(place.home / ".copilot" / "config.json", {"trusted_folders": [str(place.work)]})
    return ClientLaunch(
        env={
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{place.url}/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "stub-model",
            "COPILOT_AUTO_UPDATE": "false",
        }
    )


RECIPES: Mapping[str, Callable[..., ClientLaunch]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
    "pi": pi,
    "qwen": qwen,
    "copilot": copilot,
}
