"""Items of a conversation, in one form for all agents.

This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import evolve, frozen

from tservice.agents.transcripts.model import ListedTodos

SHOWN_CHARS = 64 * 1024
"""Characters of a text, an input or an output in a list of items; the item alone has more."""
WHOLE_CHARS = 2 * 1024 * 1024
"""Characters of a text, an input or an output of an item that is requested alone."""
TITLE_CHARS = 200
NAME_CHARS = 200
PATH_CHARS = 4096
INPUT_DEPTH = 8
INPUT_VALUES = 500
"""Maximum values in a tool's input; further ones are left out."""
HUNK_LINES = 2_000
"""Maximum lines of a difference in a list of items."""
ATTACHMENTS = 20
ATTACHED_CHARS = 8 * 1024 * 1024
"""Maximum characters of an encoded image; the data of a longer one are left out."""


class ItemKind(StrEnum):
    """Kind of an item."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"
    TODO = "todo"
    QUESTION = "question"
    NOTICE = "notice"
    ERROR = "error"
    COMPACTION = "compaction"


class ItemRole(StrEnum):
    """Author of an item; the agent's program is C{SYSTEM}."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class ToolStatus(StrEnum):
    """State of a tool's call."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"


class PromptState(StrEnum):
    """State of a prompt that waited in the agent's queue."""

    QUEUED = "queued"
    SENT = "sent"
    WITHDRAWN = "withdrawn"


@frozen(kw_only=True)
class DiffHunk:
    """Changed part of a file.

    @ivar lines: each begins with a blank, C{+} or C{-}.
    """

    old_start: int
    new_start: int
    lines: tuple[str, ...]


@frozen(kw_only=True)
class FileDiff:
    """Change of one file.

    @ivar added: number of added lines in all hunks, also in those that are cut.
    """

    path: str
    added: int
    removed: int
    hunks: tuple[DiffHunk, ...] = ()


@frozen(kw_only=True)
class ToolCall:
    """Call of a tool and its result.

    @ivar name: the agent's own name of the tool.
    @ivar title: one line for people, such as C{Edit src/a.py}.
    @ivar branch: id of the sub-agent's conversation that the call began; C{None} without one.
    """

    name: str
    title: str
    input: Mapping[str, Any]
    status: ToolStatus = ToolStatus.RUNNING
    output: str | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    diffs: tuple[FileDiff, ...] = ()
    branch: str | None = None


@frozen(kw_only=True)
class ItemTokens:
    """Tokens of the model's answer that an item begins.

    @ivar input: tokens sent, without those of the cache.
    """

    input: int
    output: int
    cache_read: int
    cache_write: int


@frozen(kw_only=True)
class ItemAttachment:
    """Image in a prompt or in a tool's result.

    @ivar data: the image in base64; only if the item was requested alone.
    """

    media_type: str
    data: str | None = None


@frozen(kw_only=True)
class ConversationItem:
    """Prompt, answer, thought, tool call or notice.

    @ivar id: id in its conversation, which a restart of the service does not change.
    @ivar order: position in its conversation.
    @ivar at: Unix milliseconds; C{None} if the agent does not record it.
    @ivar turn: id of the prompt that began the turn; C{None} before the first prompt.
    @ivar parent_id: id of the tool call whose sub-agent wrote the item.
    @ivar state: state of a prompt that waited in the queue; C{None} for others.
    @ivar todos: the list, for a call of the agent's tool for to-dos.
    @ivar cut: true if a text, input, output or difference is not complete.
    """

    role: ItemRole
    kind: ItemKind
    id: str = ""
    order: int = 0
    at: int | None = None
    turn: str | None = None
    text: str | None = None
    tool: ToolCall | None = None
    parent_id: str | None = None
    model: str | None = None
    tokens: ItemTokens | None = None
    cost: float | None = None
    state: PromptState | None = None
    todos: ListedTodos | None = None
    attachments: tuple[ItemAttachment, ...] = ()
    cut: bool = False


def shorten_item(item: ConversationItem, most: int, *, with_data: bool) -> ConversationItem:
    """Return an item whose texts have at most C{most} characters each.

    @param with_data: false to leave out the data of images.
    """
    text = None if item.text is None else item.text[:most]
    tool, attachments = item.tool, item.attachments[:ATTACHMENTS]
    if tool is not None:
        output = None if tool.output is None else tool.output[-most:]
        given = _shorten_mapping(tool.input, _Budget(most))
        tool = evolve(tool, input=given, output=output, diffs=_shorten_diffs(tool.diffs, most))
    if not with_data:
        attachments = tuple(evolve(each, data=None) for each in attachments)
    cut = item.cut or (text, tool) != (item.text, item.tool)
    return evolve(item, text=text, tool=tool, attachments=attachments, cut=cut)


class _Budget:
    """Characters and values that a tool's input may still contain."""

    def __init__(self, chars: int) -> None:
        self.chars, self.values = chars, INPUT_VALUES

    def take_text(self, text: str) -> str:
        taken = text[: max(0, self.chars)]
        self.chars -= len(taken)
        return taken


def _shorten_mapping(given: Mapping[str, Any], left: _Budget, depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        if left.values <= 0:
            break
        left.values -= 1
        found[left.take_text(str(name)[:NAME_CHARS])] = _shorten_value(value, left, depth + 1)
    return found


def _shorten_value(value: Any, left: _Budget, depth: int) -> Any:
    if isinstance(value, str):
        return left.take_text(value)
    if isinstance(value, bool) or value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        # A browser reads no longer number, and Python refuses to print a very long one.
        return value if abs(value) < 2**53 else None
    if depth >= INPUT_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return _shorten_mapping(value, left, depth)
    if isinstance(value, Sequence):
        many = value[: max(0, left.values)]
        left.values -= len(many)
        return [_shorten_value(each, left, depth + 1) for each in many]
    return None


def _shorten_diffs(diffs: tuple[FileDiff, ...], most: int) -> tuple[FileDiff, ...]:
    lines, chars = HUNK_LINES, most
    found = []
    for diff in diffs:
        hunks = []
        for hunk in diff.hunks:
            kept: list[str] = []
            for line in hunk.lines[: max(0, lines)]:
                if chars <= 0:
                    break
                kept.append(line[:chars])
                chars -= len(line)
            lines -= len(kept)
            if kept:
                hunks.append(evolve(hunk, lines=tuple(kept)))
        found.append(evolve(diff, hunks=tuple(hunks)))
    return tuple(found)
