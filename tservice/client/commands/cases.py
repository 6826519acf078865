"""C{cases ls}, C{new}, C{link}, C{clone}, C{prepare}, C{rm} (protocol-cases)."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from tservice.client.commands.context import CommandContext
from tservice.client.shell import format_ago, format_cell
from tservice.client.terminal.safe import safe_line
from tservice.client.wait_limits import GIT_MS

HEAD = ("NAME", "KIND", "SESSIONS", "MADE", "FOLDER")


def ls(context: CommandContext) -> int:
    """List the cases."""
    found: list[dict[str, Any]] = context.caller.send_request("GET", "/cases")
    if context.words.json:
        context.shell.print_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (format_cell(case, "name"), _format_kind(case), str(case["liveSessions"]),
         format_ago(now, case.get("createdAt")), format_cell(case, "path"))
        for case in found
    ]  # fmt: skip
    context.shell.print_table([HEAD, *rows])
    return 0


def new(context: CommandContext) -> int:
    """Create a case and print its folder."""
    words = context.words
    body = {
        "name": words.name,
        "description": words.description,
        "path": _absolute_folder(words.path),
    }
    return _create_case(context, "/cases", body)


def link(context: CommandContext) -> int:
    """Create a case from an existing folder."""
    words = context.words
    return _create_case(
        context, "/cases/link", {"name": words.name, "path": _absolute_folder(words.folder)}
    )


def clone(context: CommandContext) -> int:
    """Clone a repository into a new case, and print its folder."""
    words, shell = context.words, context.shell
    where = words.repository
    body = {
        "name": words.name,
        "repository": os.path.abspath(where) if where.startswith(".") else where,
        "ref": words.ref,
        "shallow": words.shallow or None,
    }
    shell.print_progress(f"cloning {words.name}")
    found = context.caller.send_request("POST", "/cases/clone", _drop_unset(body), wait_ms=GIT_MS)
    for warning in found["warnings"]:
        shell.print_warning(warning)
    context.print_result(found, safe_line(found["case"]["path"]))
    return 0


def prepare(context: CommandContext) -> int:
    """Fetch missing submodules and LFS files of a case in a shell, and print the shell's id."""
    path = f"/cases/{quote(context.words.name, safe='')}/prepare"
    found = context.caller.send_request("POST", path)
    for command in found["commands"]:
        context.shell.print_progress(command)
    if "sessionId" not in found:
        context.shell.print_progress("nothing is missing")
    context.print_result(found, found.get("sessionId", ""))
    return 0


def rm(context: CommandContext) -> int:
    """Remove cases."""
    query = {"force": 1} if context.words.force else None
    for name in dict.fromkeys(context.words.name):
        context.caller.send_request("DELETE", f"/cases/{quote(name, safe='')}", query=query)
        context.shell.print_progress(f"removed {name}")
    return 0


def _create_case(context: CommandContext, path: str, body: dict[str, Any]) -> int:
    case = context.caller.send_request("POST", path, _drop_unset(body))["case"]
    context.print_result(case, safe_line(case["path"]))
    return 0


def _drop_unset(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def _absolute_folder(path: str | None) -> str | None:
    return None if path is None else os.path.abspath(path)


def _format_kind(case: dict[str, Any]) -> str:
    if "cloning" in case:
        return "cloning"
    if case.get("unreachable"):
        return "unreachable"
    return "worktree" if "worktree" in case else format_cell(case, "location")
