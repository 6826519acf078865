"""Connections leave descriptors for the panes."""

from __future__ import annotations

import resource

from twisted.logger import ILogObserver, formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase

from tservice.http.connections.room import FEW, claim_room, kept_back, room_for_connections


class RoomTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.limits = (1024, 1 << 20)
        self.logged: list[str] = []
        self.patch(resource, "getrlimit", lambda what: self.limits)
        self.patch(resource, "setrlimit", lambda what, limits: setattr(self, "limits", limits))
        noted: ILogObserver = lambda event: self.logged.append(formatEvent(event))  # type: ignore[assignment]  # noqa: E731
        globalLogPublisher.addObserver(noted)
        self.addCleanup(globalLogPublisher.removeObserver, noted)

    def test_what_is_left(self) -> None:
        """Beside 200 for the rest, 256 for targets of web tabs, and four for each session."""
        self.assertEqual(656, kept_back(50))
        self.assertEqual(976, kept_back(50, tabs_listener=True))
        self.assertEqual(1024, room_for_connections(65536, kept_back(500)))
        self.assertEqual(368, room_for_connections(1024, kept_back(50)))
        self.assertEqual(1, room_for_connections(256, kept_back(50)))

    def test_where_it_is_enough(self) -> None:
        """Nothing is changed: programs in panes inherit the limit."""
        self.assertEqual(368, claim_room(656))
        self.assertEqual((1024, 1 << 20), self.limits)
        self.assertEqual([], self.logged)

    def test_where_more_may_be_had(self) -> None:
        self.assertEqual(FEW, claim_room(2456))
        self.assertEqual((2456 + FEW, 1 << 20), self.limits)
        self.assertEqual([], self.logged)

    def test_where_no_more_may_be_had(self) -> None:
        self.limits = (256, 300)
        self.assertEqual(1, claim_room(656))
        self.assertEqual((300, 300), self.limits)
        [line] = self.logged
        self.assertIn(
            "only 1 connections at a time: ulimit -n allows 300 descriptors, and 656", line
        )
        self.assertIn("allow 912, or lower max-sessions", line)
