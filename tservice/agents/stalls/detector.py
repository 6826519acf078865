"""Decision whether an agent hangs.  Nothing here does I/O or reads a clock."""

from __future__ import annotations

from collections import Counter

from tservice.agents.stalls.model import FoundStall, StallFacts, StallThresholds, ToolOutcome
from tservice.core.values.text import shorten_text

FAILURES = 3
"""Number of equal tool calls in a row that fail."""
REWRITES = 3
"""Number of equal changes of one file in a turn."""
TERMINAL_MS = 30_000
"""Milliseconds for which a program must wait at the terminal."""
UNTAKEN_MS = 60_000
"""Milliseconds after which a prompt counts as not taken."""
RETRY_FACTOR = 3
"""Factor for the time of an error while the agent tries again by itself."""
LONGEST_SILENCE_MS = 30 * 60_000
"""Limit on the silence that is learned from the agent, in milliseconds."""
_DETAIL = 200


def find_stall(facts: StallFacts, limits: StallThresholds) -> FoundStall | None:
    """Return the stall of an agent; C{None} if it works, rests, or waits for an answer.

    The most specific reason is chosen.
    """
    if facts.has_dialog:
        return None
    if facts.busy_since is None:
        return _find_untaken_prompt(facts)
    return (
        _find_terminal_wait(facts)
        or _find_api_error(facts, limits)
        or _find_repeated_failure(facts)
        or _find_rewriting(facts)
        or _find_silence(facts, limits)
    )


def _find_untaken_prompt(facts: StallFacts) -> FoundStall | None:
    since = facts.untaken_since
    if since is None or facts.now - since < UNTAKEN_MS:
        return None
    return FoundStall(
        reason="prompt_not_taken", since=since, detail="The last prompt did not begin a turn."
    )


def _find_terminal_wait(facts: StallFacts) -> FoundStall | None:
    wait = facts.terminal_wait
    if wait is None or facts.now - wait.since < TERMINAL_MS:
        return None
    detail = f"{wait.name} waits for input at the terminal."
    return FoundStall(reason="waits_for_terminal", since=wait.since, detail=detail)


def _find_api_error(facts: StallFacts, limits: StallThresholds) -> FoundStall | None:
    since = facts.error_since
    if since is None:
        return None
    least = limits.error * (RETRY_FACTOR if facts.is_retrying else 1)
    # What happened after the error means that the agent got over it.
    since = max(since, facts.progress_at)
    if facts.now - since < least:
        return None
    detail = "The screen shows an API error, and the turn does not end."
    return FoundStall(reason="api_error", since=since, detail=detail)


def _find_repeated_failure(facts: StallFacts) -> FoundStall | None:
    """Find equal calls that failed in a row; work between two failures makes them honest."""
    last = facts.tools[-FAILURES:]
    if len(last) < FAILURES or not all(tool.failed for tool in last):
        return None
    if len({(tool.title, tool.call) for tool in last}) > 1:
        return None
    times = _count_equal_end(facts.tools)
    detail = shorten_text(f"Failed {times} times in a row: {last[-1].title}", _DETAIL)
    return FoundStall(reason="tool_fails", since=facts.progress_at, detail=detail)


def _count_equal_end(tools: tuple[ToolOutcome, ...]) -> int:
    count = 0
    for tool in reversed(tools):
        if not tool.failed or tool.call != tools[-1].call:
            break
        count += 1
    return count


def _find_rewriting(facts: StallFacts) -> FoundStall | None:
    changes = Counter(
        (tool.path, tool.call) for tool in facts.tools if tool.path is not None and not tool.failed
    )
    if not changes:
        return None
    (path, _), count = changes.most_common(1)[0]
    if count < REWRITES:
        return None
    detail = shorten_text(f"Made the same change {count} times: {path}", _DETAIL)
    return FoundStall(reason="rewrites_file", since=facts.progress_at, detail=detail)


def _find_silence(facts: StallFacts, limits: StallThresholds) -> FoundStall | None:
    moved_at = max(facts.progress_at, facts.busy_since or 0)
    usual = min(2 * facts.usual_silence, LONGEST_SILENCE_MS)
    least = max(limits.silence, usual)
    if facts.is_tool_running:
        least = max(least, limits.tool)
        moved_at = max(moved_at, facts.cpu_at or 0)
    if facts.now - moved_at < least:
        return None
    minutes = (facts.now - moved_at) // 60_000
    what = "a tool that does not move" if facts.is_tool_running else "no output"
    detail = f"Busy with {what} for {minutes} minutes."
    return FoundStall(reason="silent", since=moved_at, detail=detail)
