"""Notices of a turn's end are held, released and dropped."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.event_payloads import ApprovalPayload, OccurrencePayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.notice_gate import NoticeGate


def make_event(name: EventName, session_id: str = "s") -> Event:
    return Event(name=name, payload=OccurrencePayload(id=session_id, at=1), session_id=session_id)


def make_item(kind: str) -> Event:
    payload = ApprovalPayload(id="1", session_id="s", session_name="n", kind=kind)
    return Event(name=EventName.APPROVAL_PENDING, payload=payload, session_id="s")


class NoticeGateTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.hub = EventHub()
        self.gate = NoticeGate(self.hub)
        self.passed: list[Event] = []
        self.stop = self.gate.subscribe(self.passed.append)

    def test_everything_passes_without_a_holder(self) -> None:
        event = make_event(EventName.SESSION_STOP)
        self.hub.publish(event)
        self.assertEqual([event], self.passed)

    def test_held_events_pass_when_they_are_released(self) -> None:
        self.gate.set_holder(lambda event: event.session_id == "s")
        stop, other = make_event(EventName.SESSION_STOP), make_event(EventName.SESSION_STOP, "t")
        question = make_item("question")
        for event in (stop, make_item("idle"), other, question):
            self.hub.publish(event)
        self.assertEqual([other, question], self.passed)
        self.gate.release("s")
        self.gate.release("s")
        self.assertEqual([other, question, stop, make_item("idle")], self.passed)

    def test_dropped_events_never_pass(self) -> None:
        self.gate.set_holder(lambda event: True)
        self.hub.publish(make_event(EventName.SESSION_STOP))
        self.gate.drop("s")
        self.gate.release("s")
        self.hub.publish(make_event(EventName.SESSION_STOP))
        gone = make_event(EventName.SESSION_DELETED)
        self.hub.publish(gone)
        self.gate.release("s")
        self.assertEqual([gone], self.passed)

    def test_new_turn_drops_reminders_alone(self) -> None:
        self.gate.set_holder(lambda event: True)
        stop = make_event(EventName.SESSION_STOP)
        for event in (stop, make_item("idle"), make_event(EventName.SESSION_STOP, "t")):
            self.hub.publish(event)
        self.gate.drop_reminders("s")
        self.gate.drop_reminders("unknown")
        self.gate.release("s")
        self.assertEqual([stop], self.passed)

    def test_one_event_of_each_name_is_held(self) -> None:
        self.gate.set_holder(lambda event: True)
        last = make_event(EventName.SESSION_STOP)
        for _ in range(100):
            self.hub.publish(make_event(EventName.SESSION_STOP))
        self.hub.publish(last)
        self.gate.release("s")
        self.assertEqual([last], self.passed)

    def test_ended_subscription_receives_nothing(self) -> None:
        self.stop()
        self.hub.publish(make_event(EventName.SESSION_STOP))
        self.assertEqual([], self.passed)
