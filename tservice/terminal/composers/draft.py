"""Parser of the user's draft in an agent's composer, which ignores text by the agent itself."""

from __future__ import annotations

from attrs import frozen

from tservice.terminal.composers.composer import (
    ComposerRule,
    contains_only_prompt,
    read_composer_text,
    still_contains_prompt,
)
from tservice.terminal.composers.composer_regions import RowSpan, contains_draft, find_composer
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules

_SHORT = 8
_BAR_BEGIN = "╻▄"


@frozen(kw_only=True)
class ComposerDraft:
    """Content of a composer.

    @ivar text: the rows, joined by LF; C{""} if the user has written nothing.
    @ivar rows: the indices of the screen's rows that the composer covers.
    @ivar span: the position of the composer, including blank rows; C{None} if only its text was
        found.
    @ivar hinted: the composer shows the agent's own mark of an empty composer.
    """

    text: str
    rows: tuple[int, ...]
    span: RowSpan | None = None
    hinted: bool = False

    def contains_prompt(self, prompt: str) -> bool:
        """Return true if C{prompt}, which was typed before, is still in the composer."""
        if len(prompt) < _SHORT and "\n" not in prompt:
            # So few characters are part of many texts, and no agent replaces them by a placeholder.
            return "".join(self.text.split()) == "".join(prompt.split())
        return bool(self.text) and still_contains_prompt(self.text, prompt)

    def is_exactly(self, prompt: str) -> bool:
        """Return true if the draft is exactly C{prompt}, which was typed before."""
        return self.contains_prompt(prompt) and contains_only_prompt(self.text, prompt)


def read_draft(frame: ScreenFrame, rules: ScreenRules, rule: ComposerRule) -> ComposerDraft | None:
    """Return the user's text in the composer; C{None} if no composer is visible."""
    span = find_composer(frame, rules)
    if rules.shape == "mark" and rules.ready_mark is None:
        # Of an unknown CLI anything may stand between two rules.
        return None
    if rules.shape == "bar":
        text = None if span is None else _read_after_bar(frame, span, rule)
    else:
        text = read_composer_text(frame.rows, rule)
    if text is None:
        return None
    if span is None:
        return ComposerDraft(text=text, rows=tuple(frame.find_filled_rows(0, frame.last_row + 1)))
    written = text if contains_draft(frame, rules) else ""
    rows = tuple(frame.find_filled_rows(span.top, span.bottom + 1))
    hinted = bool(rule.placeholder) and any(
        (rule.placeholder or "") in frame.rows[at] for at in rows
    )
    return ComposerDraft(text=written, rows=rows, span=span, hinted=hinted)


def _read_after_bar(frame: ScreenFrame, span: RowSpan, rule: ComposerRule) -> str:
    """Return the draft in a composer that is drawn with a vertical bar on its left.

    The last row is left out if the bar has no upper end: it shows the agent and its model.
    """
    glyph = rule.glyph or ""
    rows = [frame.rows[at].lstrip(" ").removeprefix(glyph) for at in range(span.top, span.bottom)]
    filled = [row.strip() for row in rows if row.strip()]
    if not (span.top and frame.rows[span.top - 1].lstrip(" ").startswith(_BAR_BEGIN)):
        filled = filled[:-1]
    hint = rule.placeholder
    if hint and filled and filled[0].startswith(hint):
        return ""
    return "\n".join(filled)
