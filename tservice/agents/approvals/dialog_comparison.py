"""Comparison of a captured dialog with the question of an inbox item (protocol-approvals).

If a viewer becomes smaller, the agent draws its dialog again: wrapped elsewhere, cut off at the
top, and half drawn for a moment. It must still count as the same question. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import dropwhile
from typing import Any

from attrs import evolve

from tservice.agents.approvals.model import (
    ApprovalItem,
    ItemOption,
    choose_item_kind,
    is_same_question,
    make_item_options,
    makes_item,
    summarize_tool,
    update_from_dialog,
)
from tservice.agents.dialog_likeness import DialogLikeness, compare_rows, strip_decoration
from tservice.terminal.dialogs.dialog_options import DialogOption
from tservice.terminal.dialogs.dialogs import AgentDialog

_SHORT = 8
"""Number of letters below which a command must appear in the dialog as separate words."""
_ENDS = 200
"""Number of letters at either end of a long command; the dialog must show one of these ends."""

_SEEN = frozenset({DialogLikeness.SAME, DialogLikeness.CUT})
_LESS = _SEEN | {DialogLikeness.PART}
_SHOWN = frozenset({DialogLikeness.SAME, DialogLikeness.OTHER})
_VIEWS = _SEEN | {DialogLikeness.FULLER}

Named = tuple[str | None, str | None, str | None]
"""Tool in a hook, its summary, and the digest of all its inputs."""


def get_tool_identity(data: Mapping[str, Any]) -> Named:
    """Return the name of the tool in a hook's data, its summary and its digest."""
    return data.get("tool_name"), summarize_tool(data.get("tool_input")), data.get("tool_digest")


def compare_with_item(item: ApprovalItem, dialog: AgentDialog) -> DialogLikeness:
    """Return how the dialog's text relates to the stored text of the item."""
    known = (item.context or "").split("\n")
    likeness = compare_rows(dialog.context, known)
    if likeness is DialogLikeness.OTHER and not dialog.whole and dialog.question is None:
        # Its first row is unknown: the rows above it belong to earlier output.
        rows = _skip_rows_before_known(dialog.context, strip_decoration("".join(known)))
        return (
            DialogLikeness.PART
            if len(rows) > 1 and compare_rows(rows, known) in _LESS
            else likeness
        )
    return likeness


def _skip_rows_before_known(rows: Sequence[str], said: str) -> Sequence[str]:
    return list(dropwhile(lambda row: strip_decoration(row) not in said, rows))


def still_shows_item(item: ApprovalItem, rows: Sequence[str]) -> bool:
    """Return true if rows of the item's dialog are visible, although no dialog can be read."""
    seen = set(map(strip_decoration, rows))
    known = {strip_decoration(row) for row in (item.context or "").split("\n")}
    own = strip_decoration(item.tool_summary or "")
    # The command may remain in the conversation.
    return any(len(row) >= _SHORT and row in seen and row != own for row in known)


