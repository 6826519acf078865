"""Input for what its account could not have run any more (protocol-driving)."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from tests.unit.sessions.harness import ADMIN
from tests.unit.sessions.input.accept.offline_harness import KEPT, OfflineHostCase
from tests.unit.sessions.input.harness import AGAIN, DONE, HeldGate, InputCase
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.record.model import RemoteTarget, Session, SessionLocationKind
from tservice.sessions.record.requests import InputRequest

ROOT = Identity(username="root", admin=True)
BYPASS = {"permissionMode": "bypassPermissions"}


class DrivingCase(InputCase):
    """Accounts of their own: the sessions are those of C{admin}, who is demoted."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = HeldGate()
        self.machine.gate = self.gate
        self.machine.config = evolve(self.machine.config, multiuser=True)
        self.begin_anew()
        for session in self.agent_session, self.shell_session:
            self.sessions.update_record(session.id, owner=ADMIN.username)

    def begin_anew(self) -> None:
        self.machine.restart()
        self.successResultOf(self.machine.opening)

    def demote(self) -> None:
        self.machine.os_users.demoted.add(ADMIN.username)

    def reinstate(self) -> None:
        self.machine.os_users.demoted.clear()

    def open_gate(self) -> None:
        self.gate.held.pop().callback(None)
        self.spend(1)

    def forbidden(self, session: Session, text: str = "x\r", **fields: Any) -> str:
        request = InputRequest(text=text, **{"sender": ADMIN, **fields})
        return self.assert_refused(
            ErrorCode.FORBIDDEN, self.sessions.send_input(session.id, request)
        )

    def untouched(self, session: Session) -> None:
        pane = self.pane(session)
        self.assertEqual((b"", [], []), (bytes(pane.typed), pane.keys, pane.pastes))


class DemotedTests(DrivingCase):
    def test_session_made_with_the_grant_refuses_input_after_it_is_lost(self) -> None:
        """By its mode, by a value that it was started with, or by a variable."""
        agent = self.agent_session
        self.demote()
        self.assertIn("Shell needs the grant", self.forbidden(self.shell_session))
        self.sessions.update_record(agent.id, params=BYPASS)
        self.assertIn("params.permissionMode", self.forbidden(agent))
        self.sessions.update_record(
            agent.id, params={}, env_overrides={"ANTHROPIC_BASE_URL": "http://x"}
        )
        self.assertIn("envOverrides.ANTHROPIC_BASE_URL", self.forbidden(agent))
        self.untouched(agent)
        self.assertEqual([], self.gate.held, "it is told at once")

    def test_session_made_without_the_grant_accepts_input_after_it_is_lost(self) -> None:
        params = {"permissionMode": "default"}
        self.sessions.update_record(
            self.agent_session.id, params=params, env_overrides={"MCP_TIMEOUT": "9"}
        )
        self.demote()
        done = self.type(self.agent_session, "hello\r", sender=ADMIN)
        self.open_gate()
        self.assertEqual(DONE, self.successResultOf(done))

    def test_keys_and_raw_bytes_are_refused_after_the_grant_is_lost(self) -> None:
        self.demote()
        self.forbidden(self.shell_session, "\x1b")
        key = self.sessions.send_key(self.shell_session.id, "Enter", ADMIN)
        self.assert_refused(ErrorCode.FORBIDDEN, key)
        self.untouched(self.shell_session)

    def test_service_input_in_the_name_of_the_owner_is_refused(self) -> None:
        """As jobs, timed runs and automatic commands type."""
        self.demote()
        self.forbidden(self.shell_session, sender=None)

    def test_service_types_no_command_of_the_shell_for_the_owner(self) -> None:
        """As the file of a job's prompt may hold; typed key by key a sign counts anywhere."""
        self.sessions.update_record(self.agent_session.id, params={"permissionMode": "default"})
        self.demote()
        for text, typed in ((" !id", False), ("!id", True), ("a!id", True), ("a\n!id", True)):
            told = self.forbidden(self.agent_session, text, sender=None, use_mux=True, typed=typed)
            self.assertTrue(told.startswith("input: "), told)
        self.untouched(self.agent_session)

    def test_command_of_the_shell_is_judged_again_when_its_turn_comes(self) -> None:
        self.sessions.update_record(self.agent_session.id, params={"permissionMode": "default"})
        done = self.type(self.agent_session, "!id\r", sender=ADMIN)
        self.demote()
        self.open_gate()
        error = self.failureResultOf(done, ServiceError).value
        self.assertTrue(error.message.startswith("input: "), error.message)
        self.untouched(self.agent_session)

    def test_service_input_for_a_disabled_account_is_refused(self) -> None:
        """Automatic commands typed on; admins still drive what is there."""
        self.machine.os_users.disabled.add(ADMIN.username)
        self.assertIn("disabled", self.forbidden(self.agent_session, sender=None))
        self.machine.os_users.disabled.clear()
        self.machine.os_users.removed.add(ADMIN.username)
        self.assertIn("gone", self.forbidden(self.agent_session, sender=None))
        self.untouched(self.agent_session)
        done = self.type(self.shell_session, "ls\r", use_mux=False, sender=ROOT)
        self.assertEqual(DONE, self.successResultOf(done))

    def test_admin_may_type_after_the_owner_lost_the_grant(self) -> None:
        self.demote()
        done = self.type(self.shell_session, "ls\r", use_mux=False, sender=ROOT)
        self.assertEqual(DONE, self.successResultOf(done))

    def test_grant_lost_while_the_input_waits_refuses_it(self) -> None:
        """Its number is free for when the account has the right again."""
        self.sessions.update_record(self.agent_session.id, params=BYPASS)
        fields = {"client_id": "c", "seq": 1, "sender": ADMIN}
        held = self.type(self.agent_session, "hello\r", **fields)
        self.demote()
        self.open_gate()
        self.assertEqual(ErrorCode.FORBIDDEN, self.code(held))
        self.untouched(self.agent_session)
        self.reinstate()
        again = self.type(self.agent_session, "hello\r", **fields)
        self.open_gate()
        self.assertEqual(DONE, self.successResultOf(again))

    def test_input_begun_before_a_crash_is_refused_after_the_grant_is_lost(self) -> None:
        """What is written down and not typed to its end stays so; its number is taken."""
        fields = {"use_mux": True, "client_id": "c", "seq": 1, "sender": ADMIN}
        self.type(self.shell_session, "rm it\r", **fields)
        self.gate.held.pop().callback(None)  # its Enter comes a moment after the paste
        self.assertEqual(["rm it"], self.pane(self.shell_session).pastes)
        self.demote()
        self.begin_anew()
        self.spend(5)
        self.assertEqual([], self.pane(self.shell_session).keys)
        self.forbidden(self.shell_session, "rm it\r", **fields)
        self.reinstate()
        again = self.type(self.shell_session, "rm it\r", **fields)
        self.assertEqual(AGAIN, self.successResultOf(again))

    def test_attached_tmux_session_refuses_input_after_the_grant_is_lost(self) -> None:
        """What runs there was its admin's to attach to, whatever mode it is called."""
        remote = RemoteTarget(host_id="h", name="work", owned=False)
        fields: dict[str, Any] = {
            "location": SessionLocationKind.REMOTE,
            "remote": remote,
            "params": {},
        }
        self.sessions.update_record(self.agent_session.id, **fields)
        judge = self.sessions.check_sender
        judge(self.agent_session.id, ADMIN)
        self.demote()
        for sender in (ADMIN, None):
            error = self.assertRaises(ServiceError, judge, self.agent_session.id, sender)
            self.assertEqual(ErrorCode.FORBIDDEN, error.code)
        judge(self.agent_session.id, ROOT)


