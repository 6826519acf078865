"""Parser of dialogs on a frame: the question, the options, and their keys (protocol-dialogs).

Text counts as a dialog only if it is the last thing on the screen and no composer is visible. In
addition to its options it must show an edge above, key hints below or a known question. A numbered
list in an answer, a file or a diff that quotes one is no dialog.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from attrs import evolve, frozen

from tservice.terminal.composers.composer_regions import (
    find_composer,
    is_key_hint,
    is_waiting_spinner,
)
from tservice.terminal.dialogs import dialog_options as grammar
from tservice.terminal.dialogs.dialog_area import (
    LOWER,
    TALLEST,
    DialogArea,
    find_bar_area,
    find_dialog_area,
    parse_tabs,
)
from tservice.terminal.dialogs.dialog_kinds import DialogKind, classify_dialog, is_question_hint
from tservice.terminal.dialogs.dialog_options import DialogOption, OptionBlock
from tservice.terminal.dialogs.dialog_questions import (
    KNOWN_QUESTION,
    LINES,
    ShownCommand,
    find_question,
    fold_whitespace,
    read_command,
    strip_drawing,
)
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules

_BELOW = 10
"""Maximum number of filled rows below the options: key hints, a box's edge, a footer."""

CONTEXT_ROWS, CONTEXT_CHARS = 30, 4000
"""Maximum rows and characters of what stands above a dialog and is shown with it."""

_MARKS = re.compile(rf"[{grammar.MARKERS}☐☑☒✔✓←]")
_FREE_TEXT = re.compile(
    r"type (?:something|here|your)\b.*|tell claude what to change\b.*", re.IGNORECASE
)
_HINT_FIRST = re.compile(
    r" *(?:press |[↑↓←→⇆⇅][↑↓←→⇆⇅/]* "
    r"|type to (?:filter|search)\b"
    r"|(?:enter|return|esc|escape|tab|space|backspace|ctrl|shift|alt)\b)",
    re.IGNORECASE,
)
_TRANSCRIPT_VIEW = re.compile(r"Showing (?:detailed )?transcript|ctrl\+o to toggle")


@frozen(kw_only=True)
class AgentDialog:
    """Dialog on the screen that waits for a choice or for fields to be filled in.

    @ivar title: the first row of the dialog, with white space folded.
    @ivar question: the question, with white space folded; C{None} if there is none.
    @ivar page: C{multi} if options are ticked before they are sent, C{review} for the page that
        sends them, else C{single}.
    @ivar tabs: the pages of a question dialog, each C{(label, answered)}; empty without pages.
    @ivar digits_answer: the digit of an option gives the answer; on a C{multi} page it ticks the
        option.
    @ivar needs_enter: an answer requires cursor keys and Enter.
    @ivar whole: the upper edge of the dialog is on the screen, so none of its rows is cut off.
    @ivar context: the rows of the dialog, at most the last 30 rows and 4000 characters
        (protocol-approvals).
    @ivar above: the number of rows that C{context} leaves out.
    @ivar command: the command that the question is about; C{None} if the screen shows none.
    @ivar frame_hash: digest that identifies this dialog (protocol-approvals). It covers text and
        labels without markers, ticks, borders and colours, with white space folded. The text is
        everything that the answer covers, so the same question about another command has another
        hash.
    """

    kind: DialogKind
    title: str
    question: str | None
    options: tuple[DialogOption, ...]
    page: str
    tabs: tuple[tuple[str, bool], ...]
    digits_answer: bool
    needs_enter: bool
    context: tuple[str, ...]
    frame_hash: str
    whole: bool = True
    above: int = 0
    command: ShownCommand | None = None

    @property
    def selected_option(self) -> DialogOption | None:
        """Highlighted option; C{None} if the screen highlights none."""
        return next((option for option in self.options if option.selected), None)


def is_placeholder(label: str) -> bool:
    """Return true if an option's text field still shows the client's placeholder."""
    return bool(_FREE_TEXT.fullmatch(label))


def read_dialog(frame: ScreenFrame, rules: ScreenRules) -> AgentDialog | None:
    """Return the dialog that C{frame} shows, or C{None}."""
    if frame.last_row < 0 or frame.is_dead or _is_transcript_view(frame):
        return None
    if find_composer(frame, rules) is not None:
        return None
    block = (
        _find_numbered(frame)
        or _find_lettered(frame)
        or _find_horizontal(frame)
        or _find_unnumbered(frame)
    )
    if block is not None:
        return _build_dialog(frame, _find_area(frame, block), block)
    # For an unknown CLI the composer cannot be recognized: hints alone prove nothing.
    return None if rules.shape == "mark" else _find_optionless_dialog(frame)


def _is_transcript_view(frame: ScreenFrame) -> bool:
    last = frame.find_filled_rows(frame.last_row - 3, frame.last_row + 1)
    return any(_TRANSCRIPT_VIEW.search(frame.rows[i]) for i in last)


