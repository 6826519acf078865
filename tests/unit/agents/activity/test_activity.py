"""What an agent does, told by hooks and by its screen."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tests.examples import example_count
from tests.unit.agents.harness import (
    BUSY_TITLE,
    COMPOSER,
    IDLE_TITLE,
    PERMISSION,
    SPINNER,
    TRUST,
    AgentHarnessCase,
)
from tservice.agents.activity.activity_machine import ActivityMachine, AgentState
from tservice.agents.activity.poll_schedule import CALM, SETTLE, SILENCE
from tservice.mux.interface import MuxTimeout

EVIDENCE = (
    "startup_time_over",
    "turn_started",
    "turn_stopped",
    "dialog_shown",
    "dialog_answered",
    "screen_shows_work",
    "screen_shows_idle",
    "process_ended",
)


class RecordingSink:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def report_working(self, reason: str) -> None:
        self.told.append("working")

    def report_idle(self, reason: str) -> None:
        self.told.append("idle")

    def report_evidence(self, reason: str) -> None:
        """Newer evidence of the same status is no signal."""


def tell(course: ActivityMachine, evidence: str) -> None:
    move = getattr(course.evidence, evidence)
    move() if evidence == "process_ended" else move("why")


class CourseTests(SynchronousTestCase):
    """The machine."""

    @settings(max_examples=example_count(100))
    @given(st.sampled_from(list(AgentState)), st.lists(st.sampled_from(EVIDENCE), max_size=30))
    def test_machine_alternates_idle_and_working(
        self, begin: AgentState, evidence: list[str]
    ) -> None:
        """Whatever the evidence: never the same word twice, nothing after the end, and the state
        agrees with the last word.
        """
        sink = RecordingSink()
        course = ActivityMachine(sink, begin)
        for word in evidence:
            over = course.state is AgentState.OVER
            count = len(sink.told)
            tell(course, word)
            if over:
                self.assertEqual(count, len(sink.told))
        for one, two in zip(sink.told, sink.told[1:], strict=False):
            self.assertNotEqual(one, two)
        if sink.told and course.state is not AgentState.OVER:
            at_rest = course.state is AgentState.IDLE
            self.assertEqual("idle" if at_rest else "working", sink.told[-1])

    def test_open_dialog_keeps_the_turn_open(self) -> None:
        sink = RecordingSink()
        course = ActivityMachine(sink, AgentState.IDLE)
        for word in (
            "turn_started",
            "dialog_shown",
            "dialog_shown",
            "dialog_answered",
            "dialog_shown",
            "screen_shows_idle",
        ):
            tell(course, word)
        self.assertEqual(["working", "idle"], sink.told)

    def test_screen_does_not_answer_the_dialog_of_a_hook(self) -> None:
        """A late C{dialog_answered} while nothing is asked begins no turn."""
        sink = RecordingSink()
        course = ActivityMachine(sink, AgentState.IDLE)
        tell(course, "dialog_answered")
        self.assertEqual((AgentState.IDLE, []), (course.state, sink.told))


class PrimaryTests(AgentHarnessCase):
    """An agent with hooks."""

    def test_first_idle_signal_comes_from_the_composer(self) -> None:
        session = self.agent()
        self.spend(5)
        self.assert_signals([])
        self.show(session, COMPOSER)
        self.spend(0.5)
        self.assert_signals(["idle"])
        self.assertEqual(("idle", "composer on the screen, no working line"), self.status(session))

    def test_hooks_begin_and_end_a_turn(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.assertEqual(("busy", "prompt_submitted hook"), self.status(session))
        self.hook(session, "stop")
        self.assert_signals(["working", "stop", "idle"])
        self.assertEqual(("idle", "stop hook"), self.status(session))

    def test_screen_begins_and_ends_a_turn(self) -> None:
        session = self.ready()
        self.show(session, SPINNER, BUSY_TITLE)
        self.spend(1.2)
        self.assert_signals(["working"])
        self.show(session, COMPOSER, IDLE_TITLE)
        self.spend(SETTLE + CALM - 0.1)
        self.assert_signals([])
        self.spend(0.2)
        self.assert_signals(["idle"])

    def test_unobserved_turn_is_over_after_a_silence(self) -> None:
        """The hook of a prompt comes before the spinner."""
        session = self.ready()
        self.show(session, COMPOSER, IDLE_TITLE)
        self.hook(session, "prompt_submitted")
        self.spend(SILENCE - 0.1)
        self.assert_signals(["working"])
        self.spend(0.2)
        self.assert_signals(["idle"])

    def test_screen_without_a_title_is_idle_only_after_a_silence(self) -> None:
        session = self.ready()
        self.show(session, SPINNER)
        self.spend(1.2)
        self.assert_signals(["working"])
        self.show(session, COMPOSER)
        self.spend(SILENCE - 0.1)
        self.assert_signals([])
        self.spend(0.2)
        self.assert_signals(["idle"])

    def test_moment_without_a_spinner_does_not_end_the_turn(self) -> None:
        session = self.ready()
        self.show(session, SPINNER, BUSY_TITLE)
        self.spend(1.2)
        self.assert_signals(["working"])
        for _ in range(10):
            self.show(session, COMPOSER, IDLE_TITLE)
            self.spend(SETTLE + CALM - 0.1)
            self.show(session, SPINNER, BUSY_TITLE)
            self.spend(1.0)
        self.assert_signals([])

    def test_key_pressed_at_a_dialog_triggers_a_look(self) -> None:
        """Although the next look was meant for the end of a silence."""
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.show(session, PERMISSION, IDLE_TITLE)
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        self.spend(1.5)
        self.assert_signals(["working", "blocked"])
        self.show(session, COMPOSER)
        self.spend(SETTLE + CALM + 0.1)
        self.assert_signals(["idle"])

    def test_interrupted_turn_ends_without_a_hook(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.show(session, SPINNER, BUSY_TITLE)
        self.spend(1)
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        self.show(session, PERMISSION, IDLE_TITLE)
        self.spend(10)
        self.assert_signals(["working", "blocked"])
        self.assertEqual("busy", self.status(session)[0])
        self.show(session, f"Interrupted\n{COMPOSER}")
        self.spend(3)
        self.assert_signals(["idle"])

    def test_late_hook_of_a_finished_turn_is_corrected_by_silence(self) -> None:
        """Nothing is printed any more, and no other hook comes: the silence is looked into."""
        session = self.ready()
        self.spend(60)
        self.hook(session, "prompt_submitted")
        self.spend(2.4)
        self.assert_signals(["working"])
        self.spend(0.2)
        self.assert_signals(["idle"])

    def test_spinner_that_outlives_its_turn_is_ignored(self) -> None:
        """The stop hook runs before the screen is tidied up: that is no new turn."""
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.show(session, SPINNER, BUSY_TITLE)
        self.spend(0.2)
        self.hook(session, "stop")
        self.show(session, SPINNER, BUSY_TITLE)
        self.spend(0.5)
        self.show(session, COMPOSER, IDLE_TITLE)
        self.spend(10)
        self.assert_signals(["working", "stop", "idle"])

    def test_unreadable_screen_changes_no_status(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.signals()
        for _ in range(5):
            self.pane(session).inject_fault("capture", MuxTimeout("no answer"))
        self.show(session, COMPOSER)
        self.spend(4.9)
        self.assert_signals([])
        self.spend(3)
        self.assert_signals(["idle"])

    def test_quiet_screen_is_not_captured(self) -> None:
        session = self.ready()
        self.spend(100)
        self.assertEqual([], self.clock.getDelayedCalls())
        looks = self.count_looks(session, 10)
        self.assertEqual(0, looks)

    def test_restless_screen_is_read_at_intervals(self) -> None:
        session = self.ready()
        count = 0

        def counted(look: object) -> None:
            nonlocal count
            count += 1

        self.agents.agents.add_observer(counted)
        for _ in range(400):
            self.show(session, SPINNER)
            self.spend(0.05)
        self.assertLessEqual(count, 20)
        self.assertGreaterEqual(count, 5)

    def test_process_that_ends_in_a_turn_gives_an_exit_signal(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.pane(session).exit_program(0)
        self.spend(20)
        self.assert_signals(["working", "exit"])
        self.assertEqual([], self.clock.getDelayedCalls())

    def count_looks(self, session: object, seconds: float) -> int:
        found: list[object] = []
        end = self.agents.agents.add_observer(found.append)
        self.spend(seconds)
        end()
        return len(found)


class OtherAgentTests(AgentHarnessCase):
    """Agents without hooks, and one that nobody knows."""

    def test_agent_without_hooks_is_idle_after_three_seconds(self) -> None:
        self.agent(mode="codex")
        self.spend(2.9)
        self.assert_signals([])
        self.spend(0.2)
        self.assert_signals(["idle"])

    def test_codex_turn_is_seen_on_the_screen(self) -> None:
        session = self.agent(mode="codex")
        self.spend(4)
        self.signals()
        self.show(session, "• Working (3s • esc to interrupt)\n\n› \n\n  gpt · /home", "⠂ x")
        self.spend(1)
        self.assert_signals(["working"])
        self.show(session, "done\n\n› Ask Codex to do anything\n\n  gpt · /home", "x")
        self.spend(3)
        self.assert_signals(["stop", "idle"])

    def test_shell_sessions_have_no_activity_watch(self) -> None:
        session = self.create(mode="shell", start=True)
        self.spend(60)
        self.assert_signals(["idle"])
        self.assertIsNone(self.agents.agents.get_watch(session.id))

    def test_unknown_agent_is_judged_by_its_output_rhythm(self) -> None:
        """Its output counts from an Enter on; echoed keys alone are no work."""
        self.machine.install("agy")
        session = self.agent("hello", mode="antigravity")
        self.spend(5)
        self.signals()
        self.flow(session, 6)
        self.assert_signals([])
        self.spend(5)
        done = self.type(session, "go\r", use_mux=False)
        self.assertTrue(self.successResultOf(done).delivered)
        self.flow(session, 4)
        self.assert_signals(["working"])
        self.assertEqual("output is sustained", self.status(session)[1])
        self.spend(3)
        self.assert_signals(["idle"])
        self.assertEqual("output went quiet", self.status(session)[1])

    def flow(self, session: object, seconds: int) -> None:
        for number in range(seconds * 2):
            self.show(session, f"line {number}")  # type: ignore[arg-type]
            self.spend(0.5)


class ActivityModelTests(AgentHarnessCase):
    """C{displayModel} by launch parameters, settings and screen."""

    def test_model_sources_are_ranked(self) -> None:
        (self.machine.home / ".claude").mkdir()
        settings_file = self.machine.home / ".claude" / "settings.json"
        settings_file.write_text('{"model": "from-settings"}')
        session = self.agent(params={"model": "opus"})
        self.assertEqual(
            "config", to_wire(self.sessions.describe_session(session.id))["displayModelSource"]
        )
        banner = "│ Opus 4.8 (1M context) · API Usage Billing │"
        self.show(session, f"{banner}\n{COMPOSER}")
        self.spend(1)
        shown = to_wire(self.sessions.describe_session(session.id))
        self.assertEqual("screen", shown["displayModelSource"])
        self.assertIn("Opus 4.8", shown["displayModel"])
        self.show(session, COMPOSER)
        self.spend(1)
        self.assertIn("Opus", to_wire(self.sessions.describe_session(session.id))["displayModel"])


class ActivityDialogTests(AgentHarnessCase):
    """What others are told of dialogs."""

    def test_current_dialog_is_returned(self) -> None:
        session = self.ready()
        self.assertIsNone(self.agents.agents.get_dialog(session.id))
        self.show(session, PERMISSION)
        self.spend(1)
        dialog = self.agents.agents.get_dialog(session.id)
        assert dialog is not None
        self.assertEqual("Do you want to proceed?", dialog.question)
        self.assertEqual("busy", self.status(session)[0])
        self.assert_signals(["working"])
        self.pane(session).exit_program()
        self.assertIsNone(self.agents.agents.get_dialog(session.id))

    def test_startup_dialog_is_no_turn(self) -> None:
        session = self.agent(TRUST)
        self.spend(1)
        self.assert_signals([])
        self.assertEqual("idle", self.status(session)[0])

    def test_screen_is_read_on_demand(self) -> None:
        session = self.ready()
        look = self.run_now(self.agents.agents.capture_screen(session.id))
        self.assertTrue(look.reading.composer_ready)
        self.pane(session).inject_fault("capture", MuxTimeout("no answer"))
        self.assertEqual(422, self.refusal(self.agents.agents.capture_screen(session.id)).status)
        self.assertEqual(404, self.refusal(self.agents.agents.capture_screen("nobody")).status)
        shell = self.shell()
        self.assertEqual(409, self.refusal(self.agents.agents.capture_screen(shell.id)).status)
        self.pane(session).exit_program()
        self.assertEqual(409, self.refusal(self.agents.agents.capture_screen(session.id)).status)

    def test_failing_observer_does_not_affect_others(self) -> None:
        heard: list[object] = []
        self.agents.agents.add_observer(lambda look: 1 / 0)  # type: ignore[arg-type]
        end = self.agents.agents.add_observer(heard.append)
        self.ready()
        self.assertTrue(heard)
        self.assertEqual(len(heard), len(self.flushLoggedErrors(ZeroDivisionError)))
        end()
        end()
