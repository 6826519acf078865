"""Variables that make an agent run a program, or talk to somebody else: what attackers would set.

All of them are names that the stock entries allow with the grant.  They were found in the programs
themselves and in their manuals.
"""

from __future__ import annotations

from collections.abc import Mapping

_PROXIES = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "*",
}
_ANY = ("API_KEY", "BASE_URL", "CONFIG")
"""What programs that nobody looked at may read."""
_NODE = {**_PROXIES, "NODE_EXTRA_CA_CERTS": "/tmp/ca.pem"}
_GOOGLE = {
    "GEMINI_API_KEY": "k",
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
    "GOOGLE_VERTEX_BASE_URL": "http://127.0.0.1:9",
    "GOOGLE_APPLICATION_CREDENTIALS": "/tmp/with-executable-source.json",
}
_AWS = {
    "AWS_CONFIG_FILE": "/tmp/with-credential-process",
    "AWS_SHARED_CREDENTIALS_FILE": "/tmp/x",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
}
_ANTHROPIC = {
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    "ANTHROPIC_API_KEY": "k",
    "ANTHROPIC_AUTH_TOKEN": "k",
    "ANTHROPIC_MODEL": "m",
    "ANTHROPIC_CUSTOM_HEADERS": "X-A: b",
}
_KEYS = {f"{name}_API_KEY": "k" for name in ("OPENROUTER", "GROQ", "MISTRAL", "DEEPSEEK", "XAI")}

