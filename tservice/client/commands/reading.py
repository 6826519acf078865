"""C{read}, C{last}, C{tail}: print the output of sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tservice.client.commands.context import CommandContext
from tservice.client.link.caller import build_session_path
from tservice.client.terminal.safe import safe_text


def read(context: CommandContext) -> int:
    """Print the screen of a session, and its history if requested."""
    words = context.words
    found = _fetch_terminal(context, context.find_session()["id"], words.full, words.lines)
    if words.json:
        context.shell.print_json(found)
        return 0
    lines = _split_lines(found["terminalBuffer"], words.ansi)
    _print_lines(context, lines[-words.lines :] if words.lines else lines)
    return 0


def last(context: CommandContext) -> int:
    """Print the last answer of a session's agent."""
    path = build_session_path(context.find_session()["id"], "/last-response")
    found = context.caller.send_request("GET", path)
    context.print_result(found, safe_text(found["text"]))
    return 0


def tail(context: CommandContext) -> int:
    """Print the last lines of a session's output, and new output if requested."""
    words = context.words
    session = context.find_session()
    found = _fetch_terminal(context, session["id"], False, words.lines)
    lines = _split_lines(found["terminalBuffer"], words.ansi)[-words.lines :]
    _print_lines(context, lines)
    if words.follow and found["epoch"] is not None:
        _follow_output(context, session["id"], found)
    return 0


def _follow_output(context: CommandContext, session_id: str, read: Mapping[str, Any]) -> None:
    from tservice.client.link.stream import TerminalConnection
    from tservice.client.terminal.follow import follow_stream

    shell = context.shell
    stream = TerminalConnection(context.caller.address, session_id, read["epoch"], read["offset"])
    follow_stream(
        stream, shell.out, shell.print_progress, shell.print_warning, ansi=context.words.ansi
    )


def _fetch_terminal(
    context: CommandContext, session_id: str, full: bool, lines: int | None
) -> dict[str, Any]:
    query = {"full": 1 if full or lines else None, "lines": lines}
    found: dict[str, Any] = context.caller.send_request(
        "GET", build_session_path(session_id, "/terminal"), query=query
    )
    if found.get("stale"):
        context.shell.print_warning(_describe_age_of_screen(found.get("staleAt")))
    return found


def _describe_age_of_screen(at: int | None) -> str:
    if at is None:
        return "the session's host is unreachable, and its screen is unknown"
    when = datetime.fromtimestamp(at / 1000, UTC).astimezone()
    return f"the session's host is unreachable: this is its screen of {when:%Y-%m-%d %H:%M:%S}"


def _split_lines(buffer: str, ansi: bool) -> list[str]:
    """Split a terminal's contents into lines.

    The empty end of the screen, and the final sequence that moves the cursor back, are removed.

    @param ansi: true if C{buffer} contains escape sequences.
    """
    text = buffer.replace("\r\n", "\n") if ansi else safe_text(buffer.replace("\r", ""))
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _print_lines(context: CommandContext, lines: Sequence[str]) -> None:
    if any(lines):
        context.shell.print_line("\n".join(lines))
