"""What becomes of sessions that are brought back (protocol-restore)."""

from __future__ import annotations

from typing import Any

from attrs import evolve, fields_dict

from tests.callers import GRANTED
from tests.fakes.multiplexer.multiplexer import EchoShell, FakeProgram, FakeTty
from tests.unit.restore.harness import RestoreHarnessCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.core.kernel.errors import ErrorCode
from tservice.mux.interface import MuxError, PaneSpec
from tservice.sessions.record.model import (
    AutoClear,
    AutoCompact,
    AutoResume,
    EndpointModel,
    NameSource,
    ProcessPriority,
    Session,
    SessionColour,
    SessionStatus,
    TokenUsage,
)

SET: dict[str, Any] = {
    "pinned": True,
    "pinned_at": 7,
    "colour": SessionColour.PINK,
    "tokens": TokenUsage.from_counts(5, 6),
    "total_cost": 1.5,
    "auto_compact": AutoCompact(enabled=True, threshold=9, prompt="be short"),
    "auto_clear": AutoClear(enabled=True, threshold=8),
    "nice": ProcessPriority(enabled=True, value=11),
    "flicker_filter": True,
    "custom_model": EndpointModel(endpoint_id="e", model_id="m"),
    "context_used_percentage": 12.5,
    "cols": 90,
    "rows": 30,
}


class EndingAgent:
    """An agent that ends by itself.

    @ivar after: seconds; C{None}: it stays.
    """

    after: float | None = None
    status = 1

    def pane_started(self, tty: FakeTty) -> None:
        tty.emit_output(b"No conversation found\r\n")
        if self.after is not None:
            tty.clock.callLater(self.after, tty.exit_program, self.status)  # type: ignore[attr-defined]

    def input_received(self, data: bytes) -> None:
        """It listens to nobody."""

    def pane_resized(self, cols: int, rows: int) -> None:
        """It does not draw."""


