"""When to look, and what a look says."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.frames.score import RULES
from tests.unit.agents.harness import (
    BUSY_TITLE,
    COMPOSER,
    IDLE_TITLE,
    PERMISSION,
    SPINNER,
    TRUST,
    AgentHarnessCase,
)
from tests.unit.terminal.screen_builders import read_status
from tservice.agents.activity.activity_machine import AgentState
from tservice.agents.activity.poll_schedule import (
    BREAK,
    GAP,
    SILENCE,
    CaptureContext,
    CaptureVerdict,
    LastCapture,
    PollSchedule,
    compute_next_capture,
    judge_capture,
)
from tservice.mux.interface import MuxTimeout
from tservice.terminal.screen_rules import ScreenRules

doings = st.sampled_from(list(AgentState))
times = st.floats(0, 100)


def scene(doing: AgentState, *, silent: bool = False) -> CaptureContext:
    return CaptureContext(state=doing, is_silent=silent, is_sustained=True, has_submission=True)


class PaceTests(SynchronousTestCase):
    """L{compute_next_capture} and L{PollSchedule}."""

    @settings(max_examples=example_count(100))
    @given(times, times, times, st.booleans(), st.booleans(), doings)
    def test_looks_keep_their_gap_and_are_never_forgotten(
        self, begun: float, last: float, at: float, current: bool, failed: bool, doing: AgentState
    ) -> None:
        rhythm = PollSchedule(begun=min(begun, last), last=last)
        due = compute_next_capture(
            rhythm, LastCapture(at=at, is_current=current, has_failed=failed), doing
        )
        if failed or not current:
            assert due is not None
            self.assertGreaterEqual(due, at + GAP)
        elif due is not None:
            self.assertIn(doing, (AgentState.WORKING, AgentState.BLOCKED))
            self.assertGreater(due, at)

    @settings(max_examples=example_count(300))
    @given(st.lists(st.floats(0, 10), min_size=1, max_size=20))
    def test_continuous_output_has_no_pause(self, gaps: list[float]) -> None:
        now, rhythm = 0.0, PollSchedule(begun=0, last=0)
        for gap in gaps:
            now += gap
            rhythm = rhythm.after_output(now)
            if gap > BREAK:
                self.assertFalse(rhythm.has_sustained_output())
        self.assertEqual(now, rhythm.last)
        self.assertFalse(rhythm.is_silent(now))
        self.assertIsNotNone(
            compute_next_capture(rhythm, LastCapture(at=now, is_current=True), AgentState.WORKING),
            "its silence is awaited",
        )
        self.assertTrue(rhythm.is_silent(now + SILENCE))


class LookVerdictTests(SynchronousTestCase):
    """L{judge_capture}."""

    def verdict(self, text: str, now: CaptureContext, title: str = "") -> CaptureVerdict | None:
        found = judge_capture(read_status(text, title=title), RULES["claude"], now)
        return None if found is None else found[0]

    def test_unrecognized_screen_changes_nothing(self) -> None:
        for doing in AgentState:
            for silent in (True, False):
                self.assertIsNone(self.verdict("vim\n~\n~", scene(doing, silent=silent)))

    def test_composer_means_rest_only_in_silence(self) -> None:
        self.assertIsNone(self.verdict(COMPOSER, scene(AgentState.WORKING)))
        self.assertEqual(
            CaptureVerdict.IDLE, self.verdict(COMPOSER, scene(AgentState.WORKING, silent=True))
        )
        self.assertEqual(CaptureVerdict.IDLE, self.verdict(COMPOSER, scene(AgentState.STARTING)))

    def test_row_or_title_of_work_means_busy(self) -> None:
        now = scene(AgentState.IDLE, silent=True)
        self.assertEqual(CaptureVerdict.WORKING, self.verdict(SPINNER, now))
        self.assertEqual(CaptureVerdict.WORKING, self.verdict(COMPOSER, now, BUSY_TITLE))

    def test_permission_dialog_is_asked_and_trust_dialog_is_not(self) -> None:
        now = scene(AgentState.WORKING)
        self.assertEqual(CaptureVerdict.ASKED, self.verdict(PERMISSION, now, IDLE_TITLE))
        self.assertIsNone(self.verdict(TRUST, now))

    def test_agent_without_rules_is_judged_by_its_rhythm(self) -> None:
        unknown = read_status("anything")
        now = CaptureContext(
            state=AgentState.IDLE, is_silent=False, is_sustained=True, has_submission=False
        )
        self.assertIsNone(judge_capture(unknown, ScreenRules(), now))
        found = judge_capture(unknown, ScreenRules(), scene(AgentState.IDLE))
        assert found is not None
        self.assertEqual(CaptureVerdict.WORKING, found[0])
        found = judge_capture(unknown, ScreenRules(), scene(AgentState.WORKING, silent=True))
        assert found is not None
        self.assertEqual(CaptureVerdict.IDLE, found[0])


steps = st.one_of(
    st.tuples(st.just("show"), st.sampled_from([COMPOSER, SPINNER, PERMISSION, "?"])),
    st.tuples(
        st.just("hook"),
        st.sampled_from(
            ["prompt_submitted", "stop", "permission_prompt", "elicitation_response", "idle_prompt"]
        ),
    ),
    st.tuples(st.just("spend"), st.sampled_from(["0.1", "1", "3"])),
    st.tuples(st.just("fail"), st.just("")),
)


class AnythingTests(AgentHarnessCase):
    """Hooks, screens, silence and failures in any order."""

    @settings(max_examples=example_count(40), deadline=None)
    @given(st.lists(steps, max_size=15))
    def test_any_event_order_alternates_idle_and_working(
        self, script: list[tuple[str, str]]
    ) -> None:
        session = self.ready()
        for step, word in script:
            if step == "show":
                self.show(session, word)
            elif step == "hook":
                self.hook(session, word)
            elif step == "spend":
                self.spend(float(word))
            else:
                self.pane(session).inject_fault("capture", MuxTimeout("no answer"))
        self.show(session, COMPOSER)
        self.spend(30)
        told = [word for word in self.signals() if word in ("idle", "working")]
        self.assertEqual(["working", "idle"] * (len(told) // 2), told)
        self.assertEqual("idle", self.status(session)[0])
        self.run_now(self.sessions.delete(session.id))
        self.assertEqual([], self.clock.getDelayedCalls())


class ExactnessTests(SynchronousTestCase):
    """Times of this century, in floats."""

    @settings(max_examples=example_count(100))
    @given(st.floats(1.7e9, 2.2e9), st.floats(0, 3))
    def test_timer_for_silence_fires_after_the_silence(self, last: float, passed: float) -> None:
        """Else nobody would look again, and the session stayed busy for good."""
        rhythm = PollSchedule(begun=last, last=last)
        at = min(last + passed, last + SILENCE - 1)
        due = compute_next_capture(rhythm, LastCapture(at=at, is_current=True), AgentState.WORKING)
        assert due is not None
        fired = at + (due - at)
        self.assertTrue(rhythm.is_silent(fired))
        self.assertIsNone(
            compute_next_capture(rhythm, LastCapture(at=fired, is_current=True), AgentState.WORKING)
        )
