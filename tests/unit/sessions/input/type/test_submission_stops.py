"""Prompts to an agent that is stopped again and again, and writes a moment behind its screen.

None is submitted twice, and none is said to be that is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import cycle

from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from zope.interface import implementer

from tests.examples import example_count
from tests.fakes.multiplexer.multiplexer import FakeProgram
from tests.unit.sessions.harness import SessionCase
from tests.unit.sessions.input.type.submission_harness import DONE, LONG
from tests.unit.sessions.scripted_agent import CARET_KEYS, ComposerAgent
from tservice.agents.transcripts.prompt_ledger import LedgerEntry, PromptLedger, hash_prompt
from tservice.core.kernel.clock import get_unix_ms
from tservice.mux.interface import PaneSpec
from tservice.sessions.input.type.caret_probe import ANSWERING
from tservice.sessions.input.type.submitter import LEAVING, NOT_SURE
from tservice.sessions.interfaces import (
    IInputGate,
    InputDelivery,
    PromptClaim,
    PromptReport,
    Session,
)
from tservice.sessions.service import PassThroughGate

LONGEST = 2.0
"""Seconds for which the agent is stopped at most."""


class WritingAgent(ComposerAgent):
    """Writes what it was told a moment behind its screen, unless it is stopped.

    @ivar writing: seconds until it writes.
    @ivar shy: each key that moves its caret stops it first.
    @ivar wrote: when it was told what, as far as it has written.
    """

    writing = 0.1
    shy = False

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.wrote: list[tuple[int, str]] = []
        self._unwritten: list[tuple[int, str]] = []

    def input_received(self, data: bytes) -> None:
        if self.shy and data in CARET_KEYS and not self.stands_still:
            self.stop()
            self.clock.callLater(LONGEST, self.go_on)
        super().input_received(data)

    def stop(self) -> None:
        self.stands_still = True

    def go_on(self) -> None:
        if self.stands_still:
            shy, self.shy = self.shy, False
            super().go_on()
            self.shy = shy
            self._write()

    def _enter(self) -> None:
        known = len(self.prompts)
        super()._enter()
        for text in self.prompts[known:]:
            self._unwritten.append((get_unix_ms(self.clock), text))
            self.clock.callLater(self.writing, self._write)

    def _write(self) -> None:
        if not self.stands_still:
            self.wrote += self._unwritten
            self._unwritten.clear()


@frozen
class WrittenClaim:
    """A prompt that is looked for in what the agent wrote."""

    agent: WritingAgent
    ledger: PromptLedger
    entry: LedgerEntry

    async def get_report(self) -> PromptReport:
        wrote = [at for at, text in self.agent.wrote if hash_prompt(text) == self.entry.mark]
        return self.ledger.judge_by_times(self.entry, wrote, at_once=True)


@implementer(IInputGate)
class WrittenGate(PassThroughGate):
    """Reads what the agent wrote."""

    def __init__(self, agent: WritingAgent) -> None:
        self._agent = agent
        self._ledger = PromptLedger()

    def claim_prompt(self, session: Session, text: str, *, caught_up: bool) -> PromptClaim:
        assert session.last_submit_at is not None
        entry = self._ledger.add_prompt(text, session.last_submit_at, caught_up=caught_up)
        return WrittenClaim(self._agent, self._ledger, entry)


class StopCase(SessionCase):
    """A running agent."""

    def program(self, spec: PaneSpec) -> FakeProgram:
        self.agent = WritingAgent()
        return self.agent

    def begin(self) -> None:
        self.session = self.create(mode="primary", start=True)
        self.agent.clock = self.clock
        self.hosted = self.pane(self.session)
        self.serve_again()

    def serve_again(self) -> None:
        """Another service, which knows nothing of what was told to the one before."""
        self.machine.gate = WrittenGate(self.agent)
        self.machine.restart()
        self.spend(1)

    def send(self, text: str, seq: int = 1) -> Deferred[InputDelivery]:
        return self.type(self.session, f"{text}\r", client_id="c", seq=seq)

    @property
    def enters(self) -> int:
        return self.hosted.keys.count("Enter")


class SubmissionStopTests(StopCase):
    """One stop at the worst moment."""

    def setUp(self) -> None:
        super().setUp()
        self.begin()

    def test_stop_between_screen_and_transcript_loses_no_enter(self) -> None:
        """Claude Code keeps a paste that it took, and its caret answers: that is no lost Enter."""
        self.agent.kept = 1
        self.agent.writing = sum(LEAVING) + 2
        answer = self.send("hello")
        while "End" not in self.hosted.keys:
            self.spend(0.05)
        self.spend(0.05)
        self.agent.stop()
        self.spend(LONGEST)
        self.agent.go_on()
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 1, ""), (self.agent.prompts, self.enters, self.agent.text))

    def test_stop_at_each_probe_key_submits_once(self) -> None:
        """A caret is waited for longer than any stop lasts."""
        self.agent.deaf = 1
        self.agent.shy = True
        answer = self.send("hello")
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_briefly_empty_composer_is_no_submission(self) -> None:
        """It is drawn anew, and the text comes back: who tells of prompts would have told of it."""
        self.agent.deaf = 1
        self.agent.numb = True
        answer = self.send("hello")
        while self.hosted.keys.count("End") < 2:
            self.spend(0.1)
        self.draw("")
        self.spend(sum(ANSWERING) + 1.5)
        self.assertNoResult(answer)
        self.draw("hello")
        self.agent.numb = False
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(answer))
        self.assertEqual((["hello"], 2), (self.agent.prompts, self.enters))

    def test_stop_after_the_enter_of_a_killed_service_submits_once(self) -> None:
        self.agent.kept = 1
        self.send("hello")
        while not self.agent.prompts:
            self.spend(0.05)
        self.spend(1)
        self.serve_again()
        self.spend(LONG)
        self.assertEqual((["hello"], 1, ""), (self.agent.prompts, self.enters, self.agent.text))

    def draw(self, text: str) -> None:
        self.agent.text = text
        self.agent.draw()

    def test_equal_earlier_prompt_proves_nothing(self) -> None:
        """Whose Enter was read late: it is written with the moment of its own."""
        first = self.send("q")
        self.spend(3)
        self.assertEqual(DONE, self.successResultOf(first))
        self.agent.deaf = 1
        second = self.send("q", 2)
        self.spend(LONG)
        self.assertEqual(DONE, self.successResultOf(second))
        self.assertEqual((["q", "q"], 3), (self.agent.prompts, self.enters))


@frozen
class SubmissionPlan:
    """One prompt, and what its agent makes of it.

    @ivar lost: its first Enter is.
    @ivar kept: it stays in the composer though it was submitted.
    @ivar writing: seconds until it is written down.
    @ivar after: seconds until the next is sent.
    """

    text: str
    lost: bool
    kept: bool
    writing: float
    after: float


SECONDS = st.floats(0.05, LONGEST)
PLANS = st.builds(
    SubmissionPlan,
    text=st.sampled_from(["q", "r"]),
    lost=st.booleans(),
    kept=st.booleans(),
    writing=st.floats(0.0, 0.4),
    after=st.sampled_from([0.2, 3.0, LONG]),
)


class SubmissionInterleavingTests(StopCase):
    """Equal prompts, lost Enters, texts that stay, stops."""

    def setUp(self) -> None:
        """Each example has a machine of its own."""

    @settings(max_examples=example_count(6), deadline=None, database=None)
    @given(
        plans=st.lists(PLANS, min_size=1, max_size=3),
        stops=st.lists(st.tuples(SECONDS, SECONDS), min_size=1, max_size=5),
    )
    def test_equal_prompts_are_neither_doubled_nor_lost(
        self, plans: Sequence[SubmissionPlan], stops: Sequence[tuple[float, float]]
    ) -> None:
        super().setUp()
        self.begin()
        self.stopping = cycle(stops)
        self.run_on()
        answers = []
        for seq, plan in enumerate(plans, 1):
            self.agent.deaf, self.agent.kept = int(plan.lost), int(plan.kept)
            self.agent.writing = plan.writing
            answers.append(self.send(plan.text, seq))
            self.spend(plan.after)
        for answer in answers:
            while not answer.called:
                self.spend(1)
        told, sent = Counter[str](), Counter(plan.text for plan in plans)
        for plan, answer in zip(plans, answers, strict=True):
            answer.addErrback(lambda why: self.assertIn(NOT_SURE, why.getErrorMessage()))
            told[plan.text] += self.successResultOf(answer) is not None
        submitted = Counter(self.agent.prompts)
        self.assertLessEqual(submitted, sent, "submitted twice")
        self.assertLessEqual(told, submitted, "said to be submitted")

    def run_on(self) -> None:
        """Stop, and go on, for as long as the clock runs."""
        running, stopped = next(self.stopping)

        def stop() -> None:
            self.agent.stop()
            self.clock.callLater(stopped, go_on)

        def go_on() -> None:
            self.agent.go_on()
            self.run_on()

        self.clock.callLater(running, stop)
