"""Content of the agents' own transcripts, and helper functions that their formats share.

C{tests/agents/FACTS.rst} describes the formats. Missing and additional values in a line are
ignored. This module does no I/O.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve, field, frozen

from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage
from tservice.core.values.numbers import TOKENS_MAX
from tservice.core.values.text import JOINERS, shorten_text
from tservice.core.values.value_limits import exceeds_value_limit
from tservice.terminal.model_name import sanitize_text

TEXT_LIMIT = 256 * 1024
"""Maximum characters of an answer that are kept, from its end."""
TITLE_LENGTH = 40
NAME_CHARS = 4096
"""Maximum characters of a name, a path, or an error text."""
LINE_VALUES = 50_000
"""Maximum number of values and names in a line; parsing more would block other threads."""
ListedTodos = tuple[tuple[str, str], ...]
"""Text and status of each to-do."""

SUMMARY_LENGTH = 160
"""Maximum characters of the line that summarizes an answer."""
_SUMMARY_READ = 16 * 1024
"""Maximum characters at the end of an answer that are searched for that line."""
_MARKUP = re.compile(r"^\s*(?:[-*+>#]+|\d+[.)])\s+|\*\*|`")
_WORD = re.compile(r"[^\W_]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@frozen(kw_only=True)
class TranscriptMessage:
    """Message of the user or the agent.

    @ivar role: C{user} or C{assistant}.
    @ivar timestamp: Unix milliseconds; C{None} if the line has no time.
    """

    role: str
    text: str
    timestamp: int | None = None


def _truncate_text(text: str) -> str:
    return text[:NAME_CHARS]


@frozen(kw_only=True)
class TurnFailure:
    """Failure of a turn that the agent itself recorded.

    @ivar at: Unix milliseconds; C{None} if the line has no time.
    """

    text: str = field(converter=_truncate_text)
    at: int | None = None


@frozen(kw_only=True)
class TranscriptTally:
    """Summary of a transcript up to some line, without the usage of its messages.

    @ivar model: the model of the last answer.
    @ivar context: tokens of the conversation as of the last answer.
    @ivar window: tokens that the model accepts; C{None} if the lines do not contain it.
    @ivar parent: id of the conversation whose subagent wrote this one; C{None} without one.
    @ivar began: start time of the transcript's file, for agents whose forks begin with copies.
    @ivar turn: id of the turn to which the next total belongs, for agents that report totals.
    @ivar sum: the total before that turn, for agents that report totals.
    @ivar response: text of the last answer.
    @ivar response_id: id of the last answer's message, which joins its lines.
    @ivar title: title made from the first prompt.
    @ivar prompts: number of prompts.
    @ivar first_at: time of the first prompt, in Unix milliseconds.
    @ivar prompted_at: time of the last prompt, in Unix milliseconds.
    @ivar failure: failure of the last turn; C{None} if it did not fail.
    @ivar todos: the to-do list that the agent last passed to its tool.
    @ivar repeated_at: time of the last message that the agent wrote again, as a part of the whole
        conversation; C{None} if the last line was new.
    @ivar planned: id of a tool call and its to-do list, which the tool has not confirmed yet;
        C{None} without one.
    """

    context: int = 0
    window: int | None = None
    parent: str | None = None
    began: int | None = None
    turn: str = ""
    sum: ModelUsage | None = None
    model: str | None = None
    response: str = ""
    response_id: str = ""
    response_at: int | None = None
    title: str | None = None
    prompts: int = 0
    first_at: int | None = None
    prompted_at: int | None = None
    conversation: str | None = None
    cwd: str | None = None
    failure: TurnFailure | None = None
    todos: ListedTodos = ()
    repeated_at: int | None = None
    planned: tuple[str, ListedTodos] | None = None

    @property
    def has_ended(self) -> bool:
        """True if the last turn has an answer or a failure."""
        return self.response != "" or self.failure is not None


def decode_tally(kept: Mapping[str, Any]) -> TranscriptTally | None:
    """Return a tally from its stored JSON; C{None} if another version of the service stored it.

    @param kept: the parsed JSON.
    """
    fields = dict(kept)
    try:
        failure = fields.pop("failure", None)
        before = fields.pop("sum")
        fields["sum"] = None if before is None else ModelUsage(**before)
        fields["todos"] = _decode_todos(fields.get("todos", ()))
        name, planned = fields.get("planned") or (None, ())
        fields["planned"] = name and (name, _decode_todos(planned))
        return TranscriptTally(
            **fields, failure=None if failure is None else TurnFailure(**failure)
        )
    except (KeyError, TypeError, ValueError):
        return None


def _decode_todos(known: Sequence[Sequence[str]]) -> ListedTodos:
    return tuple((text, status) for text, status in known)


@frozen(kw_only=True)
class ReadPosition:
    """Position up to which a transcript was read.

    @ivar inode: inode of the file, which distinguishes it from another file of the same name.
    @ivar position: offset of the first unread line, in bytes.
    @ivar changed_at: last change of the file when it was read, in Unix milliseconds; only for files
        other than the session's conversation.
    @ivar ended: the end of the file was reached.
    @ivar used: usage of the messages in the last part read, by their names.
    """

    path: str
    inode: int = 0
    position: int = 0
    changed_at: int = 0
    tally: TranscriptTally = field(factory=TranscriptTally)
    ended: bool = True
    used: Mapping[str, MessageUsage] = field(factory=dict, eq=False)


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Parse a line as a JSON object.

    The result is C{None} for anything else, and for more than L{LINE_VALUES} values.
    """
    if exceeds_value_limit(line, LINE_VALUES):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        # UnicodeDecodeError is a ValueError. Endless nesting is not, but no line is that long.
        return None
    except RecursionError:
        return None
    return found if isinstance(found, dict) else None