class AgentTokenInputTests(InputCase):
    """Whoever holds an agent's own token has no grant, with one user too."""

    def setUp(self) -> None:
        super().setUp()
        self.holder = evolve(
            ADMIN,
            method="token",
            token="agent:p",
            parent="p",
            can_bypass_permissions=False,
            sessions=frozenset({self.agent_session.id, self.shell_session.id}),
        )

    def judged(self, session: Session, sender: Identity) -> ErrorCode | None:
        try:
            self.sessions.check_sender(session.id, sender)
        except ServiceError as error:
            return error.code
        return None

    def test_agent_token_may_not_drive_sessions_made_with_the_grant(self) -> None:
        self.sessions.update_record(self.agent_session.id, params={"permissionMode": "default"})
        self.assertIsNone(self.judged(self.agent_session, self.holder))
        self.assertEqual(ErrorCode.FORBIDDEN, self.judged(self.shell_session, self.holder))
        self.sessions.update_record(self.agent_session.id, params=BYPASS)
        self.assertEqual(ErrorCode.FORBIDDEN, self.judged(self.agent_session, self.holder))
        for session in self.agent_session, self.shell_session:
            self.assertIsNone(self.judged(session, ADMIN))

    def test_input_with_an_agent_token_is_refused(self) -> None:
        request = InputRequest(text="id\r", use_mux=False, sender=self.holder)
        typed = self.sessions.send_input(self.shell_session.id, request)
        self.assert_refused(ErrorCode.FORBIDDEN, typed)
        self.assertEqual(b"", bytes(self.pane(self.shell_session).typed))

    def test_agent_token_may_not_drive_an_attached_session(self) -> None:
        remote = RemoteTarget(host_id="h", name="work", owned=False)
        self.sessions.update_record(
            self.agent_session.id, location=SessionLocationKind.REMOTE, remote=remote
        )
        self.assertEqual(ErrorCode.FORBIDDEN, self.judged(self.agent_session, self.holder))


class DemotedKeptInputTests(OfflineHostCase):
    """While the session's host is away."""

    def setUp(self) -> None:
        super().setUp()
        self.machine.config = evolve(self.machine.config, multiuser=True)
        self.far.there = True
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.sessions.update_record(self.session.id, owner=ADMIN.username)
        self.far.there = False

    def test_kept_input_is_not_typed_after_the_grant_is_lost(self) -> None:
        self.assertEqual(KEPT, self.send("one", 1, sender=ADMIN))
        self.machine.os_users.demoted.add(ADMIN.username)
        request = InputRequest(text="two", may_wait=True, sender=ADMIN)
        self.assert_refused(ErrorCode.FORBIDDEN, self.sessions.send_input(self.session.id, request))
        self.back()
        self.assertEqual(b"", self.typed)
        lost = self.last("session:inputLost")
        self.assertEqual(1, lost["chunks"])
        self.assertIn("needs the grant", str(lost["reason"]))
