"""Fit a shell command into whatever tool a client offers for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.agents.stub.record import ModelPrompt
from tests.agents.stub.script import CallDirective, ShellDirective

SHELL_NAMES = (
    "Bash",
    "bash",
    "shell",
    "shell_command",
    "exec_command",
    "run_shell_command",
    "execute_command",
    "run_command",
    "local_shell",
)
WRITE_NAMES = ("Write", "write", "write_file")
_COMMAND_KEYS = ("command", "cmd", "script")
_FILLERS: Mapping[str, Any] = {
    "string": "Do what the test says",
    "boolean": False,
    "number": 30,
    "integer": 30,
    "array": [],
    "object": {},
}


def _first(names: tuple[str, ...], pattern: str, offered: Mapping[str, Any]) -> str | None:
    for name in names:
        if name in offered:
            return name
    return next((name for name in offered if re.search(pattern, name, re.I)), None)


def _filled(schema: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with something of the right type for each one still required."""
    properties = schema.get("properties") or {}
    for key in schema.get("required") or []:
        about = properties.get(key) or {}
        filler = about["enum"][0] if "enum" in about else _FILLERS.get(str(about.get("type")), "")
        given.setdefault(key, filler)
    return given


def _command_arguments(schema: Mapping[str, Any], command: str) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    key = next((each for each in _COMMAND_KEYS if each in properties), "command")
    is_list = (properties.get(key) or {}).get("type") == "array"
    given: dict[str, Any] = {key: ["sh", "-c", command] if is_list else command}
    if "description" in properties:
        given["description"] = "Do what the test says"
    if "sandbox_permissions" in properties:
        # Codex asks a person only about what leaves its sandbox.
        given["sandbox_permissions"] = "require_escalated"
        given["justification"] = "May the test's command run outside the sandbox?"
    return _filled(schema, given)


def shell_call(asked: ModelPrompt, shell: ShellDirective) -> CallDirective | None:
    """The call that runs the command, or L{None} where no tool could."""
    name = _first(SHELL_NAMES, r"bash|shell|exec|terminal|command", asked.tools)
    if name is None:
        return None
    return CallDirective(name=name, arguments=_command_arguments(asked.tools[name], shell.command))


def fitted(asked: ModelPrompt, call: CallDirective) -> CallDirective:
    """The same call under the client's own name and argument names."""
    if call.name != "Write" or "Write" in asked.tools:
        return call
    name = _first(WRITE_NAMES, r"write", asked.tools)
    if name is None:
        return call
    schema = asked.tools[name]
    properties = schema.get("properties") or {}
    path = next((key for key in properties if "path" in key.lower()), "path")
    given = {path: call.arguments["file_path"], "content": call.arguments["content"]}
    return CallDirective(name=name, arguments=_filled(schema, given))
