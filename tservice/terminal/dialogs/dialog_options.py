"""Parser of a dialog's options, in numbered layouts (protocol-dialogs: frame grammar) and in
layouts without numbers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

from attrs import evolve, frozen

from tservice.terminal.composers.composer_regions import is_key_hint
from tservice.terminal.frames.screen_frame import ScreenFrame

MARKERS = "❯›●>→▶"
"""Glyphs that clients draw before the highlighted option."""

MOST = 9
GAP = 3
"""Maximum number of other lines between two options (protocol-dialogs); there are 2 to C{MOST}
options.
"""

WIDE_GAP = 12
"""Like L{GAP}, for text that is known to be a dialog, where long descriptions wrap."""

# Plain blanks only: a no-break space after the glyph belongs to a composer, not a dialog.
_NUMBERED = re.compile(
    rf" *(?:(?P<marker>[{MARKERS}]) *)?(?P<n>[0-9])[.)](?: +|(?=[^ 0-9]))(?P<label>[^ ].*)"
)
_CHECK = re.compile(r"(?:\[(?P<mark>[ xX✔✓*])\]|(?P<box>[☐☑☒◯◉]))\s+(?P<label>.*)")
_COLUMN = re.compile(r" {2,}.*$")
_BESIDE = re.compile(r"[^ ] {2,}(?P<text>[^ ✔✓│┃┌└╭╰─][^│┃┌└╭╰─]*)$")
"""Pattern of text in a separate column that is neither a tick nor a box with a preview."""

_CURRENT = re.compile(r" [✔✓]$")
_MARKED = re.compile(rf" *[{MARKERS}] +(?P<label>[^ ].*)")
_LETTER = re.compile(r"\[(?P<key>[A-Za-z])\] +(?P<label>[^\[\s](?:[^\[]*[^\[\s])?)")
_HANG = 5
"""Maximum number of columns between an option's number and the start of a wrapped row of its label.
"""

_PADDING = 4
"""Cells at a row's end that a client may keep free before it wraps."""


@frozen(kw_only=True)
class DialogOption:
    """Option of a dialog.

    @ivar n: the number of the option, from 1; in layouts without numbers its position.
    @ivar label: the text of the option, with white space folded, without number, marker and check
        box.
    @ivar selected: the option is highlighted.
    @ivar checked: true if the check box is ticked; C{None} if the option has no check box.
    @ivar key: the key that picks the option immediately; C{None} if there is no such key.
    @ivar free_text: picking the option opens a field for free text.
    @ivar description: the text below the label, with white space folded; C{None} if there is none.
    """

    n: int
    label: str
    selected: bool = False
    checked: bool | None = None
    key: str | None = None
    free_text: bool = False
    description: str | None = None


@frozen(kw_only=True)
class OptionBlock:
    """Options of a dialog and their rows on the screen.

    @ivar rows: the row in which each option begins.
    @ivar bottom: the last row that belongs to the options.
    """

    options: tuple[DialogOption, ...]
    rows: tuple[int, ...]
    bottom: int

    @property
    def top(self) -> int:
        """Row of the first option."""
        return self.rows[0]

    @property
    def has_marker(self) -> bool:
        """True if exactly one option is highlighted; a list in ordinary text has no highlight."""
        return sum(option.selected for option in self.options) == 1


@frozen
class _OptionLine:
    row: int
    n: int
    marker: bool
    label: str
    column: int


def find_numbered_block(rows: Sequence[str], gap: int = GAP) -> OptionBlock | None:
    """Return the last complete block of numbered options in C{rows} (protocol-dialogs: frame
    grammar).

    Each label contains the text of its first row only; L{join_wrapped_labels} adds the wrapped
    rest.

    @param gap: maximum number of other lines between two options.
    """
    best: list[_OptionLine] | None = None
    run: list[_OptionLine] = []
    for line in _iterate_numbered_runs(rows):
        run = _extend_run(rows, run, line, gap)
        if len(run) >= 2:
            best = run
    return None if best is None else _build_block(best)


def _iterate_numbered_runs(rows: Sequence[str]) -> Iterable[_OptionLine]:
    for at, row in enumerate(rows):
        found = _NUMBERED.fullmatch(row)
        if found:
            marker = found["marker"] is not None
            yield _OptionLine(at, int(found["n"]), marker, found["label"], found.start("label"))


def _extend_run(
    rows: Sequence[str], run: list[_OptionLine], line: _OptionLine, gap: int
) -> list[_OptionLine]:
    if line.n == 1:
        return [line]
    if not run or _count_rows_between(rows, run[-1], line) > gap:
        return []
    # A number out of order between two options is one of the lines between them.
    return [*run, line] if line.n == run[-1].n + 1 else run


def _count_rows_between(rows: Sequence[str], last: _OptionLine, line: _OptionLine) -> int:
    """Return the number of other lines between two options, not counting the wrapped rows of a
    label.
    """
    others = rows[last.row + 1 : line.row]
    if len(others) > WIDE_GAP:
        return len(others)
    hanging = " " * last.column
    wrapped = next(
        (n for n, row in enumerate(others) if not _is_wrapped_label_row(row, hanging)), len(others)
    )
    return len(others) - wrapped


