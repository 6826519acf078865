"""Progress and API errors on an agent's screen.  Nothing here does I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

_CLOCK = re.compile(r"\b\d+(?:\.\d+)?\s?(?:ms|h|m|s|min|sec)\b")
_SPINNER = re.compile(r"^[\s│┃|]*[·✻✽✶✳✢✺*●○◐◑◒◓◦•∙⬝■\u2800-\u28ff]+\s+\S+…")
_FRAMES = re.compile(r"[\u2800-\u28ff✻✽✶✳✢✺◐◑◒◓◦•⬝■▪▫]")
_BLINKING_MARK = re.compile(r"^[\s│┃|]*[●⏺○](?=\s)")
"""Mark before a tool that runs."""
_TIP = re.compile(r"^[\s⎿└]*(?:Tip|※ Tip):")
_RETRY = re.compile(
    r"\b(?:retry|retrying|reconnecting)\b|\battempt #?\d+(?:\s?(?:/|of)\s?\d+)?", re.IGNORECASE
)
_ERROR = re.compile(
    r"^[\s●✻✽✶✳✢·*■✕✗⚠⎿│└•!]*(?:\[?API error\b|stream (?:error|disconnected)\b|"
    r"(?:request|connection) (?:error|timed out|failed)\b|overloaded\b|"
    r"unexpected status \d{3}\b|error sending request\b|fetch failed\b|"
    r"error: (?:\d{3}|fetch failed|connect|overloaded|request)\b|"
    r"\{\"error\": ?\{|.{1,300}\[retrying in )",
    re.IGNORECASE,
)
ERROR_ROWS = 14
"""Number of rows at the end of the screen in which an error is searched: the last answer may
speak about errors.
"""


@frozen(kw_only=True)
class ScreenProgress:
    """Summary of one screen.

    @ivar signature: changes if and only if something but clocks and spinners changed.
    @ivar has_error: true if the end of the screen shows an API error.
    @ivar is_retrying: true if the agent says there that it tries again.
    """

    signature: tuple[str, ...]
    has_error: bool
    is_retrying: bool


def summarise_screen(rows: Sequence[str]) -> ScreenProgress:
    """Return the summary of a screen's rows."""
    kept = [text for row in rows if (text := _remove_motion(row))]
    end = [row for row in rows if row.strip()][-ERROR_ROWS:]
    errors = [row for row in end if _ERROR.match(row)]
    return ScreenProgress(
        signature=tuple(kept),
        has_error=bool(errors),
        is_retrying=any(_RETRY.search(row) for row in end),
    )


def _remove_motion(row: str) -> str:
    """Return the row without what moves although nothing happens."""
    if _TIP.match(row) or _RETRY.search(row):
        return ""
    bare = _BLINKING_MARK.sub("", _SPINNER.sub("", row))
    bare = _CLOCK.sub("", _FRAMES.sub("", bare))
    return " ".join(bare.split()).strip(" ()·•")
