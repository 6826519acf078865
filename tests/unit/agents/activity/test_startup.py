"""Coming up: the trust dialog is answered, prompts wait for the composer (protocol-trust)."""

from __future__ import annotations

from twisted.internet.defer import Deferred

from tests.unit.agents.harness import COMPOSER, NO_TRUST, PERMISSION, RULE, TRUST, AgentHarnessCase
from tservice.agents.activity.input_gate import SETTLE_UNTOLD, SHARE
from tservice.agents.activity.trust_answerer import KEYS
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import MuxTimeout
from tservice.sessions.input.type.prompt_runner import ASKING
from tservice.sessions.interfaces import InputDelivery
from tservice.sessions.record.model import Session

DOWN, UP, ENTER = b"\x1b[B", b"\x1b[A", b"\r"
REVERSED = f"""{RULE}
 Quick safety check: Is this a project you created or one you trust?

 ❯ No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel"""
REVERSED_DOWN = REVERSED.replace(" ❯ No", "   No").replace("   Yes", " ❯ Yes")
UNMARKED = f"""{RULE}
 Do you trust the files in this folder?

   No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel"""
BYPASS = f"""{RULE}
  WARNING: Claude Code running in Bypass Permissions mode

  ❯ 1. No, exit
    2. Yes, I accept

  Enter to confirm · Esc to cancel"""

CODEX = (
    "› Ask Codex to do anything\n\n  stub-model default · ~/work\n  ← for agents · ? for shortcuts"
)
CODEX_STARTING = "› Ask Codex to do anything\n\n  ? for shortcuts"
OPENCODE = """  ┃
  ┃
  ┃
  ┃  Build · Stub Model stub
  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
   /home/me/work                                                       1.2K  ctrl+p commands"""
OPENCODE_READING = OPENCODE.replace("      1.2K", "tab agents")
GEMINI = f"""
                                                                            ? for shortcuts
{"─" * 100}
 Shift+Tab to accept edits
{"▄" * 100}
 >   Type your message or @path/to/file
{"▀" * 100}
 workspace (/directory)                     sandbox                                  /model
 ~/work                                     no sandbox                                 Auto"""
GEMINI_HEAD = """
 ▝▜▄     Gemini CLI v0.61.0
   ▝▜▄
  ▗▟▀    Authenticated with gemini-api-key /auth
 ▝▀


Tips for getting started:
1. Create GEMINI.md files to customize your interactions
2. /help for more information
3. Ask coding questions, edit code or run commands
4. Be specific for the best results
"""
GEMINI_SAID = f"""{"▄" * 100}
 > SAY: first words
{"▀" * 100}
✦ first words
"""
GEMINI_RESUMING = f"""{GEMINI_HEAD}{GEMINI_SAID}
⠋ Resuming session...

                                                                            ? for shortcuts
{"─" * 100}
 Shift+Tab to accept edits
 workspace (/directory)                     sandbox                                  /model
 ~/work                                     no sandbox                                 Auto"""
CODEX_TRUST = """  Trust this folder? Codex can read, edit, and run files here.

› 1. Trust and continue
  2. Back to Agent Command Center

  enter continue · esc back"""


