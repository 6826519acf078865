"""The watch over agents, on scripted screens."""

from __future__ import annotations

from collections.abc import Mapping

from twisted.internet.defer import Deferred
from zope.interface import implementer

from tests.event_helpers import to_wire
from tests.unit.agents.harness import BUSY_TITLE, PERMISSION, SPINNER, AgentHarnessCase
from tservice.agents.stalls.nudging import Nudger
from tservice.agents.stalls.processes import StartedPrograms
from tservice.agents.stalls.watch import StallWatch
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    ItemKind,
    ItemRole,
    ToolCall,
    ToolStatus,
)
from tservice.agents.transcripts.conversation.pages import ConversationPage
from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.sessions.interfaces import Session
from tservice.settings.model import StallSettings


@implementer(IAuditLog)
class NotingAudit:
    """Notes entries."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    def record_entry(self, entry: AuditEntry) -> None:
        self.entries.append(entry)

    def record_summed(self, entry: AuditEntry, amount: int) -> None:
        raise NotImplementedError


class WatchTests(AgentHarnessCase):
    """L{StallWatch}."""

    def setUp(self) -> None:
        super().setUp()
        self.items: tuple[ConversationItem, ...] = ()
        self.programs = StartedPrograms()
        self.audit = NotingAudit()
        ground = self.machine.ground()
        self.watch = StallWatch(
            clock=self.clock,
            hub=self.machine.hub,
            sessions=self.sessions,
            agents=self.agents.agents,
            clis=self.machine.clis,
            settings=ground.settings,
            threads=SynchronousThreads(),
            read_latest=self.read_latest,
            read_programs=self.read_programs,
            nudger=Nudger(self.sessions, self.audit),
        )
        self.watch.start()
        self.addCleanup(self.watch.stop)
        self.session = self.ready()

    async def read_latest(self, session_id: str, limit: int) -> ConversationPage:
        return ConversationPage(items=self.items, cursor=str(len(self.items)))

    def read_programs(self, pids: Mapping[str, int]) -> dict[str, StartedPrograms]:
        return dict.fromkeys(pids, self.programs)

    def begin_turn(self) -> None:
        """A turn begins, and its screen does not change."""
        self.hook(self.session, "prompt_submitted")
        self.show(self.session, SPINNER, BUSY_TITLE)

    def reasons(self) -> list[str]:
        """What was announced so far."""
        told = [to_wire(e) for e in self.machine.events if e.name == "session:stalled"]
        return [stall["reason"] for stall in told]

    def current(self) -> Session:
        found: Session = self.sessions.get(self.session.id)
        return found

    def fail_tool(self, command: str) -> None:
        call = ToolCall(
            name="Bash", title=f"Bash {command}", input={"command": command},
            status=ToolStatus.FAILED,
        )  # fmt: skip
        item = ConversationItem(role=ItemRole.ASSISTANT, kind=ItemKind.TOOL, tool=call)
        self.items = (*self.items, item)

    def test_silent_agent_is_announced_once_and_marked(self) -> None:
        self.begin_turn()
        self.spend(4 * 60)
        self.assertEqual([], self.reasons())
        self.spend(10 * 60)
        self.assertEqual(["silent"], self.reasons())
        stall = self.current().stall
        assert stall is not None
        self.assertEqual("silent", stall.reason)
        self.assertIn("minutes", stall.detail)
        self.assertEqual("silent", self.last("session:updated")["stall"]["reason"])  # type: ignore[index]

    def test_mark_goes_when_the_agent_moves(self) -> None:
        self.begin_turn()
        self.spend(6 * 60)
        self.show(self.session, f"● Done with the first file.\n\n{SPINNER}", BUSY_TITLE)
        self.spend(30)
        self.assertIsNone(self.current().stall)
        self.assertEqual(["silent"], self.reasons())

    def test_mark_goes_at_once_when_the_turn_ends(self) -> None:
        self.begin_turn()
        self.spend(6 * 60)
        self.hook(self.session, "stop")
        self.assertIsNone(self.current().stall)

    def test_running_tool_that_uses_the_processor_is_no_stall(self) -> None:
        call = ToolCall(name="Bash", title="Bash make", input={})
        self.items = (ConversationItem(role=ItemRole.ASSISTANT, kind=ItemKind.TOOL, tool=call),)
        self.begin_turn()
        for minute in range(60):
            self.programs = StartedPrograms(ticks={7: minute})
            self.spend(60)
        self.assertEqual([], self.reasons())
        self.spend(21 * 60)
        self.assertEqual(["silent"], self.reasons())

    def test_tool_that_fails_three_times_is_announced(self) -> None:
        self.begin_turn()
        for _ in range(3):
            self.fail_tool("npm test")
            self.spend(30)
        self.assertEqual(["tool_fails"], self.reasons())
        self.fail_tool("ls")
        self.spend(30)
        self.assertIsNone(self.current().stall)

    def test_program_that_waits_at_the_terminal_is_named(self) -> None:
        self.begin_turn()
        self.programs = StartedPrograms(waiting="sudo")
        self.spend(90)
        self.assertEqual(["waits_for_terminal"], self.reasons())
        stall = self.current().stall
        assert stall is not None
        self.assertIn("sudo", stall.detail)
        self.programs = StartedPrograms()
        self.spend(30)
        self.assertIsNone(self.current().stall)

    def test_dialog_is_no_stall(self) -> None:
        self.begin_turn()
        self.show(self.session, PERMISSION)
        self.spend(60 * 60)
        self.assertEqual([], self.reasons())

    def test_nothing_is_typed_by_default(self) -> None:
        self.begin_turn()
        self.screen(self.session).pressed.clear()
        self.spend(60 * 60)
        self.assertEqual([], self.screen(self.session).pressed)
        self.assertEqual([], self.audit.entries)

    def test_nudge_is_audited_and_typed_once(self) -> None:
        self.change_settings(stalls=StallSettings(nudge=True))
        self.begin_turn()
        self.screen(self.session).pressed.clear()
        self.spend(30 * 60)
        typed = self.screen(self.session).pressed
        self.assertEqual(b"\x1b", typed[0])
        self.assertEqual(1, sum(b"go on" in data for data in typed))
        [entry] = self.audit.entries
        self.assertEqual(("stall.nudge", self.session.id), (entry.action, entry.target))
        self.assertEqual({"reason": "silent"}, entry.detail)

    def test_switched_off_detection_marks_nothing_and_clears_marks(self) -> None:
        self.begin_turn()
        self.spend(6 * 60)
        self.change_settings(stalls=StallSettings(enabled=False))
        self.spend(30)
        self.assertIsNone(self.current().stall)
        self.spend(60 * 60)
        self.assertEqual(["silent"], self.reasons())

    def test_thresholds_are_settings(self) -> None:
        self.change_settings(stalls=StallSettings(silence_minutes=30))
        self.begin_turn()
        self.spend(29 * 60)
        self.assertEqual([], self.reasons())
        self.spend(2 * 60)
        self.assertEqual(["silent"], self.reasons())

    def test_removed_session_leaves_no_record(self) -> None:
        self.begin_turn()
        self.spend(60)
        removal = self.sessions.delete(self.session.id)
        deletion = Deferred.fromCoroutine(removal)
        self.spend(30)
        self.successResultOf(deletion)
        self.assertEqual({}, self.watch._records)
