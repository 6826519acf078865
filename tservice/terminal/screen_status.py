"""Detection of an agent's state from one frame and the pane's title (protocol-status)."""

from __future__ import annotations

import re

from attrs import frozen

from tservice.terminal.composers.composer_regions import find_activity_paragraphs, find_composer
from tservice.terminal.dialogs.dialogs import AgentDialog, read_dialog
from tservice.terminal.frames.screen_frame import ScreenFrame
from tservice.terminal.screen_rules import ScreenRules

# Anchored, because the clients begin a row with it: a sentence in prose about limits must not
# match.
_LIMIT = re.compile(
    r"[\s●⎿■•⚠✻│└]*(?![\s●⎿■•⚠✻│└])(?:"
    r"(?:you.ve|you have|you) (?:hit|reached|exceeded|used up) your (?:\S+ ){0,3}"
    r"(?:limit|quota|usage)\b"
    r"|(?:claude (?:ai )?)?(?:\S+ )?(?:usage |rate |session |weekly )?limit (?:reached|hit)\b"
    r"|(?:usage limit|quota) exceeded\b"
    r"|you.re out of (?:extra )?usage\b)",
    re.IGNORECASE,
)
_RESETS = re.compile(
    r"\bresets?(?: at| in| on)? (?P<when>[^·∙|()\n.]*(?:\([^)]*\))?)"
    r"|try again (?:at|in) (?P<later>[^·∙|.()]*)",
    re.IGNORECASE,
)
_EVIDENCE_CHARS = 120
_BELOW_DIALOG = 8


@frozen(kw_only=True)
class ScreenReading:
    """Interpretation of a pane's screen.

    @ivar working: C{True} if a turn runs, C{False} if none runs, C{None} if unknown.
    @ivar dialog: the dialog that waits for an answer; C{None} without one. With a dialog,
        C{working} is false and the composer is not ready.
    @ivar composer_ready: the composer is on the screen and would receive keys.
    @ivar limit: the sentence about a reached usage limit, with the next two rows; C{None} without
        one.
    @ivar limit_resets: the reset time of the limit as the screen shows it, such as "3pm (UTC)";
        C{None} if it is not shown.
    @ivar evidence: one line that names the deciding fact.
    """

    working: bool | None
    dialog: AgentDialog | None
    composer_ready: bool
    limit: str | None
    limit_resets: str | None
    evidence: str

    @property
    def state(self) -> str:
        """Summary of the reading: C{dialog}, C{working}, C{idle} or C{unknown}."""
        if self.dialog is not None:
            return "dialog"
        if self.working:
            return "working"
        return "idle" if self.composer_ready and self.working is False else "unknown"


def read_screen(frame: ScreenFrame, title: str, rules: ScreenRules) -> ScreenReading:
    """Return the interpretation of one frame.

    @param title: the pane's title; C{""} if it is unknown.
    """
    dialog = read_dialog(frame, rules)
    span = find_composer(frame, rules)
    paragraphs = find_activity_paragraphs(frame, span)
    rows = [row for paragraph in paragraphs for row in paragraph]
    if span is not None and frame.is_rule(span.top):
        rows.append(frame.rows[span.top])
    # At a limit the client may immediately show a dialog below the sentence.
    limit = _find_limit(
        find_activity_paragraphs(frame, span, _BELOW_DIALOG) if dialog else paragraphs
    )
    working, evidence = _detect_work(frame, title, rules, rows, dialog, span is not None)
    return ScreenReading(
        working=working,
        dialog=dialog,
        composer_ready=span is not None,
        limit=limit,
        limit_resets=_find_reset(limit),
        evidence=evidence[:_EVIDENCE_CHARS],
    )


def _detect_work(
    frame: ScreenFrame,
    title: str,
    rules: ScreenRules,
    rows: list[str],
    dialog: AgentDialog | None,
    composed: bool,
) -> tuple[bool | None, str]:
    if frame.is_dead:
        return None, "the pane is dead"
    if dialog is not None:
        return False, f"{dialog.kind} dialog: {dialog.question or dialog.title}"
    if rules.working_title is not None and rules.working_title.search(title):
        return True, f"title: {title}"
    line = rules.working_line and next(filter(rules.working_line.search, rows), None)
    if line:
        return True, f"working line: {line.strip()}"
    if composed:
        return False, "composer on the screen, no working line"
    return None, "neither composer nor dialog nor working line"


def _find_limit(paragraphs: list[list[str]]) -> str | None:
    """Return the row that reports a usage limit, joined with the rows into which it may have
    wrapped.
    """
    for rows in paragraphs:
        for at, row in enumerate(rows):
            if _LIMIT.match(row):
                return " ".join(" ".join(rows[at : at + 3]).split())
    return None


def parse_limit(text: str) -> tuple[str, str | None] | None:
    """Return the sentence about a usage limit in C{text}, and the reset time as the text writes it.

    The result is C{None} if the text reports no limit.
    """
    rows = [row for row in text.splitlines() if row.strip()]
    found = _find_limit([rows])
    return None if found is None else (found, _find_reset(found))


def _find_reset(limit: str | None) -> str | None:
    found = _RESETS.search(limit) if limit else None
    if found is None:
        return None
    return (found["when"] or found["later"]).strip() or None
