"""C{rules ls}, C{rules add}, C{rules preview}, C{rules rm}: approval rules
(protocol-approval-rules).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.link.naming import pick_record
from tservice.client.shell import format_ago
from tservice.client.terminal.safe import safe_line

HEAD = ("ID", "ACTION", "TOOL", "MATCH", "SCOPE", "HITS", "ENDS", "NAME")
_PATH = "/approval-rules"
_TOOLS = {"path": "Edit", "url": "WebFetch", "mcp": "mcp"}
"""Tools that are meant if none is given, by the field of the match; else C{Bash}."""


def ls(context: CommandContext) -> int:
    """List the rules in the order of precedence, and the suggestions."""
    found = context.caller.send_request("GET", _PATH)
    if context.words.json:
        context.shell.print_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (rule["id"], rule["action"], rule["tool"], safe_line(_describe_match(rule["match"])),
         safe_line(_describe_scope(rule["scope"])), str(rule["hits"]),
         format_ago(now, rule.get("expiresAt")), safe_line(rule["name"]))
        for rule in found["rules"]
    ]  # fmt: skip
    context.shell.print_table([HEAD, *rows])
    for each in found["suggestions"]:
        command = safe_line(shlex.join(each["words"]))
        context.shell.print_line(f"You allowed {command} {each['count']} times")
    return 0


def add(context: CommandContext) -> int:
    """Create a rule and print its id."""
    found = context.caller.send_request("POST", _PATH, _make_body(context))
    context.print_result(found, found["rule"]["id"])
    return 0


def preview(context: CommandContext) -> int:
    """Show which of the last questions a rule would have decided."""
    body = {"rule": _make_body(context)}
    found = context.caller.send_request("POST", f"{_PATH}/preview", body)
    if context.words.json:
        context.shell.print_json(found)
        return 0
    for each in found["decided"]:
        line = f"{each['action']}  {each['tool']}  {each.get('subject', '')}"
        context.shell.print_line(safe_line(line))
    context.shell.print_line(f"{len(found['decided'])} of the last {found['requests']} questions")
    return 0


def rm(context: CommandContext) -> int:
    """Delete a rule."""
    rules = context.caller.send_request("GET", _PATH)["rules"]
    rule = pick_record(rules, context.words.rule, "rule")
    found = context.caller.send_request("DELETE", f"{_PATH}/{quote(rule['id'], safe='')}")
    context.print_result(found, "")
    return 0


def _make_body(context: CommandContext) -> dict[str, Any]:
    words = context.words
    match = _make_match(words)
    field = next((name for name in _TOOLS if name in match), "")
    body: dict[str, Any] = {
        "action": words.action,
        "tool": words.tool or _TOOLS.get(field, "Bash"),
        "match": match,
        "scope": _make_scope(context),
    }
    if words.note:
        body["note"] = words.note
    if words.minutes is not None:
        body["expiresAt"] = int(context.shell.now() * 1000) + words.minutes * 60_000
    return body


def _make_match(words: Any) -> dict[str, Any]:
    for name in ("prefix", "pattern"):
        text = getattr(words, name)
        if text is not None:
            try:
                return {"command": {name: shlex.split(text)}}
            except ValueError as error:
                raise Unusable(f"--{name}: {error}") from error
    if words.exact is not None:
        return {"command": {"exact": words.exact}}
    return {name: value for name in _TOOLS if (value := getattr(words, name)) is not None}


def _make_scope(context: CommandContext) -> dict[str, Any]:
    if context.words.session is not None:
        return {"sessionId": context.find_session()["id"]}
    if context.words.case is not None:
        return {"caseName": context.words.case}
    return {"all": True}


def _describe_match(match: Mapping[str, Any]) -> str:
    command = match.get("command")
    if command is None:
        return next(iter(match.values()), "everything")
    if "exact" in command:
        return str(command["exact"])
    return (
        shlex.join(command["prefix"]) + " …"
        if "prefix" in command
        else " ".join(command["pattern"])
    )


def _describe_scope(scope: Mapping[str, Any]) -> str:
    return str(scope.get("caseName") or scope.get("sessionId") or "all")