class TrustAnswerTests(AgentHarnessCase):
    """The dialog is answered by reading it."""

    def keys(self, session: Session) -> list[bytes]:
        return self.screen(session).pressed

    def begin(self, shown: str, answers: dict[bytes, str], mode: str = "primary") -> Session:
        session = self.agent(mode=mode)
        self.screen(session).answers = answers
        self.show(session, shown)
        return session

    def test_trust_option_under_the_marker_gets_enter(self) -> None:
        session = self.begin(TRUST, {ENTER: COMPOSER})
        self.spend(2)
        self.assertEqual([ENTER], self.keys(session))
        self.assert_signals(["idle"])
        self.spend(100)
        self.assertEqual([ENTER], self.keys(session))

    def test_exit_option_under_the_marker_gets_a_cursor_key(self) -> None:
        session = self.begin(NO_TRUST, {UP: TRUST, ENTER: COMPOSER})
        self.spend(4)
        self.assertEqual([UP, ENTER], self.keys(session))

    def test_unnumbered_reversed_trust_dialog_is_answered(self) -> None:
        session = self.begin(REVERSED, {DOWN: REVERSED_DOWN, ENTER: COMPOSER})
        self.spend(4)
        self.assertEqual([DOWN, ENTER], self.keys(session))

    def test_at_most_six_keys_are_pressed(self) -> None:
        session = self.begin(NO_TRUST, {})
        self.spend(200)
        self.assertEqual([UP] * KEYS, self.keys(session))

    def test_trust_enter_is_not_repeated_before_the_screen_changed(self) -> None:
        """The agent is slow: the old frame must not be answered twice."""
        session = self.begin(TRUST, {})
        self.spend(1.5)
        self.assertEqual([ENTER], self.keys(session))
        self.show(session, BYPASS)
        self.spend(200)
        self.assertEqual([ENTER], self.keys(session))

    def test_unreadable_trust_screen_sends_no_key(self) -> None:
        session = self.agent()
        self.screen(session).answers = {ENTER: COMPOSER}
        for _ in range(4):
            self.pane(session).inject_fault("capture", MuxTimeout("no answer"))
        self.show(session, TRUST)
        self.spend(1)
        self.assertEqual([], self.keys(session))
        self.spend(5)
        self.assertEqual([ENTER], self.keys(session))

    def test_other_dialogs_are_left_to_the_user(self) -> None:
        for shown in (BYPASS, PERMISSION):
            session = self.begin(shown, {})
            self.spend(100)
            self.assertEqual([], self.keys(session))

    def test_trust_dialog_is_answered_only_at_the_start(self) -> None:
        session = self.agent()
        self.spend(91)
        self.show(session, TRUST)
        self.spend(20)
        self.assertEqual([], self.keys(session))

    def test_trust_dialogs_of_other_agents_are_not_answered(self) -> None:
        session = self.begin(TRUST, {}, mode="codex")
        self.spend(100)
        self.assertEqual([], self.keys(session))

    def test_process_that_ends_leaves_no_timer(self) -> None:
        session = self.begin(NO_TRUST, {})
        self.spend(0.4)
        self.pane(session).exit_program(1)
        self.spend(100)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_refused_key_ends_the_attempt(self) -> None:
        session = self.begin(TRUST, {ENTER: COMPOSER})
        self.pane(session).inject_fault("send_key", MuxTimeout("no answer"))
        self.spend(5)
        self.assertEqual([ENTER], self.keys(session))


