"""Status that Claude Code writes to C{sessions/<pid>.json} of its folder.

The file is written at each change and removed when the program exits. This module does no I/O.
"""

from __future__ import annotations

import json
from typing import Any

from tservice.agents.channels.reported_status import ReportedState, ReportedStatus
from tservice.core.values.text import cut_with_note, replace_harmful_characters

WORD_CHARS = 60
SOURCE = "status file"


def parse_status(content: bytes, pid: int) -> ReportedStatus | None:
    """Return the status in a file; C{None} if it is not understood or another process' file."""
    try:
        found: Any = json.loads(content)
        state = ReportedState(found["status"])
        since = found["statusUpdatedAt"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if found.get("pid") != pid or type(since) is not int:
        return None
    said = found.get("waitingFor")
    words = said if isinstance(said, str) and state is ReportedState.WAITING else ""
    return ReportedStatus(
        source=SOURCE,
        state=state,
        waiting_for=cut_with_note(replace_harmful_characters(words), WORD_CHARS),
        since=since,
    )
