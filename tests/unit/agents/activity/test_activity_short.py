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
from tservice.sessions.input.type.prompt_runner import SIGHTS
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


class ShortExternalTurnTests(ShortCase):
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

    def test_turn_between_two_looks_is_counted(self) -> None:
        session = self.answered_at_once()
        self.assert_signals([])
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])
        self.assertEqual("composer on the screen, no working line", self.status(session)[1])
        self.spend(20)
        self.assert_signals([])

    def test_turn_seen_on_the_screen_is_reported_once(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.submit(session, lambda: self.show(session, CODEX_BUSY, "⠂ work"))
        self.spend(3)
        self.assert_signals(["working"])
        self.show(session, f"• hello\n\n{CODEX}", "work")
        self.spend(20)
        self.assert_signals(["stop", "idle"])

    def test_no_stop_is_signalled_without_a_turn(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.show(session, f"{CODEX} more")
        self.spend(20)
        self.assert_signals([])

    def test_no_stop_is_signalled_when_switched_off(self) -> None:
        self.change_settings(external_signals=False)
        self.answered_at_once()
        self.spend(SILENCE)
        self.assert_signals(["working", "idle"])

    def test_unsubmitted_draft_is_no_turn(self) -> None:
        """An Enter that was lost leaves the text where it is."""
        session = self.at_rest("codex", CODEX)
        self.prompt(session, CODEX_DRAFT)
        self.spend(20)
        self.assert_signals([])

    def test_unanswered_prompt_of_an_agent_is_no_turn(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.submit(session, lambda: self.show(session, CODEX_DRAFT))
        self.spend(20)
        self.assert_signals([])

    def test_enter_at_a_dialog_is_no_prompt(self) -> None:
        session = self.at_rest("codex", CODEX_TRUST)
        self.screen(session).answers[b"\r"] = CODEX
        self.run_now(self.sessions.send_key(session.id, "Enter"))
        self.spend(20)
        self.assert_signals([])

    def test_prompt_typed_at_a_terminal_begins_a_turn(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.show(session, CODEX_DRAFT)
        self.screen(session).answers[b"\r"] = f"• hello\n\n{CODEX}"
        self.type(session, "\r", use_mux=False)
        self.spend(SILENCE + 1)
        self.assert_signals(["working", "stop", "idle"])

    def test_unknown_agent_is_idle_after_silence(self) -> None:
        self.machine.install("agy")
        session = self.at_rest("antigravity", "hello")
        self.prompt(session, "hello\nthere")
        self.spend(SILENCE)
        self.assert_signals(["working", "idle"])

    def test_restless_screen_of_an_agent_becomes_idle(self) -> None:
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

    def test_frame_shows_no_rest_while_output_continues(self) -> None:
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

    def test_working_title_shows_a_turn_until_it_rests(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.show(session, CODEX_BUSY, "⠂ work")
        self.spend(1)
        self.assert_signals(["working"])
        self.stream(session, "⠂ work")
        self.assert_signals([])
        self.stream(session, "work")
        self.assert_signals(["stop", "idle"])
        self.assertEqual("composer on the screen, no working line", self.status(session)[1])

    def test_short_streaming_prompt_is_not_over_early(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.prompt(session, f"• word\n\n{CODEX}")
        self.stream(session, None)
        self.assert_signals([])
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])


class SlowAgentTurnTests(ShortCase):
    """A screen that rests behind an Enter is that of a slow agent, until its answer is there."""

    def begun(self) -> tuple[Session, KeptByCodex]:
        """Codex, stopped for half of the time: its composer let go of the prompt, no more."""
        session, kept = self.at_rest("codex", CODEX), self.kept_by_codex()

        def enter() -> None:
            kept.prompted("go")
            self.show(session, CODEX)

        self.submit(session, enter)
        return session, kept

    def test_turn_seen_late_is_reported(self) -> None:
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

    def test_answer_that_comes_late_ends_the_turn(self) -> None:
        _, kept = self.begun()
        self.spend(5)
        self.assert_signals([])
        kept.answered("hello")
        self.spend(ASKING)
        self.assert_signals(["working", "stop", "idle"])
        self.spend(20)
        self.assert_signals([])

    def test_failed_turn_ends(self) -> None:
        _, kept = self.begun()
        kept.failed("stub says 500")
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])

    def test_answer_from_before_the_prompt_is_ignored(self) -> None:
        session, kept = self.begun()
        kept.answered("hello")
        self.spend(SILENCE + 1)
        self.assert_signals(["working", "stop", "idle"])
        self.prompt(session, CODEX)
        self.spend(5)
        self.assert_signals([])

    def test_unanswered_prompt_ends_after_the_limit(self) -> None:
        self.begun()
        self.spend(UNANSWERED - 1)
        self.assert_signals([])
        self.spend(1)
        self.assert_signals(["working", "stop", "idle"])

    def test_unsent_draft_is_watched_only_for_a_limited_time(self) -> None:
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

    def test_command_without_an_answer_ends(self) -> None:
        session = self.at_rest("codex", CODEX)
        self.prompt(session, f"• status\n\n{CODEX}", "/status")
        self.spend(SILENCE)
        self.assert_signals(["working", "stop", "idle"])

    def test_late_prompt_hook_still_begins_the_turn(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.spend(5)
        self.assert_signals([])
        self.hook(session, "prompt_submitted")
        self.hook(session, "stop")
        self.assert_signals(["working", "stop", "idle"])


class LocalCommandTests(ShortCase):
    """Of an agent with hooks a turn is told by them: what else was submitted ends by C{idle}."""

    def test_local_command_ends_with_idle(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, f"  ⎿  Not enough messages to compact.\n{COMPOSER}", "/compact")
        self.spend(SILENCE)
        self.assert_signals(["idle"])
        self.spend(20)
        self.assert_signals([])

    def test_clear_command_ends_by_its_hook(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.hook(session, "session_end", hook_event_name="SessionEnd", session_id="a")
        self.assert_signals([])
        self.hook(session, "session_start", session_id="b", source="clear")
        self.assert_signals(["idle"])
        self.spend(20)
        self.assert_signals([])

    def test_compaction_continues_after_its_hook(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.submit(session, lambda: self.show(session, SPINNER, BUSY_TITLE))
        self.hook(session, "session_start", session_id="b", source="compact")
        self.spend(1)
        self.assert_signals(["working"])
        self.show(session, COMPOSER, IDLE_TITLE)
        self.spend(5)
        self.assert_signals(["idle"])

    def test_slow_local_command_ends_when_it_is_over(self) -> None:
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

    def test_turn_reported_by_hooks_is_signalled_once(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.hook(session, "prompt_submitted")
        self.hook(session, "stop")
        self.spend(20)
        self.assert_signals(["working", "stop", "idle"])

    def test_shell_command_signals_stop_only(self) -> None:
        """Claude Code's C{!command} fires no other hook."""
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, COMPOSER)
        self.hook(session, "stop")
        self.assert_signals(["stop", "idle"])
        self.spend(20)
        self.assert_signals([])

    def test_menu_opened_by_a_command_must_close_before_idle(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.prompt(session, MODEL_MENU)
        self.spend(20)
        self.assert_signals([])
        self.show(session, COMPOSER)
        self.spend(SILENCE + 1)
        self.assert_signals(["idle"])


class TurnWorkTests(ShortCase):
    """What a turn does, as the hooks tell."""

    def test_running_tool_is_reported(self) -> None:
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

    def test_status_reason_is_bounded(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "tool_started", tool_name="Bash", tool_input={"command": "x" * 500})
        self.assertEqual(120, len(self.status(session)[1] or ""))

    def test_tool_hook_begins_a_turn_without_a_prompt(self) -> None:
        """A shell in the background came to its end."""
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "tool_started", tool_name="Read")
        self.hook(session, "stop")
        self.assert_signals(["working", "stop", "idle"])

    def test_tool_of_a_subagent_begins_no_turn(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "tool_started", tool_name="Read", agent_id="a1")
        self.assert_signals([])

    def test_tool_hook_during_a_dialog_does_not_answer_it(self) -> None:
        session = self.at_rest("primary", COMPOSER)
        self.hook(session, "prompt_submitted")
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        for event in ("tool_started", "tool_ended", "permission_denied"):
            self.hook(session, event, tool_name="Read")
        self.assertEqual(("busy", "permission_prompt hook"), self.status(session))
        self.assert_signals(["working", "blocked"])
