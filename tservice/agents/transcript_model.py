"""What the agents' own transcripts say: Claude Code's and Codex' lines, read one by one.  Pure.

Formats: C{tests/agents/FACTS.rst}.  Whatever a line lacks or holds beyond that is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve, frozen

from tservice.sessions.interfaces import TOKENS_MAX

TEXT_LIMIT = 256 * 1024
"""Characters kept of an answer, from its end."""
TITLE_LENGTH = 60

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_COMMAND = re.compile(r"\s*(?:<[a-z-]+>|\[Request interrupted|Caveat: )")


@frozen(kw_only=True)
class Message:
    """Something that one side said.

    @ivar role: C{user} or C{assistant}.
    @ivar timestamp: Unix milliseconds; C{None} where the line does not say.
    """

    role: str
    text: str
    timestamp: int | None = None


@frozen(kw_only=True)
class Tally:
    """What was found in a transcript so far.

    @ivar input: tokens sent, those from the cache included.
    @ivar cost: dollars, where the lines say so.
    @ivar context: tokens of the conversation as of the last answer.
    @ivar window: tokens that the model takes, where the lines say so.
    @ivar counted: the last message whose usage is in the sums, with the share that it has in them:
        one message takes several lines, each with the usage so far.
    @ivar response: the last answer; C{response_id} joins its lines.
    @ivar title: from the first prompt.
    """

    input: int = 0
    output: int = 0
    cost: float = 0.0
    context: int = 0
    window: int | None = None
    counted: tuple[str, int, int] = ("", 0, 0)
    response: str = ""
    response_id: str = ""
    response_at: int | None = None
    title: str | None = None
    conversation: str | None = None
    cwd: str | None = None

    @property
    def context_percentage(self) -> float | None:
        """How full the model's window is."""
        if not self.window:
            return None
        return min(100.0, round(100 * self.context / self.window, 1))


def entry(line: bytes) -> dict[str, Any] | None:
    """A line as JSON object; C{None} for anything else."""
    try:
        found = json.loads(line)
    except ValueError:
        # UnicodeDecodeError is one too; nesting without end is none, but no line is that long.
        return None
    except RecursionError:
        return None
    return found if isinstance(found, dict) else None


def advance(tally: Tally, mode: str, found: Mapping[str, Any]) -> Tally:
    """The tally after one more line of a session of C{mode}."""
    return _codex(tally, found) if mode == "codex" else _claude(tally, found)


def message_of(mode: str, found: Mapping[str, Any]) -> Message | None:
    """What the line says, if it is something that one side said."""
    if mode == "codex":
        role, text = _codex_said(found)
    else:
        role = found.get("type") if found.get("type") in ("user", "assistant") else None
        if found.get("isSidechain") is True or found.get("isMeta") is True:
            return None
        text = _text(_map(found.get("message")).get("content"))
        if role == "user" and text and _COMMAND.match(text):
            return None
    if role is None or not isinstance(text, str) or not text.strip():
        return None
    return Message(role=role, text=text[-TEXT_LIMIT:], timestamp=_time(found.get("timestamp")))


_CODEX_ROLES = {
    "user_message": "user",
    "agent_message": "assistant",
    "UserMessage": "user",
    "AgentMessage": "assistant",
}


def _codex_said(found: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Whose words an event of Codex holds, and the words.

    Codex 0.169 writes completed items; before, there was an event for each side.
    """
    if found.get("type") != "event_msg":
        return None, None
    payload = _map(found.get("payload"))
    if payload.get("type") == "item_completed":
        item = _map(payload.get("item"))
        return _CODEX_ROLES.get(str(item.get("type"))), _text(item.get("content"))
    return _CODEX_ROLES.get(str(payload.get("type"))), _string(payload.get("message"))


def _claude(tally: Tally, found: Mapping[str, Any]) -> Tally:
    if found.get("isSidechain") is True:
        return tally
    tally = evolve(
        tally,
        conversation=_id(found.get("sessionId")) or tally.conversation,
        cwd=_string(found.get("cwd")) or tally.cwd,
        cost=tally.cost + _number(found.get("costUSD")),
    )
    message = _map(found.get("message"))
    said = message_of("primary", found)
    if said is not None and said.role == "user":
        return evolve(tally, title=tally.title or title_of(said.text))
    if found.get("type") != "assistant":
        return tally
    name = str(message.get("id") or found.get("uuid") or "")
    if message.get("model") != "<synthetic>":
        tally = _counted(tally, name, _map(message.get("usage")))
    return tally if said is None else _answered(tally, name, said)


def _counted(tally: Tally, name: str, usage: Mapping[str, Any]) -> Tally:
    if not usage:
        return tally
    sent = sum(
        _count(usage.get(key))
        for key in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    made = _count(usage.get("output_tokens"))
    before, sent_before, made_before = tally.counted
    if before != name:
        sent_before = made_before = 0
    return evolve(
        tally,
        input=tally.input + sent - sent_before,
        output=tally.output + made - made_before,
        context=sent + made,
        counted=(name, sent, made),
    )


def _answered(tally: Tally, name: str, said: Message) -> Tally:
    joined = f"{tally.response}\n\n{said.text}" if name and name == tally.response_id else said.text
    return evolve(
        tally,
        response=joined[-TEXT_LIMIT:],
        response_id=name,
        response_at=said.timestamp or tally.response_at,
    )


def _codex(tally: Tally, found: Mapping[str, Any]) -> Tally:
    payload = _map(found.get("payload"))
    if found.get("type") == "session_meta":
        return evolve(
            tally,
            conversation=_id(payload.get("id")) or tally.conversation,
            cwd=_string(payload.get("cwd")) or tally.cwd,
        )
    if found.get("type") == "event_msg" and payload.get("type") == "token_count":
        return _codex_counted(tally, _map(payload.get("info")))
    said = message_of("codex", found)
    if said is None:
        return tally
    if said.role == "user":
        return evolve(tally, title=tally.title or title_of(said.text))
    return _answered(tally, "", said)


def _codex_counted(tally: Tally, info: Mapping[str, Any]) -> Tally:
    total, last = _map(info.get("total_token_usage")), _map(info.get("last_token_usage"))
    if not total:
        return tally
    sent, made = _count(total.get("input_tokens")), _count(total.get("output_tokens"))
    # Its sums are those of the conversation; what older conversations used is kept beside them.
    _, sent_before, made_before = tally.counted
    return evolve(
        tally,
        input=tally.input + sent - sent_before,
        output=tally.output + made - made_before,
        counted=("", sent, made),
        context=_count(last.get("total_tokens")) or tally.context,
        window=_count(info.get("model_context_window")) or tally.window,
    )


def next_conversation(tally: Tally) -> Tally:
    """What a new file begins with: the sums go on, all else is of the old one."""
    return Tally(input=tally.input, output=tally.output, cost=tally.cost)


def title_of(prompt: str) -> str | None:
    """A session's name from its first prompt; C{None} where it gives none (wire 1.1)."""
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    words = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    if not words or words.startswith(("/", "!")):
        return None
    if len(words) <= TITLE_LENGTH:
        return words
    cut = words[: TITLE_LENGTH - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    # Codex writes "Text" for an answer's block and "text" for a prompt's.
    texts = (block.get("text") for block in content if _map(block).get("type") in ("text", "Text"))
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _time(value: Any) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        return int(datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def _count(value: Any) -> int:
    known = isinstance(value, int) and not isinstance(value, bool)
    return max(0, min(value, TOKENS_MAX)) if known else 0


def _number(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and 0 <= value < 1e9 else 0.0