class RebuildTests(RestoreHarnessCase):
    def program(self, spec: PaneSpec) -> FakeProgram:
        return self.agents if spec.argv[0].endswith("claude") else EchoShell()

    def setUp(self) -> None:
        self.agents = EndingAgent()
        super().setUp()

    def test_restored_session_has_its_former_settings(self) -> None:
        agent = self.agent()
        self.sessions.rename_session(agent.id, "by hand", NameSource.MANUAL)
        before = self.sessions.update_record(agent.id, models={"statusline": "Opus"}, **SET)
        self.reboot()
        self.assertEqual({agent.id: "restored"}, self.outcomes())
        now = self.sessions.get(agent.id)
        for name in fields_dict(Session).keys() - {"pid", "last_activity_at", "status_reason"}:
            self.assertEqual(getattr(before, name), getattr(now, name), name)
        self.assertEqual((SessionStatus.IDLE, 1), (now.status, len(self.sessions.list())))
        self.assertIn((now.pid, 11), self.machine.renice.set)
        spec = self.pane(agent).spec
        self.assertEqual((90, 30, str(self.work)), (spec.cols, spec.rows, spec.cwd))

    def test_agents_resume_and_shells_start_fresh(self) -> None:
        """Each in its own way."""
        agent, other, shell = self.agent(), self.agent(mode="codex"), self.shell()
        self.sessions.update_record(other.id, conversation_ids=("c-0", "c-2"))
        self.reboot()
        found = self.bring_back()
        self.assertEqual((3, 0), (found["restored"], found["skipped"]))
        self.assertIn("--resume c-1", " ".join(self.pane(agent).spec.argv))
        self.assertIn("resume c-2", " ".join(self.pane(other).spec.argv))
        self.assertNotIn("c-1", self.pane(shell).spec.argv)

    def test_auto_resume_is_disarmed_and_stays_enabled(self) -> None:
        agent = self.agent()
        armed = AutoResume(enabled=True, resume_at=int((self.clock.seconds() + 3600) * 1000))
        self.sessions.update_record(agent.id, auto_resume=armed, limit_paused=True)
        self.reboot()
        self.bring_back()
        now = self.sessions.get(agent.id)
        self.assertEqual((AutoResume(enabled=True), False), (now.auto_resume, now.limit_paused))

    def test_agents_are_restored_one_at_a_time(self) -> None:
        """An agent has shown that it stays before the next one starts."""
        first, second = self.agent(), self.agent(conversation="c-2")
        self.reboot()
        working = start_coroutine(self.restore.restore_sessions(ADMIN, None))
        self.assertEqual([True, False], [it.pid is not None for it in self.sessions.list()])
        self.assertTrue(self.run_now(self.restore.get_offer(ADMIN)).restoring)
        progress = {"sessionId": first.id, "done": 0, "total": 2}
        self.assertEqual(progress, self.last("restore:progress"))
        self.spend(3)
        self.assertEqual([True, True], [it.pid is not None for it in self.sessions.list()])
        self.assertNoResult(working)
        self.spend(3)
        self.assertEqual(2, self.successResultOf(working).restored)
        self.assertEqual(2, self.last("restore:finished")["restored"])
        self.assertFalse(self.run_now(self.restore.get_offer(ADMIN)).restoring)
        self.assertEqual({}, self.outcomes(second.id))

    def test_second_restore_at_the_same_time_is_refused(self) -> None:
        agent = self.agent()
        self.reboot()
        working = start_coroutine(self.restore.restore_sessions(ADMIN, None))
        again = self.restore.restore_sessions(ADMIN, None)
        self.assert_refused(ErrorCode.CONFLICT, again)
        self.spend(3)
        self.assertEqual(1, self.successResultOf(working).restored)
        self.assertEqual({}, self.outcomes(agent.id))

    def test_disconnected_client_does_not_stop_the_restore(self) -> None:
        first, second = self.agent(), self.agent(conversation="c-2")
        self.reboot()
        start_coroutine(self.restore.restore_sessions(ADMIN, None)).addErrback(
            lambda _: None
        ).cancel()
        self.spend(6)
        self.assertNotIn(None, [self.sessions.get(each.id).pid for each in (first, second)])

    def test_agent_that_ends_immediately_is_offered_again(self) -> None:
        """Its pane is gone; with status 0 it is no failure, later neither."""
        agent = self.agent()
        self.reboot()
        self.agents.after = 2.9
        self.assertEqual({agent.id: "agent-failed"}, self.outcomes())
        self.assertEqual(([agent.id], None), (self.offered(), self.sessions.get(agent.id).pid))
        self.assertNotIn(agent.id, self.host.panes)
        self.agents.status = 0
        self.assertEqual({agent.id: "restored"}, self.outcomes())
        self.assertEqual([], self.offered())

    def test_agent_that_ends_later_is_not_offered_again(self) -> None:
        agent = self.agent()
        self.reboot()
        self.agents.after = 3.1
        self.assertEqual({agent.id: "restored"}, self.outcomes())
        self.assertEqual([], self.offered())

    def test_agent_that_fails_to_start_is_offered_again(self) -> None:
        agent = self.agent()
        self.reboot()
        self.host.start_error = MuxError("no terminals left")
        self.assertEqual({agent.id: "agent-failed"}, self.outcomes())
        self.assertEqual({agent.id: "restored"}, self.outcomes())

    def test_session_with_a_missing_workspace_is_offered_again(self) -> None:
        """The others come back."""
        agent, shell = self.agent(), self.shell()
        self.reboot()
        self.work.rename(self.work.with_name("away"))
        self.assertEqual({agent.id: "workspace-missing", shell.id: "restored"}, self.outcomes())
        self.assertEqual([agent.id], self.offered())
        self.work.with_name("away").rename(self.work)
        self.assertEqual({agent.id: "restored"}, self.outcomes())

    def test_chosen_sessions_are_restored(self) -> None:
        first, second = self.shell(), self.shell()
        self.reboot()
        self.assertEqual({second.id: "restored"}, self.outcomes(second.id, "nobody"))
        self.assertEqual([first.id], self.offered())

    def test_session_started_by_a_user_during_the_restore_is_skipped(self) -> None:
        agent, shell = self.agent(), self.shell()
        self.reboot()
        working = start_coroutine(self.restore.restore_sessions(ADMIN, None))
        self.run_now(self.sessions.start(shell.id, GRANTED))
        self.spend(3)
        found = self.successResultOf(working)
        self.assertEqual([agent.id], [each.session_id for each in found.entries])
        self.assertEqual(1, len([s for s in self.host.specs if s.session_id == shell.id][1:]))

    def test_dismissal_during_a_restore_stops_it(self) -> None:
        """Also over what fails after it."""
        first, second = self.agent(), self.agent(conversation="c-2")
        self.reboot()
        self.agents.after = 1
        working = start_coroutine(self.restore.restore_sessions(ADMIN, None))
        self.assertEqual(2, self.restore.dismiss_offer(ADMIN))
        self.spend(6)
        found = self.successResultOf(working)
        self.assertEqual([first.id], [each.session_id for each in found.entries])
        self.assertEqual([], self.offered())
        self.assertIsNone(self.sessions.get(second.id).pid)

    def test_session_deleted_during_its_restore_is_skipped(self) -> None:
        agent = self.agent()
        self.reboot()
        working = start_coroutine(self.restore.restore_sessions(ADMIN, None))
        self.run_now(self.sessions.delete(agent.id))
        self.spend(1)
        self.assertEqual(1, self.successResultOf(working).skipped)

    def test_stopping_service_lets_the_current_restore_settle(self) -> None:
        first, second = self.agent(), self.agent(conversation="c-2")
        self.reboot()
        start_coroutine(self.restore.restore_sessions(ADMIN, None))
        stopping = start_coroutine(self.restore.stop())
        self.spend(3)
        self.successResultOf(stopping)
        self.sessions.close()
        self.crash()
        self.assertEqual([second.id], self.offered())
        self.assertIsNotNone(self.sessions.get(first.id).pid)

    def test_crash_during_a_restore_keeps_the_offer(self) -> None:
        """What runs is not offered, what does not is; nothing is started twice."""
        first, second = self.agent(), self.agent(conversation="c-2")
        self.reboot()
        start_coroutine(self.restore.restore_sessions(ADMIN, None))
        self.spend(1)
        self.crash()
        self.assertEqual([second.id], self.offered())
        self.assertEqual({second.id: "restored"}, self.outcomes())
        self.assertEqual([2, 2], [self.starts(each) for each in (first, second)])

    def starts(self, session: Session) -> int:
        """How often it was started."""
        return sum(1 for spec in self.host.specs if spec.session_id == session.id)


