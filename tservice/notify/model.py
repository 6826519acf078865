"""Webhook messages, configuration and results."""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen


class ReceiverKind(StrEnum):
    """Message format of the receiver (protocol-webhooks)."""

    TOPIC = "topic"
    CHAT_A = "chat_a"
    CHAT_B = "chat_b"
    GENERIC = "generic"


class MessageScope(StrEnum):
    """Which messages are sent."""

    ATTENTION = "attention"
    """Messages of every urgency except L{MessageUrgency.INFO}."""
    ALL = "all"


class MessageUrgency(StrEnum):
    """Urgency of a message."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@frozen(kw_only=True)
class WebhookConfig:
    """Configuration of the webhook.

    @ivar url: a secret: anyone who has it can post as this service.
    """

    enabled: bool = False
    kind: ReceiverKind = ReceiverKind.TOPIC
    scope: MessageScope = MessageScope.ATTENTION
    url: str = field(default="", repr=False)

    @property
    def is_active(self) -> bool:
        """True if messages are sent."""
        return self.enabled and bool(self.url)

    def accepts_urgency(self, urgency: MessageUrgency) -> bool:
        """Return whether messages of C{urgency} are sent."""
        return self.is_active and (
            self.scope is MessageScope.ALL or urgency is not MessageUrgency.INFO
        )


@frozen(kw_only=True)
class WebhookMessage:
    """A message with one line each of title and body.

    @ivar event: C{permission_prompt}, C{elicitation_dialog}, C{idle_prompt}, C{stop}, C{error},
        C{breakerTripped}, C{limitPauseScheduled}, C{runFailed} or C{test}.
    @ivar at: Unix milliseconds.
    """

    event: str
    title: str
    body: str
    urgency: MessageUrgency
    host: str
    at: int
    session_id: str | None = None
    session_name: str | None = None


@frozen(kw_only=True)
class DeliveryResult:
    """Result of an attempt.

    @ivar status: the receiver's HTTP status, if it answered.
    @ivar error: one of the texts of protocol-webhooks; never contains the URL.
    @ivar at: Unix milliseconds.
    """

    ok: bool
    at: int
    status: int | None = None
    error: str | None = None
