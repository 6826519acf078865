"""Content of the agents' own transcripts, and helpers that their formats share. Pure.

Formats: C{tests/agents/FACTS.rst}. Missing and additional values in a line are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve, field, frozen

from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage
from tservice.core.numbers import TOKENS_MAX
from tservice.core.text import JOINERS, shorten_text
from tservice.core.value_limits import exceeds_value_limit

TEXT_LIMIT = 256 * 1024
"""Characters kept of an answer, from its end."""
TITLE_LENGTH = 60
NAME_CHARS = 4096
"""Maximum characters of a name or a path, and of an error."""
LINE_VALUES = 50_000
"""Maximum number of values and names in a line; parsing more would block other threads."""
ListedTodos = tuple[tuple[str, str], ...]
"""Text and status of each to-do."""

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
    """Turn that the agent itself recorded as failed.

    @ivar at: Unix milliseconds; C{None} if the line has no time.
    """

    text: str = field(converter=_truncate_text)
    at: int | None = None


@frozen(kw_only=True)
class TranscriptTally:
    """Summary of a transcript so far, without the usage of its messages.

    @ivar model: the model of the last answer.
    @ivar context: tokens of the conversation as of the last answer.
    @ivar window: tokens that the model accepts, if the lines contain it.
    @ivar parent: the conversation whose subagent this one belongs to.
    @ivar began: start time of its file, for agents whose forks begin with copies.
    @ivar turn: for agents that report totals, the turn of the next total; C{sum}: the total before
        it.
    @ivar response: the last answer; C{response_id} joins its lines.
    @ivar title: from the first prompt, which was given at C{first_at}; the last one at
        C{prompted_at}; C{prompts} counts them.
    @ivar failure: failure of the last turn; C{None} if it did not fail.
    @ivar todos: the agent's to-do list, as last given to its tool.
    @ivar planned: a list that its tool was given and has not confirmed yet, with the call's name.
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
    planned: tuple[str, ListedTodos] | None = None

    @property
    def has_ended(self) -> bool:
        """True if the agent answered or failed."""
        return self.response != "" or self.failure is not None


def decode_tally(kept: Mapping[str, Any]) -> TranscriptTally | None:
    """Return a tally from its stored JSON; C{None} if another version of the service stored it."""
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

    @ivar inode: distinguishes a file from another one of the same name.
    @ivar position: the start of the first unread line.
    @ivar changed_at: the file's last change by then, in Unix milliseconds, for a file that is not
        the session's conversation.
    @ivar ended: the end was reached.
    @ivar used: usage of messages in the last part read, by their names.
    """

    path: str
    inode: int = 0
    position: int = 0
    changed_at: int = 0
    tally: TranscriptTally = field(factory=TranscriptTally)
    ended: bool = True
    used: Mapping[str, MessageUsage] = field(factory=dict, eq=False)


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Parse a line as a JSON object; return C{None} for anything else, and for more than
    L{LINE_VALUES}.
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
    """Return the tally after a prompt, which clears the failure."""
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

    @param name: id of the message, whose lines are joined; C{""} if each line is a separate one.
    """
    joined = f"{tally.response}\n\n{said.text}" if name and name == tally.response_id else said.text
    return evolve(
        tally,
        response=joined[-TEXT_LIMIT:],
        response_id=name,
        response_at=said.timestamp or tally.response_at,
    )


def make_title(prompt: str) -> str | None:
    """Return a session's name from its first prompt; C{None} if the prompt is unsuitable
    (protocol-session).
    """
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    words = " ".join("".join(c if c.isprintable() or c in JOINERS else " " for c in line).split())
    if not words or words.startswith(("/", "!")):
        return None
    return shorten_text(words, TITLE_LENGTH)


def as_text(content: Any) -> str:
    """Return the text of a message's content, with blocks joined by an empty line."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    # Codex writes "Text" for an answer's block and "text" for a prompt's; Gemini CLI writes no
    # type.
    kinds = ("text", "Text", None)
    texts = (block.get("text") for block in map(as_map, content) if block.get("type") in kinds)
    return "\n\n".join(text for text in texts if isinstance(text, str))


def as_time(value: Any) -> int | None:
    """Convert a time from its ISO form to Unix milliseconds."""
    if not isinstance(value, str):
        return None
    try:
        return int(datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def as_map(value: Any) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for any other value. The functions below do likewise."""
    return value if isinstance(value, Mapping) else {}


def as_string(value: Any) -> str | None:
    """Return a text that is not empty."""
    return value if isinstance(value, str) and value else None


def as_name(value: Any) -> str | None:
    """Return a name or a path of at most L{NAME_CHARS}, which is stored with a conversation."""
    return value if isinstance(value, str) and 0 < len(value) <= NAME_CHARS else None


def as_id(value: Any) -> str | None:
    """Return a conversation's id that is safe on a command line."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def as_count(value: Any) -> int:
    """Return a number of tokens."""
    known = isinstance(value, int) and not isinstance(value, bool)
    return max(0, min(value, TOKENS_MAX)) if known else 0


def as_number(value: Any) -> float:
    """Return an amount of dollars."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and 0 <= value < 1e9 else 0.0
