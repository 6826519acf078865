"""What a session's agent is doing, as far as one frame and the pane's title show (wire 1.2)."""

from __future__ import annotations

import re

from attrs import frozen

from tservice.terminal.dialogs import Dialog, read_dialog
from tservice.terminal.regions import composer, live_rows
from tservice.terminal.rules import ScreenRules
from tservice.terminal.screen import Frame

_LIMIT = re.compile(
    r"\b(?:(?:usage|rate|session|weekly|5-hour|opus|sonnet|quota|daily) limit (?:reached|exceeded|hit)"
    r"|(?:hit|reached|exceeded) your (?:\S+ ){0,2}(?:limit|quota)|out of (?:extra )?usage"
    r"|limit reached\b|quota exceeded)",
    re.IGNORECASE,
)
_RESETS = re.compile(
    r"\bresets?(?: at| in)? (?P<when>[^·|()\n]*(?:\([^)]*\))?)|try again (?:at|in) (?P<later>[^·|.()]*)",
    re.IGNORECASE,
)
_EVIDENCE_CHARS = 120


@frozen(kw_only=True)
class Reading:
    """One look at a pane.

    @ivar working: C{True} a turn runs, C{False} none runs, C{None} not to be told from here.
    @ivar dialog: what waits for an answer; then nothing works and the composer is not ready.
    @ivar composer_ready: the composer is on the screen and keys would go into it.
    @ivar limit: the row that says a usage limit is reached.
    @ivar limit_resets: when, in the screen's own words ("3pm (UTC)"), where it says so.
    @ivar evidence: one line: what decided.
    """

    working: bool | None
    dialog: Dialog | None
    composer_ready: bool
    limit: str | None
    limit_resets: str | None
    evidence: str

    @property
    def state(self) -> str:
        """C{dialog}, C{working}, C{idle} or C{unknown}."""
        if self.dialog is not None:
            return "dialog"
        if self.working:
            return "working"
        return "idle" if self.composer_ready and self.working is False else "unknown"


def read(frame: Frame, title: str, rules: ScreenRules) -> Reading:
    """Judge one frame.

    @param title: the pane's title, C{""} when it is not known.
    """
    dialog = read_dialog(frame, rules)
    span = composer(frame, rules)
    rows = list(live_rows(frame, rules, span))
    limit = next((row.strip() for row in rows if _LIMIT.search(row)), None)
    working, evidence = _working(frame, title, rules, rows, dialog, span is not None)
    return Reading(
        working=working,
        dialog=dialog,
        composer_ready=span is not None,
        limit=limit,
        limit_resets=_resets(limit),
        evidence=evidence[:_EVIDENCE_CHARS],
    )


def _working(
    frame: Frame,
    title: str,
    rules: ScreenRules,
    rows: list[str],
    dialog: Dialog | None,
    composed: bool,
) -> tuple[bool | None, str]:
    if frame.dead:
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


def _resets(limit: str | None) -> str | None:
    found = _RESETS.search(limit) if limit else None
    if found is None:
        return None
    return (found["when"] or found["later"]).strip() or None
