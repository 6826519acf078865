"""The decision about one notice, as a table; and the quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.notifications.notice_harness import EVERYTHING, HOOK, make_notice
from tservice.notifications.model import (
    ChannelRule,
    NoticeKind,
    NoticeRules,
    QuietHours,
    WebhookRule,
)
from tservice.notifications.presence import LOOK_SECONDS
from tservice.notifications.rules import (
    FAMILY_SECONDS,
    HoldReason,
    NoticeSituation,
    decide_notice,
    find_quiet_end,
)

STOPS = WebhookRule(id="x", url="u", events=("stop",))
ALL = NoticeRules(browser=EVERYTHING, push=EVERYTHING, webhooks=(HOOK,))
QUIET = QuietHours(enabled=True, start="22:00", end="07:00", time_zone="Europe/Berlin")
NIGHT = int(datetime(2026, 1, 5, 23, 0, tzinfo=UTC).timestamp() * 1000)
SPRING = int(datetime(2026, 3, 28, 22, 0, tzinfo=UTC).timestamp() * 1000)
NOON = int(datetime(2026, 1, 5, 12, 0, tzinfo=UTC).timestamp() * 1000)
SECOND = 1000


def rules(**fields: Any) -> NoticeRules:
    return ALL.model_copy(update=fields)


def decide(
    kind: NoticeKind, *, given: NoticeRules = ALL, child: bool = False, **facts: Any
) -> object:
    """The channels that ring, or the reason why none does."""
    facts = {"now": NOON, **facts}
    family = "parent" if child else "s"
    notice = make_notice(kind, family=family, at=facts.pop("at", facts["now"]))
    found = decide_notice(notice, NoticeSituation(**facts), given)
    if found.hold is not None:
        return (found.hold, found.until)
    return "".join(target.webhook or target.channel[0] for target in found.targets)


class DecisionTests(SynchronousTestCase):
    """L{decide_notice}."""

    def test_decisions(self) -> None:
        later, quiet = NOON + 5 * SECOND, rules(quiet_hours=QUIET)
        loud = rules(quiet_hours=QUIET.model_copy(update={"critical": True}))
        morning = int(datetime(2026, 1, 6, 6, 0, tzinfo=UTC).timestamp() * 1000)
        told = NOON - 10 * SECOND
        told_end = told + FAMILY_SECONDS * SECOND
        table: list[tuple[object, object]] = [
            # Channels by kind.
            (decide("permission_prompt"), "bphook"),
            (decide("stop"), "bp"),
            (decide("stop", given=rules(webhooks=(HOOK.model_copy(update={"scope": "all"}),))),
             "bphook"),
            (decide("stop", given=rules(push=ChannelRule(enabled=True))), "b"),
            (decide("stop", given=rules(browser=ChannelRule(events=("stop",)))), "p"),
            (decide("idle_prompt", given=NoticeRules()), ""),
            (decide("error", given=rules(webhooks=(STOPS,))),
             "bp"),
            (decide("stop", given=rules(webhooks=(STOPS,))),
             "bpx"),
            (decide("error", given=rules(webhooks=(HOOK.model_copy(update={"enabled": False}),))),
             "bp"),
            (decide("stop", given=rules(urgency={"stop": "warning"})), "bphook"),
            # Snoozes.
            (decide("permission_prompt", is_snoozed=True, snoozed_until=later),
             (HoldReason.SNOOZED, later)),
            (decide("stop", is_snoozed=True), (HoldReason.SNOOZED, None)),
            # Quiet hours.
            (decide("permission_prompt", given=quiet, now=NIGHT), (HoldReason.QUIET, morning)),
            (decide("permission_prompt", given=quiet), "bphook"),
            (decide("permission_prompt", given=loud, now=NIGHT), "bphook"),
            (decide("stop", given=loud, now=NIGHT), (HoldReason.QUIET, morning)),
            # Looks.
            (decide("permission_prompt", watched_until=later), (HoldReason.WATCHED, later)),
            (decide("stop", watched_until=later), ""),
            (decide("idle_prompt", watched_until=later), ""),
            (decide("stop", watched_until=later, given=rules(only_unwatched=False)), "bp"),
            # Families.
            (decide("stop", child=True), ""),
            (decide("idle_prompt", child=True), ""),
            (decide("stop", child=True, given=rules(group_families=False)), "bp"),
            (decide("permission_prompt", child=True), "bphook"),
            (decide("permission_prompt", child=True, family_told_at=told),
             (HoldReason.FAMILY, told_end)),
            (decide("permission_prompt", family_told_at=NOON - FAMILY_SECONDS * SECOND), "bphook"),
            # It waits once, however often the others are announced.
            (decide("permission_prompt", family_told_at=NOON, at=NOON - FAMILY_SECONDS * SECOND),
             "bphook"),
        ]  # fmt: skip
        for number, (found, wanted) in enumerate(table):
            self.assertEqual(wanted, found, f"row {number}")

    def test_look_and_family_together_stay_below_a_minute(self) -> None:
        self.assertLess(LOOK_SECONDS + FAMILY_SECONDS, 60)

    def test_quiet_hours_end_at_wall_time(self) -> None:
        for now, quiet, wanted in (
            (NIGHT, QUIET, (2026, 1, 6, 6)),
            (NOON, QUIET, None),
            # In the night of the change of clocks the zone has another offset in the morning.
            (
                int(datetime(2026, 3, 28, 22, tzinfo=UTC).timestamp() * 1000),
                QUIET,
                (2026, 3, 29, 5),
            ),
            (NOON, QUIET.model_copy(update={"start": "12:00", "end": "14:00"}), (2026, 1, 5, 13)),
            (NIGHT, QUIET.model_copy(update={"enabled": False}), None),
        ):
            ends = find_quiet_end(quiet, now)
            if wanted is None:
                self.assertIsNone(ends)
            else:
                self.assertEqual(datetime(*wanted, tzinfo=UTC).timestamp() * 1000, ends)

    def test_refused_rules(self) -> None:
        for bad in (
            {"quietHours": {"enabled": True, "start": "07:00", "end": "07:00"}},
            {"quietHours": {"timeZone": "Europe/Nowhere"}},
            {"quietHours": {"start": "24:00"}},
            {"push": {"events": ["stop", "stop"]}},
            {"push": {"events": ["nothing"]}},
            {"urgency": {"stop": "loud"}},
            {"webhooks": [{"id": f"h{n}"} for n in range(6)]},
        ):
            with self.assertRaises(ValidationError):
                NoticeRules.model_validate(bad)
