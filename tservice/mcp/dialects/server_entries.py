"""Conversion of server entries of each CLI (protocol-mcp-dialects)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tservice.mcp.model import McpServer, McpTransportKind

Entry = Mapping[str, Any]

WEB = {
    "http": McpTransportKind.HTTP,
    "streamable-http": McpTransportKind.HTTP,
    "sse": McpTransportKind.SSE,
}
"""Kind of transport by the C{type} of an entry with a URL."""


def decode_claude(entry: Entry) -> McpServer | None:
    """Convert a Claude Code entry by its C{type}. An entry without C{type} is a command."""
    kind = entry.get("type", "stdio")
    return _parse_command(entry) if kind == "stdio" else _parse_web(entry, kind)


def encode_claude(server: McpServer) -> dict[str, Any]:
    """Build a Claude Code entry with every field, as C{claude mcp add} does."""
    if server.kind is McpTransportKind.STDIO:
        words = {"command": server.command, "args": [*server.args], "env": dict(server.env)}
        return {"type": "stdio", **words}
    return {"type": server.kind.value, "url": server.url, "headers": dict(server.headers)}


def decode_gemini(entry: Entry) -> McpServer | None:
    """Convert a Gemini CLI entry. C{httpUrl} takes precedence over C{url}, which means HTTP by
    default.
    """
    if "command" in entry:
        return None if "url" in entry or "httpUrl" in entry else _parse_command(entry)
    if "httpUrl" in entry:
        return _parse_web(entry, "http", "httpUrl")
    return _parse_web(entry, entry.get("type", "http"))


def encode_gemini(server: McpServer) -> dict[str, Any]:
    """Build a Gemini CLI entry with those fields that have values."""
    if server.kind is McpTransportKind.STDIO:
        folder = {} if server.cwd is None else {"cwd": server.cwd}
        return {**_command_fields(server), **folder}
    return {"url": server.url, "type": server.kind.value, **_header_fields(server)}


def decode_antigravity(entry: Entry) -> McpServer | None:
    """Convert an Antigravity entry. C{serverUrl} means HTTP."""
    if "serverUrl" in entry:
        return None if "command" in entry else _parse_web(entry, "http", "serverUrl")
    return _parse_command(entry)


def encode_antigravity(server: McpServer) -> dict[str, Any]:
    """Build an Antigravity entry that is enabled."""
    if server.kind is McpTransportKind.STDIO:
        return {**_command_fields(server), "disabled": False}
    return {"serverUrl": server.url, **_header_fields(server), "disabled": False}


def decode_opencode(entry: Entry) -> McpServer | None:
    """Convert an OpenCode entry, in which the command and its arguments are one list."""
    match entry.get("type"):
        case "local":
            words = _string_tuple(entry.get("command"))
            if not words:
                return None
            renamed = {"command": words[0], "args": [*words[1:]]}
            return _parse_command({**entry, **renamed, "env": entry.get("environment", {})})
        case "remote":
            return _parse_web(entry, "http")
        case _:
            return None


def encode_opencode(server: McpServer) -> dict[str, Any]:
    """Build an OpenCode entry that is enabled."""
    if server.kind is McpTransportKind.STDIO:
        env = {"environment": dict(server.env)} if server.env else {}
        return {"type": "local", "command": [server.command, *server.args], **env, "enabled": True}
    return {"type": "remote", "url": server.url, **_header_fields(server), "enabled": True}


def decode_codex(entry: Entry) -> McpServer | None:
    """Convert a Codex entry. It has either a command or a URL."""
    if "url" in entry:
        renamed = {**entry, "headers": entry.get("http_headers", {})}
        return None if "command" in entry else _parse_web(renamed, "http")
    return _parse_command(entry)


def encode_codex(server: McpServer) -> dict[str, Any]:
    """Build a Codex entry. Nested tables come last, as TOML requires."""
    if server.kind is McpTransportKind.STDIO:
        return _command_fields(server)
    headers = {"http_headers": dict(server.headers)} if server.headers else {}
    return {"url": server.url, **headers}


def decode_copilot(entry: Entry) -> McpServer | None:
    """Convert a Copilot CLI entry by its C{type}, where C{local} means a command."""
    kind = entry.get("type", "local")
    return _parse_command(entry) if kind in ("local", "stdio") else _parse_web(entry, kind)


def encode_copilot(server: McpServer) -> dict[str, Any]:
    """Build a Copilot CLI entry that enables all tools of the server."""
    if server.kind is McpTransportKind.STDIO:
        return {"tools": ["*"], "type": "local", **_command_fields(server)}
    kind = {"type": server.kind.value, "url": server.url}
    return {"tools": ["*"], **kind, **_header_fields(server)}


def _parse_command(entry: Entry) -> McpServer | None:
    command, folder = entry.get("command"), entry.get("cwd")
    args, env = _string_tuple(entry.get("args", [])), _string_dict(entry.get("env", {}))
    if not isinstance(command, str) or not command or args is None or env is None:
        return None
    if folder is not None and not isinstance(folder, str):
        return None
    return McpServer(kind=McpTransportKind.STDIO, command=command, args=args, env=env, cwd=folder)


def _parse_web(entry: Entry, kind: object, key: str = "url") -> McpServer | None:
    url, headers = entry.get(key), _string_dict(entry.get("headers", {}))
    if not isinstance(kind, str) or kind not in WEB:
        return None
    if not isinstance(url, str) or not url or headers is None:
        return None
    return McpServer(kind=WEB[kind], url=url, headers=headers)


def _string_tuple(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return None
    return tuple(value)


def _string_dict(value: object) -> dict[str, str] | None:
    if not isinstance(value, Mapping) or not all(isinstance(word, str) for word in value.values()):
        return None
    return dict(value)


def _command_fields(server: McpServer) -> dict[str, Any]:
    env = {"env": dict(server.env)} if server.env else {}
    return {"command": server.command, "args": [*server.args], **env}


def _header_fields(server: McpServer) -> dict[str, Any]:
    return {"headers": dict(server.headers)} if server.headers else {}
