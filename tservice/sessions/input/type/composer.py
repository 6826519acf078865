"""Model of an agent's composer, the text field into which prompts are typed."""

from __future__ import annotations

from attrs import frozen

from tservice.clis.interfaces import CliKind, ICliRegistry, SubmissionRules
from tservice.mux.interface import PaneCapture
from tservice.terminal.composers.composer import ComposerRule
from tservice.terminal.composers.composer_regions import has_text_after
from tservice.terminal.composers.draft import ComposerDraft, read_draft
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules


@frozen(kw_only=True)
class ComposerSnapshot:
    """State of the composer in one screen capture.

    @ivar draft: the text in the composer and its rows.
    @ivar caret: column and row on the screen.
    @ivar has_text_after_caret: true if text other than a hint of the agent follows the caret in its
        row.
    """

    draft: ComposerDraft
    caret: tuple[int, int]
    has_text_after_caret: bool

    @property
    def row(self) -> int:
        """Row of the caret within the composer, independent of the composer's position on the
        screen.
        """
        return self.caret[1] - self.draft.rows[0]

    @property
    def is_fully_recognized(self) -> bool:
        """True if the composer was certainly recognized and contains the caret.

        On a partly drawn screen, an earlier prompt may be the last text that looks like a composer.
        """
        span = self.draft.span
        return span is not None and span.top <= self.caret[1] <= span.bottom


@frozen(kw_only=True)
class ComposerModel:
    """Rules of a mode that recognize the composer on a screen and define the effect of Enter."""

    rule: ComposerRule
    screen: ScreenRules
    submission: SubmissionRules

    @property
    def is_recognizable(self) -> bool:
        """True if the composer of this mode can be recognized at all."""
        return self.screen.shape != "mark" or self.screen.ready_mark is not None

    def read_snapshot(self, capture: PaneCapture) -> ComposerSnapshot | None:
        """Return the state of the composer in a capture; C{None} if no composer is visible."""
        frame = ScreenFrame.from_capture(b"\n".join(capture.lines[capture.history :]), capture.cols)
        draft = read_draft(frame, self.screen, self.rule)
        if draft is None:
            return None
        column, row = caret = (capture.cursor_x, capture.cursor_y)
        followed = has_text_after(frame, row, column)
        return ComposerSnapshot(draft=draft, caret=caret, has_text_after_caret=followed)


def find_composer(clis: ICliRegistry, mode: str) -> ComposerModel | None:
    """Return the composer rules of C{mode}; C{None} for shells and unknown modes."""
    entry = clis.get_entry(mode)
    if entry is None or entry.kind is CliKind.SHELL:
        return None
    can = entry.capabilities
    return ComposerModel(
        rule=ComposerRule(glyph=can.prompt_glyph, placeholder=can.composer_ready_mark),
        screen=ScreenRules.from_capabilities(can.model_dump(by_alias=True, mode="json")),
        submission=can.submission,
    )
