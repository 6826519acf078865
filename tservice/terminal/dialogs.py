"""Dialogs on a frame: the question, its options, and their keys (protocol-dialogs).

A dialog is recognized only in the place of dialogs: it is the last thing on the screen, and there
is no composer. In addition to its options it must show an edge above, key hints below or a known
question. A numbered list in an answer, a file or a diff that quotes one is no dialog.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from attrs import evolve, frozen

from tservice.terminal import options as grammar
from tservice.terminal.area import LOWER, TALLEST, Area, area_around, tabs_of
from tservice.terminal.kinds import DialogKind, kind_of
from tservice.terminal.options import DialogOption, OptionBlock
from tservice.terminal.questions import (
    KNOWN_QUESTION,
    LINES,
    ShownCommand,
    fold,
    plain,
    question_of,
    read_command,
)
from tservice.terminal.regions import composer, is_key_hint, is_waiting
from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame

_BELOW = 10
"""Maximum number of filled rows below the options: key hints, a box's edge, a footer."""

_CONTEXT_ROWS = 30
_CONTEXT_CHARS = 4000

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
class Dialog:
    """Dialog on the screen that waits for a choice or for fields to be filled in.

    @ivar title: its first row, white space folded.
    @ivar question: the sentence asked, white space folded; C{None} if there is none.
    @ivar page: C{multi} if its options are ticked before they are sent, C{review} for the page that
        sends them, else C{single}.
    @ivar tabs: the pages of a question dialog, C{(label, answered)}; empty if it has none.
    @ivar digits_answer: an option's digit gives the answer (on a C{multi} page: ticks it).
    @ivar needs_enter: an answer takes cursor keys and Enter.
    @ivar whole: its upper edge is on the screen, so no row of it is cut off there.
    @ivar context: the dialog's rows, at most the last 30 and 4000 characters (protocol-approvals).
    @ivar above: the number of rows that C{context} leaves out.
    @ivar command: the command that it asks about, if the screen shows one.
    @ivar frame_hash: names this dialog: its text and labels without markers, ticks, borders and
        colours, white space folded (protocol-approvals). The text is everything that the answer
        covers, so the same question about another command has another hash.
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
    def selected(self) -> DialogOption | None:
        """Highlighted option, if the screen shows one."""
        return next((option for option in self.options if option.selected), None)


def is_placeholder(label: str) -> bool:
    """Return true if the option with a field still shows the client's placeholder there."""
    return bool(_FREE_TEXT.fullmatch(label))


def read_dialog(frame: Frame, rules: ScreenRules) -> Dialog | None:
    """Return the dialog that C{frame} shows, or C{None}."""
    if frame.bottom < 0 or frame.dead or _transcript_view(frame):
        return None
    if composer(frame, rules) is not None:
        return None
    block = _numbered(frame) or _lettered(frame) or _horizontal(frame) or _unnumbered(frame)
    if block is not None:
        return _dialog(frame, area_around(frame, block.top), block)
    # For an unknown CLI the composer cannot be recognized: hints alone prove nothing.
    return None if rules.shape == "mark" else _without_options(frame)


def _transcript_view(frame: Frame) -> bool:
    last = frame.filled(frame.bottom - 3, frame.bottom + 1)
    return any(_TRANSCRIPT_VIEW.search(frame.rows[i]) for i in last)


def _numbered(frame: Frame) -> OptionBlock | None:
    block = _found(frame, grammar.WIDE_GAP)
    if block is None:
        return None
    if not tabs_of(frame, area_around(frame, block.top)):
        block = _found(frame, grammar.GAP)
    shown = block and _is_last(frame, block) and _shows_itself(frame, block)
    return block if shown else None


def _found(frame: Frame, gap: int) -> OptionBlock | None:
    start = max(0, frame.bottom - TALLEST)
    block = grammar.numbered(frame.inner[start : frame.bottom + 1], gap)
    if block is None:
        return None
    rows = tuple(row + start for row in block.rows)
    return grammar.joined(frame, evolve(block, rows=rows, bottom=block.bottom + start))


def _is_last(frame: Frame, block: OptionBlock) -> bool:
    """Return true if only hints, edges and an indented footer follow."""
    below = frame.filled(block.bottom + 1, frame.bottom + 1)
    return len(below) <= _BELOW and all(_may_follow(frame, i) for i in below)


def _may_follow(frame: Frame, at: int) -> bool:
    row = frame.rows[at]
    if frame.is_rule(at) or frame.is_edge(at):
        return row.lstrip(" ")[0] in LOWER
    return row[0] in " │┃" or is_key_hint(row) or is_waiting(row) or _wrapped_hint(frame, at)


def _wrapped_hint(frame: Frame, at: int) -> bool:
    """Return true if row C{at} is the rest of the key hints above it, which had no room there."""
    above, word = frame.rows[at - 1], frame.rows[at].split()[0]
    full = not grammar.fits(above, word, grammar.wrapping_width(frame, at - 1))
    return full and is_key_hint(above)


def _shows_itself(frame: Frame, block: OptionBlock) -> bool:
    area = area_around(frame, block.top)
    hinted = any(map(is_key_hint, _below(frame, block)))
    if not block.marked:
        # A highlight by colour only, or none: then the frame around it must be complete.
        return hinted and area.bounded
    return hinted or area.bounded or _asked(frame, block)


def _below(frame: Frame, block: OptionBlock) -> Iterable[str]:
    return (frame.inner[i] for i in range(block.bottom + 1, frame.bottom + 1))


