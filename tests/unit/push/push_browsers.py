"""A browser's side of Web Push, and a service that is told to it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.event_helpers import make_event
from tservice.core.kernel.events import EventHub
from tservice.core.net.outbound import OutboundRequest, OutboundResponse
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.push.keys import load_push_key
from tservice.push.model import Subscription
from tservice.push.service import PushService
from tservice.push.store import PushSubscriptionStore
from tservice.settings.interfaces import ISettings, SettingsObserver
from tservice.settings.model import NotificationPreferences, Settings
from tservice.store.database import Database

EVERYTHING = ("permission_prompt", "elicitation_dialog", "idle_prompt", "stop", "exit", "error")


def base64url_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def counted_bytes(size: int) -> bytes:
    """The same bytes each time."""
    return hashlib.sha256(b"a test").digest()[:size]


class PushBrowser:
    """Holds the keys, so that it can read what was sent."""

    def __init__(self, endpoint: str = "https://push.example.org/send/abc") -> None:
        self.endpoint = endpoint
        self.private = ec.derive_private_key(int(endpoint.encode().hex(), 16) % 2**200 + 1,
                                             ec.SECP256R1())  # fmt: skip
        self.secret = counted_bytes(16)

    @property
    def point(self) -> bytes:
        public = self.private.public_key()
        return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def body(self) -> dict[str, Any]:
        """As C{PushSubscription.toJSON} gives it."""
        keys = {"p256dh": base64url_text(self.point), "auth": base64url_text(self.secret)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def subscription(self, owner: str = "ann", at: int = 0) -> Subscription:
        return Subscription(
            endpoint=self.endpoint,
            owner=owner,
            p256dh=base64url_text(self.point),
            auth=base64url_text(self.secret),
            subject="mailto:a@example.org",
            created_at=at,
        )

    def read(self, body: bytes | None) -> Any:
        plain = http_ece.decrypt(
            body, private_key=self.private, auth_secret=self.secret, version="aes128gcm"
        )
        return json.loads(plain)


@implementer(ISettings)
class FixedPushSettings:
    """Settings that a test sets."""

    def __init__(self) -> None:
        self.prefer(enabled=True, events=EVERYTHING)

    def prefer(self, **fields: Any) -> None:
        preferences = NotificationPreferences(**fields)
        self.settings = Settings.model_construct(notification_preferences=preferences)

    def get(self) -> Settings:
        return self.settings

    def add_observer(self, observer: SettingsObserver) -> Callable[[], None]:
        raise NotImplementedError("the service asks for them each time")


class PushCase(SynchronousTestCase):
    """A service whose requests are kept until a test answers them."""

    multiuser = True

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()
        self.clock = Clock()
        self.clock.advance(1_000_000)
        self.hub = EventHub()
        self.settings = FixedPushSettings()
        self.database = Database.open_in_memory()
        self.addCleanup(self.database.close)
        self.subscriptions = PushSubscriptionStore(self.database)
        self.sent: list[tuple[OutboundRequest, Deferred[OutboundResponse]]] = []
        self.people = {"ann", "bob", "admin"}
        self.names: dict[str, str] = {"s1": "build"}
        self.push = PushService(
            clock=self.clock,
            hub=self.hub,
            settings=self.settings,
            store=self.subscriptions,
            threads=SynchronousThreads(),
            send=self.send,
            key=load_push_key(self.folder, counted_bytes),
            name_of=self.names.get,
            active=self.is_active if self.multiuser else None,
            is_admin=lambda owner: owner == "admin",
        )
        self.push.startService()
        self.addCleanup(self.push.stopService)

    def send(self, request: OutboundRequest) -> Deferred[OutboundResponse]:
        answer: Deferred[OutboundResponse] = Deferred()
        self.sent.append((request, answer))
        return answer

    def is_active(self, owner: str) -> bool:
        return owner in self.people

    def tell(self, name: str = "session:stop", owner: str | None = "ann", **data: Any) -> None:
        session_id = data.pop("session_id", "s1")
        self.hub.publish(make_event(name, session_id=session_id, owner=owner, **data))

    def answer(self, at: int, status: int) -> None:
        self.sent[at][1].callback(OutboundResponse(status=status, headers={}))

    def urls(self) -> list[str]:
        return [request.url for request, _ in self.sent]
