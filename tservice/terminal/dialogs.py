"""Dialogs on a frame: what is asked, which answers there are, which key gives them (wire 5).

A dialog is recognised only where dialogs live: it is the last thing on the screen, no composer is
there, and it shows itself by more than its options: an edge above it, key hints below it or a known
question.  A numbered list in an answer, a file or a diff that quotes one is no dialog.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from attrs import evolve, frozen

from tservice.terminal import options as grammar
from tservice.terminal.kinds import Kind, kind_of
from tservice.terminal.options import Block, Option
from tservice.terminal.regions import composer, is_key_hint
from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame

_BELOW = 10
"""Filled rows that may follow the options: key hints, a box's edge, a footer."""

_TALLEST = 60
_CONTEXT_ROWS = 30
_CONTEXT_CHARS = 4000

_TAB = re.compile(r"(?:← +)?(?:[☐☒☑✔] +\S.*?)(?: {2,}[☐☒☑✔] +\S.*?)*(?: +→)?")
_MARKS = re.compile(rf"[{grammar.MARKERS}☐☑☒✔✓←]")
_LINES = re.compile(r"[─━│┃║╭╮╰╯┌┐└┘├┤┬┴┼╌═╔╗╚╝▔▁▀▄█╹]+")
_KNOWN_QUESTION = re.compile(
    r"(?:Do you (?:want|trust|wish)|Would you like|Allow |Approve |Apply |Trust this|Ready to submit"
    r"|Exit plan mode|Are you sure|How would you|Which |△ )",
)
_ASIDE = re.compile(r"(?:Reason|Tip|Note|Hint): |[$●⎿] ?")
_FREE_TEXT = re.compile(r"type (?:something|here|your)\b.*", re.IGNORECASE)
_TRANSCRIPT_VIEW = re.compile(r"Showing (?:detailed )?transcript|ctrl\+o to toggle")


@frozen(kw_only=True)
class Dialog:
    """Something on the screen that waits for a choice or for fields to be filled in.

    @ivar title: its first row, white space folded.
    @ivar question: the sentence asked, white space folded; C{None} when there is none.
    @ivar page: C{multi} when its options are ticked before they are sent, C{review} for the page
        that sends them, else C{single}.
    @ivar tabs: the pages of a question dialog, C{(label, answered)}; empty where it has none.
    @ivar digits_answer: an option's digit gives the answer (on a C{multi} page: ticks it).
    @ivar needs_enter: an answer takes cursor keys and Enter.
    @ivar context: the dialog's rows, at most the last 30 and 4000 characters (wire 5).
    @ivar frame_hash: names this dialog: its text and labels without markers, ticks, borders and
        colours, white space folded (wire 26).  The text is everything that the answer is about,
        so the same question about another command has another hash.
    """

    kind: Kind
    title: str
    question: str | None
    options: tuple[Option, ...]
    page: str
    tabs: tuple[tuple[str, bool], ...]
    digits_answer: bool
    needs_enter: bool
    context: tuple[str, ...]
    frame_hash: str

    @property
    def selected(self) -> Option | None:
        """The highlighted option, where the screen shows one."""
        return next((option for option in self.options if option.selected), None)


@frozen
class _Area:
    """Rows that a dialog covers; C{bounded}: an edge or rule stands right above them."""

    top: int
    bottom: int
    bounded: bool


def read_dialog(frame: Frame, rules: ScreenRules) -> Dialog | None:
    """The dialog that C{frame} shows, or C{None}."""
    if frame.bottom < 0 or frame.dead or _transcript_view(frame):
        return None
    if composer(frame, rules) is not None:
        return None
    block = _numbered(frame) or _lettered(frame) or _horizontal(frame) or _unnumbered(frame)
    if block is not None:
        return _dialog(frame, _area(frame, block.top), block)
    return _without_options(frame)


def _transcript_view(frame: Frame) -> bool:
    last = frame.filled(frame.bottom - 3, frame.bottom + 1)
    return any(_TRANSCRIPT_VIEW.search(frame.rows[i]) for i in last)


def _numbered(frame: Frame) -> Block | None:
    start = max(0, frame.bottom - _TALLEST)
    area = _area(frame, frame.bottom)
    for gap in (grammar.GAP, grammar.WIDE_GAP):
        block = grammar.numbered(frame.inner[start : frame.bottom + 1], gap)
        if block is None:
            continue
        block = evolve(block, top=block.top + start, bottom=block.bottom + start)
        block = grammar.joined(frame, block)
        if gap > grammar.GAP and not _tabs(frame, _area(frame, block.top)):
            continue
        if _is_last(frame, block) and _shows_itself(frame, block):
            return block
    del area
    return None


