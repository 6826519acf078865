"""Reading an agent's composer: where it is on the screen and what stands in it.

Every agent draws its input field its own way; what differs is data (L{ComposerRule}), taken from
the mode's registry entry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from tservice.terminal.regions import is_key_hint
from tservice.terminal.rules import alike

_RULE_ROW = re.compile(r"\s*[─━═▀▄]{8,}\s*")
_BOX_SIDES = ("│", "┃")
_SHELL_GLYPH = "!"
_NOISE = re.compile(r"[\s\u200b]+")
_STAND_IN = re.compile(
    r"\[\s*(?:pasted\s+(?:(?:text|content)\b|~\d)|paste\s+#\d)[^\]]*\]", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![#\d])\d+")
# A plain blank: behind the glyph of Claude Code's composer stands a no-break space.
_OPTION = re.compile(r"[\s│┃]*(?:[❯›●>] )?[1-9][.)] ")
_UPPER_EDGE = re.compile(r"\s*[╭┌╔][─━═]{3}")
_ENOUGH = 8
_FOOTER_ROWS = 4
_TAIL = 40


@frozen(kw_only=True)
class ComposerRule:
    """How one mode draws its composer.

    @ivar glyph: what its first row begins with; C{None}: it is what stands between the last two
        horizontal rules.
    @ivar placeholder: what stands in it while it is empty.
    """

    glyph: str | None
    placeholder: str | None = None


def composer_text(screen: Sequence[str], rule: ComposerRule) -> str | None:
    """What stands in the composer, rows joined by LF; C{None} when none is seen.

    @param screen: the rows of the screen, without styles.
    """
    text = _between_rules(screen) if rule.glyph is None else _behind_glyph(screen, rule.glyph)
    if text is None:
        return None
    hint = _folded(rule.placeholder or "")
    return "" if hint and _folded(text).startswith(hint) else text


def has_stand_in(composer: str) -> bool:
    """Whether an agent shows something else there for a text: C{[Pasted ~18 lines]}."""
    return _STAND_IN.search(composer) is not None


def still_holds(composer: str, prompt: str) -> bool:
    """Whether C{prompt}, typed before, still stands in C{composer}.

    Agents wrap rows, show tabs as blanks, scroll long texts and put a stand-in for long pastes.
    """
    if has_stand_in(composer):
        return True
    shown, typed = _folded(composer), _folded(prompt)
    if not shown or not typed:
        return False
    if typed in shown:
        return True
    return len(shown) >= min(_ENOUGH, len(typed)) and shown in typed


def holds_only(composer: str, prompt: str) -> bool:
    """Whether nothing but C{prompt}, or a part that was scrolled to, may stand in C{composer}.

    What is shown for a long paste tells how many rows or characters there are, or how many rows
    behind the first.
    """
    stand_ins = _STAND_IN.findall(composer)
    rows = prompt.count("\n") + 1
    counts = {str(count) for count in (rows - 1, rows, len(prompt))}
    if not all(counts.intersection(_NUMBER.findall(each)) for each in stand_ins):
        return False
    return _folded(_STAND_IN.sub("", composer)) in _folded(prompt)


def shows_quoted(screen: Sequence[str], prompt: str) -> bool:
    """Whether the screen shows the end of C{prompt}, typed before, and it looks like a dialog.

    A composer that holds what somebody copied from a dialog cannot be told from that dialog.  One
    that came up meanwhile has the composer's place: then the prompt is not to be seen.
    """
    if not any(_OPTION.match(line) or is_key_hint(line) for line in prompt.split("\n")):
        return False
    return _folded(prompt)[-_TAIL:] in _folded("".join(map(_unboxed, screen)))


def _folded(text: str) -> str:
    return _NOISE.sub("", text)


def _is_rule(row: str) -> bool:
    return _RULE_ROW.fullmatch(row) is not None


def _behind_glyph(screen: Sequence[str], glyph: str) -> str | None:
    ruled = _last_ruled(screen, glyph)
    start = ruled if ruled is not None else _last_glyph_row(screen, glyph)
    if start is None:
        return None
    first = _unboxed(screen[start])
    stripped = first.lstrip()
    text = stripped if stripped.startswith(_SHELL_GLYPH) else stripped[len(glyph) :]
    return "\n".join([text.strip(), *_continued(screen[start + 1 :])]).rstrip("\n")


def _begins(row: str, glyph: str) -> bool:
    """The glyph, then a blank of any kind or nothing: C{>_} is a logo."""
    text = _unboxed(row).lstrip()
    return text.startswith(glyph) and not text[len(glyph) :][:1].strip()


def _begins_framed(row: str, glyph: str) -> bool:
    """Inside a frame another version's glyph tells the composer as well."""
    return any(_begins(row, each) for each in (glyph, *alike(glyph)))