def _find_numbered(frame: ScreenFrame) -> OptionBlock | None:
    block = _find_block(frame, grammar.WIDE_GAP)
    if block is None:
        return None
    if not parse_tabs(frame, find_dialog_area(frame, block.top)):
        block = _find_block(frame, grammar.GAP)
    if block is None or not _is_last_block(frame, block) or not _has_dialog_evidence(frame, block):
        return None
    return block if block.has_marker else grammar.mark_highlighted(frame, block)


def _find_block(frame: ScreenFrame, gap: int) -> OptionBlock | None:
    start = max(0, frame.last_row - TALLEST)
    block = grammar.find_numbered_block(frame.inner_rows[start : frame.last_row + 1], gap)
    if block is None:
        return None
    rows = tuple(row + start for row in block.rows)
    return grammar.join_wrapped_labels(frame, evolve(block, rows=rows, bottom=block.bottom + start))


def _is_last_block(frame: ScreenFrame, block: OptionBlock) -> bool:
    """Return true if only key hints, edges and an indented footer are below the options."""
    below = frame.find_filled_rows(block.bottom + 1, frame.last_row + 1)
    return len(below) <= _BELOW and all(_may_follow_options(frame, i) for i in below)


def _may_follow_options(frame: ScreenFrame, at: int) -> bool:
    row = frame.rows[at]
    if frame.is_rule(at):
        # Pi closes its pages with a rule.
        return at == frame.last_row and is_key_hint(_row_above(frame, at))
    if frame.is_edge(at):
        return row.lstrip(" ")[0] in LOWER
    return (
        row[0] in " │┃"
        or is_key_hint(row)
        or is_waiting_spinner(row)
        or _is_wrapped_hint(frame, at)
    )


def _row_above(frame: ScreenFrame, at: int) -> str:
    """Return the last row with text above row C{at}, if it is close."""
    above = frame.find_filled_rows(at - 3, at)
    return frame.inner_rows[above[-1]] if above else ""


def _is_wrapped_hint(frame: ScreenFrame, at: int) -> bool:
    """Return true if row C{at} continues the key hints of the row above, where it had no room."""
    above, word = frame.rows[at - 1], frame.rows[at].split()[0]
    full = not grammar.has_room(above, word, grammar.get_wrapping_width(frame, at - 1))
    return full and is_key_hint(above)


def _has_dialog_evidence(frame: ScreenFrame, block: OptionBlock) -> bool:
    area = _find_area(frame, block)
    hinted = any(map(is_key_hint, _rows_below(frame, block)))
    if not block.has_marker:
        # A highlight by colour only, or none: then the frame around it must be complete.
        return hinted and area.bounded
    return hinted or area.bounded or _has_known_question(frame, block)


def _find_area(frame: ScreenFrame, block: OptionBlock) -> DialogArea:
    bar = None
    if any(map(is_question_hint, _rows_below(frame, block))):
        bar = find_bar_area(frame, block.top)
    return bar or find_dialog_area(frame, block.top)


def _rows_below(frame: ScreenFrame, block: OptionBlock) -> Iterable[str]:
    return (frame.inner_rows[i] for i in range(block.bottom + 1, frame.last_row + 1))


def _has_known_question(frame: ScreenFrame, block: OptionBlock) -> bool:
    """Return true if one of the rows right above the options contains a known question."""
    above = frame.find_filled_rows(block.top - 8, block.top)[-3:]
    return any(KNOWN_QUESTION.match(frame.inner_rows[i].strip(" ")) for i in above)


def _find_lettered(frame: ScreenFrame) -> OptionBlock | None:
    for at in frame.find_filled_rows(frame.last_row - _BELOW, frame.last_row + 1)[::-1]:
        found = grammar.parse_lettered_options(frame.inner_rows[at])
        block = OptionBlock(options=found, rows=(at,) * max(1, len(found)), bottom=at)
        if found and _is_last_block(frame, block):
            question, _ = find_question(frame, find_dialog_area(frame, at), at, tabbed=False)
            return block if question else None
    return None


def _find_horizontal(frame: ScreenFrame) -> OptionBlock | None:
    """Return options that are next to each other in a row below their title (opencode)."""
    for at in frame.find_filled_rows(frame.last_row - 4, frame.last_row + 1)[::-1]:
        found = grammar.parse_horizontal_options(frame, at)
        block = OptionBlock(options=found, rows=(at,), bottom=at)
        if block.has_marker and "△" in "".join(frame.rows[find_dialog_area(frame, at).top : at]):
            return block
    return None


def _find_unnumbered(frame: ScreenFrame) -> OptionBlock | None:
    start = max(0, frame.last_row - TALLEST)
    block = grammar.find_unnumbered_block(frame, start, frame.last_row + 1)
    if block is None or not _is_last_block(frame, block):
        return None
    if _is_form(frame, find_dialog_area(frame, block.top)):
        return None
    shown = any(map(is_key_hint, _rows_below(frame, block))) or _has_known_question(frame, block)
    return block if shown else None


