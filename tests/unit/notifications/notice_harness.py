"""Rules on a Clock, with sessions that a test makes up and senders that note what they get."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_not_found_error
from tservice.core.kernel.event_payloads import SessionPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.notifications.messages import NoticeMessage
from tservice.notifications.model import ChannelRule, Notice, NoticeKind, NoticeRules, WebhookRule
from tservice.notifications.presence import LookRegistry
from tservice.notifications.rule_registry import RuleRegistry
from tservice.notifications.service import NoticeSenders, NoticeService
from tservice.notifications.store import NoticeRuleStore
from tservice.sessions.interfaces import NameSource, Session
from tservice.store.database import Database

KINDS: tuple[NoticeKind, ...] = (
    "permission_prompt", "elicitation_dialog", "idle_prompt", "stop", "exit", "error",
    "limit_pause", "run_failed", "stalled",
)  # fmt: skip
EVERYTHING = ChannelRule(enabled=True, events=KINDS)
HOOK = WebhookRule(id="hook", url="https://hooks.example/x")
BOOT = 1_800_000_000


def make_notice(kind: NoticeKind = "permission_prompt", **fields: Any) -> Notice:
    """A notice about the session C{s}."""
    given = {
        "account": "ann", "session_id": "s", "session_name": "api", "family": "s",
        "says": "asks for permission", "at": 0, **fields,
    }  # fmt: skip
    return Notice(kind=kind, **given)


class MadeUpSessions:
    """Records of sessions by id."""

    def __init__(self, hub: EventHub) -> None:
        self.records: dict[str, Session] = {}
        self._hub = hub

    def add(self, name: str, parent: str | None = None) -> Session:
        self.records[name] = Session(
            id=name,
            mode="primary",
            name=name,
            name_source=NameSource.MANUAL,
            working_dir="/w",
            created_at=0,
            last_activity_at=0,
            parent_session_id=parent,
            owner="ann",
        )
        return self.records[name]

    def get(self, session_id: str, caller: object = None) -> Session:
        if session_id not in self.records:
            raise make_not_found_error(session_id)
        return self.records[session_id]

    def list(self, caller: object = None) -> list[Session]:
        return list(self.records.values())

    def update_record(self, session_id: str, *, durable: bool = True, **fields: Any) -> Session:
        self.records[session_id] = evolve(self.records[session_id], **fields)
        told = SessionPayload(id=session_id)
        self._hub.publish(
            Event(name=EventName.SESSION_UPDATED, payload=told, session_id=session_id, owner="ann")
        )
        return self.records[session_id]


class NoticeCase(SynchronousTestCase):
    """Ann's rules."""

    rules = NoticeRules(browser=EVERYTHING, push=EVERYTHING, webhooks=(HOOK,))

    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(BOOT)
        self.hub = EventHub()
        self.database = Database.open_in_memory()
        self.addCleanup(self.database.close)
        self.sessions = MadeUpSessions(self.hub)
        self.sessions.add("s")
        self.sent: list[tuple[str, str, NoticeMessage]] = []
        self.begin()
        self.notices.replace_rules("ann", self.rules)

    def begin(self) -> None:
        """Make the service, also after a restart."""
        registry = RuleRegistry(NoticeRuleStore(self.database))
        registry.load()
        self.looks = LookRegistry(self.clock)
        sessions: Any = self.sessions
        self.notices = NoticeService(
            clock=self.clock,
            events=self.hub,
            sessions=sessions,
            rules=registry,
            looks=self.looks,
            senders=NoticeSenders(
                show=lambda account, message: self.sent.append((account, "browser", message)),
                push=lambda account, message: self.sent.append((account, "push", message)),
                post=lambda account, name, message: self.sent.append((account, name, message)),
            ),
        )
        self.notices.start()
        self.addCleanup(self.notices.stop)

    @property
    def now(self) -> int:
        return get_unix_ms(self.clock)

    def tell(self, name: str, session_id: str = "s", **fields: Any) -> None:
        """Publish an event of a session of ann's."""
        self.hub.publish(make_event(name, session_id=session_id, owner="ann", **fields))

    def ask(self, session_id: str = "s", kind: str = "permission") -> None:
        """An item enters the inbox."""
        self.tell("approval:pending", session_id, kind=kind, sessionId=session_id)

    def resolve(self, session_id: str = "s") -> None:
        self.tell("approval:resolved", session_id, sessionId=session_id)

    def pushed(self) -> list[str]:
        """What push sent so far."""
        return [message.title for _, channel, message in self.sent if channel == "push"]
