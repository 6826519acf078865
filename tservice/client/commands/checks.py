"""Commands of C{tsctl checks} (protocol-checks, protocol-checks-file)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.link.caller import build_session_path
from tservice.client.terminal.safe import safe_line

_MARKS = {"passed": "✓", "failed": "✗", "timed_out": "✗", "flooded": "✗"}


def ls(context: CommandContext) -> int:
    """List the results of the last run of a session's checks."""
    found = _fetch_checks(context)
    if context.words.json:
        context.shell.print_json(found)
        return 0
    rows = [
        (safe_line(each["name"]), _MARKS.get(each["state"], " "), each["state"],
         _format_count(each), safe_line(each["command"]))
        for run in found["runs"][:1]
        for each in run["results"]
    ]  # fmt: skip
    context.shell.print_table([("NAME", "", "STATE", "PASSED", "COMMAND"), *rows])
    return 0


def log(context: CommandContext) -> int:
    """Print the end of a check's output in the last run."""
    for run in _fetch_checks(context)["runs"][:1]:
        for each in run["results"]:
            if each["name"] == context.words.name:
                for line in each["output"].split("\n"):
                    context.shell.print_line(safe_line(line))
                return 0
    raise Unusable(f"{context.words.name}: no check of this name has run")


def run(context: CommandContext) -> int:
    """Run all checks of a session now, and print the id of the run."""
    path = build_session_path(context.find_session()["id"], "/checks/run")
    found = context.caller.send_request("POST", path)
    context.print_result(found, found["run"]["id"])
    return 0


def cancel(context: CommandContext) -> int:
    """Cancel the running checks of a session."""
    path = build_session_path(context.find_session()["id"], "/checks/run")
    context.caller.send_request("DELETE", path)
    return 0


def get(context: CommandContext) -> int:
    """Print the checks of a case as JSON, in the form that C{set} reads."""
    found = context.caller.send_request("GET", _make_case_path(context))
    context.shell.print_json({name: found[name] for name in _FIELDS})
    return 0


def set_checks(context: CommandContext) -> int:
    """Replace the checks of a case by those of a file."""
    words, shell = context.words, context.shell
    try:
        text = shell.input.read() if words.file == "-" else Path(words.file).read_text("utf-8")
        body = json.loads(text)
    except (OSError, ValueError) as error:
        raise Unusable(f"{words.file}: {error}") from None
    if not isinstance(body, dict):
        raise Unusable(f"{words.file}: must hold an object with the field checks")
    found = context.caller.send_request("PUT", _make_case_path(context), body)
    context.print_result(found, _count_checks(found))
    return 0


def _count_checks(found: dict[str, Any]) -> str:
    count = len(found["checks"])
    return "1 check" if count == 1 else f"{count} checks"


def show_file(context: CommandContext) -> int:
    """Print the file of a session's folder that brings checks: its state, hash, and what to read.

    That is the difference from what was approved, or the whole text.
    """
    found = context.caller.send_request("GET", _make_file_path(context))
    if context.words.json:
        context.shell.print_json(found)
        return 0
    fields = ("state", "hash", "problem")
    context.shell.print_table([(name, safe_line(found[name])) for name in fields if name in found])
    for line in (found.get("diff") or found.get("text") or "").splitlines():
        context.shell.print_line(safe_line(line))
    return 0


def approve_file(context: CommandContext) -> int:
    """Approve the content of the file that has a hash, so that its checks run."""
    body = {"hash": context.words.hash}
    found = context.caller.send_request("PUT", _make_file_path(context), body)
    context.print_result(found, _count_checks(found))
    return 0


def withdraw_file(context: CommandContext) -> int:
    """Withdraw the approval of the file, so that its checks run no more."""
    context.caller.send_request("DELETE", _make_file_path(context))
    return 0


_FIELDS = ("checks", "onFailure", "maxAttempts")


def _fetch_checks(context: CommandContext) -> dict[str, Any]:
    path = build_session_path(context.find_session()["id"], "/checks")
    found: dict[str, Any] = context.caller.send_request("GET", path)
    return found


def _make_file_path(context: CommandContext) -> str:
    return build_session_path(context.find_session()["id"], "/checks/file")


def _make_case_path(context: CommandContext) -> str:
    return f"/cases/{quote(context.words.name, safe='')}/checks"


def _format_count(result: dict[str, Any]) -> str:
    return "" if result.get("passed") is None else str(result["passed"])
