"""Telling a running agent another model, effort or permission mode."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.unit.agents.harness import COMPOSER, RULE, SPINNER, AgentHarnessCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.controls.reading import choose_cycle_key, read_command_result, read_cycle_value
from tservice.agents.controls.service import AgentControls, ControlSetting
from tservice.clis.interfaces import CommandControl, CycleControl
from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.record.model import ModelSource, Session
from tservice.sessions.record.requests import InputRequest
from tservice.terminal.frames.screen_frame import ScreenFrame

TAB = b"\x1b[Z"
PLAN = f"{COMPOSER}\n  ⏸ plan mode on (shift+tab to cycle)"
EDITS = f"{COMPOSER}\n  ⏵⏵ accept edits on (shift+tab to cycle)"
GUEST = evolve(ADMIN, can_bypass_permissions=False)
ASKED = (
    f"❯ /model sonnet\n{RULE}\n Switch model?\n\n ❯ 1. Yes, switch to Sonnet 5\n"
    "   2. No, go back\n\n Enter to confirm · Esc to cancel"
)
SET = f"❯ /model sonnet\n  ⎿  Set model to Sonnet 5 and saved as your default\n\n{COMPOSER}"


def frame(text: str) -> ScreenFrame:
    return ScreenFrame.from_capture(text.encode(), 80)


class ControlReadingTests(AgentHarnessCase):
    """What the screen says."""

    def test_key_cycle_shows_its_current_value(self) -> None:
        cycle = CycleControl(key="S-Tab", shown={"plan": "plan mode on"}, otherwise="default")
        self.assertEqual("plan", read_cycle_value(cycle, frame(PLAN)))
        self.assertEqual("default", read_cycle_value(cycle, frame(COMPOSER)))

    def test_mode_text_inside_an_answer_is_ignored(self) -> None:
        cycle = CycleControl(key="Tab", shown={"build": "^ *┃ +Build · ", "plan": "^ *┃ +Plan · "})
        self.assertEqual(
            "plan", read_cycle_value(cycle, frame("┃  Build · said\n\n┃  Plan · Model"))
        )

    def test_scale_is_moved_in_the_shorter_direction(self) -> None:
        cycle = CycleControl(
            key="M-.", back="M-,", shown={each: each for each in ("low", "mid", "high")}
        )
        self.assertEqual("M-.", choose_cycle_key(cycle, "low", "high"))
        self.assertEqual("M-,", choose_cycle_key(cycle, "high", "mid"))
        self.assertEqual("M-.", choose_cycle_key(cycle, None, "low"))

    def test_answer_to_the_last_command_is_read(self) -> None:
        command = CommandControl(words="/model {value}", told="Set model to (\\S+)")
        old = "❯ /model a\n  ⎿  Set model to A and saved\n"
        self.assertEqual("A", read_command_result(command, "/model a", frame(f"{old}{COMPOSER}")))
        self.assertIsNone(read_command_result(command, "/model b", frame(f"{old}{COMPOSER}")))
        self.assertIsNone(
            read_command_result(command, "/model a", frame(f"{old}❯ /model a\n\n{COMPOSER}"))
        )


class AgentControlTests(AgentHarnessCase):
    """An agent at rest."""

    def setUp(self) -> None:
        super().setUp()
        agents, clis = self.agents.agents, self.machine.clis
        self.controls = AgentControls(self.clock, self.sessions, agents, clis)

    def tell(
        self, session: Session, setting: ControlSetting, value: str, caller: Caller = ADMIN
    ) -> Deferred[str]:
        told: Deferred[str] = start_coroutine(
            self.controls.change_setting(session.id, setting, value, caller)
        )
        self.spend(12)
        return told

    def refused(
        self,
        session: Session,
        setting: ControlSetting,
        value: str,
        *,
        code: ErrorCode,
        says: str,
        caller: Caller = ADMIN,
    ) -> None:
        given = self.tell(session, setting, value, caller)
        error: ServiceError = self.failureResultOf(given, ServiceError).value
        self.assertEqual(code, error.code, error.message)
        self.assertIn(says, error.message)

    def test_permission_mode_is_set_by_its_key(self) -> None:
        """Pressed until it is the one; where it is already, nothing is."""
        session = self.ready()
        screens = {COMPOSER: EDITS, EDITS: PLAN, PLAN: COMPOSER}
        program = self.screen(session)
        received = program.input_received

        def pressed(data: bytes) -> None:
            received(data)
            if data == TAB:
                program.show(screens[program.shown])

        program.input_received = pressed  # type: ignore[method-assign]
        mode = ControlSetting.PERMISSION_MODE
        self.assertEqual("plan", self.successResultOf(self.tell(session, mode, "plan")))
        self.assertEqual("plan", self.successResultOf(self.tell(session, mode, "plan")))
        self.assertEqual([TAB, TAB], program.pressed)
        self.refused(session, mode, "auto", code=ErrorCode.OPERATION_FAILED, says="offers only")
        self.assertEqual(PLAN, program.shown)

    def test_right_lost_during_a_change_presses_nothing_more(self) -> None:
        """The agent takes its time to show what it is in; so does a list that it opens."""
        lost: list[bytes] = []

        def again() -> None:
            if lost:
                raise ServiceError(ErrorCode.FORBIDDEN, "Your permission was revoked")

        self.sessions.set_sender_check(lambda who, session: not lost)
        for setting, value, screens, last in (
            (ControlSetting.PERMISSION_MODE, "plan", {TAB: EDITS}, TAB),
            (ControlSetting.MODEL, "sonnet", {b"\r": ASKED}, b"\r"),
        ):
            lost.clear()
            session = self.ready()
            program = self.screen(session)
            program.answers = screens
            received = program.input_received

            def losing(data: bytes, received: Any = received, last: bytes = last) -> None:
                received(data)
                if data == last:
                    lost.append(data)

            program.input_received = losing  # type: ignore[method-assign]
            told = start_coroutine(
                self.controls.change_setting(
                    session.id, setting, value, evolve(ADMIN, reauthorize=again)
                )
            )
            self.spend(12)
            error = self.failureResultOf(told, ServiceError).value
            self.assertEqual(ErrorCode.FORBIDDEN, error.code, error.message)
            self.assertEqual(last, program.pressed[-1])

    def test_ignored_mode_key_is_an_error(self) -> None:
        session = self.ready()
        code = ErrorCode.OPERATION_FAILED
        self.refused(
            session, ControlSetting.PERMISSION_MODE, "plan", code=code, says="did not change from"
        )
        self.assertEqual([TAB], self.screen(session).pressed)

    def test_model_is_set_by_a_confirmed_command(self) -> None:
        session = self.ready()
        program = self.screen(session)
        program.answers = {b"\r": ASKED, b"1": SET}
        found = self.tell(session, ControlSetting.MODEL, "sonnet")
        self.assertEqual("Sonnet 5", self.successResultOf(found))
        self.assertEqual([b"\r", b"1"], program.pressed[-2:])
        self.assertEqual("Sonnet 5", self.sessions.get(session.id).models[ModelSource.SCREEN])

    def test_setting_that_the_agent_refuses_is_an_error(self) -> None:
        session = self.ready()
        code = ErrorCode.OPERATION_FAILED
        self.refused(session, ControlSetting.EFFORT, "low", code=code, says="did not take low")
        self.assertEqual(b"\x1b", self.screen(session).pressed[-1])

    def test_invalid_settings_are_refused_without_a_key(self) -> None:
        session = self.ready()
        invalid = ErrorCode.INVALID_INPUT
        self.refused(
            session, ControlSetting.EFFORT, "frantic", code=invalid, says="effort: must be one"
        )
        self.refused(
            session, ControlSetting.MODEL, "a b", code=invalid, says="model: must be one word"
        )
        mode = ControlSetting.PERMISSION_MODE
        self.refused(session, mode, "dontAsk", code=invalid, says="permissionMode: must be one of")
        self.refused(
            session, mode, "bypassPermissions", code=ErrorCode.FORBIDDEN, says="grant", caller=GUEST
        )
        codex = self.agent("x", mode="codex")
        self.refused(codex, ControlSetting.MODEL, "x", code=invalid, says="of mode codex")
        self.refused(codex, mode, "bypass", code=invalid, says="must be one of default, plan")
        self.assertEqual([], self.screen(session).pressed)

    def test_busy_agent_refuses_a_change(self) -> None:
        session = self.ready()
        for screen, says in (
            (SPINNER, "a turn is running"),
            (ASKED, "answer it first"),
            (COMPOSER.replace("❯\xa0", "❯\xa0half a thought", 1), "draft"),
            ("no composer at all", "not on the screen"),
        ):
            self.show(session, screen)
            self.refused(session, ControlSetting.EFFORT, "low", code=ErrorCode.CONFLICT, says=says)
            self.show(session, COMPOSER)
            self.spend(5)
        self.assertEqual([], self.screen(session).pressed)

    def test_draft_not_drawn_yet_refuses_a_change(self) -> None:
        session = self.ready()
        raw = InputRequest(text="half a thought", use_mux=False)
        self.successResultOf(start_coroutine(self.sessions.send_input(session.id, raw)))
        given = start_coroutine(
            self.controls.change_setting(session.id, ControlSetting.EFFORT, "low", ADMIN)
        )
        self.show(session, COMPOSER.replace("❯\xa0", "❯\xa0half a thought", 1))
        self.spend(12)
        error: ServiceError = self.failureResultOf(given, ServiceError).value
        self.assertIn("draft", error.message)
        self.assertEqual([raw.text.encode()], self.screen(session).pressed)

    def test_changes_of_a_session_run_one_at_a_time(self) -> None:
        session = self.ready()
        first = start_coroutine(
            self.controls.change_setting(session.id, ControlSetting.EFFORT, "low", ADMIN)
        )
        second = start_coroutine(
            self.controls.change_setting(session.id, ControlSetting.EFFORT, "high", ADMIN)
        )
        error: ServiceError = self.failureResultOf(second, ServiceError).value
        self.assertEqual(ErrorCode.CONFLICT, error.code)
        self.spend(12)
        self.failureResultOf(first, ServiceError)
