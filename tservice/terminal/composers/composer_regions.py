"""Detection of the composer in a frame, and of the rows around it that show a running turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules, get_similar_glyphs

if TYPE_CHECKING:
    from tservice.terminal.frames.cell_styles import CellStyle

_BELOW = 16
"""Maximum number of rows below a composer: footer, completions of a slash command, key help."""

_FOOTER = " /@+*"
"""Characters with which rows below a composer begin: such rows are indented, or complete a command
or a file name. Other text below it was printed after the client had ended.
"""

_COMPLETED = "/@"
_TALLEST = 80
_PARAGRAPHS = 3
_BAR_END = re.compile(r" *╹▀{8,}.*")
_SHELL_GLYPHS = ("!", "#", "$")
_BAR_GLYPH = "▌"
_DEFAULT = "default"
"""Colour of text that the client does not colour."""
_OPTION = re.compile(r"\S [1-9][.)] ")
_KEY_HINT = re.compile(
    r"\b(?:enter|return|esc|escape)\b\)?(?:/\S+)?(?: to)? (?:confirm|cancel|select|continue"
    r"|submit|exit|quit|go back|back|navigate|dismiss|close|open|reject|deny|approve|accept|choose"
    r"|toggle|change|clear)",
    re.IGNORECASE,
)
_WORK = re.compile(r" *(?:[\u2800-\u28ff] |(?:Waiting|Working|Thinking|Loading|Starting) )")

_WAITING = re.compile(r" *(?:[\u2800-\u28ff] )?Waiting for (?:user|your|approval|confirmation)\b")


@frozen
class RowSpan:
    """Rows C{top} to C{bottom} of a screen, both inclusive."""

    top: int
    bottom: int


def is_key_hint(row: str) -> bool:
    """Return true if a row shows which keys answer or close a dialog."""
    return bool(_KEY_HINT.search(row)) and not _WORK.match(row)


def is_waiting_spinner(row: str) -> bool:
    """Return true if a row is the spinner of a turn that waits for a person's answer."""
    return bool(_WAITING.match(row))


