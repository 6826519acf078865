"""Facts about one agent that may hang, collected over time."""

from __future__ import annotations

from attrs import define, field

from tservice.agents.stalls.model import FoundStall, StallFacts, TerminalWait
from tservice.agents.stalls.processes import StartedPrograms
from tservice.agents.stalls.screen_progress import ScreenProgress
from tservice.agents.stalls.tool_outcomes import TurnTools

NUDGE_PAUSE_MS = 60 * 60_000
"""Minimum milliseconds between two nudges of one agent."""


@define(eq=False)
class StallRecord:
    """Facts about one agent, collected over time.

    @ivar stall: the stall that was published; C{None} without one.
    @ivar nudged_at: time of the last nudge; C{None} if there was none.
    """

    progress_at: int
    busy_since: int | None = None
    usual_silence: int = 0
    screen: ScreenProgress | None = None
    has_dialog: bool = False
    error_since: int | None = None
    tools: TurnTools = field(factory=TurnTools)
    cursor: str | None = None
    programs: StartedPrograms = field(factory=StartedPrograms)
    cpu_at: int | None = None
    terminal_wait: TerminalWait | None = None
    stall: FoundStall | None = None
    nudged_at: int | None = None

    def record_progress(self, now: int) -> None:
        """Record that the agent moved; a silence that ended by itself was honest.

        Silences that ended because a person acted are not: a nudge or a prompt.
        """
        silence = now - self.progress_at
        was_nudged = self.nudged_at is not None and self.nudged_at >= self.progress_at
        if self.busy_since is not None and not was_nudged:
            self.usual_silence = max(self.usual_silence, silence)
        self.progress_at = max(self.progress_at, now)

    def may_nudge(self, now: int) -> bool:
        """Return true if the last nudge is long ago, so that an agent is not driven in a circle."""
        return self.nudged_at is None or now - self.nudged_at >= NUDGE_PAUSE_MS

    def record_screen(self, screen: ScreenProgress, has_dialog: bool, now: int) -> None:
        """Record a capture of the screen."""
        self.has_dialog = has_dialog
        if self.screen is None or screen.signature != self.screen.signature:
            self.record_progress(now)
        if not screen.has_error:
            self.error_since = None
        elif self.error_since is None:
            self.error_since = now
        self.screen = screen

    def record_status(self, is_busy: bool, now: int) -> None:
        """Record whether a turn runs."""
        if is_busy and self.busy_since is None:
            self.busy_since = self.progress_at = now
            self.tools = TurnTools()
        elif not is_busy:
            self.busy_since = None

    def record_tools(self, tools: TurnTools, cursor: str, now: int) -> None:
        """Record the newest part of the conversation."""
        if self.cursor is not None and cursor != self.cursor:
            self.record_progress(now)
        self.cursor, self.tools = cursor, tools

    def record_programs(self, programs: StartedPrograms, now: int) -> None:
        """Record the programs that the agent started."""
        if programs.has_used_cpu_since(self.programs):
            self.cpu_at = now
        self.programs = programs
        name = programs.waiting
        if name is None:
            self.terminal_wait = None
        elif self.terminal_wait is None or self.terminal_wait.name != name:
            self.terminal_wait = TerminalWait(name=name, since=now)

    def make_facts(self, now: int, untaken_since: int | None) -> StallFacts:
        """Return the facts for a decision.

        @param untaken_since: see L{StallFacts}.
        """
        return StallFacts(
            now=now,
            busy_since=self.busy_since,
            has_dialog=self.has_dialog,
            progress_at=self.progress_at,
            usual_silence=self.usual_silence,
            error_since=self.error_since,
            is_retrying=self.screen is not None and self.screen.is_retrying,
            tools=self.tools.outcomes,
            is_tool_running=self.tools.is_running,
            cpu_at=self.cpu_at,
            terminal_wait=self.terminal_wait,
            untaken_since=untaken_since,
        )
