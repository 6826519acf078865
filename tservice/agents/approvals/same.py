"""Comparison of a screen with the question of an item (protocol-approvals). Pure.

If a viewer becomes smaller, the agent draws its dialog again: wrapped elsewhere, cut off at the
top, for a moment half drawn. It is still the same question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Any

from attrs import evolve

from tservice.agents.approvals.model import (
    Item,
    ItemOption,
    is_asking,
    is_same_question,
    item_kind,
    options_of,
    tool_summary,
    with_dialog,
)
from tservice.agents.likeness import Likeness, compare, letters
from tservice.terminal.dialog_options import DialogOption
from tservice.terminal.dialogs import AgentDialog

_SHORT = 8
"""Number of letters below which a command is searched as separate words."""
_ENDS = 200
"""Letters at either end of a long command, one of which the dialog must show."""

_SEEN = frozenset({Likeness.SAME, Likeness.CUT})
_LESS = _SEEN | {Likeness.PART}
_SHOWN = frozenset({Likeness.SAME, Likeness.OTHER})
_VIEWS = _SEEN | {Likeness.FULLER}

Named = tuple[str | None, str | None, str | None]
"""Tool, summary and digest of all its inputs."""


def named(data: Mapping[str, Any]) -> Named:
    """Return the tool that a hook names, its summary and its digest."""
    return data.get("tool_name"), tool_summary(data.get("tool_input")), data.get("tool_digest")


def likeness_of(item: Item, dialog: AgentDialog) -> Likeness:
    """Return the relation of the dialog to the stored text of the item."""
    known = (item.context or "").split("\n")
    likeness = compare(dialog.context, known)
    if likeness is Likeness.OTHER and not dialog.whole and dialog.question is None:
        # Its first row is unknown: the rows above it belong to earlier output.
        rows = _from_known(dialog.context, letters("".join(known)))
        return Likeness.PART if len(rows) > 1 and compare(rows, known) in _LESS else likeness
    return likeness


def _from_known(rows: Sequence[str], said: str) -> Sequence[str]:
    return list(dropwhile(lambda row: letters(row) not in said, rows))


def remains(item: Item, rows: Sequence[str]) -> bool:
    """Return true if a screen without a readable dialog still shows rows of the item."""
    seen = set(map(letters, rows))
    known = {letters(row) for row in (item.context or "").split("\n")}
    own = letters(item.tool_summary or "")
    # The command may remain in the conversation.
    return any(len(row) >= _SHORT and row in seen and row != own for row in known)


def is_view(item: Item, dialog: AgentDialog) -> bool:
    """Return true if the dialog shows the item's text or a part of it, or the other way round."""
    return likeness_of(item, dialog) is not Likeness.OTHER


def is_about(item: Item, dialog: AgentDialog) -> bool:
    """Return true if the dialog is the item's, as far as a screen alone can show.

    If a hook named the tool, another question comes with another hook. Then only a dialog about an
    obviously different subject is a different one.
    """
    if item.frame == dialog.frame_hash or is_view(item, dialog) or _asks_the_same(item, dialog):
        return True
    if is_same_question(item, dialog):
        return True
    return item.tool_name is not None and is_asking(dialog) and not contradicts(item, dialog)


def contradicts(item: Item, dialog: AgentDialog) -> bool:
    """Return true if a completely visible dialog has another subject than the item."""
    if not dialog.whole:
        return False
    if item_kind(dialog, item.tool_name) is not item.kind:
        return True
    rows = (item.context or "").split("\n")
    if item.tool_summary is not None and shows(rows, item.tool_summary):
        return not shows(dialog.context, item.tool_summary)
    said = letters("".join(rows))
    return letters(dialog.title) not in said or letters(dialog.question or "") not in said


def shows(rows: Sequence[str], summary: str) -> bool:
    """Return true if a dialog's rows contain a command or a file, with any wrapping."""
    said, wanted = letters("".join(rows)), letters(summary)
    if wanted and len(wanted) < _SHORT:
        words = f" {' '.join(' '.join(rows).split())} "
        return f" {' '.join(summary.split())} " in words
    if wanted and (wanted[:_ENDS] in said or wanted[-_ENDS:] in said):
        return True
    name = letters(summary.rpartition("/")[2])
    is_path = "/" in summary and not any(map(str.isspace, summary))
    return is_path and len(name) >= _SHORT // 2 and name in said


