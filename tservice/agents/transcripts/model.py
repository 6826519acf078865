"""What is found in the agents' own transcripts, and what their formats share.  Pure.

Formats: C{tests/agents/FACTS.rst}.  Whatever a line lacks or holds beyond that is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import evolve, field, frozen

from tservice.agents.transcripts.usage.record import MessageUsage, Usage
from tservice.core.crowd import is_crowd
from tservice.core.numbers import TOKENS_MAX
from tservice.core.text import JOINERS, shorten

TEXT_LIMIT = 256 * 1024
"""Characters kept of an answer, from its end."""
TITLE_LENGTH = 60
NAME_CHARS = 4096
"""Characters of a name or a path, and of an error."""
LINE_VALUES = 50_000
"""Values and names of a line; a crowd of them would hold up everybody while it is parsed."""
ListedTodos = tuple[tuple[str, str], ...]
"""The words of each, and how far it is."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@frozen(kw_only=True)
class Message:
    """Something that one side said.

    @ivar role: C{user} or C{assistant}.
    @ivar timestamp: Unix milliseconds; C{None} where the line does not say.
    """

    role: str
    text: str
    timestamp: int | None = None


def _short(text: str) -> str:
    return text[:NAME_CHARS]


@frozen(kw_only=True)
class Failure:
    """A turn that the agent itself recorded as failed.

    @ivar at: Unix milliseconds; C{None} where the line does not say.
    """

    text: str = field(converter=_short)
    at: int | None = None


@frozen(kw_only=True)
class Tally:
    """What was found in a transcript so far, but for what its messages used.

    @ivar model: of the last answer.
    @ivar context: tokens of the conversation as of the last answer.
    @ivar window: tokens that the model takes, where the lines say so.
    @ivar parent: the conversation that this one is a subagent's of.
    @ivar began: when its file began, of agents whose forks begin with copies.
    @ivar turn: of agents that tell sums, the turn that the next one is about, and C{sum} the one
        before it.
    @ivar response: the last answer; C{response_id} joins its lines.
    @ivar title: from the first prompt, which was given at C{first_at}; the last one at
        C{prompted_at}; C{prompts} counts them.
    @ivar failure: how the last turn failed; C{None} where it did not.
    @ivar todos: the agent's to-do list, as its tool was told it last.
    @ivar planned: a list that its tool was given and did not answer yet, under the call's name.
    """

    context: int = 0
    window: int | None = None
    parent: str | None = None
    began: int | None = None
    turn: str = ""
    sum: Usage | None = None
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
    failure: Failure | None = None
    todos: ListedTodos = ()
    planned: tuple[str, ListedTodos] | None = None

    @property
    def ended(self) -> bool:
        """Whether the agent answered or failed."""
        return self.response != "" or self.failure is not None


def tally_of(kept: Mapping[str, Any]) -> Tally | None:
    """A tally that was kept as JSON; C{None} for one of another version of the service."""
    fields = dict(kept)
    try:
        failure = fields.pop("failure", None)
        before = fields.pop("sum")
        fields["sum"] = None if before is None else Usage(**before)
        fields["todos"] = _todos_of(fields.get("todos", ()))
        name, planned = fields.get("planned") or (None, ())
        fields["planned"] = name and (name, _todos_of(planned))
        return Tally(**fields, failure=None if failure is None else Failure(**failure))
    except (KeyError, TypeError, ValueError):
        return None


def _todos_of(known: Sequence[Sequence[str]]) -> ListedTodos:
    return tuple((text, status) for text, status in known)


@frozen(kw_only=True)
class ReadPosition:
    """How far a transcript was read.

    @ivar inode: tells a file from another one of the same name.
    @ivar position: the start of the first line that was not read.
    @ivar changed_at: when the file had changed last by then, in Unix milliseconds, of one that is
        not the session's conversation.
    @ivar ended: there was nothing more.
    @ivar used: what messages used by what was read last, by their names.
    """

    path: str
    inode: int = 0
    position: int = 0
    changed_at: int = 0
    tally: Tally = field(factory=Tally)
    ended: bool = True
    used: Mapping[str, MessageUsage] = field(factory=dict, eq=False)


def entry(line: bytes) -> dict[str, Any] | None:
    """A line as JSON object; C{None} for anything else, also one of more than L{LINE_VALUES}."""
    if is_crowd(line, LINE_VALUES):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        # UnicodeDecodeError is one too; nesting without end is none, but no line is that long.
        return None
    except RecursionError:
        return None
    return found if isinstance(found, dict) else None


def prompted(tally: Tally, said: Message) -> Tally:
    """Somebody gave a prompt: whatever failed is past."""
    return evolve(
        tally,
        title=tally.title or title_of(said.text),
        prompts=tally.prompts + 1,
        first_at=tally.first_at or said.timestamp,
        prompted_at=said.timestamp or tally.prompted_at,
        failure=None,
    )


def answered(tally: Tally, name: str, said: Message) -> Tally:
    """The agent said something.

    @param name: of its message, whose lines are joined; C{""}: each is one of its own.
    """
    joined = f"{tally.response}\n\n{said.text}" if name and name == tally.response_id else said.text
    return evolve(
        tally,
        response=joined[-TEXT_LIMIT:],
        response_id=name,
        response_at=said.timestamp or tally.response_at,
    )


def title_of(prompt: str) -> str | None:
    """A session's name from its first prompt; C{None} where it gives none (protocol-session)."""
    line = next((line for line in prompt.splitlines() if line.strip()), "")
    words = " ".join("".join(c if c.isprintable() or c in JOINERS else " " for c in line).split())
    if not words or words.startswith(("/", "!")):
        return None
    return shorten(words, TITLE_LENGTH)


def as_text(content: Any) -> str:
    """The text of a message's content, blocks joined by an empty line."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    # Codex writes "Text" for an answer's block and "text" for a prompt's, Gemini CLI no type.
    kinds = ("text", "Text", None)
    texts = (block.get("text") for block in map(as_map, content) if block.get("type") in kinds)
    return "\n\n".join(text for text in texts if isinstance(text, str))


def as_time(value: Any) -> int | None:
    """A time as Unix milliseconds, from its ISO form."""
    if not isinstance(value, str):
        return None
    try:
        return int(datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def as_map(value: Any) -> Mapping[str, Any]:
    """A JSON object; an empty one for anything else, as for the others below."""
    return value if isinstance(value, Mapping) else {}


def as_string(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def as_name(value: Any) -> str | None:
    """A name or a path of at most L{NAME_CHARS}: what is kept of a conversation for good."""
    return value if isinstance(value, str) and 0 < len(value) <= NAME_CHARS else None


def as_id(value: Any) -> str | None:
    """A conversation's id, fit for a command line."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def as_count(value: Any) -> int:
    """A number of tokens."""
    known = isinstance(value, int) and not isinstance(value, bool)
    return max(0, min(value, TOKENS_MAX)) if known else 0


def as_number(value: Any) -> float:
    """A sum of dollars."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known and 0 <= value < 1e9 else 0.0
