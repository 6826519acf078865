"""What sessions did while nobody looked, and the operations that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from tests.event_helpers import make_event
from tests.unit.http.site_driver import ApiHarness
from tests.unit.sessions.harness import BOOT, SessionCase
from tservice.agents.away import service
from tservice.agents.away.routes import AwayRoutes
from tservice.agents.away.service import AwayService
from tservice.agents.away.store import AbsenceStore
from tservice.agents.away.work import AgentWork, count_work
from tservice.agents.transcripts.conversation.items import (
    ConversationItem,
    FileDiff,
    ItemKind,
    ItemRole,
    ToolCall,
    ToolStatus,
)
from tservice.http.operation_decorator import collect_operations
from tservice.sessions.interfaces import Session

NOW = int(BOOT * 1000)


def call(
    command: str = "", *, path: str = "", status: ToolStatus = ToolStatus.DONE, at: int = NOW + 1
) -> ConversationItem:
    """A call of a tool."""
    diffs = (FileDiff(path=path, added=1, removed=0),) if path else ()
    tool = ToolCall(
        name="Bash", title="Bash", input={"command": command}, status=status, diffs=diffs
    )
    return ConversationItem(role=ItemRole.ASSISTANT, kind=ItemKind.TOOL, tool=tool, at=at)


class AwayTests(SessionCase):
    """L{AwayService}."""

    def setUp(self) -> None:
        super().setUp()
        self.items: Sequence[ConversationItem] = ()
        self.check_states: dict[tuple[str, int], str] = {}
        self.session = self.shell(name="api")
        self.begin()

    def begin(self) -> None:
        self.away = AwayService(
            clock=self.clock,
            hub=self.machine.hub,
            sessions=self.sessions,
            store=AbsenceStore(self.machine.database),
            read_items=self.read_items,
            find_check_state=lambda *asked: self.check_states.get(asked),
        )
        self.away.start()
        self.addCleanup(self.away.stop)
        operations = collect_operations(AwayRoutes(self.away, multiuser=False))
        self.api = ApiHarness(operations, clock=self.clock)
        self.addCleanup(self.api.close)

    async def read_items(self, session_id: str, limit: int) -> Sequence[ConversationItem]:
        return self.items

    def tell(self, name: str, session: Session | None = None, **fields: Any) -> None:
        about = session or self.session
        self.machine.hub.publish(make_event(name, session_id=about.id, **fields))

    def listed(self) -> Any:
        return self.api.get("/api/away").data["sessions"]

    def test_turns_answers_files_commits_and_cost_are_counted_since_the_last_look(self) -> None:
        self.sessions.update_record(self.session.id, total_cost=1.0)
        self.away.record_look("", self.session.id)
        self.sessions.update_record(self.session.id, total_cost=1.75)
        self.tell("session:stop")
        self.tell("session:stop")
        self.tell("approval:resolved", resolution="answered")
        self.tell("approval:resolved", resolution="superseded")
        self.check_states[self.session.id, NOW] = "green"
        self.items = (call(path="a.py"), call(path="a.py"), call(path="b.py"), call("git commit"))
        [found] = self.listed()
        self.assertEqual(
            {
                "id": self.session.id, "name": "api", "since": NOW, "turns": 2, "answered": 1,
                "byRule": 0, "checks": "green", "files": 2, "commits": 1, "cost": 0.75,
                "isBusy": found["isBusy"],
            },
            found,
        )  # fmt: skip

    def test_answers_of_rules_are_counted_apart(self) -> None:
        self.tell("approval:resolved", resolution="answered")
        self.tell("approval:resolved", resolution="answered", rule="git reads")
        self.tell("approval:byRule", rule="git reads")
        [found] = self.listed()
        self.assertEqual((3, 2), (found["answered"], found["byRule"]))
        self.assertNotIn("checks", found)

    def test_session_leaves_the_list_when_its_owner_looks(self) -> None:
        self.tell("session:stop")
        self.away.record_look("somebody else", self.session.id)
        self.assertEqual(1, len(self.listed()))
        self.away.record_look("", self.session.id)
        self.assertEqual([], self.listed())

    def test_everything_is_marked_as_seen(self) -> None:
        self.tell("session:stop")
        self.tell("session:stop", self.shell())
        self.api.post("/api/away/seen", {})
        self.assertEqual([], self.listed())

    def test_counts_survive_a_restart(self) -> None:
        self.away.record_look("", self.session.id)
        self.tell("session:stop")
        self.tell("approval:byRule", rule="git reads")
        self.away.stop()
        self.begin()
        [found] = self.listed()
        self.assertEqual((1, 1, 1), (found["turns"], found["answered"], found["byRule"]))

    def test_removed_session_is_forgotten(self) -> None:
        self.tell("session:stop")
        self.run_now(self.sessions.delete(self.session.id))
        self.assertEqual([], self.listed())
        self.assertEqual([], AbsenceStore(self.machine.database).load_all())

    def test_list_is_bounded_and_says_how_many_there_are(self) -> None:
        self.patch(service, "SESSIONS", 2)
        for _ in range(3):
            self.tell("session:stop", self.create())
        answer = self.api.get("/api/away").data
        self.assertEqual((2, 3), (len(answer["sessions"]), answer["total"]))


class WorkTests(SessionCase):
    """L{count_work}."""

    def test_work(self) -> None:
        for item, wanted in (
            (call("git commit -m x"), AgentWork(commits=1)),
            (call("cd a && git -C b commit -am x"), AgentWork(commits=1)),
            (call("git log; git status"), AgentWork()),
            (call("echo git commit"), AgentWork()),
            (call("git show commit"), AgentWork()),
            (call("git commit", status=ToolStatus.FAILED), AgentWork()),
            (call("git commit", at=NOW), AgentWork()),
            (evolve(call("git commit"), at=None), AgentWork()),
            (call(path="a"), AgentWork(files=1)),
            (call(path="a", status=ToolStatus.DENIED), AgentWork()),
        ):
            self.assertEqual(wanted, count_work([item], NOW), item)
