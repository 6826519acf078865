"""Webhook service: configuration, messages, and the test message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms
from tservice.core.errors import ErrorCode, ServiceError, invalid_field
from tservice.core.events import Event, EventHub, EventName
from tservice.core.files import FileError
from tservice.core.logs.redact import SecretRedactor
from tservice.core.net.egress import EgressRefused, parse_target
from tservice.notify.configfile import ConfigFile
from tservice.notify.delivery import WebhookDelivery
from tservice.notify.happenings import Happening, happening, one_line
from tservice.notify.model import Result, Urgency, Webhook, WebhookMessage
from tservice.notify.outbox import Outbox
from tservice.notify.repeats import Repeats
from tservice.notify.sender import Sender
from tservice.notify.shown import WebhookAnswer, shown

TESTS_LIMIT = 10
"""Maximum test messages in progress or waiting; more are refused with 429."""


@frozen(kw_only=True)
class MessageNames:
    """Names used in messages.

    @ivar host: returns the name of this machine.
    @ivar session_name: returns the name of a session by its id; C{None} if it was deleted.
    """

    host: Callable[[], str]
    session_name: Callable[[str], str | None]


class WebhookService:
    """Sends messages about events that need a person; off until it is configured."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        file: ConfigFile,
        outbox: Outbox,
        sender: Sender,
        words: MessageNames,
        redactor: SecretRedactor,
    ) -> None:
        self._clock = clock
        self._hub = hub
        self._file = file
        self._outbox = outbox
        self._sender = sender
        self._words = words
        self._redactor = redactor
        self._webhook = Webhook()
        self._repeats = Repeats(clock)
        self._delivery = WebhookDelivery(clock, outbox, sender, self.get, self._tell)
        self._tests = 0
        self._forget_url: Callable[[], None] = _nothing
        self._unsubscribe: Callable[[], None] = _nothing

    def start(self) -> None:
        """Load the configuration, continue deliveries of an earlier process, and listen to
        events.

        An invalid file is left unchanged: no messages are sent, the log gives the reason, and
        changes are refused with a 409 until it is repaired.
        """
        self._file.tidy()
        try:
            self._use(self._file.read())
        except (FileError, OSError) as error:
            self._log.error("{error}; the webhook is off", error=str(error))
        self._unsubscribe = self._hub.subscribe(self._heard)
        self._delivery.start()

    def stop(self) -> Deferred[list[None]]:
        """Stop listening; fires once no request is in progress."""
        self._unsubscribe()
        return self._delivery.stop()

    def get(self) -> Webhook:
        """Return the configuration in use."""
        return self._webhook

    def last_result(self) -> Result | None:
        """Return the result of the last attempt, also from before a restart."""
        return self._outbox.last_result()

    def shown(self) -> WebhookAnswer:
        """Return the configuration without its URL, and the result of the last attempt."""
        return shown(self._webhook, self.last_result())

    def waiting(self) -> int:
        """Return the number of messages that wait for delivery."""
        return self._outbox.count()

    def change(self, patch: Mapping[str, Any]) -> Webhook:
        """Change the fields in C{patch}; the change is on disk when this returns.

        Waiting messages are given up if the webhook is disabled or has no URL.

        @raise ServiceError: 400 for a bad URL, or for enabling without one; 409 or 422 when the
            file cannot be written.  Nothing is changed then.
        """
        if patch.get("url"):
            _check(patch["url"])
        webhook = attrs.evolve(self._webhook, **patch)
        if webhook.enabled and not webhook.url:
            if patch.get("enabled"):
                raise invalid_field("enabled", "needs a url")
            webhook = attrs.evolve(webhook, enabled=False)
        self._file.write(webhook)
        self._use(webhook)
        if not webhook.active:
            self._outbox.clear()
        self._tell()
        self._delivery.wake()
        return webhook

    async def test(self) -> Result:
        """Send one message, even while disabled; it is not retried.

        @raise ServiceError: 400: there is no URL; 429: too many tests in progress.
        """
        if not self._webhook.url:
            raise invalid_field("url", "save a url first")
        if self._tests >= TESTS_LIMIT:
            raise ServiceError(ErrorCode.RATE_LIMITED, "too many test messages in progress")
        message = WebhookMessage(
            event="test",
            title="Test message",
            body="The webhook works.",
            urgency=Urgency.INFO,
            host=one_line(self._words.host(), 100),
            at=now_ms(self._clock),
        )
        self._tests += 1
        try:
            result = await self._sender.attempt(self._webhook, message)
        finally:
            self._tests -= 1
        self._outbox.keep_result(result)
        self._tell()
        return result

    def _tell(self) -> None:
        self._hub.publish(Event(name=EventName.WEBHOOK_CHANGED, payload=self.shown()))

    def _use(self, webhook: Webhook) -> None:
        forget = self._redactor.register_secret(webhook.url)
        if webhook.url != self._webhook.url:
            self._forget_url()
        self._forget_url = forget
        self._webhook = webhook

    def _heard(self, event: Event) -> None:
        if not self._webhook.active:
            return
        found = happening(event)
        if found is None or not self._webhook.wants(found.urgency):
            return
        if not self._repeats.is_new(found):
            return
        dropped = self._outbox.add(self._message(found), now_ms(self._clock))
        if dropped:
            self._log.warn("webhook: {count} old messages given up", count=dropped)
        self._delivery.wake()

    def _message(self, found: Happening) -> WebhookMessage:
        name = found.session_name
        if name is None and found.session_id is not None:
            name = self._words.session_name(found.session_id)
        return WebhookMessage(
            event=found.event,
            title=found.title(name),
            body=found.body,
            urgency=found.urgency,
            host=one_line(self._words.host(), 100),
            at=now_ms(self._clock),
            session_id=found.session_id,
            session_name=name,
        )


def _check(url: str) -> None:
    try:
        parse_target(url)
    except EgressRefused as error:
        raise invalid_field("url", str(error)) from None


def _nothing() -> None:
    """Do nothing: the initial value of callbacks."""
