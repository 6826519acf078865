"""To-do lists as Codex, Gemini CLI and opencode write them down (protocol-session)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.event_helpers import to_wire
from tests.runtime_harness import own_location, places_of, unbounded
from tests.unit.agents.harness import AgentHarnessCase, run_directly
from tests.unit.agents.transcripts.transcript_lines import ID, write_lines
from tests.unit.agents.transcripts.transcript_samples import RECORDED, make_database
from tservice.agents.activity.agent_watch import START_IDLE
from tservice.agents.todos import CHARS, TODOS
from tservice.agents.transcripts import files as transcript_files
from tservice.agents.transcripts.conversation_access import read_new_messages
from tservice.agents.transcripts.conversation_stores import StoredConversation, scan_conversations
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.model import (
    ListedTodos,
    ReadPosition,
    TranscriptTally,
    decode_tally,
)
from tservice.agents.transcripts.parsers import codex, gemini
from tservice.agents.transcripts.prices import PriceTable, load_packaged_prices
from tservice.agents.transcripts.service import MOMENT, TranscriptService
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.agents.transcripts.turn_times import IN_TURN, TurnReadTimer
from tservice.agents.transcripts.usage.position_store import ReadPositionStore
from tservice.agents.transcripts.usage.store import UsageStore
from tservice.core.kernel.event_payloads import OccurrencePayload, SessionExited
from tservice.core.kernel.events import Event, EventName
from tservice.sessions.record.model import SessionStatus
from tservice.sessions.record.wire import make_session_answer

LOOKED = ("Look at the door", "completed")
PAINT = ("Paint the door", "in_progress")
DRY = ("Let it dry", "pending")


def changes(name: str, mode: str) -> list[ListedTodos]:
    """Each list that a recorded conversation came to, line by line."""
    advance = {"codex": codex.advance_tally, "gemini": gemini.advance_tally}[mode]
    tally, found = TranscriptTally(), []
    for line in (RECORDED / name).read_text("utf-8").splitlines():
        before, tally = tally, advance(tally, json.loads(line))
        if tally.todos != before.todos:
            found.append(tally.todos)
    return found


def called(name: str, plan: object, tool: str = "update_plan") -> dict[str, Any]:
    given = plan if isinstance(plan, str) else json.dumps({"plan": plan})
    item = {"type": "function_call", "name": tool, "call_id": name, "arguments": given}
    return {"type": "response_item", "payload": item}


def answered(name: str, output: object = "Plan updated") -> dict[str, Any]:
    item = {"type": "function_call_output", "call_id": name, "output": output}
    return {"type": "response_item", "payload": item}


def happened(name: EventName, session: str) -> Event:
    exits = name is EventName.SESSION_EXIT
    payload = SessionExited(id=session) if exits else OccurrencePayload(id=session, at=0)
    return Event(name=name, payload=payload, session_id=session, owner=None)


class CodexTodoTests(SynchronousTestCase):
    def after(self, *lines: Mapping[str, Any]) -> ListedTodos:
        tally = TranscriptTally(todos=(DRY,))
        for line in lines:
            tally = codex.advance_tally(tally, line)
        return tally.todos

    def test_codex_todo_list_matches_the_recording(self) -> None:
        """A later plan replaces the earlier one, one that it refused does not, and one may end."""
        dries = (("Paint the door", "completed"), ("Let it dry", "in_progress"))
        self.assertEqual(
            [(LOOKED, PAINT, DRY), dries, ()], changes("codex-0.169.0-plan.jsonl", "codex")
        )

    def test_codex_plan_counts_only_once_accepted(self) -> None:
        plan = [{"step": "Look", "status": "completed"}]
        look = (("Look", "completed"),)
        self.assertEqual((DRY,), self.after(called("a", plan)))
        self.assertEqual(look, self.after(called("a", plan), answered("x"), answered("a")))
        others: list[Any] = ["unsupported call: update_plan", None, [], {"output": "Plan updated"}]
        for output in others:
            self.assertEqual((DRY,), self.after(called("a", plan), answered("a", output)))
        self.assertEqual((DRY,), self.after(called("a", plan, tool="other"), answered("a")))
        self.assertEqual(look, self.after(called("a", []), called("b", plan), answered("b")))

    def test_odd_codex_plans_are_ignored(self) -> None:
        for plan in ("{", "[" * 100_000, "null", "[]", "5", {"step": "x"}, None, 5):
            self.assertEqual((DRY,), self.after(called("a", plan), answered("a")))
        items: list[Any] = [None, [], {"type": "function_call"}, {"type": "function_call_output"}]
        for item in items:
            self.assertEqual((DRY,), self.after({"type": "response_item", "payload": item}))
        odd: list[Any] = [None, [], "x", {"step": 5}, {"step": " "}, {"step": "ok", "status": {}}]
        self.assertEqual((("ok", "pending"),), self.after(called("a", odd), answered("a")))

    def test_codex_todo_list_is_bounded(self) -> None:
        plan = [{"step": f"{number} " + "x" * CHARS} for number in range(TODOS + 10)]
        found = self.after(called("a", plan), answered("a"))
        self.assertEqual((TODOS, "10 "), (len(found), found[0][0][:3]))
        self.assertEqual({CHARS}, {len(text) for text, _ in found})

    def test_control_characters_of_todo_items_are_removed(self) -> None:
        plan = [{"step": "one\x1b[1m\ntwo"}]
        self.assertEqual(
            (("one [1m two", "pending"),), self.after(called("a", plan), answered("a"))
        )


class GeminiTodoTests(SynchronousTestCase):
    def after(self, calls: object) -> ListedTodos:
        return gemini.advance_tally(
            TranscriptTally(todos=(DRY,)), {"type": "gemini", "toolCalls": calls}
        ).todos

    def test_gemini_todo_list_matches_the_recording(self) -> None:
        """Crossed out is left out, blocked waits; a list that was refused changes nothing."""
        waits = ("Wait for paint", "pending")
        self.assertEqual(
            [(LOOKED, PAINT, DRY, waits), (("Let it dry", "in_progress"),), ()],
            changes("gemini-0.61.0-todos.jsonl", "gemini"),
        )

    def test_odd_gemini_todo_lists_are_ignored(self) -> None:
        good = {"name": "write_todos", "status": "success"}
        odd: list[Any] = [None, 5, {}, [None, 5], [good], [{**good, "args": {"todos": "x"}}]]
        for calls in odd:
            self.assertEqual((DRY,), self.after(calls))
        look = {"todos": [{"description": "Look", "status": "completed"}]}
        for change in ({"name": "other"}, {"status": "error"}, {"status": "cancelled"}):
            self.assertEqual((DRY,), self.after([{**good, "args": look, **change}]))
        self.assertEqual((("Look", "completed"),), self.after([5, {**good, "args": look}]))


class OpencodeTodoTests(SynchronousTestCase):
    ID = "ses_df9699048ffeydfs741mimOzYd"

    def read(self, *statements: str, sample: str = "opencode-1.18.33-todos.sql") -> TranscriptTally:
        path = make_database(Path(self.mktemp()).absolute() / "o.db", *statements, sample=sample)
        return read_new_messages(ReadPosition(path=""), path / self.ID, "opencode").tally

    def test_opencode_todo_list_matches_the_recording(self) -> None:
        self.assertEqual((LOOKED, PAINT, DRY), self.read().todos)

    def test_opencode_todo_list_follows_the_database(self) -> None:
        self.assertEqual((), self.read("DELETE FROM todo").todos)
        cut = self.read("DELETE FROM todo WHERE position < 2", "UPDATE todo SET status = 'new'")
        self.assertEqual((DRY, ("Sell it", "pending")), cut.todos)

    def test_odd_opencode_todo_rows_are_ignored(self) -> None:
        odd = "UPDATE todo SET content = x'ff', status = 5 WHERE position = 0"
        self.assertEqual((PAINT, DRY), self.read(odd).todos)
        many = (
            "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 99)"
            f"INSERT INTO todo SELECT '{self.ID}', 'n' || i, 'pending', 'low', i, 0, 0 FROM n"
        )
        found = self.read(many).todos
        self.assertEqual(([TODOS], "n50"), ([len(found)], found[0][0]))

    def test_opencode_database_without_a_todo_table_has_no_list(self) -> None:
        """All else of the conversation is told."""
        for change in ("DROP TABLE todo", "ALTER TABLE todo RENAME COLUMN content TO words"):
            tally = self.read(change)
            self.assertEqual(((), "Done with the tool."), (tally.todos, tally.response))


class TodoTallyTests(SynchronousTestCase):
    def test_todo_list_is_stored_with_the_tally(self) -> None:
        for tally in (
            TranscriptTally(),
            TranscriptTally(todos=(LOOKED, PAINT), planned=("a", (DRY,))),
        ):
            found = json.loads(json.dumps(attrs.asdict(tally)))
            self.assertEqual(tally, decode_tally(found))

    def test_tally_without_todo_fields_is_read_or_discarded(self) -> None:
        found = json.loads(json.dumps(attrs.asdict(TranscriptTally())))
        del found["todos"], found["planned"]
        self.assertEqual(TranscriptTally(), decode_tally(found))
        for odd in ({"todos": [["a"]]}, {"todos": 5}, {"planned": [1, 2, 3]}):
            self.assertIsNone(decode_tally({**found, **odd}))


class TurnLooksTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.looks: list[str] = []
        self.turns = TurnReadTimer(self.clock, lambda name: name != "told", self.looks.append)

    def tell(self, name: EventName, session: str = "a") -> None:
        self.turns.update_timer_from_event(happened(name, session))

    def test_looks_repeat_for_as_long_as_a_turn_takes(self) -> None:
        for rest in (EventName.SESSION_IDLE, EventName.SESSION_EXIT, EventName.SESSION_DELETED):
            self.looks.clear()
            self.tell(EventName.SESSION_WORKING)
            self.clock.pump([IN_TURN - 0.1, 0.2, IN_TURN])
            self.tell(EventName.SESSION_BLOCKED)
            self.assertEqual(["a", "a"], self.looks)
            self.tell(rest)
            self.clock.pump([IN_TURN] * 3)
            self.assertEqual((["a", "a"], []), (self.looks, self.clock.getDelayedCalls()))

    def test_looks_are_made_only_for_wanted_sessions(self) -> None:
        self.tell(EventName.SESSION_WORKING, "told")
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_looks_end_when_closed(self) -> None:
        self.tell(EventName.SESSION_WORKING)
        self.turns.close()
        self.assertEqual([], self.clock.getDelayedCalls())


class TodoServiceTests(AgentHarnessCase):
    """The record of a session follows what its agent writes down."""

    def setUp(self) -> None:
        super().setUp()
        files = TranscriptLocations.from_home(self.machine.home)
        self.path = files.codex_folder / "2026" / "11" / "23" / "rollout-1-a.jsonl"
        self.homes = TranscriptHomes(own=files, places=places_of(own_location()), inside=unbounded)
        self.open()
        self.session = self.agent("x", mode="codex")
        self.spend(START_IDLE)

    def open(self) -> None:
        store, usage = ReadPositionStore(self.machine.database), UsageStore(self.machine.database)
        prices = PriceTable(packaged=load_packaged_prices(), chosen=tuple)
        self.transcripts = TranscriptService(
            self.clock,
            self.sessions,
            self.agents.agents,
            self.homes,
            store,
            usage,
            run_directly,
            prices,
        )
        self.transcripts.start(self.machine.hub)
        self.addCleanup(self.transcripts.stop)

    def tell(self, name: EventName) -> None:
        self.machine.hub.publish(happened(name, self.session.id))

    def write(self, *lines: Any) -> None:
        write_lines(self.path, *lines)
        os.utime(self.path, (self.clock.seconds(), self.clock.seconds()))

    def prompted(self, conversation: str = ID) -> None:
        at = datetime.fromtimestamp(self.clock.seconds(), UTC).isoformat()
        meta = {"id": conversation, "cwd": self.session.working_dir}
        said = {"type": "user_message", "message": "paint"}
        self.write(
            {"type": "session_meta", "payload": meta},
            {"type": "event_msg", "timestamp": at, "payload": said},
        )

    def planned(self, *plan: tuple[str, str]) -> None:
        steps = [{"step": text, "status": status} for text, status in plan]
        self.write(called("a", steps), answered("a"))

    def rested(self) -> None:
        self.tell(EventName.SESSION_IDLE)
        self.clock.advance(MOMENT)

    def todos(self) -> tuple[list[tuple[str, str]], str | None]:
        told = to_wire(make_session_answer(self.sessions.get(self.session.id)))
        listed = [(each["text"], each["status"]) for each in told.get("todos", [])]
        return listed, told.get("currentTask")

    def test_todo_list_is_updated_at_the_end_of_a_turn(self) -> None:
        self.prompted()
        self.planned(LOOKED, PAINT)
        self.rested()
        self.assertEqual(([LOOKED, PAINT], "Paint the door"), self.todos())
        self.planned(DRY)
        self.rested()
        self.assertEqual(([DRY], None), self.todos())
        self.planned()
        self.rested()
        self.assertEqual(([], None), self.todos())

    def test_todo_list_is_updated_during_a_turn(self) -> None:
        """A long turn tells what it does; a look at rest is none of it."""
        self.prompted()
        self.tell(EventName.SESSION_WORKING)
        for step in (LOOKED, PAINT):
            self.planned(step)
            self.clock.advance(IN_TURN)
            self.clock.advance(MOMENT)
            self.assertEqual([step], self.todos()[0])
        self.rested()
        self.planned(DRY)
        self.clock.advance(3 * IN_TURN)
        self.assertEqual([PAINT], self.todos()[0])

    def test_conversation_is_searched_once_during_a_turn(self) -> None:
        searches: list[Path] = []

        def counted(root: Path, mode: str) -> Iterator[StoredConversation]:
            searches.append(root)
            return scan_conversations(root, mode)

        self.patch(transcript_files, "scan_conversations", counted)
        submitted = int(self.clock.seconds() * 1000)
        self.sessions.update_record(
            self.session.id, status=SessionStatus.BUSY, last_submit_at=submitted
        )
        self.tell(EventName.SESSION_WORKING)
        for looks, found in ((1, 1), (2, 2), (3, 2), (4, 2)):
            if looks == 2:
                self.prompted()
            self.planned((f"Step {looks}", "pending"))
            self.clock.advance(IN_TURN)
            self.clock.advance(MOMENT)
            self.assertEqual(found, len(searches))
        self.assertEqual([("Step 4", "pending")], self.todos()[0])

    def test_todo_polling_ends_with_the_service(self) -> None:
        self.prompted()
        self.tell(EventName.SESSION_WORKING)
        self.transcripts.stop()
        self.planned(DRY)
        self.clock.advance(3 * IN_TURN)
        self.assertEqual([], self.todos()[0])

    def test_end_of_the_process_clears_the_todo_list(self) -> None:
        """Nor does a reading after it bring it back, until its conversation goes on."""
        self.prompted()
        self.planned(PAINT)
        self.rested()
        self.pane(self.session).exit_program()
        self.spend(1)
        self.assertEqual(([], None), self.todos())
        self.planned(LOOKED)
        self.run_now(self.transcripts.read_new_part(self.session.id))
        self.assertEqual([], self.todos()[0])
        self.run_now(self.sessions.start(self.session.id, GRANTED))
        self.spend(1)
        self.planned(LOOKED, PAINT)
        self.rested()
        self.assertEqual([], self.todos()[0])
        self.prompted()
        self.rested()
        self.assertEqual([LOOKED, PAINT], self.todos()[0])

    def test_end_of_an_adopted_process_clears_its_todo_list(self) -> None:
        """A service that goes on with a running agent heard of no beginning."""
        self.prompted()
        self.planned(PAINT)
        self.machine.restart()
        self.transcripts.stop()
        self.open()
        self.rested()
        self.assertEqual([PAINT], self.todos()[0])
        self.pane(self.session).exit_program()
        self.spend(1)
        self.assertEqual(([], None), self.todos())

    def test_another_conversation_has_its_own_todo_list(self) -> None:
        self.prompted()
        self.planned(PAINT)
        self.rested()
        self.assertEqual([PAINT], self.todos()[0])
        self.spend(60)
        self.path = self.path.with_name("rollout-2-b.jsonl")
        self.sessions.update_record(
            self.session.id, last_submit_at=int(self.clock.seconds() * 1000)
        )
        self.prompted("7c1f6a52-0000-4000-8000-000000000002")
        self.rested()
        self.assertEqual(([], None), self.todos())
