"""The events: declared once, told as declared."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tservice.agents.model import HookEvent
from tservice.core.kernel.event_payloads import (
    EmptyPayload,
    OccurrencePayload,
    SessionExited,
    SessionPayload,
)
from tservice.core.kernel.events import Event, EventAudience, EventHub, EventName
from tservice.core.kernel.scopes import Scope


class EventNameTests(SynchronousTestCase):
    def test_admin_events_have_their_audience(self) -> None:
        """Who hears of what admins and single persons do is a matter of safety."""
        families = {
            name.partition(":")[0] for name in EventName if name.audience is EventAudience.ADMINS
        }
        self.assertEqual(
            {"admin", "cli", "container", "mcp", "remote", "tunnel", "webhook"}, families
        )
        alone = {name for name in EventName if name.audience is EventAudience.PERSON}
        self.assertEqual(
            {
                EventName.TUNNEL_QR_ROTATED,
                EventName.TUNNEL_QR_REGENERATED,
                EventName.NOTICE_SENT,
                EventName.NOTICE_RULES_CHANGED,
            },
            alone,
        )
        everybody = {name for name in EventName if name.audience is EventAudience.EVERYONE}
        self.assertEqual(
            {
                "init",
                "model:endpointsChanged",
                "settings:changed",
                "server:shutdown",
                "sse:heartbeat",
            },
            everybody,
        )

    def test_events_have_their_scopes(self) -> None:
        scopes = {name: name.scope for name in EventName if name.scope is not None}
        cases = {name: Scope.SESSIONS_READ for name in EventName if name.startswith("case:")}
        jobs = {name: Scope.CRON for name in EventName if name.startswith("cron:")}
        others = {
            EventName.SETTINGS_CHANGED: Scope.SETTINGS,
            EventName.MODEL_ENDPOINTS_CHANGED: Scope.SESSIONS_READ,
            EventName.SESSION_CHANGES: Scope.GIT,
            EventName.SESSION_PULL_REQUESTS: Scope.SESSIONS_INPUT,
            EventName.CHECK_STARTED: Scope.SESSIONS_READ,
            EventName.CHECK_FINISHED: Scope.SESSIONS_READ,
        }
        self.assertEqual({**others, **cases, **jobs}, scopes)

    def test_only_terminal_output_is_bulky(self) -> None:
        self.assertEqual([EventName.SESSION_TERMINAL], [name for name in EventName if name.bulky])

    def test_every_hook_event_has_an_event_name(self) -> None:
        hooks = {name for name in EventName if name.startswith("hook:")}
        self.assertEqual({f"hook:{event}" for event in HookEvent}, hooks)


class EventTests(SynchronousTestCase):
    def test_event_checks_its_payload_type(self) -> None:
        Event(name=EventName.SESSION_IDLE, payload=OccurrencePayload(id="s", at=1))
        for payload in (EmptyPayload(), SessionPayload(id="s")):
            error = self.assertRaises(
                TypeError, Event, name=EventName.SESSION_IDLE, payload=payload
            )
            self.assertIn("session:idle tells OccurrencePayload", str(error))

    def test_unknown_payload_fields_are_left_out(self) -> None:
        self.assertEqual({"id": "s"}, to_wire(SessionExited(id="s")))
        self.assertEqual({"id": "s", "status": 0}, to_wire(SessionExited(id="s", status=0)))
        self.assertEqual({"id": "s"}, to_wire(SessionPayload(id="s")))
        self.assertEqual(
            {"id": "s", "detached": True}, to_wire(SessionPayload(id="s", detached=True))
        )


class HubTests(SynchronousTestCase):
    def test_failing_listener_does_not_affect_others(self) -> None:
        hub, heard = EventHub(), list[EventName]()

        def broken(event: Event) -> None:
            raise ValueError("broken")

        ends = [hub.subscribe(broken), hub.subscribe(lambda event: heard.append(event.name))]
        hub.publish(Event(name=EventName.SERVER_SHUTDOWN))
        self.assertEqual(1, len(self.flushLoggedErrors(ValueError)))
        for end in (*ends, *ends):
            end()
        hub.publish(Event(name=EventName.SERVER_SHUTDOWN))
        self.assertEqual([EventName.SERVER_SHUTDOWN], heard)
