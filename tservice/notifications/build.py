"""Assembly of the notices."""

from __future__ import annotations

import socket

from attrs import frozen

from tservice.core.callers.identity import Identity
from tservice.core.kernel.events import Event
from tservice.core.net.egress import EgressPolicy
from tservice.http.operation_decorator import collect_operations
from tservice.notifications.messages import NoticeMessage
from tservice.notifications.model import NoticeRules
from tservice.notifications.presence import LookRegistry
from tservice.notifications.routes import NoticeRoutes
from tservice.notifications.rule_editor import RuleEditor
from tservice.notifications.rule_registry import RuleRegistry
from tservice.notifications.sending import PUSH_URGENCIES, PageSender, WebhookPoster
from tservice.notifications.service import NoticeSenders, NoticeService
from tservice.notifications.snoozes.service import SnoozeService
from tservice.notifications.store import NoticeRuleStore
from tservice.notify.account_webhooks import AccountWebhooks, MakeSender
from tservice.notify.build import build_account_webhooks
from tservice.push.model import PushNote
from tservice.push.service import PushService
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.service import SessionService
from tservice.webviews.service import WebTabGuard


@frozen(kw_only=True)
class NoticeGates:
    """Checks that features apply before they send notices by the settings of the service."""

    snoozes: SnoozeService
    rules: RuleRegistry

    def may_announce_by_settings(self, event: Event) -> bool:
        """Return true if the settings decide about an event, and its session is not snoozed."""
        return self.rules.leaves_to_settings(event) and self.snoozes.may_announce(event)


def build_notice_gates(
    ground: Runtime, *, sessions: SessionService
) -> FeatureRegistration[NoticeGates]:
    """Build the pauses of notices.  Register them before the features that send notices."""
    snoozes = SnoozeService(ground.reactor, ground.hub, sessions, ground.time_zone)
    rules = RuleRegistry(NoticeRuleStore(ground.database))

    def start() -> None:
        rules.load()
        snoozes.start()

    return FeatureRegistration(
        name="snoozes",
        service=NoticeGates(snoozes=snoozes, rules=rules),
        start=start,
        close=snoozes.stop,
    )


@frozen(kw_only=True)
class NoticeFeatures:
    """The rules of accounts, and the webhooks that they open, in this order of start."""

    notices: FeatureRegistration[NoticeService]
    webhooks: FeatureRegistration[AccountWebhooks]


def build_notices(
    ground: Runtime,
    *,
    gates: NoticeGates,
    sessions: SessionService,
    push: PushService,
    guard: WebTabGuard,
    make_sender: MakeSender | None = None,
) -> NoticeFeatures:
    """Build the rules of accounts and their operations.

    @param guard: decides which accounts may reach loopback and private addresses.
    @param make_sender: makes the sender of webhooks under an egress policy; C{None} means the
        network.
    """

    def find_policy(account: str, port: int) -> EgressPolicy:
        return guard.policy_for(port, account or ground.config.username)

    webhooks = build_account_webhooks(ground, policy=find_policy, make_sender=make_sender)
    notices = _build_service(ground, gates, sessions, push, webhooks.service)
    editor = RuleEditor(notices, webhooks.service, ground.settings)
    multiuser = ground.config.multiuser
    routes = NoticeRoutes(gates.snoozes, notices, editor, multiuser)

    def has_rules(caller: Identity) -> bool:
        return notices.find_rules(caller.username if multiuser else "") is not None

    feature = FeatureRegistration(
        name="notices",
        service=notices,
        operations=collect_operations(routes),
        initial_state={"customNotices": has_rules},
        on_account_removed=notices.delete_unknown_accounts,
        start=notices.start,
        close=notices.stop,
    )
    return NoticeFeatures(notices=feature, webhooks=webhooks)


def _build_service(
    ground: Runtime,
    gates: NoticeGates,
    sessions: SessionService,
    push: PushService,
    webhooks: AccountWebhooks,
) -> NoticeService:
    """Build the service with its ways to pages, browsers and webhooks."""
    host = socket.gethostname()
    pages = PageSender(ground.hub, ground.config.username)
    poster = WebhookPoster(
        ground.reactor, webhooks, lambda: ground.settings.get().display_name or host
    )

    def send_push(account: str, message: NoticeMessage) -> None:
        note = PushNote(
            kind=message.kind,
            session_id=message.session_id,
            session_name=message.session_name,
            urgency=PUSH_URGENCIES[message.urgency],
        )
        push.send_note(account or None, note)

    def apply_rules(account: str, rules: NoticeRules | None) -> None:
        poster.apply_rules(account, rules)
        pages.announce_rules(account, rules is not None)

    return NoticeService(
        clock=ground.reactor,
        events=ground.notices,
        sessions=sessions,
        rules=gates.rules,
        looks=LookRegistry(ground.reactor),
        senders=NoticeSenders(show=pages.show, push=send_push, post=poster.post),
        on_rules=apply_rules,
    )
