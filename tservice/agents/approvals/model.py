"""Items of the approval inbox: what waits for a person, as a record (protocol-approvals).  Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from attrs import evolve, frozen

from tservice.terminal.dialogs import Dialog
from tservice.terminal.kinds import DialogKind as DialogKind
from tservice.terminal.kinds import says_trust

LIFETIME_MS = 12 * 3600 * 1000
"""How long an item waits (protocol-approvals)."""
MEMORY_MS = 60 * 1000
"""How long a resolution that was no answer is remembered for late answers (protocol-approvals)."""
CONTEXT_LINES = 30
MESSAGE_CHARS = 500
"""Of a message (protocol-hooks)."""
CONTEXT_CHARS = 4000

_ESCAPE = re.compile(
    r"\besc(?:ape)?\b(?: to)? (?:cancel|clear|close|back|exit|go back)", re.IGNORECASE
)

QUESTION_TOOL = "AskUserQuestion"
IDLE_FRAME = "idle"
"""C{frame} of an idle item: it names no dialog."""

ASKING = frozenset(
    {
        DialogKind.PERMISSION,
        DialogKind.PLAN,
        DialogKind.QUESTION,
        DialogKind.REVIEW,
        DialogKind.FORM,
    }
)
"""Dialogs that an agent raises in a turn; the others belong to its start or to its own menus."""


class ItemKind(StrEnum):
    """What sort of thing waits."""

    PERMISSION = "permission"
    QUESTION = "question"
    IDLE = "idle"


class Resolution(StrEnum):
    """How an item ended."""

    ANSWERED = "answered"
    IN_TERMINAL = "resolved_in_terminal"
    SUPERSEDED = "superseded"
    SESSION_ENDED = "session_ended"
    DISMISSED = "dismissed"
    EXPIRED = "expired"


@frozen(kw_only=True)
class ItemOption:
    """One choice, as clients see it.

    @ivar selected: the highlight is on it.
    @ivar checked: whether its box is ticked; C{None} where it has none.
    @ivar description: what the dialog says of it beside its label.
    """

    n: int
    label: str
    selected: bool
    checked: bool | None = None
    description: str | None = None


@frozen(kw_only=True)
class Item:
    """One thing that waits for a person.

    @ivar owner: whose session it is; not shown, the session's record says it.
    @ivar frame: hash of the dialog as captured; L{IDLE_FRAME} without one.
    @ivar acknowledged_at: Unix milliseconds when somebody looked at the idle session.
    """

    id: str
    session_id: str
    session_name: str
    owner: str | None
    kind: ItemKind
    created_at: int
    frame: str
    tool_name: str | None = None
    tool_summary: str | None = None
    message: str | None = None
    cwd: str | None = None
    context: str | None = None
    options: tuple[ItemOption, ...] = ()
    acknowledged_at: int | None = None

    @property
    def expires_at(self) -> int:
        """Unix milliseconds."""
        return self.created_at + LIFETIME_MS


def is_asking(dialog: Dialog | None) -> bool:
    """Whether the dialog is one that an agent raised, or a picker that a command opened."""
    return dialog is not None and (is_raised(dialog) or is_picker(dialog))


def is_raised(dialog: Dialog | None) -> bool:
    """Whether the dialog is one that an agent raised in a turn."""
    return dialog is not None and dialog.kind in ASKING


def is_picker(dialog: Dialog) -> bool:
    """Whether it is one of the agent's own menus or pages, which Escape leaves
    (protocol-prompts)."""
    # A start asks whether a key is to be used, and a command offers ways to sign in.
    offers = dialog.kind is DialogKind.API_KEY and dialog.question is None
    if not (offers or dialog.kind is DialogKind.NOTICE) or says_trust(dialog.context):
        return False
    return any(_ESCAPE.search(row) for row in dialog.context)


def item_kind(dialog: Dialog, tool_name: str | None) -> ItemKind:
    """Question or permission (protocol-approvals): by the tool, else by what the screen shows.

    A dialog whose upper rows are cut off reads as a menu; a named tool says that it is none.
    """
    asks = dialog.kind in (DialogKind.QUESTION, DialogKind.REVIEW, DialogKind.FORM) or (
        tool_name is None and is_picker(dialog)
    )
    return ItemKind.QUESTION if asks or tool_name == QUESTION_TOOL else ItemKind.PERMISSION


def with_dialog(item: Item, dialog: Dialog) -> Item:
    """The item as the dialog shows it now.

    A question says what is asked, not that one waits; so does what no hook spoke of.
    """
    kind = item_kind(dialog, item.tool_name)
    said = dialog.question or (dialog.title if _says_itself(dialog) else "")
    own = kind is ItemKind.QUESTION or _says_itself(dialog) or item.message is None
    asked = said[:MESSAGE_CHARS] if own else ""
    return evolve(
        item,
        kind=kind,
        message=asked or item.message,
        frame=dialog.frame_hash,
        context=clipped(dialog.context),
        options=options_of(dialog),
    )


def options_of(dialog: Dialog) -> tuple[ItemOption, ...]:
    """The dialog's options, as clients see them."""
    return tuple(
        ItemOption(
            n=option.n,
            label=option.label,
            selected=option.selected,
            checked=option.checked,
            description=option.description,
        )
        for option in dialog.options
    )


def _says_itself(dialog: Dialog) -> bool:
    """Whether no hook tells what the dialog is about, so that its own words have to."""
    return is_picker(dialog) or dialog.kind is DialogKind.PLAN


def with_hook(item: Item, data: Mapping[str, Any]) -> Item:
    """The item with what a hook told of it; what it did not tell stays.

    A question's own words stay too: the hook only says that the agent waits.
    """
    asked = item.message if item.kind is ItemKind.QUESTION and item.context else None
    return evolve(
        item,
        tool_name=data.get("tool_name") or item.tool_name,
        tool_summary=tool_summary(data.get("tool_input")) or item.tool_summary,
        message=asked or data.get("message") or item.message,
        cwd=data.get("cwd") or item.cwd,
    )


def tool_summary(tool_input: Any) -> str | None:
    """Command, else file, else description (protocol-approvals)."""
    if not isinstance(tool_input, Mapping):
        return None
    values = (tool_input.get(key) for key in ("command", "file_path", "description"))
    return next((value for value in values if isinstance(value, str) and value), None)


def clipped(rows: Sequence[str]) -> str | None:
    """The last rows, within the bounds of protocol-approvals."""
    text = "\n".join(row.rstrip() for row in rows[-CONTEXT_LINES:]).strip("\n")
    return text[-CONTEXT_CHARS:] or None


def is_same_question(before: Item, dialog: Dialog) -> bool:
    """Whether the dialog is another page of the question that C{before} is about."""
    return before.kind is ItemKind.QUESTION and bool(dialog.tabs)