class CapsTests(RestoreHarnessCase):
    """Caps count processes, and are looked at for each session."""

    def setUp(self) -> None:
        super().setUp()
        config = evolve(self.machine.config, max_sessions=3)
        self.machine.config = config
        self.crash()

    def test_restore_respects_the_process_cap(self) -> None:
        first, second = self.shell(), self.shell()
        self.reboot()
        self.machine.config = evolve(self.machine.config, max_sessions=1)
        self.crash()
        expected = {first.id: "restored", second.id: "capacity-reached"}
        self.assertEqual(expected, self.outcomes())
        self.assertEqual([second.id], self.offered())
        self.run_now(self.sessions.stop(first.id, "room"))
        self.assertEqual({second.id: "restored"}, self.outcomes())


class AutomaticRestoreTests(RestoreHarnessCase):
    def test_automatic_restore_is_off_by_default(self) -> None:
        shell = self.shell()
        self.reboot()
        self.spend(60)
        self.assertEqual([shell.id], self.offered())

    def test_automatic_restore_starts_sessions_one_at_a_time(self) -> None:
        """One at a time, once the doors are open; also what a crash has left."""
        first, second = self.agent(), self.agent(conversation="c-2")
        self.change_settings(auto_restore_enabled=True)
        self.reboot()
        self.assertEqual([None, None], self.pids(first, second))
        self.spend(2)
        self.assertEqual([False, True], [pid is None for pid in self.pids(first, second)])
        self.crash()
        self.spend(5)
        self.assertNotIn(None, self.pids(first, second))
        self.assertEqual([], self.offered())

    def pids(self, *sessions: Session) -> list[Any]:
        return [self.sessions.get(each.id).pid for each in sessions]
