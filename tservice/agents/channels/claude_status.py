"""Status that an agent writes to a file: Claude Code to C{sessions/<pid>.json} of its folder, and
pi by the extension in its entry's folder.

The file is written at each change. This module does no I/O.
"""

from __future__ import annotations

import json
from typing import Any

from tservice.agents.channels.reported_status import ReportedState, ReportedStatus
from tservice.core.values.text import cut_with_note, replace_harmful_characters

WORD_CHARS = 60
SOURCE = "status file"


def parse_status(content: bytes, pid: int | None) -> ReportedStatus | None:
    """Return the status in a file; C{None} if it is not understood or another process' file.

    @param pid: process that the file must be of; C{None} for a file that belongs to one session.
    """
    try:
        found: Any = json.loads(content)
        state = ReportedState(found["status"])
        since = found["statusUpdatedAt"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if type(since) is not int or (pid is not None and found.get("pid") != pid):
        return None
    said = found.get("waitingFor")
    words = said if isinstance(said, str) and state is ReportedState.WAITING else ""
    return ReportedStatus(
        source=SOURCE,
        state=state,
        waiting_for=cut_with_note(replace_harmful_characters(words), WORD_CHARS),
        since=since,
        # Claude Code alone tells of the pages that a person opens.
        knows_pages=pid is not None,
    )
