"""Connections leave descriptors for the panes."""

from __future__ import annotations

import resource

from twisted.logger import ILogObserver, formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase

from tservice.http.connections.connection_limit import (
    FEW,
    count_possible_connections,
    count_reserved_descriptors,
    raise_descriptor_limit,
)


class DescriptorRoomTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.limits = (1024, 1 << 20)
        self.logged: list[str] = []
        self.patch(resource, "getrlimit", lambda what: self.limits)
        self.patch(resource, "setrlimit", lambda what, limits: setattr(self, "limits", limits))
        noted: ILogObserver = lambda event: self.logged.append(formatEvent(event))  # type: ignore[assignment]  # noqa: E731
        globalLogPublisher.addObserver(noted)
        self.addCleanup(globalLogPublisher.removeObserver, noted)

    def test_descriptors_are_reserved_for_sessions_and_tabs(self) -> None:
        """Beside 200 for the rest, 256 for targets of web tabs, and four for each session."""
        self.assertEqual(656, count_reserved_descriptors(50))
        self.assertEqual(976, count_reserved_descriptors(50, tabs_listener=True))
        self.assertEqual(1024, count_possible_connections(65536, count_reserved_descriptors(500)))
        self.assertEqual(368, count_possible_connections(1024, count_reserved_descriptors(50)))
        self.assertEqual(1, count_possible_connections(256, count_reserved_descriptors(50)))

    def test_sufficient_descriptor_limit_is_unchanged(self) -> None:
        """Nothing is changed: programs in panes inherit the limit."""
        self.assertEqual(368, raise_descriptor_limit(656))
        self.assertEqual((1024, 1 << 20), self.limits)
        self.assertEqual([], self.logged)

    def test_soft_descriptor_limit_is_raised(self) -> None:
        self.assertEqual(FEW, raise_descriptor_limit(2456))
        self.assertEqual((2456 + FEW, 1 << 20), self.limits)
        self.assertEqual([], self.logged)

    def test_insufficient_hard_limit_is_logged(self) -> None:
        self.limits = (256, 300)
        self.assertEqual(1, raise_descriptor_limit(656))
        self.assertEqual((300, 300), self.limits)
        [line] = self.logged
        self.assertIn(
            "only 1 connections at a time: ulimit -n allows 300 descriptors, and 656", line
        )
        self.assertIn("allow 912, or lower max-sessions", line)
