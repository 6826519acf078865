"""What a client starts from."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from attrs import frozen
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tservice.core.callers.identity import Identity
from tservice.sessions.record.model import NameSource, Session
from tservice.sessions.record.wire import SessionAnswer, make_session_answer
from tservice.status.service import StatusService

ADMIN = Identity(username="root", admin=True)
USER = Identity(username="ann", admin=False, must_change_password=True)


@frozen
class KnownSession:
    """A session as far as the list knows it."""

    id: str
    owner: str


class FewSessions:
    """Two sessions of two owners."""

    def list(self, caller: Identity) -> list[KnownSession]:
        every = [KnownSession("1", "ann"), KnownSession("2", "bob")]
        return [one for one in every if caller.can_access(one.owner)]

    def describe_session(self, session_id: str) -> SessionAnswer:
        record = Session(
            id=session_id,
            mode="shell",
            name="",
            name_source=NameSource.PLACEHOLDER,
            working_dir="/",
            created_at=0,
            last_activity_at=0,
        )
        return make_session_answer(record)


class StatusServiceTests(SynchronousTestCase):
    def status(self, zone: tzinfo = UTC, **tells: Any) -> StatusService:
        clock, sessions = Clock(), FewSessions()
        clock.advance(12.5)
        found: Any = sessions
        return StatusService(clock, "1.2.3", found, True, tells, zone)

    def test_status_has_every_field_without_features(self) -> None:
        self.assertEqual(
            {
                "version": "1.2.3",
                "installedVersion": None,
                "sessions": [to_wire(FewSessions().describe_session("1"))],
                "cronJobs": 0,
                "approvals": [],
                "changes": [],
                "customNotices": False,
                "checks": [],
                "pullRequests": [],
                "planUsage": None,
                "tunnel": {"running": False, "url": None},
                "user": {
                    "username": "ann",
                    "role": "user",
                    "multiUser": True,
                },
                "serverTime": 12500,
                "timeZone": "UTC",
            },
            to_wire(self.status().describe_state(USER)),
        )

    def test_admin_sees_every_session(self) -> None:
        found = to_wire(self.status().describe_state(ADMIN))
        self.assertEqual(["1", "2"], [each["id"] for each in found["sessions"]])
        self.assertEqual("admin", found["user"]["role"])

    def test_features_describe_what_the_caller_may_see(self) -> None:
        status = self.status(
            cronJobs=lambda identity: 3,
            approvals=lambda identity: [{"id": identity.username}],
            tunnel=lambda identity: {"running": True, "url": "https://x"},
            zone=ZoneInfo("Asia/Tokyo"),
        )
        found = to_wire(status.describe_state(USER))
        self.assertEqual((3, [{"id": "ann"}]), (found["cronJobs"], found["approvals"]))
        self.assertEqual("https://x", found["tunnel"]["url"])
        self.assertEqual("Asia/Tokyo", found["timeZone"])
