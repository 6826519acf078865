"""Keys that go past the inputs, for what its account could not have run any more
(protocol-driving).
"""

from __future__ import annotations

from datetime import UTC, datetime

from tests.callers import make_caller
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import permission_page, question_page
from tests.unit.agents.harness import TRUST, AgentHarnessCase
from tests.unit.sessions.harness import ADMIN
from tservice.agents.controls.service import AgentControls, ControlSetting
from tservice.agents.limits.usage_limits import UsageLimitService
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.record.model import AutoResume

ROOT = make_caller(username="root", admin=True)


class InboxWithoutRightTests(ApprovalCase):
    multiuser = True

    def test_dialog_is_not_answered_after_a_lost_right(self) -> None:
        session = self.asked(permission_page())
        item, typed = self.item(session), bytes(self.pane(session).typed)
        self.demote(session)
        code, text = self.refused_answer(item, "approve")
        self.assertEqual(ErrorCode.FORBIDDEN, code)
        self.assertIn("permissionMode", text)
        self.assertEqual(typed, bytes(self.pane(session).typed))
        self.assertEqual(item.id, self.item(session).id, "it waits for an admin")
        given = self.start_answer(item, "approve", ROOT)
        self.spend(20)
        self.successResultOf(given)

    def test_no_further_key_is_pressed_after_a_lost_right(self) -> None:
        page = question_page("Checks", "Types", "Style", multi=True)
        session = self.asked(page, tool_name="AskUserQuestion")
        given = self.start_answer(self.item(session), "options", options=[1, 2])
        while not page.ticked:
            self.spend(0.05)
        self.demote(session)
        self.spend(20)
        error = self.failureResultOf(given, ServiceError).value
        self.assertEqual((ErrorCode.FORBIDDEN, 1), (error.code, len(page.ticked)))

    def test_limit_is_not_resumed_after_a_lost_right(self) -> None:
        limits = UsageLimitService(
            self.clock, self.sessions, self.agents.agents, self.machine.hub, UTC
        )
        limits.start()
        self.addCleanup(limits.stop)
        session = self.ready()
        self.sessions.update_record(session.id, auto_resume=AutoResume(enabled=True))
        self.spend(5)
        at = datetime.fromtimestamp(self.clock.seconds() + 3600, UTC)
        text = f"You've hit your session limit · resets {at:%H:%M} (UTC)"
        self.hook(session, "stop", hook_event_name="StopFailure", last_assistant_message=text)
        self.demote(session)
        self.spend(2 * 3600)
        self.assertEqual(([], []), (self.client(session).log, self.pane(session).pastes))
        self.assertIn("session:limitResumeCancelled", self.names)


class ScreenWithoutRightTests(AgentHarnessCase):
    multiuser = True

    def test_controls_press_nothing_after_a_lost_right(self) -> None:
        session = self.ready()
        controls = AgentControls(self.clock, self.sessions, self.agents.agents, self.machine.clis)
        self.demote(session)
        for setting, value in (
            (ControlSetting.PERMISSION_MODE, "plan"),
            (ControlSetting.MODEL, "sonnet"),
        ):
            told = controls.change_setting(session.id, setting, value, ADMIN)
            self.assert_refused(ErrorCode.FORBIDDEN, told)
        self.assertEqual([], self.screen(session).pressed)

    def test_trust_dialog_is_not_answered_after_a_lost_right(self) -> None:
        session = self.agent(mode="primary")
        self.demote(session)
        self.show(session, TRUST)
        self.spend(20)
        self.assertEqual([], self.screen(session).pressed)
        self.machine.os_users.demoted.clear()
        self.spend(5)
        self.assertEqual([b"\r"], self.screen(session).pressed[:1])