def is_item_view(item: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if the dialog's text contains the item's text, or the other way round."""
    return compare_with_item(item, dialog) is not DialogLikeness.OTHER


def is_item_dialog(item: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if C{dialog} is probably the dialog for which C{item} was made.

    Any other question would have been reported by a hook, if a hook reported the item. Then the
    dialog is the item's unless it is plainly about something else.
    """
    if (
        item.frame == dialog.frame_hash
        or is_item_view(item, dialog)
        or _has_same_question(item, dialog)
    ):
        return True
    if is_same_question(item, dialog):
        return True
    return item.tool_name is not None and makes_item(dialog) and not contradicts_item(item, dialog)


def contradicts_item(item: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if a completely visible dialog is about another subject than the item."""
    if not dialog.whole:
        return False
    if choose_item_kind(dialog, item.tool_name) is not item.kind:
        return True
    rows = (item.context or "").split("\n")
    if item.tool_summary is not None and shows_summary(rows, item.tool_summary):
        return not shows_summary(dialog.context, item.tool_summary)
    said = strip_decoration("".join(rows))
    return (
        strip_decoration(dialog.title) not in said
        or strip_decoration(dialog.question or "") not in said
    )


def shows_summary(rows: Sequence[str], summary: str) -> bool:
    """Return true if a dialog's rows contain the summary of a tool, with any wrapping.

    @param summary: the command or the file of the tool.
    """
    said, wanted = strip_decoration("".join(rows)), strip_decoration(summary)
    if wanted and len(wanted) < _SHORT:
        words = f" {' '.join(' '.join(rows).split())} "
        return f" {' '.join(summary.split())} " in words
    if wanted and (wanted[:_ENDS] in said or wanted[-_ENDS:] in said):
        return True
    name = strip_decoration(summary.rpartition("/")[2])
    is_path = "/" in summary and not any(map(str.isspace, summary))
    return is_path and len(name) >= _SHORT // 2 and name in said


def merge_view(item: ApprovalItem, dialog: AgentDialog, *, at_rest: bool) -> ApprovalItem:
    """Return the item updated from a capture of its dialog; a less complete view changes nothing.

    @param at_rest: a second capture showed the same, so the dialog is not half drawn.
    """
    likeness = compare_with_item(item, dialog)
    believed = at_rest and likeness in _SHOWN and _should_replace_text(item, dialog, likeness)
    if likeness is DialogLikeness.FULLER and item.frame != dialog.frame_hash:
        # A dialog without its first rows contains earlier output.
        believed = at_rest and _has_as_many_letters(item, dialog)
    elif not believed:
        believed = _shows_whole_item(item, dialog, likeness)
    if not believed:
        return (
            _merge_highlight_and_ticks(item, dialog, at_rest=at_rest)
            if likeness in _VIEWS
            else item
        )
    shown = _keep_command(item, update_from_dialog(item, dialog))
    return shown if likeness is DialogLikeness.FULLER else evolve(shown, kind=item.kind)


def _keep_command(item: ApprovalItem, shown: ApprovalItem) -> ApprovalItem:
    """Return C{shown} with the command and the risk of C{item}, if it shows less of them.

    A dialog that is cut off at the top has the same frame, but hides that its command is complete.
    """
    known, seen = (strip_decoration(each.seen_command or "") for each in (item, shown))
    if seen not in known or (shown.seen_whole and seen == known):
        return shown
    return evolve(
        shown,
        seen_command=item.seen_command,
        seen_whole=item.seen_whole,
        risk_hint=item.risk_hint if known else shown.risk_hint or item.risk_hint,
    )


def _shows_whole_item(item: ApprovalItem, dialog: AgentDialog, likeness: DialogLikeness) -> bool:
    """Return true if the dialog shows everything in the item, or another page of its question."""
    if likeness is DialogLikeness.FULLER:
        return _has_as_many_letters(item, dialog)
    if likeness is DialogLikeness.OTHER and is_same_question(item, dialog):
        return not _has_same_question(item, dialog)
    return item.frame == dialog.frame_hash and likeness in _SHOWN


def _should_replace_text(item: ApprovalItem, dialog: AgentDialog, likeness: DialogLikeness) -> bool:
    """Return true if a dialog that was captured twice should replace the item's different text."""
    asks = likeness is DialogLikeness.SAME or _has_same_question(item, dialog)
    if asks and _has_same_options(item, dialog):
        return False
    return (asks or dialog.whole) and _has_as_many_letters(item, dialog)


def _has_as_many_letters(item: ApprovalItem, dialog: AgentDialog) -> bool:
    return _count_letters(dialog.options) >= _count_letters(item.options)


def _count_letters(options: Sequence[ItemOption | DialogOption]) -> int:
    """Return the total number of letters in the options' labels."""
    return sum(len(strip_decoration(option.label)) for option in options)


def _has_same_question(item: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if the text above the options is equal.

    The labels are not compared, because the agent may draw one over another.
    """
    rows = (item.context or "").split("\n")
    asked = _text_above_options(rows, [option.label for option in item.options])
    asks = _text_above_options(dialog.context, [option.label for option in dialog.options])
    return asks != "" and asks == asked


def _text_above_options(rows: Sequence[str], labels: Sequence[str]) -> str:
    """Return the text of a dialog above its options."""
    first = strip_decoration(labels[0]) if labels else ""
    starts = [at for at, row in enumerate(rows) if _begins_with_label(strip_decoration(row), first)]
    return strip_decoration("".join(rows[: starts[-1]])) if first and starts else ""


def _begins_with_label(row: str, label: str) -> bool:
    bare = row.removeprefix("1.").removeprefix("1)")
    return bare != "" and (bare.startswith(label) or label.startswith(bare))


def _merge_highlight_and_ticks(
    item: ApprovalItem, dialog: AgentDialog, *, at_rest: bool
) -> ApprovalItem:
    """Return the item with the dialog's highlight and ticks.

    The dialog's options replace those of the item if they contain more text.
    """
    if _has_same_options(item, dialog):
        pairs = zip(item.options, dialog.options, strict=True)
        marked = (evolve(o, selected=now.selected, checked=now.checked) for o, now in pairs)
        return evolve(item, options=tuple(marked))
    more = at_rest and _count_letters(dialog.options) > _count_letters(item.options)
    return evolve(item, options=make_item_options(dialog)) if more else item


def _has_same_options(item: ApprovalItem, dialog: AgentDialog) -> bool:
    known = [strip_decoration(option.label) for option in item.options]
    return known == [strip_decoration(option.label) for option in dialog.options]


def may_answer(item: ApprovalItem, dialog: AgentDialog) -> bool:
    """Return true if an answer to the item may be given to the dialog on the screen.

    Without a hook, the item must contain everything that the dialog shows, because a person saw
    only the item.
    """
    if item.frame == dialog.frame_hash:
        return True
    if not (
        makes_item(dialog) and is_item_dialog(item, dialog) and _has_same_options(item, dialog)
    ):
        return False
    seen = compare_with_item(item, dialog) in _SEEN or _has_same_question(item, dialog)
    return item.tool_name is not None or seen