def _unboxed(row: str) -> str:
    """A row without a box's sides.

    Not by an expression: one that begins with any white space costs the square of a row's gaps, for
    each of two hundred rows, while the reactor waits.
    """
    inside = row.lstrip()
    if inside.startswith(_BOX_SIDES):
        row = inside[1:]
        row = row[1:] if row[:1].isspace() else row
    inside = row.rstrip()
    return inside[:-1].rstrip() if inside.endswith(_BOX_SIDES) else row


def _last_ruled(screen: Sequence[str], glyph: str) -> int | None:
    """The row right below the rule that opens a composer between two rules.

    Only there a shell command's C{!} can stand in the glyph's place.
    """
    rules = [number for number, row in enumerate(screen) if _is_rule(row)]
    for top, bottom in zip(rules[-2::-1], rules[:0:-1], strict=True):
        if bottom > top + 1:
            row = screen[top + 1]
            inside = _begins_framed(row, glyph) or row.startswith(_SHELL_GLYPH)
            below = screen[bottom + 1 :]
            return top + 1 if inside and not any(map(_of_dialog, [row, *below])) else None
    return None


def _of_dialog(row: str) -> bool:
    """Whether a row is part of a dialog, which takes the composer's place.

    Gemini CLI shows a prompt that was submitted between the same rules as its composer.
    """
    return bool(_OPTION.match(row) or _UPPER_EDGE.match(row))


def _last_glyph_row(screen: Sequence[str], glyph: str) -> int | None:
    """The last row with the glyph.

    A prompt that was submitted looks just like the composer, and a dialog takes the composer's
    place: a row with a dialog or with more than a footer below it is such an old prompt.  To
    take it for the composer would press Enter at the dialog.
    """
    for number in range(len(screen) - 1, -1, -1):
        if _OPTION.match(screen[number]):
            return None
        boxed = screen[number].lstrip().startswith(_BOX_SIDES)
        if (_begins_framed if boxed else _begins)(screen[number], glyph):
            below = screen[number + 1 :]
            return number if _only_footer(below[len(_continued(below)) :]) else None
    return None


def _only_footer(rows: Sequence[str]) -> bool:
    return sum(1 for row in rows if row.strip() and not _is_rule(row)) <= _FOOTER_ROWS


def _continued(rows: Sequence[str]) -> list[str]:
    """The rows that go on with the text: up to a rule, or to a row that is not indented."""
    found: list[str] = []
    for row in rows:
        text = _unboxed(row)
        if _is_rule(row) or (text.strip() and not text.startswith(" ")):
            break
        found.append(text.strip())
    return _without_footer(found, rows)


def _without_footer(found: list[str], rows: Sequence[str]) -> list[str]:
    """Without a rule below, a blank row ends the text."""
    ruled = len(found) < len(rows) and _is_rule(rows[len(found)])
    if ruled or "" not in found:
        return found
    return found[: found.index("")]


def _between_rules(screen: Sequence[str]) -> str | None:
    rules = [number for number, row in enumerate(screen) if _is_rule(row)]
    if len(rules) < 2 or not _only_footer(screen[rules[-1] + 1 :]):
        return None
    return "\n".join(row.strip() for row in screen[rules[-2] + 1 : rules[-1]]).strip()
