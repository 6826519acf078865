"""Parser that finds the composer (input field) of an agent on the screen and reads its content.

Every agent draws its composer differently. The differences are data (L{ComposerRule}) from the
mode's registry entry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from tservice.terminal.composers.composer_regions import is_key_hint
from tservice.terminal.screen_rules import get_similar_glyphs

_RULE_ROW = re.compile(r"\s*(?:── [\u2800-\u28ff] [^\s─]+(?: [^\s─]+)* )?[─━═▀▄]{8,}\s*")
_BOX_SIDES = ("│", "┃")
_SHELL_GLYPH = "!"
_NOISE = re.compile(r"[\s\u200b]+")
_STAND_IN = re.compile(
    r"\[\s*(?:pasted\s+(?:(?:text|content)\b|~\d)|paste\s+#\d)[^\]]*\]", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![#\d])\d+")
# A plain blank: the glyph of Claude Code's composer is followed by a no-break space.
_OPTION = re.compile(r"[\s│┃]*(?:[❯›●>] )?[1-9][.)] ")
_UPPER_EDGE = re.compile(r"\s*[╭┌╔][─━═]{3}")
_ENOUGH = 8
_FOOTER_ROWS = 4
_TAIL = 40


@frozen(kw_only=True)
class ComposerRule:
    """Appearance of one mode's composer.

    @ivar glyph: the text with which the composer's first row begins; C{None} if the composer is the
        text between the last two horizontal rules.
    @ivar placeholder: the text that an empty composer shows.
    """

    glyph: str | None
    placeholder: str | None = None


def read_composer_text(screen: Sequence[str], rule: ComposerRule) -> str | None:
    """Return the content of the composer, with rows joined by LF; C{None} if none is visible.

    @param screen: the rows of the screen, without styles.
    """
    text = (
        _read_between_rules(screen) if rule.glyph is None else _read_after_glyph(screen, rule.glyph)
    )
    if text is None:
        return None
    hint = _strip_whitespace(rule.placeholder or "")
    return "" if hint and _strip_whitespace(text).startswith(hint) else text


def has_paste_placeholder(composer: str) -> bool:
    """Return true if the composer shows a placeholder, such as C{[PastedText ~18 lines]}."""
    return _STAND_IN.search(composer) is not None


def still_contains_prompt(composer: str, prompt: str) -> bool:
    """Return true if C{prompt}, which was typed before, is still in C{composer}.

    The comparison allows for agents that wrap rows, show tabs as blanks, scroll long texts, or
    replace long pastes by a placeholder.
    """
    if has_paste_placeholder(composer):
        return True
    shown, typed = _strip_whitespace(composer), _strip_whitespace(prompt)
    if not shown or not typed:
        return False
    if typed in shown:
        return True
    return len(shown) >= min(_ENOUGH, len(typed)) and shown in typed


def contains_only_prompt(composer: str, prompt: str) -> bool:
    """Return true if C{composer} may contain C{prompt} and nothing else.

    After scrolling, the visible part of the prompt is enough. The placeholder for a long paste
    shows the number of rows or characters, or the number of rows after the first.
    """
    stand_ins = _STAND_IN.findall(composer)
    rows = prompt.count("\n") + 1
    counts = {str(count) for count in (rows - 1, rows, len(prompt))}
    if not all(counts.intersection(_NUMBER.findall(each)) for each in stand_ins):
        return False
    return _strip_whitespace(_STAND_IN.sub("", composer)) in _strip_whitespace(prompt)


def shows_quoted_dialog(screen: Sequence[str], prompt: str) -> bool:
    """Return true if a dialog on the screen is only text of C{prompt}, which was typed before.

    A composer with a text copied from a dialog looks exactly like that dialog. A real dialog
    replaces the composer, so the prompt would not be visible.
    """
    if not any(_OPTION.match(line) or is_key_hint(line) for line in prompt.split("\n")):
        return False
    return _strip_whitespace(prompt)[-_TAIL:] in _strip_whitespace(
        "".join(map(_strip_box_sides, screen))
    )


def _strip_whitespace(text: str) -> str:
    return _NOISE.sub("", text)


def _is_rule(row: str) -> bool:
    return _RULE_ROW.fullmatch(row) is not None


def _read_after_glyph(screen: Sequence[str], glyph: str) -> str | None:
    ruled = _find_ruled_row(screen, glyph)
    start = ruled if ruled is not None else _find_glyph_row(screen, glyph)
    if start is None:
        return None
    first = _strip_box_sides(screen[start])
    stripped = first.lstrip()
    text = stripped if stripped.startswith(_SHELL_GLYPH) else stripped[len(glyph) :]
    return "\n".join([text.strip(), *_find_continuation_rows(screen[start + 1 :])]).rstrip("\n")


def _begins_with_glyph(row: str, glyph: str) -> bool:
    """Return true if a row begins with the glyph, followed by any blank or by nothing.

    For example, C{>_} is a logo and not a composer.
    """
    text = _strip_box_sides(row).lstrip()
    return text.startswith(glyph) and not text[len(glyph) :][:1].strip()


def _begins_with_similar_glyph(row: str, glyph: str) -> bool:
    """Return true if a framed row begins with the glyph, or with the glyph of another version."""
    return any(_begins_with_glyph(row, each) for each in (glyph, *get_similar_glyphs(glyph)))


def _strip_box_sides(row: str) -> str:
    """Return a row without the left and right sides of its box.

    This avoids a regular expression: one that begins with any white space takes quadratic time, for
    each of two hundred rows, and blocks the reactor.
    """
    inside = row.lstrip()
    if inside.startswith(_BOX_SIDES):
        row = inside[1:]
        row = row[1:] if row[:1].isspace() else row
    inside = row.rstrip()
    return inside[:-1].rstrip() if inside.endswith(_BOX_SIDES) else row


def _find_ruled_row(screen: Sequence[str], glyph: str) -> int | None:
    """Return the index of the first row of a composer between two rules.

    Only in this row the C{!} of a shell command can replace the glyph.
    """
    rules = [number for number, row in enumerate(screen) if _is_rule(row)]
    for top, bottom in zip(rules[-2::-1], rules[:0:-1], strict=True):
        if bottom > top + 1:
            row = screen[top + 1]
            inside = _begins_with_similar_glyph(row, glyph) or row.startswith(_SHELL_GLYPH)
            below = screen[bottom + 1 :]
            return top + 1 if inside and not any(map(_is_dialog_row, [row, *below])) else None
    return None


def _is_dialog_row(row: str) -> bool:
    """Return true if a row is part of a dialog, which replaces the composer.

    Gemini CLI shows a submitted prompt between the same rules as its composer.
    """
    return bool(_OPTION.match(row) or _UPPER_EDGE.match(row))


def _find_glyph_row(screen: Sequence[str], glyph: str) -> int | None:
    """Return the index of the last row that begins with the glyph, if this row is the composer.

    A submitted prompt looks just like the composer, and a dialog replaces the composer. So a row
    with a dialog or with more than a footer below it is an old prompt. Mistaking it for the
    composer would press Enter in the dialog.
    """
    for number in range(len(screen) - 1, -1, -1):
        if _OPTION.match(screen[number]):
            return None
        boxed = screen[number].lstrip().startswith(_BOX_SIDES)
        if (_begins_with_similar_glyph if boxed else _begins_with_glyph)(screen[number], glyph):
            below = screen[number + 1 :]
            return (
                number
                if _are_only_footer_rows(below[len(_find_continuation_rows(below)) :])
                else None
            )
    return None


def _are_only_footer_rows(rows: Sequence[str]) -> bool:
    return sum(1 for row in rows if row.strip() and not _is_rule(row)) <= _FOOTER_ROWS


def _find_continuation_rows(rows: Sequence[str]) -> list[str]:
    """Return the rows that continue the text: up to a rule, or to a row that is not indented."""
    found: list[str] = []
    for row in rows:
        text = _strip_box_sides(row)
        if _is_rule(row) or (text.strip() and not text.startswith(" ")):
            break
        found.append(text.strip())
    return _strip_footer(found, rows)


def _strip_footer(found: list[str], rows: Sequence[str]) -> list[str]:
    """Return the rows of the text without the footer.

    If no rule closes the composer, the first blank row ends the text.
    """
    ruled = len(found) < len(rows) and _is_rule(rows[len(found)])
    if ruled or "" not in found:
        return found
    return found[: found.index("")]


def _read_between_rules(screen: Sequence[str]) -> str | None:
    rules = [number for number, row in enumerate(screen) if _is_rule(row)]
    if len(rules) < 2 or not _are_only_footer_rows(screen[rules[-1] + 1 :]):
        return None
    return "\n".join(row.strip() for row in screen[rules[-2] + 1 : rules[-1]]).strip()