class StartupGateTests(AgentHarnessCase):
    """Prompts while an agent comes up."""

    def prompted(self, session: Session) -> bool:
        return b"hello" in b"".join(self.screen(session).pressed)

    def prompt(self, session: Session) -> Deferred[InputDelivery]:
        return self.type(session, "hello\r")

    def test_first_prompt_waits_for_the_composer(self) -> None:
        session = self.agent()
        done = self.prompt(session)
        self.show(session, BYPASS)
        self.spend(30)
        self.assertNoResult(done)
        self.assertFalse(self.prompted(session))
        self.show(session, COMPOSER)
        self.spend(0.31)
        self.assertFalse(self.prompted(session))
        self.spend(3)
        self.assertTrue(self.prompted(session))
        self.assertTrue(self.successResultOf(done).delivered)

    def test_lasting_dialog_refuses_the_prompt(self) -> None:
        session = self.agent()
        self.show(session, BYPASS)
        done = self.prompt(session)
        self.spend(89)
        self.assertNoResult(done)
        self.spend(2)
        error = self.failureResultOf(done, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertFalse(self.prompted(session))
        later = self.prompt(session)
        self.assertEqual(422, self.failureResultOf(later, ServiceError).value.status)

    def test_trust_dialog_without_a_marker_refuses_the_prompt(self) -> None:
        """Its options cannot be told apart, its words can (protocol-trust)."""
        session = self.agent(UNMARKED)
        done = self.prompt(session)
        self.spend(89)
        self.assertNoResult(done)
        self.spend(2)
        error = self.failureResultOf(done, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertEqual([], self.screen(session).pressed)

    def test_prompt_does_not_answer_a_later_dialog(self) -> None:
        session = self.ready()
        self.show(session, PERMISSION)
        refused = self.prompt(session)
        self.spend(sum(ASKING))
        error = self.failureResultOf(refused, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn("Do you want to proceed?", error.message)
        self.assertEqual([], self.screen(session).pressed)
        self.show(session, COMPOSER)
        self.prompt(session)
        self.assertTrue(self.prompted(session))

    def test_unrecognized_screen_is_typed_to_after_the_limit(self) -> None:
        session = self.agent("something else")
        done = self.prompt(session)
        self.spend(89)
        self.assertFalse(self.prompted(session))
        self.spend(10)
        self.assertTrue(self.prompted(session))
        self.assertTrue(done.called)
        done.addErrback(lambda why: None)

    def test_refusal_names_the_dialog(self) -> None:
        """Also that of a dialog of the start, and then that of the composer."""
        session = self.agent(mode="codex")
        self.show(session, CODEX_STARTING)
        self.spend(1)
        self.assertEqual("started", self.reason(session))
        self.show(session, CODEX_TRUST)
        self.spend(5)
        self.assertEqual("trust dialog: Trust this folder?", self.reason(session))
        self.show(session, CODEX)
        self.spend(10)
        self.assertEqual("composer on the screen, no working line", self.reason(session))

    def reason(self, session: Session) -> str | None:
        return self.sessions.get(session.id).status_reason

    def test_raw_input_passes_without_waiting(self) -> None:
        session = self.agent(BYPASS)
        done = self.type(session, "2", use_mux=False)
        self.assertTrue(self.successResultOf(done).delivered)
        self.assertEqual([b"2"], self.screen(session).pressed)

    def test_process_that_ends_refuses_the_waiting_prompt(self) -> None:
        session = self.agent()
        done = self.prompt(session)
        self.spend(1)
        self.pane(session).exit_program()
        self.assertEqual(409, self.failureResultOf(done, ServiceError).value.status)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_unknown_agent_takes_a_prompt_on_a_quiet_screen(self) -> None:
        self.machine.install("agy")
        session = self.agent(mode="antigravity")
        self.show(session, "hello")
        done = self.prompt(session)
        self.spend(1.5)
        self.assertFalse(self.prompted(session))
        self.show(session, "hello there")
        self.spend(3)
        self.assertTrue(self.prompted(session))
        self.assertTrue(done.called)

    def test_prompt_waits_for_a_composer_that_takes_keys(self) -> None:
        """Codex draws one seconds before it, or its trust page, comes up."""
        session = self.agent(mode="codex")
        done = self.prompt(session)
        self.show(session, CODEX_STARTING)
        self.spend(30)
        self.assertFalse(self.prompted(session))
        self.show(session, CODEX)
        self.spend(10)
        self.assertTrue(self.prompted(session))
        self.assertTrue(done.called)
        done.addErrback(lambda why: None)

    def test_prompt_waits_for_the_conversation_to_be_shown(self) -> None:
        """Opencode drops what is submitted before."""
        session = self.agent(mode="opencode")
        done = self.prompt(session)
        self.show(session, OPENCODE_READING)
        self.spend(30)
        self.assertFalse(self.prompted(session))
        self.show(session, OPENCODE)
        self.spend(10)
        self.assertTrue(self.prompted(session))
        done.addErrback(lambda why: None)

    def test_prompt_waits_for_a_resumed_conversation(self) -> None:
        """Gemini CLI, resumed on a busy machine: a composer alone for 2.8 s, then beside its first
        words, then none; it drops what is typed there.
        """
        session = self.agent(mode="gemini", resume_session_id="01109a00-754f")
        done = self.prompt(session)
        for shown, seconds in ((GEMINI, 10), (GEMINI_HEAD + GEMINI, 2), (GEMINI_RESUMING, 2)):
            self.show(session, shown)
            self.spend(seconds)
        self.show(session, GEMINI_HEAD + GEMINI_SAID + GEMINI)
        self.spend(SETTLE_UNTOLD - 0.1)
        self.assertFalse(self.prompted(session))
        self.spend(10)
        self.assertTrue(self.prompted(session))
        done.addErrback(lambda why: None)

    def test_slow_machine_extends_the_wait_for_a_dialog(self) -> None:
        """Gemini CLI's trust dialog follows its composer after a share of the time it took."""
        session = self.agent(mode="gemini")
        done = self.prompt(session)
        self.spend(30)
        self.show(session, GEMINI)
        self.spend(SHARE * 30 - 1)
        self.assertFalse(self.prompted(session))
        self.spend(2)
        self.assertTrue(self.prompted(session))
        done.addErrback(lambda why: None)

    def test_answered_trust_dialog_is_not_waited_for_again(self) -> None:
        session = self.agent(mode="gemini")
        done = self.prompt(session)
        self.show(session, UNMARKED)
        self.spend(40)
        self.show(session, GEMINI)
        self.spend(SETTLE_UNTOLD + 1)
        self.assertTrue(self.prompted(session))
        done.addErrback(lambda why: None)

    def test_resumed_conversation_with_a_long_answer_takes_the_prompt(self) -> None:
        session = self.agent(mode="gemini", resume_session_id="01109a00-754f")
        done = self.prompt(session)
        self.show(session, "\n".join(f"  row {number}" for number in range(30)) + GEMINI)
        self.spend(10)
        self.assertTrue(self.prompted(session))
        done.addErrback(lambda why: None)

    def test_bare_composer_suffices_without_a_conversation(self) -> None:
        """Its first words may be switched off."""
        session = self.agent(mode="gemini")
        done = self.prompt(session)
        self.show(session, GEMINI)
        self.spend(10)
        self.assertTrue(self.prompted(session))
        done.addErrback(lambda why: None)

    def test_composer_must_stay_before_the_first_prompt_is_typed(self) -> None:
        """Of one that tells nothing of its start, the composer has to stay a while."""
        session = self.agent(mode="codex")
        done = self.prompt(session)
        self.show(session, CODEX)
        self.spend(1)
        self.show(session, CODEX_TRUST)
        self.spend(30)
        self.assertFalse(self.prompted(session))
        self.show(session, CODEX)
        self.spend(1)
        self.assertFalse(self.prompted(session))
        self.spend(10)
        self.assertTrue(self.prompted(session))
        self.assertTrue(done.called)
        done.addErrback(lambda why: None)

    def test_late_trust_dialog_still_holds_the_prompt(self) -> None:
        session = self.agent(mode="codex")
        self.show(session, CODEX)
        self.spend(10)
        self.show(session, CODEX_TRUST)
        self.spend(1)
        done = self.prompt(session)
        self.spend(30)
        self.assertFalse(self.prompted(session))
        self.assertNoResult(done)
        self.pane(session).exit_program()
        self.failureResultOf(done, ServiceError)

    def test_ready_agent_gets_the_prompt_immediately(self) -> None:
        session = self.ready()
        done = self.prompt(session)
        self.assertTrue(self.prompted(session))
        self.spend(5)
        self.assertTrue(done.called)

    def test_shell_input_is_not_held_at_the_start(self) -> None:
        session = self.shell()
        done = self.type(session, "hello\r")
        self.spend(1)
        self.assertTrue(self.successResultOf(done).delivered)

    def test_session_adopted_at_a_permission_dialog_is_ready(self) -> None:
        """What ran before was ready before."""
        session = self.ready()
        self.show(session, PERMISSION)
        self.machine.restart()
        self.spend(1)
        readiness = self.agents.agents.get_readiness(session.id)
        assert readiness is not None
        self.assertTrue(readiness.is_ready)

    def test_session_adopted_at_a_trust_dialog_is_not_ready(self) -> None:
        session = self.agent(mode="codex")
        self.show(session, TRUST)
        self.machine.restart()
        self.spend(1)
        readiness = self.agents.agents.get_readiness(session.id)
        assert readiness is not None
        self.assertFalse(readiness.is_ready)
