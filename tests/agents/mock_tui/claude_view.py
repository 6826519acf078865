"""How a played Claude Code looks: banner, transcript, spinner, composer, footer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from tests.agents.mock_tui.terminal import folded

VERSION = "2.1.197"
NBSP = "\xa0"
RESULT = f"  ⎿ {NBSP}"
"""The mark of what a tool or command said; one of its blanks is not ordinary."""

ASKED = f"●{NBSP}"
"""The mark of what became of a question."""

GLYPHS = "·✢✳✶✻✽"
QUEUED = "Press up to edit queued messages"
SHORTCUTS = "? for shortcuts · ← for agents"
MODES = {
    "plan": "⏸ plan mode on (shift+tab to cycle)",
    "acceptEdits": "⏵⏵ accept edits on (shift+tab to cycle)",
    "bypassPermissions": "⏵⏵ bypass permissions on (shift+tab to cycle)",
}


@frozen
class TranscriptEntry:
    """A paragraph of the transcript, with the mark before it."""

    mark: str
    text: str

    def rows(self, columns: int) -> list[str]:
        """The paragraph folded, with a blank row before it unless it belongs to the one above."""
        body = folded(self.text, columns, self.mark, " " * len(self.mark))
        return body if self.mark == RESULT else ["", *body]


def banner(columns: int, cwd: Path, model: str) -> list[str]:
    """The box at the top."""
    inside = min(columns, 118) - 2
    head = f"─── Claude Code v{VERSION} "
    middle = ["Welcome back!", "", "▐▛███▜▌", "▝▜█████▛▘", "▘▘ ▝▝", "", model, str(cwd)]
    body = [f"│{row[:inside].center(inside)}│" for row in ["", *middle]]
    return [f"╭{head}{'─' * (inside - len(head))}╮", *body, f"╰{'─' * inside}╯"]


def spinner(seconds: float, verb: str, tokens: int, frame: int) -> str:
    """The row that shows a turn at work."""
    glyph = GLYPHS[frame % len(GLYPHS)]
    return f"{glyph} {verb}… ({int(seconds)}s · ↓ {tokens} tokens)"


def retrying(seconds: float, attempt: int, attempts: int) -> str:
    """The row that shows a turn waiting for its next attempt."""
    return f"✻ API error · Retrying in {max(int(seconds), 0)}s · attempt {attempt}/{attempts}"


def composer_rows(shown: str, columns: int, *, shell: bool) -> list[str]:
    """The text between the rules; the mark's blank is not an ordinary one."""
    if shell:
        return folded(shown, columns, f"!{NBSP}", "  ")
    return folded(shown, columns, f"❯{NBSP}", "  ")


def footer(
    columns: int, *, mode: str, empty: bool, busy: bool, shell: bool, status: str | None
) -> list[str]:
    """The rows under the composer."""
    effort = "● high · /effort"
    if status is not None:
        return [_ends(f"  {status}", effort, columns), f"  {MODES.get(mode, '← for agents')}"]
    if shell:
        return [_ends("  ! for shell mode", effort, columns)]
    if not empty:
        return [_ends("", effort, columns)]
    if busy:
        return [_ends("  esc to interrupt · ← for agents", effort, columns)]
    shown = f"{MODES[mode]} · ← for agents" if mode in MODES else SHORTCUTS
    return [_ends(f"  {shown}", effort, columns)]


def _ends(left: str, right: str, columns: int) -> str:
    gap = columns - len(left) - len(right) - 2
    return f"{left}{' ' * gap}{right}" if gap > 0 else left


def title(*, busy: bool, frame: int) -> str:
    """The pane's title; dialogs show the mark of an idle one."""
    return f"{'⠂⠐'[frame // 12 % 2] if busy else '✳'} Claude Code"


def transcript(entries: Sequence[TranscriptEntry], columns: int) -> list[str]:
    """All paragraphs."""
    return [row for entry in entries for row in entry.rows(columns)]
