"""Making, starting, ending, letting go and taking up sessions."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from tests.callers import GRANTED, UNGRANTED, make_caller
from tests.event_helpers import to_wire
from tests.unit.sessions.harness import ADMIN, BOOT, SessionCase, SessionHarness, start_coroutine
from tservice.cases.interfaces import AgentMarker
from tservice.core.config.model import Config
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.mux.interface import MuxError, MuxTimeout
from tservice.sessions.life.activity import AGENT_IDLE, SHELL_IDLE
from tservice.sessions.life.adoption import RETRY
from tservice.sessions.life.capacity import STOPPED_KEPT
from tservice.sessions.record.model import NameSource, ProcessPhase, Session, SessionStatus
from tservice.sessions.record.requests import CreateRequest


class SessionCreationTests(SessionCase):
    """Making records."""

    def test_created_session_does_not_run_unless_asked(self) -> None:
        session = self.create()
        self.assertIsNone(session.pid)
        self.assertEqual(SessionStatus.IDLE, session.status)
        self.assertEqual([], self.host.specs)
        self.assertEqual(["session:created"], self.names)
        self.assertEqual(uuid.UUID(session.id), uuid.UUID(session.id, version=4))

    def test_name_is_generated_or_taken(self) -> None:
        self.assertEqual("home", self.create().name)
        self.assertEqual("home 2", self.create().name)
        named = self.create(name="build")
        self.assertEqual(("build", NameSource.MANUAL), (named.name, named.name_source))

    def test_start_passes_environment_and_size_to_the_pane(self) -> None:
        session = self.shell(cols=90, rows=30, env_overrides={"FOO": "bar"})
        spec = self.host.specs[-1]
        self.assertEqual((90, 30), (spec.cols, spec.rows))
        self.assertEqual("1", spec.env["SERVICE_MUX"])
        self.assertEqual(session.id, spec.env["SERVICE_SESSION_ID"])
        self.assertEqual("http://127.0.0.1:8770", spec.env["SERVICE_API_URL"])
        self.assertEqual(
            str(self.machine.config.data_dir / "hook-secret"), spec.env["SERVICE_HOOK_SECRET_FILE"]
        )
        self.assertEqual("bar", spec.env["FOO"])
        self.assertEqual(str(self.machine.home), spec.cwd)
        self.assertEqual(self.pane(session).pid, session.pid)

    def test_overrides_are_in_no_response_and_no_event(self) -> None:
        session = self.shell(env_overrides={"TOKEN": "s3cret"})
        told = repr([to_wire(e) for e in self.machine.events]) + repr(session)
        self.assertNotIn("s3cret", told + repr(self.sessions.describe_session(session.id)))

    def test_refused_session_creation_names_the_field(self) -> None:
        cases: list[tuple[dict[str, Any], ErrorCode, str]] = [
            ({"mode": "nope"}, ErrorCode.INVALID_INPUT, "mode"),
            ({"working_dir": "relative"}, ErrorCode.INVALID_INPUT, "workingDir"),
            ({"working_dir": "/no/such"}, ErrorCode.INVALID_INPUT, "workingDir"),
            ({"working_dir": "/a\0b"}, ErrorCode.INVALID_INPUT, "workingDir"),
            ({"case_name": "missing"}, ErrorCode.NOT_FOUND, "missing"),
            ({"case_name": "../x"}, ErrorCode.INVALID_INPUT, "caseName"),
            ({"name": "a\x07"}, ErrorCode.INVALID_INPUT, "name"),
            ({"name": "n" * 129}, ErrorCode.INVALID_INPUT, "name"),
            ({"parent_session_id": "x"}, ErrorCode.NOT_FOUND, "parentSessionId"),
            ({"mode": "pi"}, ErrorCode.OPERATION_FAILED, "npm"),
            ({"env_overrides": {"PATH": "/x"}}, ErrorCode.INVALID_INPUT, "PATH"),
            ({"params": {"nope": 1}}, ErrorCode.INVALID_INPUT, "nope"),
        ]
        for fields, code, word in cases:
            request = CreateRequest(**{"mode": "shell", **fields})
            text = self.assert_refused(code, self.sessions.create(request, ADMIN))
            self.assertIn(word, text)
        self.assertEqual([], self.sessions.list())

    def test_session_that_fails_to_start_is_not_stored(self) -> None:
        self.host.start_error = MuxError("no room")
        request = CreateRequest(mode="shell", start=True)
        text = self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.create(request, ADMIN))
        self.assertIn("no room", text)
        self.assertEqual([], self.sessions.list())
        self.assertEqual([], self.machine.restart().list())

    def test_start_resumes_the_conversation_unless_fresh(self) -> None:
        session = self.create(mode="primary", resume_session_id="abc-1", start=True)
        self.assertIn("abc-1", self.host.specs[-1].argv)
        for fresh in (False, True, False):
            self.pane(session).exit_program(0)
            self.run_now(self.sessions.start(session.id, GRANTED, fresh=fresh))
            self.assertEqual(fresh, "abc-1" not in self.host.specs[-1].argv)


class LiveConversationTests(SessionCase):
    """One conversation is alive in one session at most (protocol-create)."""

    def refused(self, work: Any, session: Session) -> None:
        text = self.assert_refused(ErrorCode.CONFLICT, work)
        self.assertIn(session.id, text)
        self.assertIn("resumeSessionId", text)

    def resume(self, conversation: str = "abc-1", start: bool = True) -> Any:
        request = CreateRequest(mode="primary", resume_session_id=conversation, start=start)
        return self.sessions.create(request, ADMIN)

    def test_second_resume_of_a_live_conversation_is_refused(self) -> None:
        session = self.create(mode="primary", resume_session_id="abc-1", start=True)
        started = len(self.host.specs)
        for start in (True, False):
            self.refused(self.resume(start=start), session)
        self.assertEqual(started, len(self.host.specs))
        self.assertEqual([session.id], [each.id for each in self.sessions.list()])
        self.run_now(self.sessions.delete(session.id))
        self.run_now(self.resume())

    def test_conversation_known_from_hooks_is_live_too(self) -> None:
        session = self.create(mode="primary", start=True)
        self.sessions.update_record(session.id, conversation_ids=("abc-0", "abc-1"))
        self.refused(self.resume(), session)
        self.run_now(self.resume("abc-0"))

    def test_detached_session_keeps_its_conversation(self) -> None:
        session = self.create(mode="primary", resume_session_id="abc-1", start=True)
        self.run_now(self.sessions.delete(session.id, kill=False))
        self.refused(self.resume(), session)
        self.run_now(self.sessions.start(session.id, GRANTED))

    def test_ended_session_cannot_resume_a_conversation_live_elsewhere(self) -> None:
        first = self.create(mode="primary", resume_session_id="abc-1", start=True)
        self.pane(first).exit_program(0)
        second = self.run_now(self.resume())
        self.refused(self.sessions.start(first.id, GRANTED), second)
        self.run_now(self.sessions.start(first.id, GRANTED, fresh=True))

    def test_two_simultaneous_resumes_start_one_agent(self) -> None:
        made = [self.run_now(self.resume(start=False)) for _ in range(2)]
        started = [start_coroutine(self.sessions.start(each.id, GRANTED)) for each in made]
        self.spend(1)
        error = self.failureResultOf(started[1], ServiceError).value
        self.assertEqual(ErrorCode.CONFLICT, error.code)
        self.assertIn(made[0].id, error.message)
        self.successResultOf(started[0])

    def test_conversation_of_another_account_names_no_session(self) -> None:
        session = self.create(mode="primary", resume_session_id="abc-1", start=True)
        self.sessions.update_record(session.id, owner="bob")
        request = CreateRequest(mode="primary", resume_session_id="abc-1")
        eve = make_caller(username="eve", admin=False)
        text = self.assert_refused(ErrorCode.CONFLICT, self.sessions.create(request, eve))
        self.assertNotIn(session.id, text)


class CapacityTests(SessionCase):
    """Caps (protocol-sessions)."""

    def test_cap_counts_all_but_stopped_sessions(self) -> None:
        self.machine = SessionHarness(Path(self.mktemp()).absolute(), config=Config(max_sessions=2))
        self.run_now(self.sessions.load_and_adopt_sessions())
        first = self.create()
        self.create()
        request = CreateRequest(mode="shell")
        self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.create(request, ADMIN))
        self.run_now(self.sessions.stop(first.id, "done"))
        self.create()

    def test_records_of_stopped_sessions_are_bounded(self) -> None:
        first = self.create()
        self.run_now(self.sessions.stop(first.id, "done"))
        for _ in range(STOPPED_KEPT):
            self.clock.advance(1)
            self.run_now(self.sessions.stop(self.create().id, "done"))
        ids = [session.id for session in self.sessions.list()]
        self.assertEqual(STOPPED_KEPT, len(ids))
        self.assertNotIn(first.id, ids)


class MultiUserTests(SessionCase):
    """Whose is what."""

    def setUp(self) -> None:
        super().setUp()
        folder = Path(self.mktemp()).absolute()
        config = Config(cases_dir=folder / "cases", multiuser=True, max_sessions_per_user=1)
        self.machine = SessionHarness(folder, config=config)
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.ann = make_caller(username="ann", admin=False, can_bypass_permissions=True)
        self.bob = make_caller(username="bob", admin=False, can_bypass_permissions=True)

    def test_sessions_of_other_accounts_are_not_found(self) -> None:
        session = self.create(self.ann)
        self.assertEqual("ann", session.owner)
        self.assertEqual(session, self.sessions.get(session.id, self.ann))
        self.assertEqual(session, self.sessions.get(session.id, ADMIN))
        self.assertEqual([], self.sessions.list(self.bob))
        error = self.assertRaises(ServiceError, self.sessions.get, session.id, self.bob)
        self.assertEqual(ErrorCode.NOT_FOUND, error.code)

    def test_sessions_are_capped_per_account(self) -> None:
        self.create(self.ann)
        self.create(self.bob)
        request = CreateRequest(mode="shell")
        self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.create(request, self.ann))

    def test_only_the_own_workspace_is_allowed(self) -> None:
        own = self.machine.folder / "cases" / ".accounts" / "ann"
        own.mkdir(parents=True)
        (own / "out").symlink_to(self.machine.home)
        for path in (self.machine.home, own / "out", own / ".."):
            request = CreateRequest(mode="shell", working_dir=str(path))
            self.assert_refused(ErrorCode.FORBIDDEN, self.sessions.create(request, self.ann))
        self.assertEqual(str(own), self.create(self.ann, working_dir=str(own)).working_dir)

    def test_shell_without_the_grant_is_refused(self) -> None:
        low = make_caller(username="low", admin=False, can_bypass_permissions=False)
        request = CreateRequest(mode="shell")
        self.assert_refused(ErrorCode.FORBIDDEN, self.sessions.create(request, low))

    def test_delete_all_removes_own_sessions(self) -> None:
        self.create(self.ann)
        kept = self.create(self.bob)
        self.assertEqual((1, ()), self.run_now(self.sessions.delete_all_own(self.ann)))
        self.assertEqual([kept], self.sessions.list())


class SessionRunTests(SessionCase):
    """The process behind a session."""

    def test_started_shell_is_idle(self) -> None:
        session = self.shell()
        self.assertNotIn("session:idle", self.names)
        self.clock.advance(SHELL_IDLE)
        self.assertEqual(1, self.names.count("session:idle"))
        self.assertEqual(
            {"id": session.id, "at": int((BOOT + SHELL_IDLE) * 1000)},
            to_wire(self.machine.events[-1]),
        )
        self.clock.advance(100)
        self.assertEqual(1, self.names.count("session:idle"))

    def test_started_agent_is_idle(self) -> None:
        self.create(mode="codex", start=True)
        self.clock.advance(AGENT_IDLE - 0.1)
        self.assertNotIn("session:idle", self.names)
        self.clock.advance(0.1)
        self.assertEqual(1, self.names.count("session:idle"))

    def test_running_session_cannot_be_started_again(self) -> None:
        session = self.shell()
        self.assert_refused(ErrorCode.SESSION_BUSY, self.sessions.start(session.id, GRANTED))
        self.assertEqual(1, len(self.host.specs))

    def test_exit_is_published_with_its_status(self) -> None:
        session = self.shell()
        self.pane(session).exit_program(3)
        after = self.sessions.get(session.id)
        self.assertIsNone(after.pid)
        self.assertEqual(SessionStatus.IDLE, after.status)
        self.assertEqual(3, after.pane_exit and after.pane_exit.status)
        self.assertEqual({"id": session.id, "status": 3}, self.last("session:exit"))

    def test_unknown_exit_status_is_never_zero(self) -> None:
        session = self.shell()
        self.pane(session).lose_server()
        after = self.sessions.get(session.id)
        self.assertIsNone(after.pid)
        self.assertIsNone(after.pane_exit)
        self.assertEqual({"id": session.id}, self.last("session:exit"))
        self.assertNotIn("paneExit", self.sessions.describe_session(session.id))

    def test_start_after_an_exit_creates_a_new_pane(self) -> None:
        session = self.shell()
        self.pane(session).exit_program(0)
        again = self.run_now(self.sessions.start(session.id, GRANTED))
        self.assertEqual(self.pane(session).pid, again.pid)
        self.assertIsNone(again.pane_exit)
        self.assertEqual(2, len(self.host.specs))

    def test_repeated_failures_block_the_restart(self) -> None:
        session = self.shell()
        for _ in range(4):
            self.clock.advance(1)
            self.pane(session).exit_program(1)
            self.run_now(self.sessions.start(session.id, GRANTED))
        self.pane(session).exit_program(1)
        broken = self.sessions.get(session.id)
        self.assertEqual(SessionStatus.ERROR, broken.status)
        self.assertTrue(broken.respawn_blocked)
        self.assertIn("session:breakerTripped", self.names)
        self.assert_refused(ErrorCode.CONFLICT, self.sessions.start(session.id, GRANTED))
        self.machine.restart()
        self.assert_refused(ErrorCode.CONFLICT, self.sessions.start(session.id, GRANTED))
        started = self.run_now(self.sessions.start(session.id, GRANTED, clear_breaker=True))
        self.assertEqual(SessionStatus.IDLE, started.status)
        self.pane(session).exit_program(1)
        self.assertEqual(SessionStatus.IDLE, self.sessions.get(session.id).status)

    def test_delete_ends_and_removes_the_session(self) -> None:
        session = self.shell()
        self.run_now(self.sessions.delete(session.id))
        self.assertNotIn(session.id, self.host.panes)
        self.assertEqual("session:deleted", self.names[-1])
        self.assertEqual([], self.sessions.list())
        self.assertEqual([], self.machine.restart().list())

    def test_unanswered_delete_changes_nothing(self) -> None:
        session = self.shell()
        self.pane(session).inject_fault("kill", MuxTimeout("slow"))
        self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.delete(session.id))
        self.assertEqual(session.pid, self.sessions.get(session.id).pid)
        self.pane(session).exit_program(0)
        self.assertIn("session:exit", self.names)

    def test_dead_pane_is_removed_with_its_session_after_a_restart(self) -> None:
        session = self.shell()
        self.pane(session).exit_program(0)
        self.machine.restart()
        self.run_now(self.sessions.delete(session.id))
        self.assertNotIn(session.id, self.host.panes)

    def test_start_after_exit_and_restart_replaces_the_dead_pane(self) -> None:
        session = self.shell()
        self.pane(session).exit_program(0)
        self.machine.restart()
        self.assertIsNotNone(self.run_now(self.sessions.start(session.id, GRANTED)).pid)

    def test_stopped_session_keeps_its_record(self) -> None:
        session = self.shell()
        stopped = self.run_now(self.sessions.stop(session.id, "closed by its job"))
        self.assertEqual((SessionStatus.STOPPED, None), (stopped.status, stopped.pid))
        self.assertEqual("closed by its job", stopped.status_reason)
        self.assertNotIn(session.id, self.host.panes)
        self.assertEqual(ProcessPhase.STOPPED, self.machine.restart().get(session.id).phase)

    def test_operations_on_one_session_do_not_overlap(self) -> None:
        session = self.shell()
        self.pane(session).stop_answering()
        stopping = start_coroutine(self.sessions.stop(session.id, "x"))
        starting = start_coroutine(self.sessions.start(session.id, GRANTED))
        self.assertNoResult(starting)
        self.pane(session).resume_answering()
        self.assertEqual(SessionStatus.STOPPED, self.successResultOf(stopping).status)
        self.assertIsNotNone(self.successResultOf(starting).pid)


class DetachTests(SessionCase):
    """C{killMux=false}."""

    def test_detached_process_runs_on_and_start_attaches_again(self) -> None:
        session = self.shell()
        self.run_now(self.sessions.delete(session.id, kill=False))
        away = self.sessions.get(session.id)
        self.assertTrue(away.detached)
        self.assertIsNone(away.pid)
        self.assertIsNone(self.sessions.get_pane(session.id))
        self.assertTrue(to_wire(self.sessions.describe_session(session.id))["detached"])
        self.assertTrue(self.last("session:updated")["detached"])
        self.assertNotIn("session:exit", self.names)
        back = self.run_now(self.sessions.start(session.id, GRANTED))
        self.assertEqual(session.pid, back.pid)
        self.assertEqual(1, len(self.host.specs))

    def test_detached_session_stays_detached_over_a_restart(self) -> None:
        session = self.shell()
        self.run_now(self.sessions.delete(session.id, kill=False))
        self.machine.restart()
        self.assertIsNone(self.sessions.get(session.id).pid)
        self.assertEqual(session.pid, self.run_now(self.sessions.start(session.id, GRANTED)).pid)

    def test_detached_shell_is_attached_only_with_the_grant(self) -> None:
        session = self.shell()
        self.run_now(self.sessions.delete(session.id, kill=False))
        self.assert_refused(ErrorCode.FORBIDDEN, self.sessions.start(session.id, UNGRANTED))
        self.assertTrue(self.sessions.get(session.id).detached)
        back = self.run_now(self.sessions.start(session.id, GRANTED))
        self.assertEqual(session.pid, back.pid)

    def test_detached_session_that_ended_is_started_new(self) -> None:
        session = self.shell()
        self.run_now(self.sessions.delete(session.id, kill=False))
        self.pane(session).exit_program(0)
        self.assertNotEqual(session.pid, self.run_now(self.sessions.start(session.id, GRANTED)).pid)

    def test_delete_ends_a_detached_session(self) -> None:
        session = self.shell()
        self.run_now(self.sessions.delete(session.id, kill=False))
        self.run_now(self.sessions.delete(session.id))
        self.assertNotIn(session.id, self.host.panes)


class AdoptionTests(SessionCase):
    """After a restart."""

    def test_running_pane_is_adopted(self) -> None:
        session = self.shell()
        found = self.machine.restart().get(session.id)
        self.assertEqual((session.pid, ProcessPhase.RUNNING), (found.pid, found.phase))
        self.successResultOf(self.type(session, "echo hi\r", use_mux=False))
        self.assertEqual(b"echo hi\r", bytes(self.pane(session).typed))

    def test_exit_during_the_restart_is_recorded(self) -> None:
        session = self.shell()
        self.machine.crash()
        self.pane(session).exit_program(7)
        found = self.machine.restart().get(session.id)
        self.assertIsNone(found.pid)
        self.assertEqual(7, found.pane_exit and found.pane_exit.status)

    def test_lost_pane_is_recorded_as_exited(self) -> None:
        session = self.shell()
        self.machine.crash()
        self.host.lose_server(session.id)
        found = self.machine.restart().get(session.id)
        self.assertEqual((None, ProcessPhase.EXITED), (found.pid, found.phase))

    def test_unanswered_probe_changes_nothing_and_is_repeated(self) -> None:
        session = self.shell()
        self.pane(session).stop_answering()
        self.machine.restart()
        self.clock.advance(10)
        self.successResultOf(self.machine.opening)
        found = self.sessions.get(session.id)
        self.assertEqual((session.pid, ProcessPhase.RUNNING), (found.pid, found.phase))
        self.assert_refused(ErrorCode.OPERATION_FAILED, self.sessions.start(session.id, GRANTED))
        self.failureResultOf(self.type(session, "x\r"))
        self.pane(session).resume_answering()
        self.clock.advance(RETRY)
        self.successResultOf(self.type(session, "ls", use_mux=False))

    def test_unknown_server_is_left_alone(self) -> None:
        session = self.shell()
        self.machine.database.execute("DELETE FROM sessions")
        self.machine.restart()
        self.assertEqual([], self.sessions.list())
        self.assertIsNotNone(self.pane(session).pid)

    def test_close_leaves_no_timer(self) -> None:
        session = self.shell()
        self.pane(session).stop_answering()
        self.machine.restart()
        self.clock.advance(6)
        self.sessions.close()
        self.assertEqual([], self.clock.getDelayedCalls())


class QuickStartTests(SessionCase):
    """A case and a session in one call; the route is tested with the routes."""

    def test_marker_names_the_creator(self) -> None:
        cases = self.machine.cases
        noted = AgentMarker(created_at=5, created_by="claude")
        folder = self.run_now(cases.open_or_create("w1", ADMIN, noted)).path
        marker = json.loads((Path(folder) / ".service-agent-case.json").read_text())
        self.assertEqual({"version": 1, "createdAt": 5, "createdBy": "claude"}, marker)
        again = self.run_now(cases.open_or_create("w1", ADMIN))
        self.assertEqual(folder, again.path)
        self.run_now(again.undo())
        self.assertIn("CLAUDE.md", (Path(folder) / "AGENTS.md").read_text())
