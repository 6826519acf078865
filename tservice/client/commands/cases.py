"""C{cases ls}, C{new}, C{link}, C{clone}, C{prepare}, C{rm} (protocol-cases)."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from tservice.client.commands.context import Context
from tservice.client.shell import ago, cell
from tservice.client.terminal.safe import safe_line

HEAD = ("NAME", "KIND", "SESSIONS", "MADE", "FOLDER")
CLONE_MS = 600_000
"""Milliseconds that a clone may take (protocol-clone)."""


def ls(context: Context) -> int:
    """List the cases."""
    found: list[dict[str, Any]] = context.caller.call("GET", "/cases")
    if context.words.json:
        context.shell.say_json(found)
        return 0
    now = context.shell.now()
    rows = [
        (cell(case, "name"), _kind(case), str(case["liveSessions"]),
         ago(now, case.get("createdAt")), cell(case, "path"))
        for case in found
    ]  # fmt: skip
    context.shell.say_table([HEAD, *rows])
    return 0


def new(context: Context) -> int:
    """Create a case and print its folder."""
    words = context.words
    body = {"name": words.name, "description": words.description, "path": _folder(words.path)}
    return _made(context, "/cases", body)


def link(context: Context) -> int:
    """Create a case from an existing folder."""
    words = context.words
    return _made(context, "/cases/link", {"name": words.name, "path": _folder(words.folder)})


def clone(context: Context) -> int:
    """Clone a repository into a new case, and print its folder."""
    words, shell = context.words, context.shell
    where = words.repository
    body = {
        "name": words.name,
        "repository": os.path.abspath(where) if where.startswith(".") else where,
        "ref": words.ref,
        "shallow": words.shallow or None,
    }
    shell.tell(f"cloning {words.name}")
    found = context.caller.call("POST", "/cases/clone", _given(body), wait_ms=CLONE_MS)
    for warning in found["warnings"]:
        shell.warn(warning)
    context.show(found, safe_line(found["case"]["path"]))
    return 0


def prepare(context: Context) -> int:
    """Fetch missing submodules and LFS files of a case in a shell, and print the shell's id."""
    path = f"/cases/{quote(context.words.name, safe='')}/prepare"
    found = context.caller.call("POST", path)
    for command in found["commands"]:
        context.shell.tell(command)
    if "sessionId" not in found:
        context.shell.tell("nothing is missing")
    context.show(found, found.get("sessionId", ""))
    return 0


def rm(context: Context) -> int:
    """Remove cases."""
    query = {"force": 1} if context.words.force else None
    for name in dict.fromkeys(context.words.name):
        context.caller.call("DELETE", f"/cases/{quote(name, safe='')}", query=query)
        context.shell.tell(f"removed {name}")
    return 0


def _made(context: Context, path: str, body: dict[str, Any]) -> int:
    case = context.caller.call("POST", path, _given(body))["case"]
    context.show(case, safe_line(case["path"]))
    return 0


def _given(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def _folder(path: str | None) -> str | None:
    return None if path is None else os.path.abspath(path)


def _kind(case: dict[str, Any]) -> str:
    if "cloning" in case:
        return "cloning"
    if case.get("unreachable"):
        return "unreachable"
    return "worktree" if "worktree" in case else cell(case, "location")
