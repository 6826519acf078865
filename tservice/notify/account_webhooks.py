"""Webhooks of accounts, each with its own queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs
from attrs import define
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_field_error
from tservice.core.logs.redact import SecretRedactor
from tservice.core.net.egress import EgressPolicy, EgressRefused, parse_target
from tservice.core.net.outbound import OutboundRequest, OutboundResponse
from tservice.notify.delivery import WebhookDelivery
from tservice.notify.interfaces import IAccountWebhooks
from tservice.notify.model import DeliveryResult, WebhookConfig, WebhookMessage
from tservice.notify.outbox import WebhookOutbox, list_targets
from tservice.notify.sender import RequestSender, WebhookSender
from tservice.store.database import Database

QUEUE_LIMIT = 100
"""Maximum number of waiting messages of one webhook."""

FindPolicy = Callable[[str, int], EgressPolicy]
"""Callable that returns the rules for an account's requests to a port."""
MakeSender = Callable[[EgressPolicy], RequestSender]


class PolicySender:
    """Sender of an account's requests, under the rules that hold for the account at that time."""

    def __init__(self, account: str, policy: FindPolicy, make_sender: MakeSender) -> None:
        self._account = account
        self._policy = policy
        self._make_sender = make_sender

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        """Send a request and return the response.

        @raise OutboundError: there was no response, or the account may not reach the target.
        """
        port = parse_target(request.url).port
        sender = self._make_sender(self._policy(self._account, port))
        return await sender.send(attrs.evolve(request, asker=self._account or None))


@define(eq=False)
class _AccountWebhook:
    config: WebhookConfig
    outbox: WebhookOutbox
    delivery: WebhookDelivery
    forget_url: Callable[[], None]


@implementer(IAccountWebhooks)
class AccountWebhooks:
    """Registry of the webhooks of all accounts."""

    def __init__(
        self,
        *,
        clock: IReactorTime,
        database: Database,
        redactor: SecretRedactor,
        policy: FindPolicy,
        make_sender: MakeSender,
    ) -> None:
        self._clock = clock
        self._database = database
        self._redactor = redactor
        self._policy = policy
        self._make_sender = make_sender
        self._webhooks: dict[str, dict[str, _AccountWebhook]] = {}

    def start(self) -> None:
        """Remove the queues of webhooks that no longer exist."""
        known = {
            _make_target(account, name)
            for account, found in self._webhooks.items()
            for name in found
        }
        for target in list_targets(self._database):
            if target not in known:
                WebhookOutbox(self._database, target).delete_all()

    def stop(self) -> Deferred[list[list[None]]]:
        """Cancel running requests.  They are repeated after the next start."""
        return gatherResults(
            [each.delivery.stop() for found in self._webhooks.values() for each in found.values()]
        )

    def replace_webhooks(self, account: str, webhooks: Mapping[str, WebhookConfig]) -> None:
        """Replace the webhooks of an account, by their ids."""
        known = self._webhooks.setdefault(account, {})
        for name in set(known) - set(webhooks):
            gone = known.pop(name)
            gone.forget_url()
            gone.delivery.stop()
            gone.outbox.delete_all()
        for name, config in webhooks.items():
            if name in known:
                self._change_webhook(known[name], config)
            else:
                known[name] = self._open_webhook(account, name, config)
        if not known:
            del self._webhooks[account]

    def check_url(self, account: str, field: str, url: str) -> None:
        """Check that an account may send messages to C{url}."""
        try:
            port = parse_target(url).port
            parse_target(url, self._policy(account, port))
        except EgressRefused as error:
            raise make_field_error(field, str(error)) from None

    def send_message(self, account: str, webhook: str, message: WebhookMessage) -> None:
        """Send a message to a webhook of an account, with retries."""
        found = self._webhooks.get(account, {}).get(webhook)
        if found is not None:
            found.outbox.add_message(message, get_unix_ms(self._clock))
            found.delivery.start_due_deliveries()

    def last_result(self, account: str, webhook: str) -> DeliveryResult | None:
        """Return the result of the last attempt; C{None} if there was none."""
        found = self._webhooks.get(account, {}).get(webhook)
        return None if found is None else found.outbox.last_result()

    def _change_webhook(self, found: _AccountWebhook, config: WebhookConfig) -> None:
        if config.url != found.config.url:
            found.forget_url()
            found.forget_url = self._redactor.register_secret(config.url)
        found.config = config
        if not config.is_active:
            found.outbox.clear()
        found.delivery.start_due_deliveries()

    def _open_webhook(self, account: str, name: str, config: WebhookConfig) -> _AccountWebhook:
        outbox = WebhookOutbox(self._database, _make_target(account, name), QUEUE_LIMIT)
        sender = PolicySender(account, self._policy, self._make_sender)
        delivery = WebhookDelivery(
            self._clock,
            outbox,
            WebhookSender(self._clock, sender),
            lambda: made.config,
            lambda: None,
        )
        forget = self._redactor.register_secret(config.url)
        made = _AccountWebhook(config=config, outbox=outbox, delivery=delivery, forget_url=forget)
        delivery.start()
        return made


def _make_target(account: str, webhook: str) -> str:
    return f"{account}/{webhook}"
