"""Snoozes: their ends, and what they pause."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tests.unit.sessions.harness import BOOT, SessionCase
from tservice.core.kernel.errors import ServiceError
from tservice.notifications.build import build_notice_gates
from tservice.notifications.snoozes.rules import (
    HALF_HOUR_MS,
    LONGEST_MS,
    SnoozeChoice,
    find_next_morning,
    is_asking,
    make_snooze,
)
from tservice.sessions.interfaces import Snooze

NOW = int(BOOT * 1000)


def unix_ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc, arg-type]


class SnoozeRuleTests(SynchronousTestCase):
    """L{make_snooze} and L{is_asking}."""

    def test_tomorrow_is_the_next_morning_in_the_readers_zone(self) -> None:
        auckland, berlin = ZoneInfo("Pacific/Auckland"), ZoneInfo("Europe/Berlin")
        noon = unix_ms(2026, 7, 1, 12)
        self.assertEqual(unix_ms(2026, 7, 2, 6), find_next_morning(berlin, noon))
        # In Auckland the second of July has begun.
        self.assertEqual(unix_ms(2026, 7, 2, 20), find_next_morning(auckland, noon))

    def test_tomorrow_is_8_oclock_also_after_a_change_of_the_clocks(self) -> None:
        before = unix_ms(2026, 10, 24, 12)
        self.assertEqual(
            unix_ms(2026, 10, 25, 7), find_next_morning(ZoneInfo("Europe/Berlin"), before)
        )

    def test_chosen_end_must_be_in_the_future_and_near(self) -> None:
        for bad in (NOW, NOW - 1, NOW + LONGEST_MS + 1):
            with self.assertRaisesRegex(ServiceError, "31 days"):
                make_snooze(bad, UTC, NOW)
        self.assertEqual(Snooze(until=NOW + 1), make_snooze(NOW + 1, UTC, NOW))

    def test_idle_agents_do_not_ask(self) -> None:
        for kind, asks in (("permission", True), ("question", True), ("idle", False)):
            self.assertEqual(asks, is_asking(make_event("approval:pending", kind=kind)))
        self.assertFalse(is_asking(make_event("session:stop")))
        self.assertTrue(is_asking(make_event("session:error")))


class SnoozeServiceTests(SessionCase):
    """L{SnoozeService}."""

    def setUp(self) -> None:
        super().setUp()
        self.session = self.shell()
        self.begin()

    def begin(self) -> None:
        self.notices = build_notice_gates(self.machine.ground(), sessions=self.sessions)
        self.snoozes = self.notices.service.snoozes
        self.notices.start()
        self.addCleanup(self.notices.close)

    def snooze(self, wanted: SnoozeChoice | int | None) -> Snooze | None:
        return self.snoozes.set_snooze(self.session.id, wanted, None)

    def may_announce(self, name: str = "session:stop") -> bool:
        return self.snoozes.may_announce(make_event(name, session_id=self.session.id))

    def current(self) -> Snooze | None:
        found: Snooze | None = self.sessions.get(self.session.id).snooze
        return found

    def test_half_an_hour_pauses_and_ends(self) -> None:
        self.assertTrue(self.may_announce())
        self.assertEqual(Snooze(until=NOW + HALF_HOUR_MS), self.snooze(SnoozeChoice.HALF_HOUR))
        self.assertFalse(self.may_announce("hook:permission_prompt"))
        self.assertEqual({"until": NOW + HALF_HOUR_MS}, self.last("session:updated")["snooze"])
        self.spend(30 * 60)
        self.assertIsNone(self.current())
        self.assertTrue(self.may_announce())
        self.assertNotIn("snooze", self.last("session:updated"))

    def test_question_ends_the_pause_before_it_is_announced(self) -> None:
        self.snooze(SnoozeChoice.ASKS)
        self.assertFalse(self.may_announce())
        seen = []
        self.machine.hub.subscribe(lambda event: seen.append(self.snoozes.may_announce(event)))
        self.machine.hub.publish(
            make_event("approval:pending", session_id=self.session.id, kind="question")
        )
        self.assertTrue(seen[-1])
        self.assertIsNone(self.current())

    def test_question_does_not_end_a_pause_with_an_end(self) -> None:
        self.snooze(SnoozeChoice.TOMORROW)
        self.machine.hub.publish(make_event("session:blocked", session_id=self.session.id))
        self.assertIsNotNone(self.current())

    def test_null_ends_the_pause(self) -> None:
        self.snooze(SnoozeChoice.HALF_HOUR)
        self.assertIsNone(self.snooze(None))
        self.assertTrue(self.may_announce())
        self.assertEqual(0, len(self.snoozes._timers._calls))

    def test_pause_survives_a_restart_and_ends_on_time(self) -> None:
        self.snooze(SnoozeChoice.HALF_HOUR)
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.begin()
        self.assertEqual(Snooze(until=NOW + HALF_HOUR_MS), self.current())
        self.spend(30 * 60)
        self.assertIsNone(self.current())

    def test_pause_that_ended_while_the_service_was_stopped_is_removed(self) -> None:
        self.snooze(SnoozeChoice.HALF_HOUR)
        self.machine.crash()
        self.clock.advance(31 * 60)
        self.machine.restart()
        self.successResultOf(self.machine.opening)
        self.begin()
        self.assertIsNone(self.current())

    def test_removed_session_leaves_no_timer(self) -> None:
        self.snooze(SnoozeChoice.HALF_HOUR)
        deletion = self.sessions.delete(self.session.id)
        self.run_now(deletion)
        self.assertEqual(0, len(self.snoozes._timers._calls))
