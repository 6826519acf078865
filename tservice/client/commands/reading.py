"""C{read}, C{last}, C{tail}: print the output of sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tservice.client.commands.context import Context
from tservice.client.link.caller import session_path
from tservice.client.terminal.safe import safe_text


def read(context: Context) -> int:
    """Print the screen, and the history if requested."""
    words = context.words
    found = _terminal(context, context.session()["id"], words.full, words.lines)
    if words.json:
        context.shell.say_json(found)
        return 0
    lines = _lines(found["terminalBuffer"], words.ansi)
    _print(context, lines[-words.lines :] if words.lines else lines)
    return 0


def last(context: Context) -> int:
    """Print the agent's last answer."""
    path = session_path(context.session()["id"], "/last-response")
    found = context.caller.call("GET", path)
    context.show(found, safe_text(found["text"]))
    return 0


def tail(context: Context) -> int:
    """Print the last lines, and follow the stream if requested."""
    words = context.words
    session = context.session()
    found = _terminal(context, session["id"], False, words.lines)
    lines = _lines(found["terminalBuffer"], words.ansi)[-words.lines :]
    _print(context, lines)
    if words.follow and found["epoch"] is not None:
        _follow(context, session["id"], found)
    return 0


def _follow(context: Context, session_id: str, read: Mapping[str, Any]) -> None:
    from tservice.client.link.stream import Stream
    from tservice.client.terminal.follow import follow

    shell = context.shell
    stream = Stream(context.caller.address, session_id, read["epoch"], read["offset"])
    follow(stream, shell.out, shell.tell, shell.warn, ansi=context.words.ansi)


def _terminal(context: Context, session_id: str, full: bool, lines: int | None) -> dict[str, Any]:
    query = {"full": 1 if full or lines else None, "lines": lines}
    found: dict[str, Any] = context.caller.call(
        "GET", session_path(session_id, "/terminal"), query=query
    )
    if found.get("stale"):
        context.shell.warn(_stale(found.get("staleAt")))
    return found


def _stale(at: int | None) -> str:
    if at is None:
        return "the session's host is unreachable, and its screen is unknown"
    when = datetime.fromtimestamp(at / 1000, UTC).astimezone()
    return f"the session's host is unreachable: this is its screen of {when:%Y-%m-%d %H:%M:%S}"


def _lines(buffer: str, ansi: bool) -> list[str]:
    """Return the lines without the empty end of the screen and the cursor movement back."""
    text = buffer.replace("\r\n", "\n") if ansi else safe_text(buffer.replace("\r", ""))
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _print(context: Context, lines: Sequence[str]) -> None:
    if any(lines):
        context.shell.say("\n".join(lines))