def _is_last(frame: Frame, block: Block) -> bool:
    """Whether nothing but hints, edges and a footer follows."""
    below = frame.filled(block.bottom + 1, frame.bottom + 1)
    return len(below) <= _BELOW


def _shows_itself(frame: Frame, block: Block) -> bool:
    hinted = any(map(is_key_hint, _below(frame, block)))
    if not block.marked:
        # A highlight that is colour only, or none: then the frame around it has to be complete.
        return hinted and _area(frame, block.top).bounded
    return hinted or _area(frame, block.top).bounded or _asked(frame, block)


def _below(frame: Frame, block: Block) -> Iterable[str]:
    return (frame.inner[i] for i in range(block.bottom + 1, frame.bottom + 1))


def _asked(frame: Frame, block: Block) -> bool:
    """Whether a known question stands in one of the rows right above the options."""
    above = frame.filled(block.top - 8, block.top)[-3:]
    return any(_KNOWN_QUESTION.match(frame.inner[i].strip(" ")) for i in above)


def _lettered(frame: Frame) -> Block | None:
    for at in frame.filled(frame.bottom - _BELOW, frame.bottom + 1)[::-1]:
        found = grammar.lettered(frame.inner[at])
        if found:
            return Block(options=found, top=at, bottom=at)
    return None


def _horizontal(frame: Frame) -> Block | None:
    """Options side by side below a title of their own (opencode)."""
    for at in frame.filled(frame.bottom - 4, frame.bottom + 1)[::-1]:
        found = grammar.horizontal(frame, at)
        block = Block(options=found, top=at, bottom=at)
        if block.marked and "△" in "".join(frame.rows[_area(frame, at).top : at]):
            return block
    return None


def _unnumbered(frame: Frame) -> Block | None:
    area = _area(frame, frame.bottom)
    block = grammar.unnumbered(frame, area.top, frame.bottom + 1)
    if block is None or not _is_last(frame, block) or _is_form(frame, area):
        return None
    shown = any(map(is_key_hint, _below(frame, block))) or _asked(frame, block)
    return block if shown else None


def _is_form(frame: Frame, area: _Area) -> bool:
    """Whether the area ends with the buttons of a form (MCP elicitation)."""
    rows = [frame.inner[i] for i in frame.filled(area.top, frame.bottom + 1)]
    return any(re.search(r"\bAccept {2,}(?:❯ )?Decline\b", row) for row in rows)


def _without_options(frame: Frame) -> Dialog | None:
    """A form, a field, an advert: something whose key hints say that it takes the keys."""
    last = frame.filled(frame.bottom - 4, frame.bottom + 1)
    if not any(is_key_hint(frame.inner[i]) for i in last):
        return None
    return _dialog(frame, _area(frame, frame.bottom), None)


def _area(frame: Frame, at: int) -> _Area:
    """The dialog around row C{at}: down from the nearest rule or upper edge outside any box."""
    for top in range(at, max(-1, at - _TALLEST), -1):
        upper = frame.is_edge(top) and frame.rows[top].lstrip(" ")[0] in "╭┌╔"
        if upper or (frame.is_rule(top) and _opens(frame, top)):
            return _Area(top + 1, frame.bottom, bounded=True)
    return _Area(max(0, at - _TALLEST + 1), frame.bottom, bounded=False)


def _opens(frame: Frame, at: int) -> bool:
    """Whether a rule is a dialog's upper one, not the one inside it before a last option."""
    following = frame.filled(at + 1, min(at + 3, frame.bottom + 1))
    if not following:
        return False
    line = re.match(r" *[❯›●>]? *([2-9])[.)]", frame.inner[following[0]])
    return line is None


def _dialog(frame: Frame, area: _Area, block: Block | None) -> Dialog:
    end = frame.bottom + 1 if block is None else block.top
    options = () if block is None else _free_text(frame, area, block)
    question, asked_at = _question(frame, area, end, bool(_tabs(frame, area)))
    if not area.bounded and asked_at is not None:
        area = evolve(area, top=asked_at)
    text = [frame.inner[i] for i in range(area.top, end)]
    title = next((_fold(row) for row in text if _plain(row)), "")
    footer = [] if block is None else list(_below(frame, block))
    tabs = _tabs(frame, area)
    kind = kind_of(text, footer, [option.label for option in options], bool(tabs))
    numbers = bool(options) and all(option.key is not None for option in options)
    return Dialog(
        kind=kind,
        title=title,
        question=question,
        options=options,
        page=_page(kind, options),
        tabs=tabs,
        digits_answer=bool(options) and all(option.key == str(option.n) for option in options),
        needs_enter=not numbers,
        context=_context(frame, area),
        frame_hash=_hash(text, options),
    )