def _is_wrapped_label_row(row: str, blanks: str) -> bool:
    return row.startswith(blanks) and row[len(blanks) :][:1].strip() != ""


def _build_block(lines: list[_OptionLine]) -> OptionBlock:
    return OptionBlock(
        options=tuple(map(_build_option, lines)),
        rows=tuple(line.row for line in lines),
        bottom=lines[-1].row,
    )


def _build_option(line: _OptionLine) -> DialogOption:
    option = DialogOption(n=line.n, label=line.label, selected=line.marker, key=str(line.n))
    ticked = parse_checkbox(option)
    return evolve(ticked, label=_strip_columns(ticked.label))


def _strip_columns(label: str) -> str:
    """Return a label without text in separate columns: a description, a preview, a tick."""
    return _CURRENT.sub("", _fold_whitespace(_COLUMN.sub("", label)))


def parse_checkbox(option: DialogOption) -> DialogOption:
    """Return the option with its check box removed from the label and stored in C{checked}."""
    found = _CHECK.fullmatch(option.label)
    if found is None:
        return option
    ticked = (found["mark"] or found["box"]) not in " ☐◯"
    return evolve(option, label=found["label"], checked=ticked)


def join_wrapped_labels(frame: ScreenFrame, block: OptionBlock) -> OptionBlock:
    """Return the block with wrapped labels joined and descriptions filled in.

    A row belongs to the label above if its first word did not fit at the end of that label. All
    other text between two options is a description.
    """
    ends = [*block.rows[1:], min(frame.last_row, block.bottom + GAP) + 1]
    options = []
    last = block.bottom
    for option, start, end in zip(block.options, block.rows, ends, strict=True):
        label, last = _join_label(frame, option.label, start, end)
        described = _read_description(
            frame.inner_rows, start, last + 1, end, ticked=option.checked is not None
        )
        options.append(evolve(option, label=label, description=described))
    return evolve(block, options=tuple(options), bottom=max(block.bottom, last))


def _join_label(frame: ScreenFrame, label: str, start: int, end: int) -> tuple[str, int]:
    rows = frame.inner_rows
    if not _fold_whitespace(rows[start]).endswith(label):
        return label, start
    width = get_wrapping_width(frame, start)
    number = len(rows[start]) - len(rows[start].lstrip(f" {MARKERS}"))
    for at in range(start + 1, end):
        words = rows[at].split()
        indent = len(rows[at]) - len(rows[at].lstrip(" "))
        if (
            not words
            or has_room(rows[at - 1], words[0], width)
            or not number <= indent <= number + _HANG
            or frame.is_rule(at)
        ):
            return label, at - 1
        label = f"{label} {_fold_whitespace(rows[at])}"
    return label, end - 1


def _read_description(
    rows: Sequence[str], start: int, first: int, end: int, *, ticked: bool
) -> str | None:
    """Return the description next to or below the label that begins in row C{start}; a gap ends it.

    @param ticked: the options have check boxes. On such pages only buttons are farther right than
        the numbers.
    """
    beside = _BESIDE.search(rows[start])
    number = _measure_indent(rows[start], f" {MARKERS}")
    least, most = (number, number + (0 if ticked else _HANG))
    text = []
    if beside is not None:
        least = most = beside.start("text")
        text.append(_fold_whitespace(beside["text"]))
    for row in rows[first:end]:
        hint = is_key_hint(row) or _HINT.fullmatch(row.strip())
        if hint or not least <= _measure_indent(row) <= most:
            break
        text.append(_fold_whitespace(row))
    return " ".join(text) or None


def _measure_indent(row: str, blanks: str = " ") -> int:
    """Return the number of blanks before the text; a very large number for an empty row."""
    return len(row) - len(row.lstrip(blanks)) if row.strip() else sys.maxsize


def has_room(row: str, word: str, width: int) -> bool:
    """Return true if C{word} would have fitted after C{row} within C{width} cells, so it did not
    wrap.
    """
    return count_cells(row) + 1 + count_cells(word) <= width


