"""Tests for L{tservice.mcp_server.connections} (protocol-mcp-http)."""

from __future__ import annotations

from itertools import count

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.callers.identity import Identity
from tservice.mcp_server.connections import (
    IDLE_SECONDS,
    MAX_CONNECTIONS,
    MAX_PER_OWNER,
    McpConnections,
)


def who(name: str, token: str | None = None) -> Identity:
    return Identity(username=name, admin=False, token=token)


class NotificationListener:
    def __init__(self) -> None:
        self.ended = False

    def write_bytes(self, data: bytes) -> None:
        """Nothing is kept."""

    def end_stream(self) -> None:
        self.ended = True


class ConnectionsTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        numbers = count()
        self.all = McpConnections(self.clock, lambda size: next(numbers).to_bytes(size, "big"))

    def test_connection_belongs_to_its_owner(self) -> None:
        made = self.all.open(who("ann", "t1"))
        self.assertIs(made, self.all.find(made.key, who("ann", "t1")))
        for other in (who("bob"), who("ann"), who("ann", "t2")):
            self.assertIsNone(self.all.find(made.key, other))

    def test_connection_over_the_account_limit_ends_the_least_recently_used(self) -> None:
        own = [self.all.open(who("ann")) for _ in range(MAX_PER_OWNER)]
        other = self.all.open(who("bob"))
        self.assertIs(own[0], self.all.find(own[0].key, who("ann")))
        self.all.open(who("ann"))
        self.assertIsNone(self.all.find(own[1].key, who("ann")))
        self.assertIs(own[0], self.all.find(own[0].key, who("ann")))
        self.assertIs(other, self.all.find(other.key, who("bob")))

    def test_connections_are_bounded_in_total(self) -> None:
        first = self.all.open(who("person"))
        ear = first.sink = NotificationListener()
        for number in range(MAX_CONNECTIONS):
            self.all.open(who(f"person {number}"))
        self.assertEqual(MAX_CONNECTIONS, len(self.all))
        self.assertTrue(ear.ended)

    def test_many_tokens_of_one_account_evict_no_other_account(self) -> None:
        other = self.all.open(who("bob"))
        for number in range(2 * MAX_CONNECTIONS):
            self.all.open(who("ann", f"t{number}"))
        self.assertIs(other, self.all.find(other.key, who("bob")))

    def test_idle_connection_ends_unless_it_listens(self) -> None:
        idle, listens = self.all.open(who("ann")), self.all.open(who("ann"))
        listens.sink = NotificationListener()
        self.clock.advance(IDLE_SECONDS + 1)
        self.assertIsNone(self.all.find(idle.key, who("ann")))
        self.assertIs(listens, self.all.find(listens.key, who("ann")))

    def test_closing_ends_every_connection(self) -> None:
        made = self.all.open(who("ann"))
        ear = made.sink = NotificationListener()
        self.assertEqual([made], self.all.find_listening())
        self.all.end_all()
        self.all.end_connection(made)
        self.assertEqual((True, 0), (ear.ended, len(self.all)))