def _page(kind: Kind, options: tuple[Option, ...]) -> str:
    if kind is Kind.REVIEW:
        return "review"
    return "multi" if any(option.checked is not None for option in options) else "single"


def _free_text(frame: Frame, area: _Area, block: Block) -> tuple[Option, ...]:
    """Mark the option that opens a field: the one before the rule of a question's last option."""
    tabs = bool(_tabs(frame, area))
    *rest, last = block.options
    split = tabs and any(frame.is_rule(i) for i in range(block.top, block.bottom))
    own = rest[-1].n if split and rest else None
    return tuple(
        evolve(o, free_text=o.n == own or (own is None and bool(_FREE_TEXT.fullmatch(o.label))))
        for o in (*rest, last)
    )


def _tabs(frame: Frame, area: _Area) -> tuple[tuple[str, bool], ...]:
    """The chips of a question dialog's first row; its Submit page is not one of them."""
    first = frame.filled(area.top, min(area.top + 3, frame.bottom + 1))
    row = frame.inner[first[0]].strip(" ") if first and area.bounded else ""
    if not _TAB.fullmatch(row) or row[0] == "✔":
        return ()
    chips = re.findall(r"([☐☒☑✔]) +(.*?)(?= {2,}| *→|$)", row)
    return tuple((label, mark in "☒☑") for mark, label in chips if mark != "✔")


def _question(frame: Frame, area: _Area, end: int, tabbed: bool) -> tuple[str | None, int | None]:
    """The sentence asked and the row it begins in."""
    paragraphs = list(_paragraphs(frame, area.top, end))
    if tabbed:
        return _tabbed_question(paragraphs)
    known = [p for p in paragraphs if _KNOWN_QUESTION.match(p[1]) and _sentence(p[1])]
    others = [p for p in paragraphs if "?" in p[1] and area.bounded and not _ASIDE.match(p[1])]
    for at, text in [*reversed(known), *reversed(others)]:
        sentence = _sentence(text)
        if sentence:
            return sentence, at
    return None, None


def _sentence(text: str) -> str | None:
    if text.startswith("△ "):
        return text[2:]
    found = re.match(r".*?\?(?=$|[\s(])", text)
    return found[0] if found else None


def _tabbed_question(paragraphs: list[tuple[int, str]]) -> tuple[str | None, int | None]:
    """A question page says what it likes between its tabs and its options."""
    rows = [p for p in paragraphs if not _TAB.fullmatch(p[1])]
    if not rows:
        return None, None
    if rows[0][1].startswith("Review your answers"):
        return rows[-1][1], rows[-1][0]
    return " ".join(text for _, text in rows), rows[0][0]


def _paragraphs(frame: Frame, start: int, stop: int) -> Iterable[tuple[int, str]]:
    """Rows of text that belong together: neighbours with the same indent."""
    begin, words, indent = start, list[str](), -1
    for at in range(start, stop):
        row = frame.inner[at]
        blank = not _plain(row)
        depth = len(row) - len(row.lstrip(" "))
        if words and (blank or depth != indent or _KNOWN_QUESTION.match(row.strip(" "))):
            yield begin, _fold(" ".join(words))
            words = []
        if not blank:
            begin = begin if words else at
            indent = depth
            words.append(row)
    if words:
        yield begin, _fold(" ".join(words))


def _plain(row: str) -> str:
    return _LINES.sub("", row).strip()


def _fold(text: str) -> str:
    return " ".join(text.split())


def _context(frame: Frame, area: _Area) -> tuple[str, ...]:
    rows = [r.rstrip() for r in frame.inner[area.top : frame.bottom + 1] if _plain(r)]
    kept: list[str] = []
    size = 0
    for row in reversed(rows[-_CONTEXT_ROWS:]):
        size += len(row) + 1
        if size > _CONTEXT_CHARS:
            break
        kept.append(row)
    return tuple(reversed(kept))


def _hash(text: Iterable[str], options: Iterable[Option]) -> str:
    words = [_fold(_MARKS.sub(" ", _LINES.sub(" ", row))) for row in text]
    said = " ".join(" ".join(words).split())
    labels = "\0".join(f"{option.n}\0{option.label}" for option in options)
    return hashlib.sha256(f"{said}\0\0{labels}".encode()).hexdigest()[:32]
