"""C{send} and C{wait}: type prompts, and wait for the signals that end their turns (protocol-input,
protocol-waits).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tservice.client.commands.context import CommandContext
from tservice.client.errors import Unusable
from tservice.client.link.caller import ResponseLost, build_session_path
from tservice.client.link.naming import pick_record
from tservice.client.shell import BROKEN
from tservice.client.terminal.safe import safe_line
from tservice.client.wait_limits import LONGEST_MS

TRIES = 3
"""Number of times that a prompt is sent if responses are lost. The service types it only once."""


class InputSpec(NamedTuple):
    """Text to type into a session.

    @ivar until: signals to wait for. Empty means the service's default, and C{None} means no wait.
    @ivar raw: true to type exactly these characters, without Enter.
    """

    text: str
    until: str | None = None
    raw: bool = False


def send(context: CommandContext) -> int:
    """Type text into a session. With C{--wait}, print the signal that ends the turn."""
    words = context.words
    session = context.find_session()
    text = _read_text(context)
    found = deliver_input(
        context, session["id"], InputSpec(text=text, until=words.wait, raw=words.raw)
    )
    context.print_result(found, found.get("signal") or "")
    return BROKEN if words.wait is not None and not found.get("signal") else 0


def wait(context: CommandContext) -> int:
    """Wait for sessions and print their signals. With several sessions, each line begins with the
    id.
    """
    words = context.words
    known = context.fetch_sessions()
    ids = [pick_record(known, word, "session")["id"] for word in words.session]
    ids = list(dict.fromkeys(ids))
    context.shell.print_progress(f"waiting for {', '.join(ids)}")
    if len(ids) == 1:
        found = {ids[0]: wait_for_one(context, ids[0], words.until or "").get("signal")}
    else:
        found = _wait_for_many(context, ids)
    _show_signals(context, found)
    came = [signal for signal in found.values() if signal]
    return 0 if len(came) >= (len(ids) if words.all else 1) else BROKEN


def deliver_input(context: CommandContext, session_id: str, typing: InputSpec) -> dict[str, Any]:
    """Type a prompt exactly once, and wait for a signal if requested.

    @return: the service's response, with C{signal} if the wait ended with one.
    """
    budget = context.words.timeout * 1000
    body: dict[str, Any] = {
        "input": typing.text,
        "useMux": not typing.raw,
        "clientId": f"tsctl-{uuid.uuid4().hex}",
        "seq": 1,
    }
    wait_ms = 0
    if typing.until is not None:
        wait_ms = min(budget, LONGEST_MS)
        body |= {"wait": typing.until or True, "waitTimeout": wait_ms}
    path = build_session_path(session_id, "/input")
    for turn in range(TRIES):
        try:
            found: dict[str, Any] = context.caller.send_request("POST", path, body, wait_ms=wait_ms)
            break
        except ResponseLost:
            if turn == TRIES - 1:
                raise
    if found.get("dropped"):
        raise Unusable("the session's host is offline and its buffer is full; nothing was typed")
    if typing.until is None:
        return found
    signal = _get_signal(found)
    if signal is None and budget > wait_ms:
        return _wait_for_signal(context, session_id, typing.until, budget - wait_ms)
    return {**found, "signal": signal}


def wait_for_one(context: CommandContext, session_id: str, until: str) -> dict[str, Any]:
    """Wait for a signal, at most for the time in C{--timeout}.

    @return: the service's response. Its C{signal} is C{None} if there was no signal in time.
    """
    return _wait_for_signal(context, session_id, until, context.words.timeout * 1000)


def _wait_for_signal(
    context: CommandContext, session_id: str, until: str, budget: int
) -> dict[str, Any]:
    fresh = 1 if getattr(context.words, "fresh", False) else None
    path = build_session_path(session_id, "/wait")
    while True:
        part = min(budget, LONGEST_MS)
        query = {"until": until or None, "timeout": part, "fresh": fresh}
        found: dict[str, Any] = context.caller.send_request("GET", path, query=query, wait_ms=part)
        signal = _get_signal(found)
        budget -= part
        if signal is not None or budget <= 0:
            return {**found, "signal": signal}


def _wait_for_many(context: CommandContext, ids: Sequence[str]) -> dict[str, str | None]:
    words = context.words
    found: dict[str, str | None] = dict.fromkeys(ids)
    budget = words.timeout * 1000
    while budget > 0:
        part = min(budget, LONGEST_MS)
        query = {
            "sessions": ",".join(one for one in ids if found[one] is None),
            "mode": "all" if words.all else "any",
            "until": words.until,
            "timeout": part,
            "fresh": 1 if words.fresh else None,
        }
        answer = context.caller.send_request("GET", "/waits", query=query, wait_ms=part)
        found |= answer["signals"]
        came = [one for one in ids if found[one] is not None]
        if len(came) == len(ids) or (came and not words.all):
            break
        budget -= part
    return found


def _get_signal(answer: Mapping[str, Any]) -> str | None:
    """Return the signal in a response. A session that was removed during the wait counts as
    exited.
    """
    state = answer["wait"]
    found: str | None = state.get("signal")
    return "exit" if found is None and state.get("ended") else found


def _show_signals(context: CommandContext, found: Mapping[str, str | None]) -> None:
    if context.words.json:
        context.shell.print_json({"signals": found})
        return
    came = {one: signal for one, signal in found.items() if signal}
    for one, signal in came.items():
        context.shell.print_line(safe_line(signal if len(found) == 1 else f"{one} {signal}"))
    if not came:
        context.shell.print_progress("timed out")


def _read_text(context: CommandContext) -> str:
    text: str | None = context.words.text
    if text is not None and text != "-":
        return text
    if text is None and context.shell.input.isatty():
        raise Unusable("TEXT is missing, and stdin is a terminal")
    return context.shell.input.read().removesuffix("\n")
