"""C{review changes}, C{diff}, C{comments}, C{comment} and C{send} (protocol-review)."""

from __future__ import annotations

from typing import Any

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.link.caller import build_session_path
from tservice.client.terminal.safe import safe_line

SIGNS = {"added": "+", "removed": "-", "context": " "}


def changes(context: CommandContext) -> int:
    """List the files that a session changed."""
    path = build_session_path(context.find_session()["id"], "/changes")
    sides = {"base": context.words.base, "target": context.words.target}
    found = context.caller.send_request("GET", path, query=sides)
    if context.words.json:
        context.shell.print_json(found)
        return 0
    rows = [
        (each["status"], f"+{each['added']}", f"-{each['removed']}", _join_path(repo, each["path"]))
        for repo in found["repositories"]
        for each in repo["files"]
    ]
    context.shell.print_table([("STATUS", "ADDED", "REMOVED", "PATH"), *rows])
    return 0


def diff(context: CommandContext) -> int:
    """Print the hunks of one changed file."""
    words = context.words
    path = build_session_path(context.find_session()["id"], "/changes/file")
    start: int | None = 0
    while start is not None:
        sides = {"base": words.base, "target": words.target}
        query = {"path": words.path, "start": start, **sides}
        found: dict[str, Any] = context.caller.send_request("GET", path, query=query)
        if words.json:
            context.shell.print_json(found)
        else:
            _print_hunks(context, found)
        start = found["next"]
    return 0


def comments(context: CommandContext) -> int:
    """List the comments on a session's changes."""
    path = build_session_path(context.find_session()["id"], "/comments")
    found = context.caller.send_request("GET", path)["comments"]
    if context.words.json:
        context.shell.print_json(found)
        return 0
    rows = [
        (each["id"], each["state"], each["anchor"]["state"], _format_place(each),
         safe_line(each["text"]))
        for each in found
    ]  # fmt: skip
    context.shell.print_table([("ID", "STATE", "LINES", "PLACE", "TEXT"), *rows])
    return 0


def comment(context: CommandContext) -> int:
    """Comment on a line of a changed file, and print the comment's id."""
    words = context.words
    name, _, line = words.place.rpartition(":")
    if not name or not line.isdigit():
        raise Unusable("PATH:LINE: name a file and a line, such as src/main.py:12")
    path = build_session_path(context.find_session()["id"], "/comments")
    body = {"path": name, "line": int(line), "text": words.text}
    found = context.caller.send_request("POST", path, body)
    context.print_result(found, found["comment"]["id"])
    return 0


def send(context: CommandContext) -> int:
    """Send all open comments to the agent, and print their ids."""
    words = context.words
    path = build_session_path(context.find_session()["id"], "/review/send")
    body = {"note": words.note or "", "evenWhileBusy": words.even_while_busy}
    found = context.caller.send_request("POST", path, body)
    context.print_result(found, "\n".join(found["commentIds"]))
    return 0


def _join_path(repo: dict[str, Any], path: str) -> str:
    return safe_line(path if repo["repo"] == "." else f"{repo['repo']}/{path}")


def _format_place(comment: dict[str, Any]) -> str:
    line = comment["anchor"].get("line", comment["line"])
    return safe_line(f"{comment['anchor']['path']}:{line}")


def _print_hunks(context: CommandContext, found: dict[str, Any]) -> None:
    for hunk in found["hunks"]:
        old, new = (f"{hunk[f'{side}Start']},{hunk[f'{side}Count']}" for side in ("old", "new"))
        context.shell.print_line(f"@@ -{old} +{new} @@ {safe_line(hunk['section'])}".rstrip())
        for row in hunk["rows"]:
            context.shell.print_line(SIGNS[row["kind"]] + safe_line(row["text"]))
