"""Files and commits of a session's agent since a time.  Nothing here does I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    ToolCall,
    ToolStatus,
)

_COMMIT = re.compile(r"(?:^|[\n;&|(]\s*)git\b(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+commit\b")
_COMMANDS = ("command", "cmd")


@frozen(kw_only=True)
class AgentWork:
    """Numbers of changed files and of commits."""

    files: int = 0
    commits: int = 0


def count_work(items: Sequence[ConversationItem], since: int) -> AgentWork:
    """Return what the items of a conversation changed.

    @param since: Unix milliseconds; items before it, and items without a time, do not count.
    """
    calls = [
        item.tool
        for item in items
        if item.tool is not None and item.at is not None and item.at > since
    ]
    done = [call for call in calls if call.status is ToolStatus.DONE]
    files = {diff.path for call in done for diff in call.diffs}
    return AgentWork(files=len(files), commits=sum(_makes_commit(call) for call in done))


def _makes_commit(call: ToolCall) -> bool:
    if call.exit_code not in (None, 0):
        return False
    given = (call.input.get(name) for name in _COMMANDS)
    return any(isinstance(text, str) and _COMMIT.search(text) for text in given)
