"""C{approvals}, C{approve}, C{deny}: dialogs of agents that wait for a person
(protocol-approvals).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import Any
from urllib.parse import quote

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.shell import format_ago, format_cell
from tservice.client.terminal.safe import safe_line, safe_text

PAUSES = (0.2, 0.5, 1.5)
"""Seconds before each retry. An agent may be reported as blocked before its dialog was read."""


def approvals(context: CommandContext) -> int:
    """List the dialogs in the approval inbox."""
    found = context.caller.send_request("GET", "/approvals")["approvals"]
    if context.words.json:
        context.shell.print_json(found)
        return 0
    if not found:
        context.shell.print_line("Nothing waits for a person.")
    now = context.shell.now()
    for item in found:
        head = (format_cell(item, "sessionName"), item["kind"], format_ago(now, item["createdAt"]))
        context.shell.print_line("  ".join(map(safe_line, head)))
        # Never cut and not in a table: people decide by it.
        for line in filter(None, (*_describe_item(item), _format_options(item))):
            context.shell.print_line(indent(safe_text(line), "    "))
    return 0


def approve(context: CommandContext) -> int:
    """Approve a dialog, or choose the option given on the command line."""
    return _answer_dialog(context, "approve")


def deny(context: CommandContext) -> int:
    """Deny a dialog, or choose the option given on the command line."""
    return _answer_dialog(context, "deny")


def _answer_dialog(context: CommandContext, action: str) -> int:
    words = context.words
    session = context.find_session()
    item = _find_pending(context, session["id"])
    for pause in PAUSES if session.get("status") == "busy" else ():
        if item is None:
            context.shell.sleep(pause)
            item = _find_pending(context, session["id"])
    if item is None:
        raise Unusable(f"nothing waits for a person in {session['id']} ({session['name']})")
    body: dict[str, Any] = {"action": action, "expectFrame": item["frame"]}
    if words.option is not None:
        body |= {"action": "option", "option": words.option}
    elif words.text is not None:
        body |= {"action": "text", "text": words.text}
    elif action == "deny" and words.reason is not None:
        body["reason"] = words.reason
    path = f"/approvals/{quote(item['id'], safe='')}/answer"
    context.print_result(context.caller.send_request("POST", path, body), "")
    return 0


def _find_pending(context: CommandContext, session_id: str) -> dict[str, Any] | None:
    pending = context.caller.send_request("GET", "/approvals")["approvals"]
    return next((item for item in pending if item["sessionId"] == session_id), None)


def _describe_item(item: Mapping[str, Any]) -> Iterator[str]:
    said = [str(item[name]) for name in ("toolName", "toolSummary", "message") if item.get(name)]
    yield ": ".join(said)
    if item.get("toolOther"):
        yield f"Not shown: {', '.join(item['toolOther'])}"
    if item.get("toolMissing"):
        yield f"Not shown: {item['toolMissing']} characters of the command"
    if item.get("complete") is False:
        yield "The details are incomplete: look at the terminal"
    if item.get("riskHint"):
        yield f"Hint: {item['riskHint']}"


def _format_options(item: Mapping[str, Any]) -> str:
    return ", ".join(f"{option['n']} {option['label']}" for option in item.get("options") or ())