def count_cells(text: str) -> int:
    """Return the number of terminal cells that a text takes."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def get_wrapping_width(frame: ScreenFrame, at: int) -> int:
    """Return the column at which a client wraps the text of row C{at}.

    This is the inner edge of the box or of the pane, minus some padding.
    """
    raw = frame.rows[at]
    # A bar at the left alone is no box.
    boxed = raw.lstrip(" ")[:1] in ("│", "┃") and raw.rstrip(" ")[-1:] in ("│", "┃")
    return (count_cells(raw) - 1 if boxed else frame.cols) - _PADDING


def find_unnumbered_block(frame: ScreenFrame, start: int, stop: int) -> OptionBlock | None:
    """Return the options of a list with a marker but without numbers.

    The block consists of the last marked row and its neighbours. They begin in the same column as
    the marked label, and one blank row may separate two of them.
    """
    rows = frame.inner_rows
    for at in range(stop - 1, start - 1, -1):
        found = _MARKED.fullmatch(rows[at])
        if found is None:
            continue
        column = found.start("label")
        first = _find_list_end(rows, at, column, -1, start - 1)
        last = _find_list_end(rows, at, column, 1, stop)
        places = _find_option_starts(rows, first, last, at)
        if 2 <= len(places) <= MOST:
            return OptionBlock(
                options=tuple(
                    parse_checkbox(
                        DialogOption(
                            n=n, label=_fold_whitespace(rows[i][column:]), selected=i == at
                        ),
                    )
                    for n, i in enumerate(places, 1)
                ),
                rows=tuple(places),
                bottom=last,
            )
        return None
    return None


def _find_option_starts(rows: Sequence[str], first: int, last: int, marked: int) -> list[int]:
    """Return the rows in which an option begins.

    If blank rows separate the options, the first row of each part begins an option, and its
    description follows. Otherwise every row is an option.
    """
    filled = [i for i in range(first, last + 1) if rows[i].strip()]
    begun = [i for i in filled if i == first or not rows[i - 1].strip()]
    return begun if len(begun) > 1 and marked in begun else filled


def _find_list_end(rows: Sequence[str], at: int, column: int, step: int, end: int) -> int:
    """Return the last row of the list around row C{at} in one direction.

    @param column: the column in which the list's labels begin.
    @param step: 1 to search downwards, -1 to search upwards.
    @param end: the row at which the search stops.
    """
    last = at
    i = at + step
    while i != end and abs(i - last) <= 2:
        row = rows[i]
        if row.strip():
            if len(row) - len(row.lstrip(" ")) != column:
                break
            last = i
        i += step
    return last


def parse_lettered_options(row: str) -> tuple[DialogOption, ...]:
    """Return options of the form C{[y] Approve   [n] Deny} in one row; empty if there are fewer
    than two.
    """
    found = list(_LETTER.finditer(row))
    if len(found) < 2:
        return ()
    return tuple(
        DialogOption(n=n, label=_fold_whitespace(each["label"]), key=each["key"])
        for n, each in enumerate(found, 1)
    )


_KEY_CHOICES = (
    (
        re.compile(r" *Enter to (stay\b.*?) · shift\+Tab to (leave\b.*?) · Esc to (cancel)\b.*"),
        ("Enter", "S-Tab", "Escape"),
    ),
    (re.compile(r" *⇆ tab +enter (submit) +esc (dismiss) *"), ("Enter", "Escape")),
)


def parse_key_choices(row: str) -> tuple[DialogOption, ...]:
    """Return the choices of a page that only its row of keys names; empty if there are none.

    Claude Code asks so if its auto mode cannot check actions, opencode before it sends the answers
    to several questions.
    """
    for pattern, keys in _KEY_CHOICES:
        found = pattern.fullmatch(row)
        if found is not None:
            pairs = enumerate(zip(found.groups(), keys, strict=True), 1)
            return tuple(
                DialogOption(n=n, label=_fold_whitespace(label), key=key)
                for n, (label, key) in pairs
            )
    return ()


def mark_highlighted(frame: ScreenFrame, block: OptionBlock) -> OptionBlock:
    """Return numbered options with the mark on the one whose number has another background."""
    lit = []
    for at, row in enumerate(block.rows):
        text = frame.inner_rows[row]
        start = len(text) - len(text.lstrip(" "))
        plain = _collect_backgrounds(frame, row, start - 1, start)
        if _collect_backgrounds(frame, row, start, start + 1) != plain:
            lit.append(at)
    marked = (evolve(o, selected=[at] == lit) for at, o in enumerate(block.options))
    return evolve(block, options=tuple(marked))


_SEGMENT = re.compile(r"\S+(?: \S+)*")
_HINT = re.compile(r"(?:ctrl\+|shift\+|alt\+)\S+ .*|(?:enter|esc|tab|⇆|↑↓|↑/↓|←/→) \S.*", re.I)


def parse_horizontal_options(frame: ScreenFrame, at: int) -> tuple[DialogOption, ...]:
    """Return options next to each other, where only the background shows the highlight.

    The result is empty if there are none. Key hints in the same row are not options.
    """
    row = frame.inner_rows[at]
    found = [s for s in _SEGMENT.finditer(row) if not _HINT.fullmatch(s[0])]
    if not 2 <= len(found) <= MOST:
        return ()
    # One blank of padding is highlighted with its label, so the blank before that one is not.
    edge = max(0, found[0].start() - 2)
    plain = _collect_backgrounds(frame, at, edge, edge + 1)
    lit = [
        i
        for i, s in enumerate(found)
        if _collect_backgrounds(frame, at, s.start(), s.end()) != plain
    ]
    chosen = lit[0] if len(lit) == 1 else None
    return tuple(
        DialogOption(n=n + 1, label=s[0], selected=n == chosen) for n, s in enumerate(found)
    )


def _collect_backgrounds(
    frame: ScreenFrame, row: int, start: int, stop: int
) -> frozenset[tuple[str, bool]]:
    return frozenset((s.background, s.reverse) for s in frame.get_styles(row, start, stop))


def _fold_whitespace(text: str) -> str:
    return " ".join(text.split())
