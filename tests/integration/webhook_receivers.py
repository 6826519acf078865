"""Where webhooks go in tests: a server that notes what it gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.protocol import Factory, Protocol

from tservice.notify.model import MessageUrgency, WebhookMessage

MESSAGE = WebhookMessage(
    event="permission_prompt",
    title="b\u00fc <asks>",
    body="Tool: Bash",
    urgency=MessageUrgency.CRITICAL,
    host="desk",
    at=1_700_000_000_042,
    session_id="s1",
    session_name="b\u00fc",
)


class ReceiverPeer(Protocol):
    """A receiver that does what its factory says."""

    factory: ReceiverFactory

    def connectionMade(self) -> None:
        self.factory.connections.append(self)
        if self.factory.greeting:
            self.act(self.factory.greeting)

    def dataReceived(self, data: bytes) -> None:
        self.factory.received += data
        if not self.factory.greeting:
            self.act(self.factory.behave)

    def act(self, behave: Callable[[Any], None]) -> None:
        behave(self.transport)


class ReceiverFactory(Factory):
    """Accepts connections.

    @ivar greeting: done at once, before anything was received.
    @ivar behave: done with each piece that was received.
    """

    noisy = False

    def __init__(
        self, behave: Callable[[Any], None], greeting: Callable[[Any], None] | None = None
    ) -> None:
        self.behave = behave
        self.greeting = greeting
        self.received = b""
        self.connections: list[ReceiverPeer] = []

    def buildProtocol(self, addr: Any) -> Any:
        peer = ReceiverPeer()
        peer.factory = self
        return peer


def answer_with(answer: bytes) -> Callable[[Any], None]:
    return lambda transport: transport.write(answer)


def flood_with(head: bytes, piece: bytes) -> Callable[[Any], None]:
    """Writes for as long as anybody reads."""

    class Source:
        def __init__(self, transport: Any) -> None:
            self.transport = transport

        def resumeProducing(self) -> None:
            self.transport.write(piece)

        def stopProducing(self) -> None:
            """The reader went away."""

    def begin(transport: Any) -> None:
        transport.write(head)
        transport.registerProducer(Source(transport), False)

    return begin