def _is_form(frame: ScreenFrame, area: DialogArea) -> bool:
    """Return true if the area ends with the buttons of a form (MCP elicitation)."""
    rows = [frame.inner_rows[i] for i in frame.find_filled_rows(area.top, frame.last_row + 1)]
    return any(re.search(r"\bAccept {2,}(?:❯ )?Decline\b", row) for row in rows)


def _find_optionless_dialog(frame: ScreenFrame) -> AgentDialog | None:
    """Return a dialog without rows of options: a form, a text field, an advert, or a page that
    names its choices by their keys.

    Its key hints show that it receives the keys.
    """
    last = frame.find_filled_rows(frame.last_row - 4, frame.last_row + 1)
    hint = next((i for i in last if is_key_hint(frame.inner_rows[i])), None)
    if hint is None or not all(_may_follow_options(frame, i) for i in last if i > hint):
        return None
    # A box around everything ends here; one that was closed further up is part of the dialog.
    edge = next((i for i in last if frame.is_edge(i)), frame.last_row + 1)
    area = find_dialog_area(frame, edge - 1)
    # With text before them, the hints are quoted: by a diff, a pager, an answer.
    told = area.bounded or _HINT_FIRST.match(frame.inner_rows[hint])
    if not told:
        return None
    choices = grammar.parse_key_choices(frame.inner_rows[hint])
    if not choices:
        return _build_dialog(frame, area, None)
    block = OptionBlock(options=choices, rows=(hint,) * len(choices), bottom=hint)
    return _build_dialog(frame, find_bar_area(frame, hint) or area, block)


def _build_dialog(frame: ScreenFrame, area: DialogArea, block: OptionBlock | None) -> AgentDialog:
    end = frame.last_row + 1 if block is None else block.top
    options = () if block is None else _mark_free_text(frame, area, block)
    question, asked_at = find_question(frame, area, end, bool(parse_tabs(frame, area)))
    whole = area.bounded
    if not area.bounded and asked_at is not None:
        area = evolve(area, top=asked_at)
    text = [frame.inner_rows[i] for i in range(area.top, end)]
    title = next((fold_whitespace(row) for row in text if strip_drawing(row)), "")
    footer = [] if block is None else list(_rows_below(frame, block))
    tabs = parse_tabs(frame, area)
    kind = classify_dialog(text, footer, [option.label for option in options], bool(tabs))
    numbers = bool(options) and all(option.key is not None for option in options)
    context, above = _collect_context(frame, area)
    return AgentDialog(
        kind=kind,
        title=title,
        question=question,
        options=options,
        page=_classify_page(kind, options),
        tabs=tabs,
        digits_answer=bool(options) and all(option.key == str(option.n) for option in options),
        needs_enter=not numbers,
        context=context,
        frame_hash=_hash_dialog(text, options),
        whole=whole,
        above=above,
        command=read_command(frame, area.top, end),
    )


def _classify_page(kind: DialogKind, options: tuple[DialogOption, ...]) -> str:
    if kind is DialogKind.REVIEW:
        return "review"
    return "multi" if any(option.checked is not None for option in options) else "single"


def _mark_free_text(
    frame: ScreenFrame, area: DialogArea, block: OptionBlock
) -> tuple[DialogOption, ...]:
    """Return the options, with C{free_text} set on the one that opens a field for free text.

    In a question dialog with a rule before its last option, this is the option before the rule.
    """
    tabs = bool(parse_tabs(frame, area))
    *rest, last = block.options
    split = tabs and any(frame.is_rule(i) for i in range(block.top, block.bottom))
    own = rest[-1].n if split and rest else None
    return tuple(
        evolve(o, free_text=o.n == own or (own is None and bool(_FREE_TEXT.fullmatch(o.label))))
        for o in (*rest, last)
    )


def _collect_context(frame: ScreenFrame, area: DialogArea) -> tuple[tuple[str, ...], int]:
    rows = [r.rstrip() for r in frame.inner_rows[area.top : frame.last_row + 1] if strip_drawing(r)]
    kept: list[str] = []
    size = 0
    for row in reversed(rows[-CONTEXT_ROWS:]):
        size += len(row) + 1
        if size > CONTEXT_CHARS:
            break
        kept.append(row)
    return tuple(reversed(kept)), len(rows) - len(kept)


def _hash_dialog(text: Iterable[str], options: Iterable[DialogOption]) -> str:
    words = [fold_whitespace(_MARKS.sub(" ", LINES.sub(" ", row))) for row in text]
    said = " ".join(" ".join(words).split())
    labels = "\0".join(f"{option.n}\0{option.label}" for option in options)
    return hashlib.sha256(f"{said}\0\0{labels}".encode()).hexdigest()[:32]
