"""The decision about one agent, as a table."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.agents.stalls.detector import find_stall
from tservice.agents.stalls.model import StallFacts, StallThresholds, TerminalWait, ToolOutcome

MINUTE = 60_000
NOW = 1_000 * MINUTE


def tool(call: str, *, failed: bool = True, path: str | None = None) -> ToolOutcome:
    return ToolOutcome(title=f"Bash {call}", call=call, failed=failed, path=path)


def reason(silent: float = 0, **facts: Any) -> str | None:
    """The reason of the stall after C{silent} minutes; C{None} without one."""
    moved = NOW - int(silent * MINUTE)
    given = {"now": NOW, "busy_since": NOW - 60 * MINUTE, "progress_at": moved, **facts}
    found = find_stall(StallFacts(**given), StallThresholds())
    return None if found is None else found.reason


class DetectorTests(SynchronousTestCase):
    """L{find_stall}."""

    def test_decisions(self) -> None:
        long_ago = NOW - 10 * MINUTE
        less = TerminalWait(name="less", since=long_ago)
        failing = (tool("npm test"),) * 3
        edit, other = tool("e", failed=False, path="a.py"), tool("f", failed=False, path="a.py")
        table = [
            (reason(4.9), None),
            (reason(5), "silent"),
            (reason(60, busy_since=None), None),
            (reason(60, has_dialog=True), None),
            # The agent's own silence counts, up to half an hour.
            (reason(9, usual_silence=5 * MINUTE), None),
            (reason(10, usual_silence=5 * MINUTE), "silent"),
            (reason(30, usual_silence=999 * MINUTE), "silent"),
            # A turn that has just begun after a long rest.
            (reason(60, busy_since=NOW - MINUTE), None),
            # Tools.
            (reason(19, is_tool_running=True), None),
            (reason(20, is_tool_running=True), "silent"),
            (reason(90, is_tool_running=True, cpu_at=NOW - MINUTE), None),
            (reason(tools=failing), "tool_fails"),
            (reason(tools=failing[:2]), None),
            (reason(tools=(*failing, tool("ls", failed=False))), None),
            (reason(tools=(failing[0], edit, failing[0], other, failing[0])), None),
            (reason(tools=(tool("a"), tool("b"), tool("c"))), None),
            (reason(tools=(edit, other, edit, other, edit)), "rewrites_file"),
            (reason(tools=(edit, edit, other)), None),
            # API errors.
            (reason(2, error_since=NOW - 2 * MINUTE), "api_error"),
            (reason(0.5, error_since=NOW - 2 * MINUTE), None),
            (reason(2, error_since=NOW - 2 * MINUTE, is_retrying=True), None),
            (reason(3, error_since=NOW - 3 * MINUTE, is_retrying=True), "api_error"),
            # Programs at the terminal.
            (reason(terminal_wait=less), "waits_for_terminal"),
            (reason(terminal_wait=TerminalWait(name="less", since=NOW - 29_000)), None),
            # Prompts.
            (reason(busy_since=None, untaken_since=long_ago), "prompt_not_taken"),
            (reason(busy_since=None, untaken_since=NOW - 59_000), None),
            (reason(busy_since=None, untaken_since=long_ago, has_dialog=True), None),
        ]
        for number, (found, wanted) in enumerate(table):
            self.assertEqual(wanted, found, f"row {number}")

    def test_waiting_program_is_named(self) -> None:
        wait = TerminalWait(name="sudo", since=NOW - MINUTE)
        facts = StallFacts(now=NOW, busy_since=0, progress_at=NOW, terminal_wait=wait)
        found = find_stall(facts, StallThresholds())
        assert found is not None
        self.assertEqual("sudo waits for input at the terminal.", found.detail)
        self.assertEqual(wait.since, found.since)
