"""Parts of items that one line of a transcript contains, and the shape of a format's parser.

A tool's call and its result are different lines, and a queued prompt is sent later. So a line
contains new items, and changes of earlier ones, which it names by a key.

This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, field, frozen

from tservice.agents.transcripts.conversation.items import ConversationItem, ToolStatus

Line = Mapping[str, Any]
_ENDED = frozenset({ToolStatus.DONE, ToolStatus.FAILED})


@frozen(kw_only=True)
class NewItem:
    """Item that begins in this line.

    @ivar key: name by which later lines change the item; C{""} if none does.
    @ivar replaces: true if the item replaces an earlier one with the same key.
    @ivar begins_turn: true for a prompt that the agent received.
    @ivar is_side: true if a sub-agent of the conversation wrote the item.
    @ivar unless_known: names of messages; the item is left out if one of them is known already.
    """

    item: ConversationItem
    key: str = ""
    replaces: bool = False
    begins_turn: bool = False
    is_side: bool = False
    unless_known: tuple[str, ...] = ()


@frozen(kw_only=True)
class ItemChange:
    """Change of an earlier item.

    @ivar tool: changed fields of the item's tool.
    @ivar fields: changed fields of the item.
    @ivar at: time of the change in Unix milliseconds; C{None} if it is unknown.
    """

    key: str
    at: int | None = None
    tool: Mapping[str, Any] = field(factory=dict)
    fields: Mapping[str, Any] = field(factory=dict)


@frozen(kw_only=True)
class QueueChange:
    """Change of the oldest queued prompt with a text, or of all queued prompts.

    @ivar otherwise: the prompt that is now sent, for a text that is not queued; C{None} if the
        user took all queued prompts back.
    """

    otherwise: NewItem | None


@frozen(kw_only=True)
class SeenMessage:
    """Message of the conversation, with or without items."""

    name: str


Fragment = NewItem | ItemChange | QueueChange | SeenMessage
ParseLine = Callable[[Line], list[Fragment]]
"""Function that returns the fragments of one parsed line, in order."""


def apply_change(item: ConversationItem, change: ItemChange) -> ConversationItem:
    """Return an item after a change.

    The duration of a tool is the time until its result, if the agent does not record another one.
    """
    fields = dict(change.fields)
    if item.tool is not None:
        tool = evolve(item.tool, **change.tool)
        if tool.duration_ms is None and tool.status in _ENDED and None not in (item.at, change.at):
            tool = evolve(tool, duration_ms=max(0, (change.at or 0) - (item.at or 0)))
        fields["tool"] = tool
    return evolve(item, **fields)