def add_prompt(tally: TranscriptTally, said: TranscriptMessage) -> TranscriptTally:
    """Return the tally after a prompt of the user, which clears the failure."""
    return evolve(
        tally,
        title=tally.title or make_title(said.text),
        prompts=tally.prompts + 1,
        first_at=tally.first_at or said.timestamp,
        prompted_at=said.timestamp or tally.prompted_at,
        failure=None,
    )


def add_answer(tally: TranscriptTally, name: str, said: TranscriptMessage) -> TranscriptTally:
    """Return the tally after a message of the agent.

    @param name: id of the message; lines with the same id are joined. C{""} if each line is a
        separate message.
    """
    joined = f"{tally.response}\n\n{said.text}" if name and name == tally.response_id else said.text
    return evolve(
        tally,
        response=joined[-TEXT_LIMIT:],
        response_id=name,
        response_at=said.timestamp or tally.response_at,
    )


def summarize_answer(answer: str) -> str | None:
    """Return the end of an answer as one line: its last line with words, or the last sentence of a
    long one.  The result is C{None} without words.

    The mark of a list or heading at the start of the line is left out.
    """
    lines = (_MARKUP.sub("", line) for line in reversed(answer[-_SUMMARY_READ:].splitlines()))
    line = next((line for line in lines if _WORD.search(line)), "")
    if len(line) > SUMMARY_LENGTH:
        line = _SENTENCE_END.split(line.rstrip())[-1]
    return sanitize_text(line, SUMMARY_LENGTH)


def make_title(prompt: str) -> str | None:
    """Return a session's title from its first prompt; C{None} if the prompt is unsuitable
    (protocol-session).
    """
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    words = " ".join("".join(c if c.isprintable() or c in JOINERS else " " for c in line).split())
    if not words or words.startswith(("/", "!")):
        return None
    return shorten_text(words, TITLE_LENGTH)


def join_text_blocks(content: Any) -> str:
    """Return the text of a message's content, whose blocks are joined by an empty line."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    # Codex writes "Text" for an answer's block and "text" for a prompt's; Gemini CLI writes no
    # type.
    kinds = ("text", "Text", None)
    texts = (
        block.get("text")
        for block in map(get_object_or_empty, content)
        if block.get("type") in kinds
    )
    return "\n\n".join(text for text in texts if isinstance(text, str))


def parse_iso_time(value: Any) -> int | None:
    """Return an ISO time as Unix milliseconds; C{None} for any other value."""
    if not isinstance(value, str):
        return None
    try:
        return int(datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def get_object_or_empty(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a JSON object, otherwise an empty one."""
    return value if isinstance(value, Mapping) else {}


def get_text_or_none(value: Any) -> str | None:
    """Return the value if it is a text that is not empty, otherwise C{None}."""
    return value if isinstance(value, str) and value else None


def get_name_or_none(value: Any) -> str | None:
    """Return the value if it is a text of at most L{NAME_CHARS} characters, otherwise C{None}."""
    return value if isinstance(value, str) and 0 < len(value) <= NAME_CHARS else None


def get_safe_id_or_none(value: Any) -> str | None:
    """Return a conversation id that is safe on a command line; C{None} for any other value."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def get_token_count(value: Any) -> int:
    """Return a number of tokens, limited to its valid range; 0 for any other value."""
    known = isinstance(value, int) and not isinstance(value, bool)
    return max(0, min(value, TOKENS_MAX)) if known else 0


def get_dollar_amount(value: Any) -> float:
    """Return the value if it is a valid amount of dollars, otherwise 0."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and 0 <= value < 1e9 else 0.0
