"""Timelines of agents: recorded conversations and screens, played at the pace of real work.

The content is recorded (C{transcripts/recorded}, C{tests/frames}); the pauses are made up, within
what is seen of builds, tests and long thought.  A stall is a timeline that goes wrong.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

from attrs import define, evolve, field

from tests.frames import HERE
from tests.unit.agents.transcripts.conversation_reading import EVERY, read_all, reader_of
from tests.unit.agents.transcripts.transcript_samples import RECORDED
from tservice.agents.stalls.detector import find_stall
from tservice.agents.stalls.model import FoundStall, StallThresholds
from tservice.agents.stalls.processes import StartedPrograms
from tservice.agents.stalls.screen_progress import ScreenProgress, summarise_screen
from tservice.agents.stalls.tool_outcomes import read_turn_tools
from tservice.agents.stalls.tracked_agent import StallRecord
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    FileDiff,
    ItemKind,
    ItemRole,
    ToolCall,
    ToolStatus,
)

STEP_MS = 15_000
MINUTE = 60_000
WORKING = "claude/scenes/120x40_busy_later.txt"
FAILING = "claude/scenes/120x40_error_529_retry.txt"


def recorded_items() -> list[list[ConversationItem]]:
    """The items of each recorded conversation."""
    return [read_all(reader_of(RECORDED / "recorded" / name, mode)) for mode, name in EVERY]


@cache
def summarise_recording(name: str) -> ScreenProgress:
    """The summary of a recorded screen."""
    return summarise_screen((HERE / name).read_text("utf-8").split("\n"))


@define
class AgentPlayer:
    """Agent whose conversation, screen and programs a timeline moves."""

    random: random.Random
    items: list[ConversationItem] = field(factory=list)
    now: int = 0
    screen: str = WORKING
    tokens: int = 0
    ticks: int = 0
    waiting: str | None = None
    record: StallRecord = field(factory=lambda: StallRecord(progress_at=0))
    untaken_since: int | None = None
    busy: bool = True
    found: FoundStall | None = None
    found_at: int = 0

    def step(self) -> FoundStall | None:
        """Let a look of the watch pass."""
        self.now += STEP_MS
        # A tool that runs has a mark that blinks.
        mark = self.random.choice("● ")
        rows = [f"{mark} Bash(make)", f"· Working… ({self.now // 1000}s · ↓ {self.tokens} tokens)"]
        base, below = summarise_recording(self.screen), summarise_screen(rows)
        screen = evolve(base, signature=base.signature + below.signature)
        self.record.record_screen(screen, False, self.now)
        self.record.record_status(self.busy, self.now)
        programs = StartedPrograms(waiting=self.waiting, ticks={7: self.ticks})
        self.record.record_programs(programs, self.now)
        cursor = f"{len(self.items)} {self.items[-1].tool if self.items else ''}"
        self.record.record_tools(read_turn_tools(self.items[-60:]), cursor, self.now)
        facts = self.record.make_facts(self.now, self.untaken_since)
        stall = find_stall(facts, StallThresholds())
        if stall is not None and self.found is None:
            self.found, self.found_at = stall, self.now
        return stall

    def wait(self, minutes: float, *, cpu: float = 0.0, tokens: bool = False) -> None:
        """Let time pass.

        @param cpu: share of the looks between which a program used the processor.
        @param tokens: the counter of tokens moves.
        """
        for _ in range(max(1, int(minutes * MINUTE / STEP_MS))):
            self.ticks += self.random.random() < cpu
            self.tokens += tokens
            self.step()

    def play_recorded(self, items: Sequence[ConversationItem]) -> None:
        """Write recorded items at the pace of honest work."""
        for item in items:
            if item.tool is None:
                self.wait(self.random.choice([0.3, 0.3, 1, 2, 4.5]))
            else:
                self.run_tool(evolve(item.tool, status=ToolStatus.RUNNING), item)
            self.items.append(item)

    def run_tool(self, call: ToolCall, item: ConversationItem) -> None:
        """Run a tool: mostly a moment, sometimes a build of up to 45 minutes."""
        self.items.append(evolve(item, tool=call))
        kind = self.random.random()
        # The agent's own lists and questions take no time; a dialog is no stall.
        if kind < 0.85 or item.kind is not ItemKind.TOOL:
            self.wait(self.random.choice([0.25, 0.5, 1]), cpu=0.5)
        elif kind < 0.97:
            self.wait(self.random.uniform(5, 45), cpu=0.8)
        else:
            self.wait(self.random.uniform(2, 15))
        self.items.pop()

    def add_call(self, title: str, given: dict[str, str], *, failed: bool, path: str = "") -> None:
        """Write a call of a tool of the present turn."""
        diffs = (FileDiff(path=path, added=1, removed=1),) if path else ()
        status = ToolStatus.FAILED if failed else ToolStatus.DONE
        call = ToolCall(name="Bash", title=title, input=given, status=status, diffs=diffs)
        turn = self.items[-1].turn if self.items else None
        self.items.append(
            ConversationItem(role=ItemRole.ASSISTANT, kind=ItemKind.TOOL, tool=call, turn=turn)
        )

    def repair_by_tests(self, rounds: int) -> None:
        """Run the same failing test again and again, with an edit before each run."""
        for number in range(rounds):
            self.wait(self.random.uniform(0.3, 4))
            self.add_call("Edit a.py", {"new": str(number)}, failed=False, path="a.py")
            self.wait(self.random.uniform(0.3, 3), cpu=0.9)
            self.add_call("Bash npm test", {"command": "npm test"}, failed=True)

    def think_long(self) -> None:
        """Think for up to 25 minutes, while tokens arrive."""
        self.wait(self.random.uniform(5, 25), tokens=True)


def play_honest(seed: int, recorded: Sequence[Sequence[ConversationItem]]) -> AgentPlayer:
    """Play a long and honest turn."""
    player = AgentPlayer(random.Random(seed))
    items = player.random.choice(recorded)
    start = player.random.randrange(max(1, len(items) - 20))
    player.play_recorded(items[start : start + 30])
    player.think_long()
    player.repair_by_tests(player.random.randrange(3, 8))
    return player


STALLS = ("silent", "silent tool", "api error", "retries", "tool", "rewrite", "terminal", "prompt")


def play_stall(seed: int, kind: str, recorded: Sequence[Sequence[ConversationItem]]) -> AgentPlayer:
    """Play honest work that then hangs, until the stall is found or an hour is over."""
    player = AgentPlayer(random.Random(seed))
    items = player.random.choice(recorded)
    start = player.random.randrange(max(1, len(items) - 20))
    player.play_recorded(items[start : start + player.random.randrange(2, 12)])
    player.found = None
    begun = player.now
    for _ in _go_wrong(player, kind):
        if player.step() is not None or player.now - begun > 60 * MINUTE:
            break
    player.found_at -= begun
    return player


def _go_wrong(player: AgentPlayer, kind: str) -> Iterator[None]:
    edits = 0
    if kind == "silent tool":
        player.add_call("Bash x", {}, failed=False)
        last = player.items[-1]
        assert last.tool is not None
        player.items[-1] = evolve(last, tool=evolve(last.tool, status=ToolStatus.RUNNING))
    if kind in ("api error", "retries"):
        player.screen = FAILING if kind == "retries" else "claude/scenes/120x40_error_400.txt"
    if kind == "terminal":
        player.waiting = player.random.choice(["less", "sudo", "vim", "ssh"])
    if kind == "prompt":
        player.busy, player.untaken_since = False, player.now
    while True:
        if kind == "tool":
            player.add_call("Bash npm test", {"command": "npm test"}, failed=True)
        if kind == "rewrite":
            edits += 1
            player.add_call("Edit a.py", {"new": str(edits % 2)}, failed=False, path="a.py")
        yield
