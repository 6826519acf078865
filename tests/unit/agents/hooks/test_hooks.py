"""Hook events: what is kept, what is told, which signals they give (protocol-hooks)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED, make_caller
from tests.event_helpers import to_wire
from tests.examples import example_count
from tests.unit.agents.harness import (
    BUSY_TITLE,
    COMPOSER,
    IDLE_TITLE,
    PERMISSION,
    SPINNER,
    AgentHarnessCase,
)
from tservice.agents.hooks.hook_classification import (
    FOREIGN,
    TOOLS,
    PaneConversations,
    RunningTools,
)
from tservice.agents.model import CONVERSATIONS, HookEvent, reduce_data
from tservice.agents.todos import TODOS
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import EventAudience
from tservice.sessions.record.model import Session
from tservice.sessions.record.wire import make_session_answer

KEPT = {
    "hook_event_name",
    "tool_name",
    "tool_input",
    "session_id",
    "cwd",
    "permission_mode",
    "stop_hook_active",
    "transcript_path",
    "message",
    "model",
}
TOLD = {"tool_digest", "tool_missing", "tool_other"}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=600),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)
payloads = st.dictionaries(
    st.sampled_from([*sorted(KEPT), "prompt", "error", "last_assistant_message"]), anything
)


class ReduceTests(SynchronousTestCase):
    """L{reduce_data}."""

    @settings(max_examples=example_count(300))
    @given(payloads)
    def test_hook_data_keeps_only_listed_keys_within_their_lengths(
        self, payload: dict[str, Any]
    ) -> None:
        kept = reduce_data(payload)
        self.assertLessEqual(set(kept), KEPT | TOLD)
        self.assertLess(len(json.dumps(kept)), 60_000)
        self.assertLessEqual(len(kept.get("message", "")), 4000)
        again = reduce_data(kept)
        for told in (kept, again):
            for key in TOLD:
                told.pop(key, None)
        self.assertEqual(kept, again)

    def test_tool_input_texts_are_cut_to_their_lengths(self) -> None:
        given = dict.fromkeys(("command", "file_path", "url", "description", "query"), "x" * 99_999)
        kept = reduce_data({"tool_input": {**given, "content": "secret"}})["tool_input"]
        for key, text in kept.items():
            shown = text.partition("…")[0]
            self.assertEqual(f"{shown}… ({99_999 - len(shown)} more characters)", text)
            self.assertLessEqual(len(text), 16_384 if key == "command" else 4096)
        self.assertEqual(set(given), set(kept))

    def test_digest_covers_the_whole_tool_input(self) -> None:
        def digest(**given: Any) -> str:
            return str(reduce_data({"tool_input": given})["tool_digest"])

        self.assertEqual(digest(a=1, b="x"), digest(b="x", a=1))
        long = "x" * 99_999
        texts = {digest(command=long), digest(command=f"{long}y"), digest(command=long, c=[1])}
        self.assertEqual(3, len(texts))

    def test_error_of_a_failed_turn_becomes_its_message(self) -> None:
        failed = {"hook_event_name": "StopFailure", "error": "unknown"}
        self.assertEqual("unknown", reduce_data(failed)["message"])
        said = reduce_data({**failed, "last_assistant_message": "API Error: 400"})
        self.assertEqual("API Error: 400", said["message"])

    def test_missing_data_reduces_to_nothing(self) -> None:
        self.assertEqual({}, reduce_data(None))


class PaneConversationTests(SynchronousTestCase):
    """L{PaneConversations}."""

    def own(self, found: PaneConversations, *events: tuple[str, str, str]) -> list[bool]:
        return [
            found.is_event_of_pane_agent(HookEvent(name), who, source)
            for name, who, source in events
        ]

    def test_agent_started_by_the_agent_is_foreign(self) -> None:
        found = PaneConversations(None)
        self.assertEqual(
            [True, True, False, False, False, True, False],
            self.own(
                found,
                ("session_start", "a", "startup"),
                ("prompt_submitted", "a", ""),
                ("session_start", "b", "startup"),
                ("stop", "b", ""),
                ("session_end", "b", ""),
                ("stop", "a", ""),
                ("session_start", "c", "startup"),
            ),
        )

    def test_clear_and_resume_continue_in_another_conversation(self) -> None:
        found = PaneConversations("a")
        events = [("session_end", "a", ""), ("session_start", "b", "clear"), ("stop", "b", "")]
        self.assertEqual([True] * 3, self.own(found, *events))
        self.assertEqual(
            [True] * 2, self.own(found, ("session_start", "c", "resume"), ("stop", "c", ""))
        )

    def test_conversation_whose_start_was_missed_is_trusted(self) -> None:
        self.assertEqual([True], self.own(PaneConversations("a"), ("stop", "b", "")))
        self.assertEqual([True], self.own(PaneConversations("a"), ("stop", "", "")))

    def test_remembered_foreign_conversations_are_bounded(self) -> None:
        found = PaneConversations("a")
        for number in range(FOREIGN + 1):
            self.own(found, ("session_start", f"b{number}", "startup"))
        self.assertEqual([True, False], self.own(found, ("stop", "b0", ""), ("stop", "b1", "")))


class SignalTests(AgentHarnessCase):
    """L{tservice.agents.hooks.intake.HookIntake}."""

    def test_every_hook_event_is_published_to_the_owner(self) -> None:
        session = self.ready()
        for event in HookEvent:
            self.machine.events.clear()
            self.hook(session, event, message="m", prompt="kept from everybody")
            told = [e for e in self.machine.events if e.name == f"hook:{event}"]
            self.assertEqual(1, len(told))
            self.assertEqual({"message": "m"}, to_wire(told[0])["data"])
            self.assertEqual(session.id, to_wire(told[0])["sessionId"])
            self.assertIs(EventAudience.OWNER, told[0].name.audience)

    def test_each_dialog_signals_blocked_once(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        self.show(session, PERMISSION)
        self.spend(6)
        self.hook(session, "permission_prompt", hook_event_name="Notification")
        self.assert_signals(["working", "blocked"])
        self.hook(session, "permission_prompt", hook_event_name="PermissionRequest")
        self.assert_signals(["blocked"])

    def test_permission_notification_alone_blocks(self) -> None:
        """Of an agent too old for C{PermissionRequest}."""
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.hook(session, "permission_prompt", hook_event_name="Notification")
        self.hook(session, "permission_prompt", hook_event_name="Notification")
        self.assert_signals(["working", "blocked"])

    def test_answered_dialog_ignores_its_late_notification(self) -> None:
        session = self.ready()
        self.hook(session, "elicitation_dialog", hook_event_name="Elicitation")
        self.hook(session, "elicitation_response", hook_event_name="ElicitationResult")
        self.hook(session, "stop")
        self.hook(session, "prompt_submitted")
        self.hook(session, "permission_prompt", hook_event_name="Notification")
        self.assert_signals(["working", "blocked", "stop", "idle", "working", "blocked"])

    def test_idle_prompt_hook_makes_the_session_idle(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.hook(session, "idle_prompt")
        self.assert_signals(["working", "idle"])

    def test_shells_and_agents_without_hooks_give_no_hook_signal(self) -> None:
        for session in (self.shell(), self.agent(COMPOSER, mode="codex")):
            self.spend(5)
            self.machine.events.clear()
            for event in HookEvent:
                self.hook(session, event)
            self.assertEqual(
                [f"hook:{event}" for event in HookEvent], [e.name for e in self.machine.events]
            )

    def test_inner_agent_gives_no_signal(self) -> None:
        session = self.ready()
        outer, inner = {"session_id": "outer"}, {"session_id": "inner"}
        self.hook(session, "session_start", source="startup", **outer)
        self.hook(session, "prompt_submitted", **outer)
        self.hook(session, "session_start", source="startup", **inner)
        self.hook(session, "stop", **inner)
        self.assert_signals(["working"])
        self.assertEqual(("outer",), self.sessions.get(session.id).conversation_ids)

    def test_newest_conversations_and_transcript_path_are_kept(self) -> None:
        session = self.ready()
        for number in range(CONVERSATIONS + 5):
            self.hook(
                session,
                "session_start",
                session_id=f"c{number}",
                source="clear",
                transcript_path=f"/t/{number}",
            )
        self.hook(session, "stop", session_id="c10")
        ids = self.sessions.get(session.id).conversation_ids
        self.assertEqual((CONVERSATIONS, "c5", "c10"), (len(ids), ids[0], ids[-1]))
        self.machine.restart()
        self.assertEqual(
            f"/t/{CONVERSATIONS + 4}", self.agents.agents.get_transcript_path(session.id)
        )
        self.hook(session, "stop", session_id="bad id")
        self.assertEqual("c10", self.sessions.get(session.id).conversation_ids[-1])

    def tool(self, session: Session) -> tuple[str | None, int | None]:
        found = self.sessions.get(session.id)
        return found.current_tool, found.background_tasks

    def test_running_tool_is_reported(self) -> None:
        session = self.ready()
        made = {"tool_name": "Bash", "tool_input": {"command": "make \x1b[1mall"}}
        read = {"tool_name": "Read", "tool_input": {"file_path": "/a"}}
        self.hook(session, "prompt_submitted")
        self.assertEqual((None, None), self.tool(session))
        self.hook(session, "tool_started", **made)
        self.hook(session, "tool_started", **read)
        self.hook(session, "tool_started", agent_id="inner", tool_name="Grep")
        self.assertEqual("Read /a", self.tool(session)[0])
        self.hook(session, "tool_ended", **read)
        self.assertIn("Bash make", self.tool(session)[0] or "")
        self.assertNotIn("\x1b", self.tool(session)[0] or "")
        self.hook(session, "stop", background_tasks=[{"id": "x"}], session_crons=[])
        self.assertEqual((None, 1), self.tool(session))
        answer = to_wire(make_session_answer(self.sessions.get(session.id)))
        self.assertEqual(1, answer["backgroundTasks"])
        self.pane(session).exit_program()
        self.spend(1)
        self.assertEqual((None, None), self.tool(session))

    def did(self, session: Session, tool: str, given: object, answered: object = None) -> None:
        self.hook(session, "tool_ended", tool_name=tool, tool_input=given, tool_response=answered)

    def todos(self, session: Session) -> tuple[list[tuple[str, str]], str | None]:
        told = to_wire(make_session_answer(self.sessions.get(session.id)))
        listed = [(each["text"], each["status"]) for each in told.get("todos", [])]
        return listed, told.get("currentTask")

    def test_todo_list_follows_the_hooks(self) -> None:
        session = self.ready()
        self.assertEqual(([], None), self.todos(session))
        for number, text in enumerate(("Run\x1b[1m the tests", "Mend them"), 1):
            task = {"task": {"id": str(number)}}
            self.did(session, "TaskCreate", {"subject": text, "activeForm": f"{text}ing"}, task)
        update = {"taskId": "2", "status": "in_progress"}
        self.did(session, "TaskUpdate", update, {"success": False})
        self.assertIsNone(self.todos(session)[1])
        self.did(session, "TaskUpdate", update, {"success": True})
        run = "Run [1m the tests"
        self.assertEqual(
            ([(run, "pending"), ("Mend them", "in_progress")], "Mend theming"),
            self.todos(session),
        )
        self.did(session, "TaskUpdate", {"taskId": "1", "status": "deleted"}, {"success": True})
        self.did(session, "TaskUpdate", {"taskId": "9", "status": "completed"}, {"success": True})
        self.assertEqual([("Mend them", "in_progress")], self.todos(session)[0])
        self.hook(session, "tool_ended", agent_id="inner", tool_name="TodoWrite", tool_input={})
        listed = [{"content": "Look", "status": "completed"}, {"content": 5}, "x"]
        self.did(session, "TodoWrite", {"todos": listed})
        self.assertEqual(([("Look", "completed")], None), self.todos(session))
        self.hook(session, "session_start", source="clear")
        self.assertEqual(([], None), self.todos(session))

    def test_newest_items_of_a_long_todo_list_are_kept(self) -> None:
        session = self.ready()
        for number in range(TODOS + 1):
            task = {"task": {"id": str(number)}}
            self.did(session, "TaskCreate", {"subject": f"t{number}"}, task)
        self.assertEqual("t1", self.todos(session)[0][0][0])
        self.did(session, "TodoWrite", {"todos": [{"content": "w"}] * (TODOS + 1)})
        self.assertEqual(TODOS, len(self.todos(session)[0]))

    def test_tool_interrupted_by_escape_is_cleared(self) -> None:
        """No hook tells of that; the screen does."""
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.hook(session, "tool_started", tool_name="Bash")
        self.show(session, SPINNER, BUSY_TITLE)
        self.spend(1)
        self.assertEqual("Bash", self.tool(session)[0])
        self.show(session, COMPOSER, IDLE_TITLE)
        self.spend(3)
        self.assertIsNone(self.tool(session)[0])

    def test_remembered_tools_are_bounded(self) -> None:
        tools = RunningTools()
        for number in range(TOOLS + 5):
            tools.handle_event(HookEvent.TOOL_STARTED, f"{number}")
        for number in range(TOOLS + 5):
            tools.handle_event(HookEvent.TOOL_ENDED, f"{number + 5}")
        self.assertIsNone(tools.current_tool)

    def test_new_process_starts_with_fresh_hook_state(self) -> None:
        session = self.ready()
        self.hook(session, "session_start", session_id="a", source="startup")
        self.pane(session).exit_program()
        self.run_now(self.sessions.start(session.id, GRANTED))
        self.hook(session, "session_start", session_id="b", source="startup")
        self.assertEqual(("a", "b"), self.sessions.get(session.id).conversation_ids)

    def test_hooks_of_unknown_and_foreign_sessions_are_refused(self) -> None:
        with self.assertRaises(ServiceError) as caught:
            self.agents.hooks.handle_hook_event(HookEvent.STOP, "nobody", None)
        self.assertEqual(404, caught.exception.status)
        session = self.ready()
        stranger = make_caller(username="eve", admin=False)
        with self.assertRaises(ServiceError) as caught:
            self.agents.hooks.handle_hook_event(HookEvent.STOP, session.id, None, stranger)
        self.assertEqual(404, caught.exception.status)
        self.assert_signals([])

    def test_received_hook_marks_hooks_as_available(self) -> None:
        self.change_settings(workspace_hooks_enabled=False)
        session = self.ready()
        self.assertFalse(self.sessions.get(session.id).hooks_available)
        self.hook(session, "stop")
        self.assertTrue(self.sessions.get(session.id).hooks_available)

    def test_hooks_forget_a_deleted_session(self) -> None:
        session = self.ready()
        self.hook(session, "stop", transcript_path="/t")
        self.run_now(self.sessions.delete(session.id))
        self.assertEqual({}, self.agents.hooks._told)
        self.assertIsNone(self.agents.agents.get_transcript_path(session.id))
