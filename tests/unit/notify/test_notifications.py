"""Which events are told, how urgently, and never twice in a moment."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tservice.core.kernel.event_payloads import ApprovalPayload
from tservice.core.kernel.events import Event, EventName
from tservice.notify.duplicates import REMEMBERED, DuplicateFilter
from tservice.notify.model import MessageUrgency
from tservice.notify.notifications import NotificationEvent, fold_to_line, make_notification

URGENCIES = {
    "hook:permission_prompt": MessageUrgency.CRITICAL,
    "hook:elicitation_dialog": MessageUrgency.CRITICAL,
    "session:error": MessageUrgency.CRITICAL,
    "session:breakerTripped": MessageUrgency.CRITICAL,
    "hook:idle_prompt": MessageUrgency.WARNING,
    "session:limitPauseScheduled": MessageUrgency.WARNING,
    "hook:stop": MessageUrgency.INFO,
    "session:stop": MessageUrgency.INFO,
}


def event(name: str, session_id: str | None = "s1", **data: Any) -> Event:
    told: dict[str, Any] = {"data": data} if name.startswith("hook:") else {}
    return make_event(name, session_id=session_id, **told)


def told(name: str, **data: Any) -> NotificationEvent:
    found = make_notification(event(name, **data))
    assert found is not None
    return found


class HappeningTests(SynchronousTestCase):
    def test_events_have_names_and_urgency(self) -> None:
        for name, urgency in URGENCIES.items():
            found = told(name)
            self.assertEqual((name.split(":")[1], urgency), (found.event, found.urgency))
            self.assertTrue(found.body)
            self.assertTrue(found.make_title("api").startswith("api "))

    def test_other_events_send_no_message(self) -> None:
        for name in ("hook:prompt_submitted", "session:working", "sse:heartbeat"):
            self.assertIsNone(make_notification(event(name)))
        self.assertIsNone(make_notification(event("hook:stop", None)))

    def test_questions_of_agents_without_hooks_are_those_of_the_inbox(self) -> None:
        for kind, expected in (
            ("permission", "permission_prompt"),
            ("question", "elicitation_dialog"),
            ("idle", None),
        ):
            item = ApprovalPayload(id="s1:4", session_id="s1", session_name="api", kind=kind)
            pending = Event(name=EventName.APPROVAL_PENDING, payload=item, session_id="s1")
            found = make_notification(pending)
            self.assertEqual(expected, found and found.event)
            if found is not None:
                self.assertEqual(("s1", "api"), (found.about, found.session_name))
                self.assertIs(MessageUrgency.CRITICAL, found.urgency)

    def test_hook_and_service_send_one_message_for_the_same_end_of_a_turn(self) -> None:
        repeats = DuplicateFilter(Clock())
        found = [told(name) for name in ("hook:stop", "session:stop")]
        self.assertEqual([True, False], [repeats.check_new_and_remember(each) for each in found])

    def test_message_holds_the_words_of_the_agent_but_no_command(self) -> None:
        self.assertEqual("Needs you", told("hook:permission_prompt", message=" Needs\nyou ").body)
        found = told(
            "hook:permission_prompt", tool_name="Bash", tool_input={"command": "curl -H secret"}
        )
        self.assertEqual("Tool: Bash", found.body)

    def test_odd_payloads_give_a_default_message(self) -> None:
        for data in ({}, {"message": 3, "tool_name": []}):
            found = make_notification(make_event("hook:stop", data=data, session_id="s1"))
            assert found is not None
            self.assertEqual("It is ready for the next prompt.", found.body)

    def test_only_failed_runs_send_a_message(self) -> None:
        run: dict[str, Any] = {"id": "r1", "status": "failed", "errorMessage": "no such folder",
               "sessionId": None, "sessionName": "nightly"}  # fmt: skip
        for name in ("cron:runCreated", "cron:runUpdated"):
            found = make_notification(make_event(name, **run))
            assert found is not None
            self.assertEqual(
                ("runFailed", MessageUrgency.WARNING, "r1", "no such folder", None, "nightly"),
                (found.event, found.urgency, found.about, found.body, found.session_id,
                 found.session_name),
            )  # fmt: skip
        for status in ("created", "skipped", "prompt_sent"):
            done = make_event("cron:runUpdated", **{**run, "status": status})
            self.assertIsNone(make_notification(done))

    def test_long_body_says_how_much_is_missing(self) -> None:
        body = told("hook:stop", message="x" * 3000).body
        shown = body.partition("…")[0]
        self.assertLessEqual(len(body), 1000)
        self.assertEqual(f"{shown}… ({3000 - len(shown)} more characters)", body)

    @given(st.text(max_size=400), st.integers(1, 300))
    def test_text_is_folded_into_one_bounded_line(self, text: str, limit: int) -> None:
        line = fold_to_line(text, limit)
        self.assertLessEqual(len(line), limit)
        self.assertTrue(not line or line.splitlines() == [line])
        line.encode()


class RepeatedEventTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.repeats = DuplicateFilter(self.clock)

    def is_new(self, name: str = "hook:stop", session_id: str = "s1", **data: Any) -> bool:
        found = make_notification(event(name, session_id, **data))
        assert found is not None
        return self.repeats.check_new_and_remember(found)

    def test_repeated_event_is_new_after_three_seconds(self) -> None:
        self.assertTrue(self.is_new())
        self.clock.advance(2.9)
        self.assertFalse(self.is_new())
        self.clock.advance(0.1)
        self.assertTrue(self.is_new())

    def test_other_sessions_and_events_are_new(self) -> None:
        self.assertTrue(self.is_new())
        self.assertTrue(self.is_new(session_id="s2"))
        self.assertTrue(self.is_new("hook:idle_prompt"))

    def test_notification_of_an_announced_dialog_is_a_repeat(self) -> None:
        """The agent notifies 6 s after its own hook of the same dialog."""
        hook, note = ({"hook_event_name": name} for name in ("PermissionRequest", "Notification"))
        self.assertTrue(self.is_new("hook:permission_prompt", **hook))
        self.clock.advance(6)
        self.assertFalse(self.is_new("hook:permission_prompt", **note))
        self.assertTrue(self.is_new("hook:permission_prompt", **hook))
        self.clock.advance(10)
        self.assertTrue(self.is_new("hook:permission_prompt", **note))

    def test_clock_set_back_makes_an_event_new(self) -> None:
        self.clock.advance(100)
        self.assertTrue(self.is_new())
        self.clock.rightNow = 50
        self.assertTrue(self.is_new())

    def test_remembered_events_are_bounded(self) -> None:
        for number in range(REMEMBERED + 1):
            self.assertTrue(self.is_new(session_id=f"s{number}"))
        self.assertFalse(self.is_new(session_id="s1"))
        self.assertTrue(self.is_new(session_id="s0"))
