"""Service for the webhook: configuration, messages about events, and test messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.disk.files import FileError
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.notice_gate import NoticeGate
from tservice.core.logs.redact import SecretRedactor
from tservice.core.net.egress import EgressRefused, parse_target
from tservice.notify.config_file import WebhookConfigFile
from tservice.notify.delivery import WebhookDelivery
from tservice.notify.duplicates import DuplicateFilter
from tservice.notify.model import DeliveryResult, MessageUrgency, WebhookConfig, WebhookMessage
from tservice.notify.notifications import NotificationEvent, fold_to_line, make_notification
from tservice.notify.outbox import WebhookOutbox
from tservice.notify.responses import WebhookResponse, make_webhook_response
from tservice.notify.sender import WebhookSender

TESTS_LIMIT = 10
"""Maximum number of test messages in progress or waiting.

More are refused with 429.
"""


@frozen(kw_only=True)
class MessageNames:
    """Names used in messages.

    @ivar host: returns the name of this machine.
    @ivar session_name: returns the name of a session by its id; C{None} if it was deleted.
    """

    host: Callable[[], str]
    session_name: Callable[[str], str | None]


class WebhookService:
    """Sends messages about events that need a person's attention, once it is configured."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        notices: NoticeGate | None = None,
        file: WebhookConfigFile,
        outbox: WebhookOutbox,
        sender: WebhookSender,
        words: MessageNames,
        redactor: SecretRedactor,
        may_announce: Callable[[Event], bool],
    ) -> None:
        """@param may_announce: returns false for an event whose session is snoozed."""
        self._clock = clock
        self._hub = hub
        self._notices = notices or NoticeGate(hub)
        self._file = file
        self._outbox = outbox
        self._sender = sender
        self._words = words
        self._redactor = redactor
        self._may_announce = may_announce
        self._webhook = WebhookConfig()
        self._repeats = DuplicateFilter(clock)
        self._delivery = WebhookDelivery(
            clock, outbox, sender, self.get_config, self._publish_change
        )
        self._tests = 0
        self._forget_url: Callable[[], None] = _do_nothing
        self._unsubscribe: Callable[[], None] = _do_nothing

    def start(self) -> None:
        """Load the configuration, continue deliveries of an earlier process, and listen to events.

        If the file is not valid, it is left unchanged and no messages are sent.  The log contains
        the reason, and changes are refused with a 409 until the file is repaired.
        """
        self._file.remove_partial_files()
        try:
            self._apply_config(self._file.read_config())
        except (FileError, OSError) as error:
            self._log.error("{error}; the webhook is off", error=str(error))
        self._unsubscribe = self._notices.subscribe(self.handle_event)
        self._delivery.start()

    def stop(self) -> Deferred[list[None]]:
        """Stop listening to events and cancel requests.

        The result fires once no request is in progress.
        """
        self._unsubscribe()
        return self._delivery.stop()

    def get_config(self) -> WebhookConfig:
        """Return the configuration that is in use."""
        return self._webhook

    def last_result(self) -> DeliveryResult | None:
        """Return the result of the last attempt, which survives restarts; C{None} if there was
        none.
        """
        return self._outbox.last_result()

    def make_response(self) -> WebhookResponse:
        """Return the configuration without its URL, and the result of the last attempt."""
        return make_webhook_response(self._webhook, self.last_result())

    def count_waiting(self) -> int:
        """Return the number of messages that wait for delivery."""
        return self._outbox.count_waiting()

    def update_config(self, patch: Mapping[str, Any]) -> WebhookConfig:
        """Change the fields in C{patch} and save the configuration to disk.

        Waiting messages are dropped if the webhook is disabled or has no URL.

        @raise ServiceError: 400: the URL is not valid, or the webhook is enabled without one; 409
            or 422: the file cannot be written.  The configuration is then unchanged.
        """
        if patch.get("url"):
            _check_url(patch["url"])
        webhook = attrs.evolve(self._webhook, **patch)
        if webhook.enabled and not webhook.url:
            if patch.get("enabled"):
                raise make_field_error("enabled", "needs a url")
            webhook = attrs.evolve(webhook, enabled=False)
        self._file.write_config(webhook)
        self._apply_config(webhook)
        if not webhook.is_active:
            self._outbox.clear()
        self._publish_change()
        self._delivery.start_due_deliveries()
        return webhook

    async def send_test(self) -> DeliveryResult:
        """Send a test message once, even if the webhook is disabled.

        @raise ServiceError: 400: there is no URL; 429: too many tests are in progress.
        """
        if not self._webhook.url:
            raise make_field_error("url", "save a url first")
        if self._tests >= TESTS_LIMIT:
            raise ServiceError(ErrorCode.RATE_LIMITED, "too many test messages in progress")
        message = WebhookMessage(
            event="test",
            title="Test message",
            body="The webhook works.",
            urgency=MessageUrgency.INFO,
            host=fold_to_line(self._words.host(), 100),
            at=get_unix_ms(self._clock),
        )
        self._tests += 1
        try:
            result = await self._sender.attempt_delivery(self._webhook, message)
        finally:
            self._tests -= 1
        self._outbox.save_result(result)
        self._publish_change()
        return result

    def _publish_change(self) -> None:
        self._hub.publish(Event(name=EventName.WEBHOOK_CHANGED, payload=self.make_response()))

    def _apply_config(self, webhook: WebhookConfig) -> None:
        forget = self._redactor.register_secret(webhook.url)
        if webhook.url != self._webhook.url:
            self._forget_url()
        self._forget_url = forget
        self._webhook = webhook

    def handle_event(self, event: Event) -> None:
        """Send the message that C{event} causes, if it causes one."""
        if not self._webhook.is_active:
            return
        found = make_notification(event)
        if found is None or not self._webhook.accepts_urgency(found.urgency):
            return
        if not self._may_announce(event):
            return
        if not self._repeats.check_new_and_remember(found):
            return
        dropped = self._outbox.add_message(self._make_message(found), get_unix_ms(self._clock))
        if dropped:
            self._log.warn("webhook: {count} old messages given up", count=dropped)
        self._delivery.start_due_deliveries()

    def _make_message(self, found: NotificationEvent) -> WebhookMessage:
        name = found.session_name
        if name is None and found.session_id is not None:
            name = self._words.session_name(found.session_id)
        return WebhookMessage(
            event=found.event,
            title=found.make_title(name),
            body=found.body,
            urgency=found.urgency,
            host=fold_to_line(self._words.host(), 100),
            at=get_unix_ms(self._clock),
            session_id=found.session_id,
            session_name=name,
        )


def _check_url(url: str) -> None:
    try:
        parse_target(url)
    except EgressRefused as error:
        raise make_field_error("url", str(error)) from None


def _do_nothing() -> None:
    """Do nothing: the initial value of callbacks."""
