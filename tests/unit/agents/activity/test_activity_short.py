"""Turns between two looks, commands that are none, and titles that are needed."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.agents.activity.codex_conversation import KeptByCodex
from tests.unit.agents.harness import (
    BUSY_TITLE,
    COMPOSER,
    COMPOSER_ROW,
    IDLE_TITLE,
    SPINNER,
    AgentHarnessCase,
)
from tservice.agents.activity.poll_schedule import ASKING, SILENCE
from tservice.agents.activity.submission_end import UNANSWERED
from tservice.sessions.input.prompt_runner import SIGHTS
from tservice.sessions.record.model import Session

CODEX = "› Ask Codex to do anything\n\n  gpt · /home"
CODEX_DRAFT = "› half a prompt\n\n  gpt · /home"
CODEX_BUSY = f"• Working (3s • esc to interrupt)\n\n{CODEX}"
CODEX_TRUST = "Trust this folder?\n\n› 1. Trust and continue\n  2. Back to Agent Command Center\n"
MODEL_MENU = (
    "─" * 60 + "\n Select model\n\n ❯ 1. Opus\n   2. Sonnet\n\n Enter to confirm · Esc to exit\n"
)


class ShortCase(AgentHarnessCase):
    """Agents whose composer stands there."""

    def at_rest(self, mode: str, screen: str) -> Session:
        session = self.agent(screen, mode=mode)
        self.spend(5)
        self.machine.events.clear()
        return session

    def submit(self, session: Session, answer: Callable[[], None], text: str = "go") -> None:
        """A prompt whose Enter is answered at once; a composer that is not shown is waited for."""
        program = self.screen(session)
        received = program.input_received

        def enter(data: bytes) -> None:
            received(data)
            if data == b"\r":
                answer()

        program.input_received = enter  # type: ignore[method-assign]
        self.type(session, f"{text}\r")
        # The completions of a command are given a moment to be drawn.
        settling = 0.3 if text.startswith("/") else 0.0
        self.spend(settling + (0.3 if COMPOSER_ROW.search(program.shown) else sum(SIGHTS)))

    def prompt(self, session: Session, shown: str, text: str = "go") -> None:
        self.submit(session, lambda: self.show(session, shown), text)

    def kept_by_codex(self) -> KeptByCodex:
        """The conversation that Codex keeps, of which there is nothing yet."""
        return KeptByCodex(self.machine.home, self.work, self.clock)


class ExternalTests(ShortCase):
    """A CLI that nothing but its screen tells of."""

    def answered_at_once(self) -> Session:
        """Codex, whose turn began and ended between two looks."""
        session, kept = self.at_rest("codex", CODEX), self.kept_by_codex()

        def answer() -> None:
            kept.prompted("go")
            kept.answered("hello")
            self.show(session, f"• hello\n\n{CODEX}")

        self.submit(session, answer)
        return session

    def test_a_turn_between_two_looks_is_a_turn(self) -> None:
        session = self.answered_at_once()
        self.assert_signals([])
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])
        self.assertEqual("composer on the screen, no working line", self.status(session)[1])
        self.spend(20)
        self.assert_signals([])

    def test_a_turn_that_was_seen_is_told_once(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.submit(session, lambda: self.show(session, CODEX_BUSY, "⠂ work"))
        self.spend(3)
        self.assert_signals(["working"])
        self.show(session, f"• hello\n\n{CODEX}", "work")
        self.spend(20)
        self.assert_signals(["stop", "idle"])

    def test_without_a_turn_nothing_stops(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.show(session, f"{CODEX} more")
        self.spend(20)
        self.assert_signals([])

    def test_switched_off_nothing_stops(self) -> None:
        self.change_settings(external_signals=False)
        self.answered_at_once()
        self.spend(SILENCE)
        self.assert_signals(["working", "idle"])

    def test_a_draft_is_no_turn(self) -> None:
        """An Enter that was lost leaves the text where it is."""
        session = self.at_rest("codex", CODEX)
        self.prompt(session, CODEX_DRAFT)
        self.spend(20)
        self.assert_signals([])

    def test_an_agent_that_does_not_answer_has_no_turn(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.submit(session, lambda: self.show(session, CODEX_DRAFT))
        self.spend(20)
        self.assert_signals([])

    def test_an_enter_at_a_dialog_is_no_prompt(self) -> None:
        session = self.at_rest("codex", CODEX_TRUST)
        self.screen(session).answers[b"\r"] = CODEX
        self.run_now(self.sessions.send_key(session.id, "Enter"))
        self.spend(20)
        self.assert_signals([])

    def test_a_prompt_typed_at_a_terminal(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.show(session, CODEX_DRAFT)
        self.screen(session).answers[b"\r"] = f"• hello\n\n{CODEX}"
        self.type(session, "\r", use_mux=False)
        self.spend(SILENCE + 1)
        self.assert_signals(["working", "stop", "idle"])

    def test_an_unknown_agent(self) -> None:
        self.machine.install("agy")
        session = self.at_rest("antigravity", "hello")
        self.prompt(session, "hello\nthere")
        self.spend(SILENCE)
        self.assert_signals(["working", "idle"])

    def test_a_screen_that_never_rests(self) -> None:
        self.machine.install("pi")
        empty = f"{'─' * 60}\n\n{'─' * 60}\n~/x\n1.0%/128k (auto)      model"
        session = self.at_rest("pi", empty)
        self.screen(session).answers[b"go"] = empty.replace("\n\n", "\ngo\n", 1)
        self.prompt(session, empty)
        for number in range(20):
            self.show(
                session, f"{'─' * 60}\n\n{'─' * 60}\n~/x {number}\n1.0%/128k (auto)      model"
            )
            self.spend(0.5)
        self.assert_signals(["working", "stop", "idle"])


class TitleTests(ShortCase):
    """Codex streams its answer without a spinner: only the title tells that it works."""

    def stream(self, session: Session, title: str | None) -> None:
        """Ten seconds of text that flows above the composer."""
        for number in range(40):
            self.show(session, f"• word {number}\n\n{CODEX}", title)
            self.spend(0.25)

    def test_the_frame_alone_shows_no_rest_while_output_runs(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.show(session, CODEX_BUSY)
        self.spend(1)
        self.assert_signals(["working"])
        self.stream(session, None)
        self.assert_signals([])
        self.spend(SILENCE)
        self.assert_signals(["stop", "idle"])
        self.assertEqual(
            "composer on the screen, no working line; its title showed nothing",
            self.status(session)[1],
        )

    def test_a_title_that_was_seen_to_work_shows_it(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.show(session, CODEX_BUSY, "⠂ work")
        self.spend(1)
        self.assert_signals(["working"])
        self.stream(session, "⠂ work")
        self.assert_signals([])
        self.stream(session, "work")
        self.assert_signals(["stop", "idle"])
        self.assertEqual("composer on the screen, no working line", self.status(session)[1])

    def test_a_short_prompt_that_streams_is_not_over_while_it_does(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.prompt(session, f"• word\n\n{CODEX}")
        self.stream(session, None)
        self.assert_signals([])
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])


class SlowTests(ShortCase):
    """A screen that rests behind an Enter is that of a slow agent, until its answer is there."""

    def begun(self) -> tuple[Session, KeptByCodex]:
        """Codex, stopped for half of the time: its composer let go of the prompt, no more."""
        session, kept = self.at_rest("codex", CODEX), self.kept_by_codex()

        def enter() -> None:
            kept.prompted("go")
            self.show(session, CODEX)

        self.submit(session, enter)
        return session, kept

    def test_a_turn_that_is_seen_late(self) -> None:
        """Codex, slowed, showed nothing for 2.8 s behind its Enter."""
        session, kept = self.begun()
        self.spend(2.8)
        self.assert_signals([])
        self.show(session, CODEX_BUSY, "⠂ work")
        self.spend(1)
        self.assert_signals(["working"])
        kept.answered("hello")
        self.show(session, f"• hello\n\n{CODEX}", "work")
        self.spend(20)
        self.assert_signals(["stop", "idle"])

    def test_an_answer_that_comes_late(self) -> None:
        _, kept = self.begun()
        self.spend(5)
        self.assert_signals([])
        kept.answered("hello")
        self.spend(ASKING)
        self.assert_signals(["working", "stop", "idle"])
        self.spend(20)
        self.assert_signals([])

    def test_a_turn_that_failed(self) -> None:
        _, kept = self.begun()
        kept.failed("stub says 500")
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])

    def test_the_answer_of_before_is_none(self) -> None:
        session, kept = self.begun()
        kept.answered("hello")
        self.spend(SILENCE + 1)
        self.assert_signals(["working", "stop", "idle"])
        self.prompt(session, CODEX)
        self.spend(5)
        self.assert_signals([])

    def test_nobody_waits_for_ever(self) -> None:
        self.begun()
        self.spend(UNANSWERED - 1)
        self.assert_signals([])
        self.spend(1)
        self.assert_signals(["working", "stop", "idle"])

    def test_a_draft_is_looked_at_no_longer(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.prompt(session, CODEX_DRAFT)
        self.spend(UNANSWERED + ASKING)
        last = self.looked_at(session)
        self.spend(60)
        self.assertEqual(last, self.looked_at(session))

    def looked_at(self, session: Session) -> int:
        watch = self.agents.agents.get_watch(session.id)
        assert watch is not None
        assert watch.last is not None
        return watch.last.at

    def test_a_command_has_no_answer(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.prompt(session, f"• status\n\n{CODEX}", "/status")
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])

    def test_a_prompt_of_the_primary_whose_hook_is_late(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.spend(5)
        self.assert_signals([])
        self.hook(session, "prompt_submitted")
        self.hook(session, "stop")
        self.assert_signals(["working", "stop", "idle"])


class LocalCommandTests(ShortCase):
    """Of an agent with hooks a turn is told by them: what else was submitted ends by C{idle}."""

    def test_a_command_that_is_no_turn(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, f"  ⎿  Not enough messages to compact.\n{COMPOSER}", "/compact")
        self.spend(SILENCE)
        self.assert_signals(["idle"])
        self.spend(20)
        self.assert_signals([])

    def test_clear_is_told_by_its_hook(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.hook(session, "session_end", hook_event_name="SessionEnd", session_id="a")
        self.assert_signals([])
        self.hook(session, "session_start", session_id="b", source="clear")
        self.assert_signals(["idle"])
        self.spend(20)
        self.assert_signals([])

    def test_a_compaction_goes_on_behind_its_hook(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.submit(session, lambda: self.show(session, SPINNER, BUSY_TITLE))
        self.hook(session, "session_start", session_id="b", source="compact")
        self.spend(1)
        self.assert_signals(["working"])
        self.show(session, COMPOSER, IDLE_TITLE)
        self.spend(5)
        self.assert_signals(["idle"])

    def test_a_command_that_takes_time_ends_when_it_is_over(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.submit(session, lambda: self.show(session, SPINNER, BUSY_TITLE))
        self.spend(1)
        for _ in range(10):
            self.show(session, SPINNER, BUSY_TITLE)
            self.spend(1)
        self.assert_signals(["working"])
        self.show(session, COMPOSER, IDLE_TITLE)
        self.spend(20)
        self.assert_signals(["idle"])

    def test_a_turn_told_by_hooks_is_told_once(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.hook(session, "prompt_submitted")
        self.hook(session, "stop")
        self.spend(20)
        self.assert_signals(["working", "stop", "idle"])

    def test_a_shell_command_has_a_stop_alone(self) -> None:
        """Claude Code's C{!command} fires no other hook."""
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.hook(session, "stop")
        self.assert_signals(["stop", "idle"])
        self.spend(20)
        self.assert_signals([])

    def test_what_a_command_opened_has_to_go_first(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, MODEL_MENU)
        self.spend(20)
        self.assert_signals([])
        self.show(session, COMPOSER)
        self.spend(SILENCE + 1)
        self.assert_signals(["idle"])


