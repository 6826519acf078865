"""C{ls}, C{new}, C{kill}, C{start}, C{rename}: commands that manage sessions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tservice.client.commands.context import CommandContext
from tservice.client.commands.turns import InputSpec, deliver_input, wait_for_one
from tservice.client.errors import Unusable
from tservice.client.link.caller import build_session_path
from tservice.client.link.naming import pick_record
from tservice.client.shell import BROKEN, ShellContext, format_ago, format_cell
from tservice.client.terminal.safe import safe_line

HEAD = ("ID", "STATUS", "MODE", "NAME", "MODEL", "ACTIVE", "FOLDER")
AWAY_HEAD = (
    "ID", "NAME", "SINCE", "TURNS", "FILES", "COMMITS", "CHECKS", "ANSWERED", "BY RULE", "COST",
)  # fmt: skip
SHORT = 8
"""Number of characters of a session id in a table."""
CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_BRANCH = "└ "
CHANGE_PREFIXES = ("init", "session:")
"""Prefixes of the events after which the list of sessions is printed again."""


def ls(context: CommandContext) -> int:
    """List the sessions, once or again after each change."""
    if context.words.watch:
        _watch_sessions(context)
    elif context.words.json:
        context.shell.print_json(context.fetch_sessions())
    else:
        context.shell.print_table(_build_rows(context.shell, context.fetch_sessions()))
    return 0


def new(context: CommandContext) -> int:
    """Create and start a session. If requested, type a prompt and wait for a signal."""
    words, shell = context.words, context.shell
    answer = context.caller.send_request("POST", "/sessions", _build_body(context))
    made = answer["session"]
    context.print_result(made, made["id"])
    for warning in answer.get("warnings", ()):
        shell.print_warning(warning)
    if "warnings" in answer:
        shell.print_progress(f"tsctl cases prepare {made.get('caseName')} fetches them")
    until = None if words.wait is None else words.wait
    if words.prompt is not None:
        found = deliver_input(context, made["id"], InputSpec(text=words.prompt, until=until))
    elif until is not None:
        shell.print_progress(f"waiting for {made['id']}")
        found = wait_for_one(context, made["id"], until)
    else:
        return 0
    if until is None:
        return 0
    shell.print_progress(found.get("signal") or "timed out")
    return 0 if found.get("signal") else BROKEN


def kill(context: CommandContext) -> int:
    """End and remove sessions. If a name is unknown, no session is removed."""
    known = context.fetch_sessions()
    found = [pick_record(known, word, "session")["id"] for word in context.words.session]
    for session_id in dict.fromkeys(found):
        told = context.caller.send_request("DELETE", build_session_path(session_id))
        context.shell.print_progress(f"ended {session_id}")
        for each in told.get("left", ()):
            context.shell.print_progress(
                f"still running: {each['pid']} {safe_line(each['command'])}"
            )
    return 0


def start(context: CommandContext) -> int:
    """Start a session's process."""
    path = build_session_path(context.find_session()["id"], "/start")
    body = {"fresh": True} if context.words.fresh else {}
    context.print_result(context.caller.send_request("POST", path, body)["session"], "")
    return 0


def rename(context: CommandContext) -> int:
    """Rename a session."""
    path = build_session_path(context.find_session()["id"], "/name")
    context.print_result(context.caller.send_request("PUT", path, {"name": context.words.name}), "")
    return 0


def snooze(context: CommandContext) -> int:
    """Pause the notices about a session, or end the pause."""
    until = context.words.until or "30m"
    body: dict[str, Any] = {"until": None if until == "off" else until}
    zone = context.shell.environ.get("TZ", "").lstrip(":")
    if zone and until == "tomorrow":
        body["timeZone"] = zone
    path = build_session_path(context.find_session()["id"], "/snooze")
    context.print_result(context.caller.send_request("POST", path, body), "")
    return 0


def away(context: CommandContext) -> int:
    """List what the sessions did since a person looked at them."""
    found = context.caller.send_request("GET", "/away")
    if context.words.json:
        context.shell.print_json(found)
        return 0
    rows = [
        (
            each["id"][:SHORT],
            safe_line(each["name"]),
            format_ago(context.shell.now(), each["since"]),
            *(str(each[name]) for name in ("turns", "files", "commits")),
            each.get("checks", ""),
            *(str(each[name]) for name in ("answered", "byRule")),
            f"{each['cost']:.2f}",
        )
        for each in found["sessions"]
    ]
    context.shell.print_table([AWAY_HEAD, *rows])
    return 0


def _build_body(context: CommandContext) -> dict[str, Any]:
    words = context.words
    if words.prompt == "":
        raise Unusable("--prompt is empty")
    positional = words.mode_argument
    if positional and words.mode and positional != words.mode:
        raise Unusable(f"MODE is {positional!r} and --mode is {words.mode!r}")
    given = {
        "mode": positional or words.mode,
        "name": words.name,
        "workingDir": None if words.dir is None else os.path.abspath(words.dir),
        "caseName": words.case,
        "worktree": None if words.worktree is None else {"branch": words.worktree},
        "model": words.model,
    }
    return {"start": True} | {name: value for name, value in given.items() if value is not None}


def _watch_sessions(context: CommandContext) -> None:
    shell = context.shell
    shown: list[dict[str, Any]] | None = None
    for name, _ in context.caller.iterate_events():
        if not name.startswith(CHANGE_PREFIXES):
            continue
        found = context.fetch_sessions()
        if found == shown:
            continue
        shown = found
        if context.words.json:
            shell.print_json(found, compact=True)
            continue
        if shell.out.isatty():
            shell.out.write(CLEAR)
        shell.print_table(_build_rows(shell, found))


def _build_rows(shell: ShellContext, sessions: Sequence[dict[str, Any]]) -> list[Sequence[str]]:
    rows = [
        (
            session["id"][:SHORT],
            "stalled" if session.get("stall") else format_cell(session, "status"),
            format_cell(session, "mode"),
            _BRANCH * (depth > 0) + format_cell(session, "name"),
            format_cell(session, "displayModel"),
            format_ago(shell.now(), session.get("lastActivityAt")),
            format_cell(session, "workingDir"),
        )
        for depth, session in build_tree(sessions)
    ]
    return [HEAD, *rows]


def build_tree(sessions: Sequence[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Return the sessions with their depth in the tree, each followed by its children.

    A session whose parent is missing is a root.
    """
    known = {session["id"] for session in sessions}
    below: dict[str | None, list[dict[str, Any]]] = {}
    for session in sessions:
        parent = session.get("parentSessionId")
        below.setdefault(parent if parent in known else None, []).append(session)
    found: list[tuple[int, dict[str, Any]]] = []
    ahead = [(0, session) for session in reversed(below.get(None, []))]
    while ahead:
        depth, session = ahead.pop()
        found.append((depth, session))
        ahead += [(depth + 1, child) for child in reversed(below.get(session["id"], []))]
    return found