def _asked(frame: Frame, block: OptionBlock) -> bool:
    """Return true if one of the rows right above the options contains a known question."""
    above = frame.filled(block.top - 8, block.top)[-3:]
    return any(KNOWN_QUESTION.match(frame.inner[i].strip(" ")) for i in above)


def _lettered(frame: Frame) -> OptionBlock | None:
    for at in frame.filled(frame.bottom - _BELOW, frame.bottom + 1)[::-1]:
        found = grammar.lettered(frame.inner[at])
        block = OptionBlock(options=found, rows=(at,) * max(1, len(found)), bottom=at)
        if found and _is_last(frame, block):
            question, _ = question_of(frame, area_around(frame, at), at, tabbed=False)
            return block if question else None
    return None


def _horizontal(frame: Frame) -> OptionBlock | None:
    """Return options next to each other below their title (opencode)."""
    for at in frame.filled(frame.bottom - 4, frame.bottom + 1)[::-1]:
        found = grammar.horizontal(frame, at)
        block = OptionBlock(options=found, rows=(at,), bottom=at)
        if block.marked and "△" in "".join(frame.rows[area_around(frame, at).top : at]):
            return block
    return None


def _unnumbered(frame: Frame) -> OptionBlock | None:
    start = max(0, frame.bottom - TALLEST)
    block = grammar.unnumbered(frame, start, frame.bottom + 1)
    if block is None or not _is_last(frame, block):
        return None
    if _is_form(frame, area_around(frame, block.top)):
        return None
    shown = any(map(is_key_hint, _below(frame, block))) or _asked(frame, block)
    return block if shown else None


def _is_form(frame: Frame, area: Area) -> bool:
    """Return true if the area ends with the buttons of a form (MCP elicitation)."""
    rows = [frame.inner[i] for i in frame.filled(area.top, frame.bottom + 1)]
    return any(re.search(r"\bAccept {2,}(?:❯ )?Decline\b", row) for row in rows)


def _without_options(frame: Frame) -> Dialog | None:
    """Return a form, a field or an advert, whose key hints show that it takes the keys."""
    last = frame.filled(frame.bottom - 4, frame.bottom + 1)
    hint = next((i for i in last if is_key_hint(frame.inner[i])), None)
    if hint is None or not all(_may_follow(frame, i) for i in last if i > hint):
        return None
    # A box around everything ends here; one that was closed further up is part of the dialog.
    edge = next((i for i in last if frame.is_edge(i)), frame.bottom + 1)
    area = area_around(frame, edge - 1)
    # With text before them, the hints are quoted: by a diff, a pager, an answer.
    told = area.bounded or _HINT_FIRST.match(frame.inner[hint])
    return _dialog(frame, area, None) if told else None


def _dialog(frame: Frame, area: Area, block: OptionBlock | None) -> Dialog:
    end = frame.bottom + 1 if block is None else block.top
    options = () if block is None else _free_text(frame, area, block)
    question, asked_at = question_of(frame, area, end, bool(tabs_of(frame, area)))
    whole = area.bounded
    if not area.bounded and asked_at is not None:
        area = evolve(area, top=asked_at)
    text = [frame.inner[i] for i in range(area.top, end)]
    title = next((fold(row) for row in text if plain(row)), "")
    footer = [] if block is None else list(_below(frame, block))
    tabs = tabs_of(frame, area)
    kind = kind_of(text, footer, [option.label for option in options], bool(tabs))
    numbers = bool(options) and all(option.key is not None for option in options)
    context, above = _context(frame, area)
    return Dialog(
        kind=kind,
        title=title,
        question=question,
        options=options,
        page=_page(kind, options),
        tabs=tabs,
        digits_answer=bool(options) and all(option.key == str(option.n) for option in options),
        needs_enter=not numbers,
        context=context,
        frame_hash=_hash(text, options),
        whole=whole,
        above=above,
        command=read_command(frame, area.top, end),
    )


def _page(kind: DialogKind, options: tuple[DialogOption, ...]) -> str:
    if kind is DialogKind.REVIEW:
        return "review"
    return "multi" if any(option.checked is not None for option in options) else "single"


def _free_text(frame: Frame, area: Area, block: OptionBlock) -> tuple[DialogOption, ...]:
    """Mark the option that opens a field: the one before the rule of a question's last option."""
    tabs = bool(tabs_of(frame, area))
    *rest, last = block.options
    split = tabs and any(frame.is_rule(i) for i in range(block.top, block.bottom))
    own = rest[-1].n if split and rest else None
    return tuple(
        evolve(o, free_text=o.n == own or (own is None and bool(_FREE_TEXT.fullmatch(o.label))))
        for o in (*rest, last)
    )


def _context(frame: Frame, area: Area) -> tuple[tuple[str, ...], int]:
    rows = [r.rstrip() for r in frame.inner[area.top : frame.bottom + 1] if plain(r)]
    kept: list[str] = []
    size = 0
    for row in reversed(rows[-_CONTEXT_ROWS:]):
        size += len(row) + 1
        if size > _CONTEXT_CHARS:
            break
        kept.append(row)
    return tuple(reversed(kept)), len(rows) - len(kept)


def _hash(text: Iterable[str], options: Iterable[DialogOption]) -> str:
    words = [fold(_MARKS.sub(" ", LINES.sub(" ", row))) for row in text]
    said = " ".join(" ".join(words).split())
    labels = "\0".join(f"{option.n}\0{option.label}" for option in options)
    return hashlib.sha256(f"{said}\0\0{labels}".encode()).hexdigest()[:32]