def as_seen(item: Item, dialog: AgentDialog, *, at_rest: bool) -> Item:
    """Return the item after a look at its dialog; a less complete view changes nothing.

    @param at_rest: a second look showed the same, so the dialog is not half drawn.
    """
    likeness = likeness_of(item, dialog)
    believed = at_rest and likeness in _SHOWN and _is_better(item, dialog, likeness)
    if not believed and not _tells_more(item, dialog, likeness):
        return _marked(item, dialog, at_rest=at_rest) if likeness in _VIEWS else item
    shown = with_dialog(item, dialog)
    return shown if likeness is Likeness.FULLER else evolve(shown, kind=item.kind)


def _tells_more(item: Item, dialog: AgentDialog, likeness: Likeness) -> bool:
    """Return true if the dialog shows all that the item does, or another page of its question."""
    if likeness is Likeness.FULLER:
        return _words(dialog.options) >= _words(item.options)
    if likeness is Likeness.OTHER and is_same_question(item, dialog):
        return not _asks_the_same(item, dialog)
    return item.frame == dialog.frame_hash and likeness in _SHOWN


def _is_better(item: Item, dialog: AgentDialog, likeness: Likeness) -> bool:
    """Return true if a dialog that was seen twice is trusted where it differs from the item."""
    asks = likeness is Likeness.SAME or _asks_the_same(item, dialog)
    if asks and _offers_the_same(item, dialog):
        return False
    return (asks or dialog.whole) and _words(dialog.options) >= _words(item.options)


def _words(options: Sequence[ItemOption | DialogOption]) -> int:
    """Return the number of known letters of the options' labels."""
    return sum(len(letters(option.label)) for option in options)


def _asks_the_same(item: Item, dialog: AgentDialog) -> bool:
    """Return true if the text above the options is equal; the labels may be drawn over one
    another.
    """
    rows = (item.context or "").split("\n")
    asked = _above(rows, [option.label for option in item.options])
    asks = _above(dialog.context, [option.label for option in dialog.options])
    return asks != "" and asks == asked


def _above(rows: Sequence[str], labels: Sequence[str]) -> str:
    """Return the text of a dialog above its options."""
    first = letters(labels[0]) if labels else ""
    starts = [at for at, row in enumerate(rows) if _begins(letters(row), first)]
    return letters("".join(rows[: starts[-1]])) if first and starts else ""


def _begins(row: str, label: str) -> bool:
    bare = row.removeprefix("1.").removeprefix("1)")
    return bare != "" and (bare.startswith(label) or label.startswith(bare))


def _marked(item: Item, dialog: AgentDialog, *, at_rest: bool) -> Item:
    """Return the item with the dialog's highlight and ticks, and with its options if they say
    more.
    """
    if _offers_the_same(item, dialog):
        pairs = zip(item.options, dialog.options, strict=True)
        marked = (evolve(o, selected=now.selected, checked=now.checked) for o, now in pairs)
        return evolve(item, options=tuple(marked))
    more = at_rest and _words(dialog.options) > _words(item.options)
    return evolve(item, options=options_of(dialog)) if more else item


def _offers_the_same(item: Item, dialog: AgentDialog) -> bool:
    known = [letters(option.label) for option in item.options]
    return known == [letters(option.label) for option in dialog.options]


def may_answer(item: Item, dialog: AgentDialog) -> bool:
    """Return true if an answer to the item may be given to the dialog on the screen.

    Without a hook, the person must have seen everything that the dialog shows.
    """
    if item.frame == dialog.frame_hash:
        return True
    if not (is_asking(dialog) and is_about(item, dialog) and _offers_the_same(item, dialog)):
        return False
    seen = likeness_of(item, dialog) in _SEEN or _asks_the_same(item, dialog)
    return item.tool_name is not None or seen
