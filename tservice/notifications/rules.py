"""Decision about one notice: the channels that announce it now, or the reason to hold it back.

L{decide_notice} is the only place where this is decided.  Nothing here does I/O or reads a clock.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from zoneinfo import ZoneInfo

from attrs import frozen

from tservice.notifications.model import (
    ASKING,
    ChannelKind,
    ChannelRule,
    Notice,
    NoticeRules,
    NoticeTarget,
    QuietHours,
    WebhookRule,
)

FAMILY_SECONDS = 30
"""Seconds after a notice in which others of the same family wait, to be announced together.

Together with L{tservice.notifications.presence.LOOK_SECONDS} it keeps every question from waiting
longer than a minute.
"""

WATCHED_SECONDS = 50
"""Seconds for which a question that a person looks at waits for the answer.  A page that is open
in front of an empty chair must not silence it.
"""

_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HANDLED_BY_PARENT = frozenset({"stop", "exit", "idle_prompt"})


class HoldReason(Enum):
    """Reason why a notice waits."""

    SNOOZED = "snoozed"
    QUIET = "quiet"
    WATCHED = "watched"
    FAMILY = "family"


@frozen(kw_only=True)
class NoticeSituation:
    """Facts about the moment of a decision.  Times are in Unix milliseconds.

    @ivar is_snoozed: true if notices of the session are paused.
    @ivar snoozed_until: end of that pause; C{None} if it has no end that is known.
    @ivar watched_until: time until which a person of the account looks at the session, as far as
        it is known; C{None} without such a report.
    @ivar family_told_at: time of the last notice of the session's family; C{None} if there was
        none.
    """

    now: int
    is_snoozed: bool = False
    snoozed_until: int | None = None
    watched_until: int | None = None
    family_told_at: int | None = None


@frozen(kw_only=True)
class NoticeDecision:
    """Result of L{decide_notice}.  Without targets and without a reason the notice is dropped.

    @ivar hold: reason why the notice waits.
    @ivar until: time at which it must be decided again, in Unix milliseconds; C{None} if an event
        tells.
    """

    targets: tuple[NoticeTarget, ...] = ()
    hold: HoldReason | None = None
    until: int | None = None


DROPPED = NoticeDecision()


def decide_notice(notice: Notice, situation: NoticeSituation, rules: NoticeRules) -> NoticeDecision:
    """Decide which channels announce C{notice} now."""
    targets = select_targets(notice, rules)
    if not targets or is_left_to_parent(notice, rules):
        return DROPPED
    if situation.is_snoozed:
        return NoticeDecision(hold=HoldReason.SNOOZED, until=situation.snoozed_until)
    urgency = rules.get_urgency(notice.kind)
    quiet_until = find_quiet_end(rules.quiet_hours, situation.now)
    if quiet_until is not None and not (rules.quiet_hours.critical and urgency == "critical"):
        return NoticeDecision(hold=HoldReason.QUIET, until=quiet_until)
    if rules.only_unwatched and situation.watched_until is not None:
        # Anything but a dialog is over once a person has seen it.
        if notice.kind not in ASKING:
            return DROPPED
        seen_until = min(situation.watched_until, notice.at + WATCHED_SECONDS * 1000)
        if situation.now < seen_until:
            return NoticeDecision(hold=HoldReason.WATCHED, until=seen_until)
    together_at = _find_family_end(notice, situation)
    if rules.group_families and together_at is not None:
        return NoticeDecision(hold=HoldReason.FAMILY, until=together_at)
    return NoticeDecision(targets=targets)


def select_targets(notice: Notice, rules: NoticeRules) -> tuple[NoticeTarget, ...]:
    """Return the channels that the rules select for the kind of a notice."""
    found = []
    if _accepts_kind(rules.browser, notice):
        found.append(NoticeTarget(channel=ChannelKind.BROWSER))
    if _accepts_kind(rules.push, notice):
        found.append(NoticeTarget(channel=ChannelKind.PUSH))
    urgency = rules.get_urgency(notice.kind)
    for webhook in rules.webhooks:
        if _webhook_accepts(webhook, notice, urgency):
            found.append(NoticeTarget(channel=ChannelKind.WEBHOOK, webhook=webhook.id))
    return tuple(found)


def is_left_to_parent(notice: Notice, rules: NoticeRules) -> bool:
    """Return true if the session that made this one takes care of the event."""
    return rules.group_families and notice.is_child and notice.kind in _HANDLED_BY_PARENT


def find_quiet_end(quiet: QuietHours, now: int) -> int | None:
    """Return the end of the quiet hours, in Unix milliseconds; C{None} outside of them.

    Both ends are wall times: a change of the clocks makes the night longer or shorter.
    """
    if not quiet.enabled:
        return None
    zone = ZoneInfo(quiet.time_zone)
    today = (_EPOCH + timedelta(milliseconds=now)).astimezone(zone)
    for day in (today - _DAY, today):
        start = _at_time(day, quiet.start, zone)
        end = _at_time(day if quiet.start < quiet.end else day + _DAY, quiet.end, zone)
        if start <= now < end:
            return end
    return None


def _at_time(day: datetime, text: str, zone: ZoneInfo) -> int:
    hour, minute = map(int, text.split(":"))
    moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
    return int(moment.timestamp() * 1000)


def _accepts_kind(rule: ChannelRule, notice: Notice) -> bool:
    return rule.enabled and notice.kind in rule.events


def _webhook_accepts(rule: WebhookRule, notice: Notice, urgency: str) -> bool:
    if not rule.enabled or not rule.url:
        return False
    if rule.events is not None:
        return notice.kind in rule.events
    return rule.scope == "all" or urgency != "info"


def _find_family_end(notice: Notice, situation: NoticeSituation) -> int | None:
    """Return the time until which the family's notices wait; C{None} if they need not.

    A notice waits once at most, even if others of the family are announced again and again.
    """
    told = situation.family_told_at
    if told is None or situation.now < told:
        return None
    end = min(told, notice.at) + FAMILY_SECONDS * 1000
    return end if situation.now < end else None