def find_composer(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    """Return the rows of the composer, including its frame; C{None} if the screen shows none."""
    if frame.last_row < 0 or frame.is_dead:
        return None
    finders = {
        "framed": _find_framed_composer,
        "row": _find_row_composer,
        "bar": _find_bar_composer,
        "mark": _find_marked_row,
    }
    return finders[rules.shape](frame, rules)


def contains_draft(frame: ScreenFrame, rules: ScreenRules) -> bool:
    """Return true if the composer contains a user's unsent text.

    Text by the client, such as a hint or a suggestion, is dim except for the caret on it. A
    composer in another mode (C{!}: a shell command) counts as containing text.
    """
    span = find_composer(frame, rules)
    if span is None:
        return False
    inside = [
        at for at in frame.find_filled_rows(span.top, span.bottom + 1) if not _is_border(frame, at)
    ]
    if rules.colored_hint and inside and _is_colored_hint(frame, inside, rules):
        return False
    return any(_row_contains_draft(frame, at, rules if at == inside[0] else None) for at in inside)


def _is_colored_hint(frame: ScreenFrame, inside: list[int], rules: ScreenRules) -> bool:
    """Return true if the rows contain a caret on their first letter, and coloured text after it.

    Text of a person has the terminal's own colour.
    """
    cells = [
        style
        for at in inside
        for style in _read_filled_styles(
            frame, at, _find_text_start(frame, at, rules if at == inside[0] else None)
        )
    ]
    if len(cells) < 2 or not all(cells):
        return False
    caret, *rest = cells
    has_caret = any(style.reverse or style.background != _DEFAULT for style in caret)
    return has_caret and all(style.foreground != _DEFAULT for each in rest for style in each)


def _is_border(frame: ScreenFrame, at: int) -> bool:
    return frame.is_rule(at) or frame.is_edge(at)


def _row_contains_draft(frame: ScreenFrame, at: int, first: ScreenRules | None) -> bool:
    """Return true if row C{at} contains text that is not dim.

    @param first: the rules whose glyph begins the composer's first row and is skipped; C{None} for
        any other row.
    """
    return _has_undimmed_text(frame, at, _find_text_start(frame, at, first))


def _find_text_start(frame: ScreenFrame, at: int, first: ScreenRules | None) -> int:
    """Return the column after the indent and the glyph of row C{at}; see L{_row_contains_draft}."""
    row = frame.inner_rows[at]
    start = _measure_indent(row)
    if first is not None:
        glyphs = (*first.glyphs, *(get_similar_glyphs(first.glyphs[0]) if first.glyphs else ()))
        start += next((len(glyph) for glyph in glyphs if row.startswith(glyph, start)), 0)
    return start


def has_text_after(frame: ScreenFrame, row: int, column: int) -> bool:
    """Return true if a row contains text other than a hint from column C{column} on."""
    return row < len(frame.inner_rows) and _has_undimmed_text(frame, row, column)


def _has_undimmed_text(frame: ScreenFrame, row: int, start: int) -> bool:
    cells = _read_filled_styles(frame, row, start)
    # A hint has more letters than the caret covers, so a single letter was typed by the user.
    is_hint = _is_dim if len(cells) == 1 else _is_faint
    return not all(map(is_hint, cells))


def _read_filled_styles(frame: ScreenFrame, row: int, start: int) -> list[frozenset[CellStyle]]:
    """Return the styles of each character from column C{start} on that is not blank."""
    text = frame.inner_rows[row]
    return [frame.get_styles(row, i, i + 1) for i in range(start, len(text)) if text[i].strip()]


def _is_dim(styles: frozenset[CellStyle]) -> bool:
    return bool(styles) and all(style.dim for style in styles)


def _is_faint(styles: frozenset[CellStyle]) -> bool:
    return bool(styles) and all(style.dim or style.reverse for style in styles)


def find_activity_paragraphs(
    frame: ScreenFrame, span: RowSpan | None, reach: int = _PARAGRAPHS
) -> list[list[str]]:
    """Return the paragraphs that can show a running turn, the nearest to the composer first.

    These are all paragraphs below the composer and the last C{reach} paragraphs above it. The text
    further up belongs to the conversation and may quote anything.
    """
    if span is None:
        return _split_paragraphs(frame, 0, frame.last_row + 1)[-reach:][::-1]
    above = _split_paragraphs(frame, 0, span.top)[-reach:][::-1]
    return [*_split_paragraphs(frame, span.bottom + 1, frame.last_row + 1), *above]


def _split_paragraphs(frame: ScreenFrame, start: int, stop: int) -> list[list[str]]:
    found: list[list[str]] = []
    inside = False
    for at in range(start, stop):
        filled = not frame.is_blank(at) and not frame.is_rule(at)
        if filled and not inside:
            found.append([])
        if filled:
            found[-1].append(frame.rows[at])
        inside = filled
    return found


def _find_framed_composer(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    return _find_ruled_composer(frame, rules) or _find_boxed_composer(frame, rules)


def _find_ruled_composer(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    """Return a composer between two rules that begin in the same column as the glyph."""
    lines = [i for i in range(frame.last_row + 1) if frame.is_rule(i)]
    if len(lines) < 2:
        return None
    top, bottom = lines[-2:]
    column = _measure_indent(frame.rows[top])
    if column != _measure_indent(frame.rows[bottom]) or not 2 <= bottom - top <= _TALLEST:
        return None
    below = [frame.rows[i] for i in frame.find_filled_rows(bottom + 1, frame.last_row + 1)]
    # The completions of a slash command fill all available room.
    completing = bool(below) and below[0][0] in _COMPLETED
    if len(below) > (_TALLEST if completing else _BELOW):
        return None
    if not rules.glyphs:
        # Only its footer distinguishes this composer from two plain lines.
        return RowSpan(top, bottom) if any((rules.ready_mark or "\0") in r for r in below) else None
    row = frame.rows[top + 1]
    started = not row[:column].strip(" ") and _begins_with_glyph(row[column:], rules)
    return RowSpan(top, bottom) if started and all(row[0] in _FOOTER for row in below) else None


def _begins_with_glyph(row: str, rules: ScreenRules) -> bool:
    """Return true if a composer's first row begins with a glyph of the mode or a similar one."""
    for glyph in (*rules.glyphs, *get_similar_glyphs(rules.glyphs[0])):
        # With text right after it, C{>} is a logo.
        if row.startswith(glyph) and not row[len(glyph) :][:1].strip():
            return True
    return row.startswith(_SHELL_GLYPHS)


def _find_boxed_composer(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    """Return a composer in the last box of the screen."""
    edges = [i for i in range(frame.last_row + 1) if frame.is_edge(i)]
    if len(edges) < 2 or not rules.glyphs:
        return None
    top, bottom = edges[-2:]
    if len(frame.find_filled_rows(bottom + 1, frame.last_row + 1)) > _BELOW:
        return None
    inside = [frame.inner_rows[i].strip(" ") for i in frame.find_filled_rows(top + 1, bottom)]
    if not inside or any(map(is_key_hint, inside)):
        return None
    prompt = _begins_with_glyph(inside[0], rules) and not _OPTION.match(inside[0])
    return RowSpan(top, bottom) if prompt else None


def _find_row_composer(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    """Return a composer that is a row with the glyph; older versions of these clients drew a box
    around it.
    """
    return _find_glyph_row(frame, rules) or _find_boxed_composer(frame, rules)


def _find_glyph_row(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    """Return a row that begins with the glyph, if only its continuation and a footer follow."""
    glyphs = (*rules.glyphs, _BAR_GLYPH)
    begins = tuple(f"{blank}{glyph} " for glyph in glyphs for blank in ("", " "))
    for at in range(frame.last_row, -1, -1):
        row = frame.rows[at]
        if f"{row} ".startswith(begins):
            return _find_footer(frame, at)
        if not frame.is_blank(at) and (_measure_indent(row) == 0 or frame.is_rule(at)):
            return None
    return None


def _find_footer(frame: ScreenFrame, top: int) -> RowSpan | None:
    below = frame.find_filled_rows(top + 1, frame.last_row + 1)
    if not below or any(is_key_hint(frame.rows[i]) for i in below):
        return None
    footer = frame.last_row
    while footer > top and not frame.is_blank(footer - 1):
        footer -= 1
    return RowSpan(top, footer - 1) if footer > top + 1 else None


def _find_bar_composer(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    """Return the rows with a bar on their left, closed by the foot of the bar."""
    ends = [i for i in range(frame.last_row + 1) if _BAR_END.fullmatch(frame.rows[i])]
    if not ends or len(frame.find_filled_rows(ends[-1] + 1, frame.last_row + 1)) > _BELOW:
        return None
    top = ends[-1]
    while top and frame.rows[top - 1].lstrip(" ").startswith(rules.glyphs):
        top -= 1
    return RowSpan(top, ends[-1]) if top < ends[-1] else None


def _find_marked_row(frame: ScreenFrame, rules: ScreenRules) -> RowSpan | None:
    """Return the row among the last ones that contains the mark of an empty composer."""
    if not rules.ready_mark:
        return None
    for at in reversed(frame.find_filled_rows(frame.last_row - _BELOW + 1, frame.last_row + 1)):
        if rules.ready_mark in frame.rows[at]:
            return RowSpan(at, at)
    return None


def _measure_indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))
