"""The webhook on a Clock, with a receiver that a test answers by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tests.runtime_harness import build_test_runtime
from tservice.core.config.model import Config
from tservice.core.kernel.events import EventHub
from tservice.core.logs.redact import SecretRedactor
from tservice.core.net.outbound import (
    OutboundError,
    OutboundFault,
    OutboundRequest,
    OutboundResponse,
)
from tservice.notify.build import build_webhooks
from tservice.store.database import Database

URL = "https://hooks.example:8443/services/s3cr3t"
ON = {"enabled": True, "url": URL, "scope": "all", "kind": "generic"}


class FakePost:
    """Notes requests and leaves them unanswered."""

    def __init__(self) -> None:
        self.requests: list[OutboundRequest] = []
        self.waiting: list[Deferred[OutboundResponse]] = []

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        self.requests.append(request)
        answer: Deferred[OutboundResponse] = Deferred()
        self.waiting.append(answer)
        try:
            return await answer
        finally:
            if answer in self.waiting:
                self.waiting.remove(answer)

    def answer(self, status: int = 200) -> None:
        """Answer the oldest."""
        self.waiting.pop(0).callback(OutboundResponse(status=status, headers={}))

    def fail(self, fault: OutboundFault) -> None:
        """Give the oldest no answer."""
        self.waiting.pop(0).errback(OutboundError(fault))


class _NamedSession:
    def __init__(self, name: str) -> None:
        self.name = name


class NotifySessions:
    """Every session is called C{api}."""

    def get(self, session_id: str) -> _NamedSession:
        return _NamedSession("api")


class NotifyCase(SynchronousTestCase):
    """A running webhook service."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_700_000_000.5)
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        self.database = Database.open_in_memory()
        self.addCleanup(self.database.close)
        self.redactor = SecretRedactor()
        self.begin()

    def begin(self) -> None:
        """Start, or start again as after a crash: only the disk is kept."""
        self.post = FakePost()
        self.hub = EventHub()
        sessions: Any = NotifySessions()
        ground = build_test_runtime(
            self.folder,
            reactor=self.clock,
            database=self.database,
            hub=self.hub,
            config=Config(data_dir=self.folder),
            redactor=self.redactor,
        )
        self.webhooks = build_webhooks(ground, sessions=sessions, host_name="desk", post=self.post)
        self.service = self.webhooks.service
        self.webhooks.start()

    def crash(self) -> None:
        """As kill -9: what is under way ends without a word, and nobody cleans up."""
        for call in self.clock.getDelayedCalls():
            call.cancel()
        self.begin()

    def tell(self, name: str, session_id: str = "s1", **data: object) -> None:
        """Publish a session's event."""
        told: dict[str, Any] = {"data": data} if name.startswith("hook:") else {}
        self.hub.publish(make_event(name, session_id=session_id, **told))

    def waiting(self) -> int:
        """Rows of the outbox."""
        row = self.database.query_first_row("SELECT count(*) AS n FROM webhook_outbox")
        assert row is not None
        return int(row["n"])
