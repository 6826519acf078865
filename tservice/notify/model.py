"""Records of webhook messages, the configuration, and delivery results."""

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

    @ivar url: address of the receiver, a secret: with it, anyone can send messages to the receiver.
    """

    enabled: bool = False
    kind: ReceiverKind = ReceiverKind.TOPIC
    scope: MessageScope = MessageScope.ATTENTION
    url: str = field(default="", repr=False)

    @property
    def is_active(self) -> bool:
        """True if the webhook is enabled and has a URL, so that messages are sent."""
        return self.enabled and bool(self.url)

    def accepts_urgency(self, urgency: MessageUrgency) -> bool:
        """Return true if the configuration selects messages of C{urgency}."""
        return self.is_active and (
            self.scope is MessageScope.ALL or urgency is not MessageUrgency.INFO
        )


@frozen(kw_only=True)
class WebhookMessage:
    """Message with a title and a body, each on one line.

    @ivar event: C{permission_prompt}, C{elicitation_dialog}, C{idle_prompt}, C{stop}, C{error},
        C{breakerTripped}, C{limitPauseScheduled}, C{runFailed}, C{checks} or C{test}.
    @ivar at: time of the event, Unix milliseconds.
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
    """Result of an attempt to deliver a message.

    @ivar status: HTTP status of the receiver's response; C{None} if there was no response.
    @ivar error: one of the texts in protocol-webhooks, which never contains the URL.
    @ivar at: time of the attempt, Unix milliseconds.
    """

    ok: bool
    at: int
    status: int | None = None
    error: str | None = None
