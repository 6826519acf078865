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
MODELS = 20
"""Models whose tokens are told apart; the tokens of further ones have no price."""

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
class Usage:
    """Tokens of one model, by what they cost.

    @ivar input: sent, those from and into the cache aside.
    """

    model: str
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def sent(self) -> int:
        """Tokens sent, from whereever they came."""
        return self.input + self.cache_read + self.cache_write

    def less(self, other: Usage) -> Usage:
        """What is left of it without C{other}."""
        return self._with(other, -1)

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return self._with(other, 1)

    def _with(self, other: Usage, sign: int) -> Usage:
        return Usage(
            model=self.model,
            input=self.input + sign * other.input,
            cache_read=self.cache_read + sign * other.cache_read,
            cache_write=self.cache_write + sign * other.cache_write,
            output=self.output + sign * other.output,
        )


@frozen(kw_only=True)
class Tally:
    """What was found in a transcript so far.

    @ivar input: tokens sent, those from the cache included.
    @ivar cost: dollars, where the lines say so.
    @ivar usage: the same tokens by model, so that they can be priced; at most L{MODELS}.
    @ivar model: of the last answer.
    @ivar context: tokens of the conversation as of the last answer.
    @ivar window: tokens that the model takes, where the lines say so.
    @ivar counted: the last message whose usage is in the sums, C{share} and C{share_cost} what it
        has in them: one message takes several lines, each with the usage so far.
    @ivar response: the last answer; C{response_id} joins its lines.
    @ivar title: from the first prompt, which was given at C{first_at}; the last one at
        C{prompted_at}; C{prompts} counts them.
    @ivar failure: how the last turn failed; C{None} where it did not.
    @ivar todos: the agent's to-do list, as its tool was told it last.
    @ivar planned: a list that its tool was given and did not answer yet, under the call's name.
    """

    input: int = 0
    output: int = 0
    cost: float = 0.0
    context: int = 0
    window: int | None = None
    counted: str = ""
    share: Usage = Usage(model="")
    share_cost: float = 0.0
    usage: tuple[Usage, ...] = ()
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
        fields["share"] = Usage(**fields["share"])
        fields["usage"] = tuple(Usage(**each) for each in fields["usage"])
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
    @ivar ended: there was nothing more.
    """

    path: str
    inode: int = 0
    position: int = 0
    tally: Tally = field(factory=Tally)
    ended: bool = True


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


def counted(tally: Tally, name: str, used: Usage) -> Tally:
    """A message used tokens; told again, it counts once, with what it was told last.

    @param name: of the message, or of the conversation where its lines tell sums.
    """
    before = tally.share if tally.counted == name else Usage(model=used.model)
    more = used.less(before)
    return evolve(
        tally,
        input=tally.input + more.sent,
        output=tally.output + more.output,
        usage=_added(tally.usage, more),
        model=used.model or tally.model,
        counted=name,
        share=used,
    )


def _added(usage: tuple[Usage, ...], more: Usage) -> tuple[Usage, ...]:
    known = {each.model: each for each in usage}
    name = more.model if more.model in known or len(known) < MODELS else ""
    before = known.get(name, Usage(model=name))
    known[name] = before.plus(more)
    return tuple(known.values())


def next_conversation(tally: Tally) -> Tally:
    """What a new file begins with: the sums go on, all else is of the old one."""
    return Tally(input=tally.input, output=tally.output, cost=tally.cost, usage=tally.usage)


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
