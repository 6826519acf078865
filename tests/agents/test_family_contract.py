"""One suite on Codex, Gemini CLI, opencode and pi, real and played: the first steps."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from attrs import frozen
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable
from tests.agents.contract_harness import (
    AgentHarness,
    PlayedAgentHarness,
    RealAgentHarness,
    skip_reason,
)
from tests.agents.panes import AgentPane
from tests.agents.stub.record import deliveries
from tests.waiting import PATIENCE, wait_until

if TYPE_CHECKING:
    Case = SynchronousTestCase
else:
    Case = object  # the suite itself must not be collected

ENTERS = 5
"""How often a prompt's Enter is pressed at most."""


@frozen(kw_only=True)
class StateMarks:
    """What tells the states of one client apart.

    @ivar ready, busy, refused: patterns for a row.
    @ivar first: a row of the first dialog; C{approval}: of the one before a command.
    @ivar idle_title, busy_title: patterns; "" where the title says nothing.
    @ivar settle: seconds after the composer's first row until it takes input.
    """

    ready: str
    busy: str
    idle_title: str = ""
    busy_title: str = ""
    first: str | None = None
    approval: str | None = None
    refused: str = ""
    settle: float = 1.0


MARKS = {
    "codex": StateMarks(
        ready="stub-model default",
        busy="^• holding|Working",
        idle_title="^work$",
        busy_title="^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] work",
        first="^› 1. Trust and continue",
        approval="^› 1. Yes, proceed",
        refused="Conversation interrupted",
    ),
    "gemini": StateMarks(
        ready="Type your message",
        busy="esc to cancel",
        idle_title="Ready",
        busy_title="Working",
        first="● 1. Trust folder",
        approval="● 1. Allow once",
        refused="Request cancelled",
    ),
    "opencode": StateMarks(
        ready="Ask anything",
        busy="esc interrupt",
        approval="Allow once +Allow always",
        settle=1.5,
    ),
    "pi": StateMarks(ready="0.0%/128k", busy="Working"),
}


class FamilyContract(Case):
    """What all must do; a subclass names the client and makes the subject."""

    cli: str
    subject: AgentHarness

    @property
    def marks(self) -> StateMarks:
        return MARKS[self.cli]

    def ready(self) -> AgentPane:
        """A pane whose composer takes input."""
        if self.cli == "codex":
            self.subject.world.make_git()
        pane = self.subject.start()
        pane.wait(self.marks.ready)
        pane.settle(self.marks.settle)
        return pane

    def test_prompts_slow_turns_and_approved_and_refused_commands(self) -> None:
        """A prompt, one that takes its time, a command that is allowed and one that is not."""
        pane = self.ready()
        self.arrives_once_and_whole(pane)
        self.shows_busy_until_the_answer_ends(pane)
        self.asks_before_a_command(pane)
        if self.marks.approval is not None:
            self.takes_escape_for_a_no(pane, self.marks.approval)

    def arrives_once_and_whole(self, pane: AgentPane) -> None:
        pane.submit("SAY: hello there")
        self.submitted(pane)
        pane.wait("^ *[^ ]? *hello there *$")
        self.rests(pane)
        (turn,) = self.subject.turns()
        self.assertEqual("SAY: hello there", turn.prompt)
        self.assertEqual(1, deliveries(self.subject.requests(), "SAY: hello there"))

    def submitted(self, pane: AgentPane) -> None:
        """One that comes up on a busy machine may lose the first Enter."""
        for _ in range(ENTERS):
            try:
                wait_until("its turn", self.subject.turns, patience=PATIENCE / ENTERS)
            except AssertionError:
                pane.keys("Enter")
            else:
                return

    def shows_busy_until_the_answer_ends(self, pane: AgentPane) -> None:
        pane.submit("HOLD: door")
        pane.wait(self.marks.busy)
        pane.wait_title(self.marks.busy_title)
        self.subject.release("door")
        pane.wait("holding until released")
        self.rests(pane)

    def asks_before_a_command(self, pane: AgentPane) -> None:
        pane.submit("RUN: touch made")
        if self.marks.approval is not None:
            pane.wait(self.marks.approval)
            pane.settle(self.marks.settle)
            pane.keys("Enter")
        pane.wait("Done with the tool")
        self.assertTrue((self.subject.world.place.work / "made").exists())
        self.rests(pane)

    def takes_escape_for_a_no(self, pane: AgentPane, approval: str) -> None:
        pane.submit("RUN: touch unmade")
        pane.wait(approval)
        pane.settle(self.marks.settle)
        pane.keys("Escape")
        pane.wait_gone(approval)
        pane.wait(self.marks.refused)
        self.assertFalse((self.subject.world.place.work / "unmade").exists())

    def rests(self, pane: AgentPane) -> None:
        """Look until the turn is over on the screen as well."""
        if self.marks.idle_title:
            pane.wait_title(self.marks.idle_title)
        else:
            pane.wait_gone(self.marks.busy)
        pane.settle(self.marks.settle)

    def test_first_dialog_lets_the_folder_be_trusted(self) -> None:
        if self.marks.first is None:
            raise SkipTest(f"{self.cli} asks nothing at start")
        if self.cli == "codex":
            self.subject.world.make_git()
        pane = self.subject.start(trusted=False)
        pane.wait(self.marks.first)
        pane.settle(self.marks.settle)
        pane.keys("Down")
        pane.wait_gone(self.marks.first)
        pane.keys("Up")
        pane.wait(self.marks.first)
        pane.keys("Enter")
        pane.wait(self.marks.ready)


class PlayedSetUp(SynchronousTestCase):
    """Makes the mock."""

    cli: str

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.subject: AgentHarness = PlayedAgentHarness(self.cli, stack)


class RealSetUp(SynchronousTestCase):
    """Makes the real client, or skips with the reason."""

    cli: str

    def setUp(self) -> None:
        stack = ExitStack()
        self.addCleanup(stack.close)
        try:
            self.subject: AgentHarness = RealAgentHarness(self.cli, stack)
        except CliUnavailable as why:
            reason = skip_reason(why, self.cli)
            if reason is None:
                raise
            raise SkipTest(reason) from why


class PlayedCodexTests(FamilyContract, PlayedSetUp):
    cli = "codex"


class RealCodexTests(FamilyContract, RealSetUp):
    cli = "codex"


class PlayedGeminiTests(FamilyContract, PlayedSetUp):
    cli = "gemini"


class RealGeminiTests(FamilyContract, RealSetUp):
    cli = "gemini"


class PlayedOpencodeTests(FamilyContract, PlayedSetUp):
    cli = "opencode"


class RealOpencodeTests(FamilyContract, RealSetUp):
    cli = "opencode"


class PlayedPiTests(FamilyContract, PlayedSetUp):
    cli = "pi"


class RealPiTests(FamilyContract, RealSetUp):
    cli = "pi"
