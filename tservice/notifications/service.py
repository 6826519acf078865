"""Service that applies the rules of accounts to events, and sends the notices that result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.notice_gate import NoticeGate
from tservice.core.kernel.timers import NamedTimers
from tservice.notifications.event_notices import find_ended_kinds, find_notice_text
from tservice.notifications.held_notices import HeldNotice, HeldNotices
from tservice.notifications.messages import NoticeMessage, make_message
from tservice.notifications.model import (
    ASKING,
    ChannelKind,
    Notice,
    NoticeRules,
    NoticeTarget,
)
from tservice.notifications.presence import LookRegistry
from tservice.notifications.rule_registry import RuleRegistry
from tservice.notifications.rules import (
    DROPPED,
    FAMILY_SECONDS,
    NoticeDecision,
    NoticeSituation,
    decide_notice,
    select_targets,
)
from tservice.notifications.snoozes.rules import is_in_force
from tservice.sessions.interfaces import ISessions, Session

DEEPEST_FAMILY = 20
"""Number of generations of sessions that are followed to the top of a family."""
LONGEST_TIMER = 24 * 3600.0


@frozen(kw_only=True)
class NoticeSenders:
    """Ways out of the service.

    @ivar show: shows a message on the open pages of an account.
    @ivar push: sends a message to the browsers of an account.
    @ivar post: sends a message to a webhook of an account, by its id.
    """

    show: Callable[[str, NoticeMessage], None]
    push: Callable[[str, NoticeMessage], None]
    post: Callable[[str, str, NoticeMessage], None]


class NoticeService:
    """Sends the notices of accounts that have rules.

    Accounts without rules get notices as the settings say, from the features themselves.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        events: EventHub | NoticeGate,
        sessions: ISessions,
        rules: RuleRegistry,
        looks: LookRegistry,
        senders: NoticeSenders,
        on_rules: Callable[[str, NoticeRules | None], None] = lambda account, rules: None,
    ) -> None:
        """@param events: the events of sessions; a gate leaves out ends of turns that are held.
        @param on_rules: called with an account's rules when they are loaded or changed.
        """
        self._clock = clock
        self._events = events
        self._sessions = sessions
        self._rules = rules
        self._looks = looks
        self._senders = senders
        self._on_rules = on_rules
        self._held = HeldNotices()
        self._asking: set[str] = set()
        self._told: dict[tuple[str, str], tuple[str, int]] = {}
        self._timers = NamedTimers(clock)
        self._look_listeners: list[Callable[[str, str], None]] = []
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Apply the rules that were loaded, and listen to events."""
        for account, rules in self._rules.list_all():
            self._on_rules(account, rules)
        self._unsubscribe = self._events.subscribe(self._handle_event)

    def stop(self) -> None:
        """Stop listening, and cancel the timers."""
        self._unsubscribe()
        self._timers.cancel_all()

    # -- rules

    def find_rules(self, account: str) -> NoticeRules | None:
        """Return the rules of an account; C{None} if it has none."""
        return self._rules.find(account)

    def replace_rules(self, account: str, rules: NoticeRules | None) -> None:
        """Save the rules of an account; C{None} goes back to notices by the settings.

        Notices that wait are decided again by the new rules.
        """
        self._rules.replace(account, rules)
        if rules is None:
            self._held.drop_account(account)
        self._on_rules(account, rules)
        self._decide_held(account)

    def delete_unknown_accounts(self, exists: Callable[[str], bool]) -> None:
        """Delete the rules of accounts that do not exist."""
        for account in self._rules.delete_unknown_accounts(exists):
            self._held.drop_account(account)
            self._looks.forget_account(account)
            self._on_rules(account, None)

    # -- looks

    def add_look_listener(self, listener: Callable[[str, str], None]) -> None:
        """Call C{listener} with the account and the session of each report of a look."""
        self._look_listeners.append(listener)

    def record_look(self, account: str, device: str, session_id: str | None) -> None:
        """Record the session that a device shows; C{None}: it shows none any longer.

        Notices that waited for the end of the look are then decided again.
        """
        if session_id is None:
            self._looks.end_look(account, device)
        else:
            self._looks.record_look(account, device, session_id)
            for listener in self._look_listeners:
                listener(account, session_id)
        self._decide_held(account)

    # -- events

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is not None:
            self._end_notices(event, session_id)
        notice = self._make_notice(event)
        rules = None if notice is None else self._rules.find(notice.account)
        if notice is not None and rules is not None:
            decision = self._decide(notice, rules)
            if decision.hold is not None:
                self._held.add(HeldNotice(notice=notice, until=decision.until))
                self._schedule_decision(notice.account)
            elif decision.targets:
                self._announce(notice.account, rules, [notice])

    def _end_notices(self, event: Event, session_id: str) -> None:
        """Drop notices that are no longer true, and follow snoozes that end."""
        if event.name is EventName.SESSION_DELETED:
            self._asking.discard(session_id)
            self._held.drop(session_id)
            return
        ended = find_ended_kinds(event)
        if ended:
            self._held.drop(session_id, ended)
        if ended & ASKING:
            self._asking.discard(session_id)
        if event.name is EventName.SESSION_UPDATED:
            for account in self._held.find_accounts(session_id):
                self._decide_held(account)

    def _make_notice(self, event: Event) -> Notice | None:
        text = find_notice_text(event)
        if text is None:
            return None
        session_id = event.session_id or ""
        if text.kind in ASKING:
            # The signal of a dialog follows its item, which has been announced.
            if event.name is EventName.SESSION_BLOCKED and session_id in self._asking:
                return None
            self._asking.add(session_id)
        session = self._find_session(session_id)
        return Notice(
            account=event.owner or "",
            kind=text.kind,
            session_id=session_id,
            session_name=(session and session.name) or text.session_name or "A session",
            family=self._find_family(session_id, session),
            says=text.says,
            body=text.body,
            at=get_unix_ms(self._clock),
        )

    # -- decisions

    def _decide(self, notice: Notice, rules: NoticeRules) -> NoticeDecision:
        now = get_unix_ms(self._clock)
        session = self._find_session(notice.session_id)
        if notice.kind == "stalled" and (session is None or session.stall is None):
            # The agent moved while the notice waited.
            return DROPPED
        snooze = None if session is None else session.snooze
        told = self._told.get((notice.account, notice.family))
        situation = NoticeSituation(
            now=now,
            is_snoozed=is_in_force(snooze, now),
            snoozed_until=None if snooze is None else snooze.until,
            watched_until=self._looks.find_end(notice.account, notice.session_id),
            # The next question of a session follows an answer, so that a person is there.
            family_told_at=None if told is None or told[0] == notice.session_id else told[1],
        )
        return decide_notice(notice, situation, rules)

    def _decide_held(self, account: str) -> None:
        """Decide the waiting notices of an account again, and announce the others together."""
        rules = self._rules.find(account)
        ready = []
        for notice in self._held.take_all(account):
            decision = NoticeDecision() if rules is None else self._decide(notice, rules)
            if decision.hold is not None:
                self._held.add(HeldNotice(notice=notice, until=decision.until))
            elif decision.targets:
                ready.append(notice)
        if ready and rules is not None:
            groups = [ready] if rules.digest else [[notice] for notice in ready]
            for group in groups:
                self._announce(account, rules, group)
        self._schedule_decision(account)

    def _schedule_decision(self, account: str) -> None:
        due = self._held.find_due_time(account)
        if due is None:
            self._timers.cancel_timer(account)
            return
        seconds = (due - get_unix_ms(self._clock)) / 1000
        wait = min(max(seconds, 0.0), LONGEST_TIMER)
        self._timers.schedule_call(account, wait, self._decide_held, account)

    # -- sending

    def _announce(self, account: str, rules: NoticeRules, notices: Sequence[Notice]) -> None:
        by_target: dict[NoticeTarget, list[Notice]] = {}
        for notice in notices:
            self._record_family(notice)
            for target in select_targets(notice, rules):
                by_target.setdefault(target, []).append(notice)
        for target, selected in by_target.items():
            self._send(account, target, make_message(selected, rules))

    def _send(self, account: str, target: NoticeTarget, message: NoticeMessage) -> None:
        match target.channel:
            case ChannelKind.BROWSER:
                self._senders.show(account, message)
            case ChannelKind.PUSH:
                self._senders.push(account, message)
            case ChannelKind.WEBHOOK:
                self._senders.post(account, target.webhook or "", message)

    def _record_family(self, notice: Notice) -> None:
        now = get_unix_ms(self._clock)
        recent = now - FAMILY_SECONDS * 1000
        self._told = {key: told for key, told in self._told.items() if told[1] > recent}
        self._told[notice.account, notice.family] = (notice.session_id, now)

    # -- sessions

    def _find_session(self, session_id: str) -> Session | None:
        try:
            return self._sessions.get(session_id)
        except ServiceError:
            return None

    def _find_family(self, session_id: str, session: Session | None) -> str:
        top = session_id
        for _ in range(DEEPEST_FAMILY):
            parent = None if session is None else session.parent_session_id
            session = None if parent is None else self._find_session(parent)
            if session is None:
                break
            top = session.id
        return top