HOSTILE: Mapping[str, Mapping[str, str]] = {
    "primary": {
        **_NODE,
        **_AWS,
        **_ANTHROPIC,
        "ANTHROPIC_CONFIG_DIR": "/tmp/c",
        "ANTHROPIC_UNIX_SOCKET": "/tmp/s",
        "API_TIMEOUT_MS_": "1",
        "BASH_DEFAULT_": "1",
        "BASH_MAX_": "1",
        "CLAUDE_CONFIG_DIR": "/tmp/c",
        "CLAUDE_ENV_FILE": "/tmp/x",
        "CLAUDE_CODE_SHELL": "/tmp/sh",
        "CLAUDE_CODE_SHELL_PREFIX": "/tmp/x",
        "CLAUDE_CODE_GIT_BASH_PATH": "/tmp/x",
        "CLAUDE_CODE_API_KEY_HELPER_TTL_MS": "1",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CLAUDE_CODE_OAUTH_TOKEN": "k",
        "CLAUDE_CODE_PLUGIN_SEED_DIR": "/tmp/p",
        "CLOUD_ML_REGION": "x.evil.example/",
        "DISABLE_GROWTHBOOK": "1",
        "ENABLE_LSP_TOOL": "1",
        "ENABLE_CLAUDEAI_MCP_SERVERS": "1",
        "GOOGLE_APPLICATION_CREDENTIALS": "/tmp/with-executable-source.json",
        "IS_SANDBOX": "1",
        "MAX_": "1",
        "MCP_PROXY_URL": "http://127.0.0.1:9",
        "MCP_CLIENT_SECRET": "k",
        "VERTEX_BASE_URL": "http://127.0.0.1:9",
    },
    "shell": {"BASH_ENV": "/tmp/x", "PROMPT_COMMAND": "id", "ENV": "/tmp/x"},
    "opencode": {
        **_NODE,
        **_AWS,
        **_ANTHROPIC,
        **_GOOGLE,
        **_KEYS,
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "OPENCODE_CONFIG_CONTENT": '{"mcp":{"m":{"type":"local","command":["id"]}}}',
        "OPENCODE_CONFIG": "/tmp/c.json",
        "OPENCODE_CONFIG_DIR": "/tmp/c",
        "OPENCODE_TUI_CONFIG": "/tmp/c.json",
        "OPENCODE_PERMISSION": '{"bash":"allow"}',
        "OPENCODE_AUTH_CONTENT": "{}",
        "OPENCODE_MODELS_URL": "http://127.0.0.1:9",
        "OPENCODE_MODELS_PATH": "/tmp/m.json",
        "OPENCODE_PLUGIN_META_FILE": "/tmp/p",
        "OPENCODE_TEST_HOME": "/tmp/h",
        "OPENCODE_TEST_MANAGED_CONFIG_DIR": "/tmp/h",
        "OPENCODE_GIT_BASH_PATH": "/tmp/x",
        "OPENCODE_DB": "/tmp/db",
        "OPENCODE_AUTO_SHARE": "1",
        "OPENCODE_EXPERIMENTAL": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    },
    "codex": {
        **_PROXIES,
        "SSL_CERT_FILE": "/tmp/ca.pem",
        "CODEX_HOME": "/tmp/c",
        "CODEX_SQLITE_HOME": "/tmp/c",
        "CODEX_CA_CERTIFICATE": "/tmp/ca.pem",
        "CODEX_EXEC_SERVER_URL": "ws://127.0.0.1:9",
        "CODEX_MANAGED_PACKAGE_ROOT": "/tmp/p",
        "CODEX_API_KEY": "k",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:9",
    },
    "copilot": {
        **_PROXIES,
        "NODE_EXTRA_CA_CERTS": "/tmp/ca.pem",
        "COPILOT_ALLOW_ALL": "true",
        "COPILOT_HOME": "/tmp/c",
        "COPILOT_EDITOR": "id",
        "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:9",
        "COPILOT_PROVIDER_API_KEY_COMMAND": "id",
        "COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "/tmp/i",
        "COPILOT_CLI_DIST_DIR": "/tmp/d",
        "GH_TOKEN": "k",
        "GH_HOST": "h.invalid",
        "GITHUB_TOKEN": "k",
    },
    "qwen": {
        **_NODE,
        **_ANTHROPIC,
        **_GOOGLE,
        "QWEN_HOME": "/tmp/h",
        "QWEN_SANDBOX_PROXY_COMMAND": "id",
        "QWEN_SANDBOX_IMAGE": "i",
        "QWEN_CODE_TRUSTED_FOLDERS_PATH": "/tmp/t.json",
        "QWEN_CODE_MCP_APPROVALS_PATH": "/tmp/m.json",
        "QWEN_TLS_INSECURE": "1",
        "GEMINI_API_KEY": "k",
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "OPENAI_API_KEY": "k",
        "DASHSCOPE_API_KEY": "k",
        "BAILIAN_CODING_PLAN_API_KEY": "k",
    },
    **{
        mode: {**_NODE, **{f"{prefix}{name}": "x" for prefix in prefixes for name in _ANY}}
        for mode, prefixes in {
            "cline": ("CLINE_",),
            "cn": ("CONTINUE_",),
            "amp": ("AMP_",),
            "auggie": ("AUGMENT_",),
            "cursor-agent": ("CURSOR_",),
            "droid": ("FACTORY_",),
            "grok": ("GROK_", "XAI_"),
            "kimi": ("KIMI_", "MOONSHOT_"),
        }.items()
    },
    "gemini": {
        **_NODE,
        **_GOOGLE,
        "GEMINI_MODEL": "m",
        "GEMINI_CLI_HOME": "/tmp/h",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_TRUSTED_FOLDERS_PATH": "/tmp/t.json",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/tmp/s.json",
        "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND": "/bin/id",
        "GEMINI_CLI_IDE_SERVER_STDIO_ARGS": "[]",
        "GEMINI_SANDBOX": "/tmp/x",
        "GEMINI_SANDBOX_PROXY_COMMAND": "id",
        "GEMINI_SYSTEM_MD": "/etc/shadow",
        "GEMINI_DEBUG_LOG_FILE": "/tmp/x",
    },
    "antigravity": {
        **_PROXIES,
        **_GOOGLE,
        "AGY_CONFIG_DIR": "/tmp/c",
        "ANTIGRAVITY_HOME": "/tmp/c",
    },
    "pi": {
        **_NODE,
        **_AWS,
        **_ANTHROPIC,
        **_GOOGLE,
        **_KEYS,
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "PI_CODING_AGENT_DIR": "/tmp/c",
    },
}