class WorkTests(ShortCase):
    """What a turn does, as the hooks tell."""

    def test_the_tool_that_runs(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "prompt_submitted")
        given = {"tool_name": "Bash", "tool_input": {"command": "make\x1b\ntest"}}
        self.hook(session, "tool_started", **given)
        self.assertEqual(("busy", "tool Bash make\ufffd test"), self.status(session))
        self.hook(session, "tool_ended", **given)
        self.assertEqual(("busy", "tool_ended hook"), self.status(session))
        self.hook(session, "subagent_started")
        self.assertEqual(("busy", "subagent_started hook"), self.status(session))
        self.hook(session, "stop")
        self.assert_signals(["working", "stop", "idle"])

    def test_a_reason_has_a_length(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "tool_started", tool_name="Bash", tool_input={"command": "x" * 500})
        self.assertEqual(120, len(self.status(session)[1] or ""))

    def test_a_tool_begins_a_turn_that_no_prompt_began(self) -> None:
        """A shell in the background came to its end."""
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "tool_started", tool_name="Read")
        self.hook(session, "stop")
        self.assert_signals(["working", "stop", "idle"])

    def test_the_tool_of_a_subagent_begins_no_turn(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "tool_started", tool_name="Read", agent_id="a1")
        self.assert_signals([])

    def test_a_tool_beside_a_dialog_is_no_answer(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "prompt_submitted")
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        for event in ("tool_started", "tool_ended", "permission_denied"):
            self.hook(session, event, tool_name="Read")
        self.assertEqual(("busy", "permission_prompt hook"), self.status(session))
        self.assert_signals(["working", "blocked"])
