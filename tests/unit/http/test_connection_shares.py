"""Whose answers take connections, and who makes room for others."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.sample_operations import SampleHandlers, sample_operation
from tests.unit.http.site_driver import (
    ApiHarness,
    OpenGate,
    SiteConnection,
    parse_http_answer,
    request_head,
)
from tservice.core.callers.authentication import AuthenticationRequest, CredentialsAccepted
from tservice.core.callers.identity import Identity
from tservice.http.connections.connection_limit import is_within_share
from tservice.http.operations import AccessRule, Operation, OperationCall

MOST = 16


class NamedGate(OpenGate):
    """Whoever is named in a header; nobody without one."""

    async def identify_caller(
        self, visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        name = visit.header("x-name") or ""
        return CredentialsAccepted(identity=Identity(username=name, admin=name == "root"))


class AccountShareTests(SynchronousTestCase):
    shared = True

    def setUp(self) -> None:
        handlers = SampleHandlers()
        self.held: list[Deferred[object]] = []
        table = [
            *handlers.table(),
            sample_operation("GET", "/api/public", self.hold, access=AccessRule.PUBLIC),
        ]
        self.api = ApiHarness(table, NamedGate(), max_connections=MOST, shared=self.shared)
        self.addCleanup(self.api.close)

    async def hold(self, call: OperationCall) -> object:
        self.held.append(Deferred())
        return await self.held[-1]

    def ask(self, name: str, path: str = "/api/park", host: str = "127.0.0.1") -> SiteConnection:
        connection = self.api.connect(host)
        headers = {"X-Name": name} if name else {}
        connection.send(request_head("GET", path, headers))
        return connection

    def status(self, connection: SiteConnection) -> int | None:
        """C{None}: it waits for its answer."""
        return parse_http_answer(connection.value()).status if connection.value() else None

    def test_connections_of_one_account_are_limited_to_its_share(self) -> None:
        held = [self.ask("ann") for _ in range(MOST)]
        self.assertEqual([None] * 8 + [429] * 8, [self.status(each) for each in held])
        refused = parse_http_answer(held[-1].value())
        text = b"Too Many Requests: too many concurrent ones of this account"
        self.assertEqual(text, refused.content)
        self.assertEqual("1", refused.headers["retry-after"])
        self.assertEqual(200, self.status(self.ask("bob", "/api/things/1")))
        for each in held[:2]:
            each.lose()
        self.assertIsNone(self.status(self.ask("ann")))

    def test_accounts_together_leave_some_connections(self) -> None:
        got: dict[str, int] = {}
        for name in ("ann", "bob", "cat", "dan", "eve"):
            asked = [self.ask(name) for _ in range(MOST)]
            got[name] = sum(self.status(each) is None for each in asked)
        self.assertEqual({"ann": 8, "bob": 3, "cat": 2, "dan": 1, "eve": 0}, got)
        self.assertIsNone(self.status(self.ask("root")))
        self.assertEqual(200, self.status(self.ask("root", "/api/things/1")))

    def test_anonymous_request_makes_room_for_users(self) -> None:
        """As of who takes a file slowly that anybody may have: the oldest of whoever has most."""
        first = self.ask("", "/api/public", "10.0.0.1")
        strangers = [self.ask("", "/api/public", "10.0.0.2") for _ in range(MOST - 2)]
        mine = self.ask("ann")
        self.assertEqual(MOST, self.api.site.connection_count)
        self.assertEqual(200, self.status(self.ask("bob", "/api/things/1")))
        self.assertEqual(
            [False, True, False, False],
            [each.transport.aborted for each in (first, *strangers[:2], mine)],
        )

    def test_connection_belongs_to_the_account_of_its_current_request(self) -> None:
        """Once known is not known for ever: what is asked next may be nobody's."""
        for _ in range(MOST):
            connection = self.ask("ann", "/api/things/1")
            connection.send(request_head("GET", "/api/public", {}))
        self.assertEqual(MOST, len(self.held))
        self.assertEqual(200, self.status(self.ask("bob", "/api/things/1")))


class AloneTests(AccountShareTests):
    """Where there is one account, all connections are its own."""

    shared = False

    def test_connections_of_one_account_are_limited_to_its_share(self) -> None:
        held = [self.ask("ann") for _ in range(MOST)]
        self.assertEqual([None] * MOST, [self.status(each) for each in held])
        self.assertIsNone(self.api.site.buildProtocol(None))

    test_accounts_together_leave_some_connections = (
        test_connections_of_one_account_are_limited_to_its_share
    )


class ShareRuleTests(SynchronousTestCase):
    @given(st.lists(st.integers(0, 9), max_size=200), st.integers(1, 1024))
    def test_some_connections_are_always_left(self, asked: list[int], most: int) -> None:
        """Whatever accounts ask, in whatever order; and the first that asks has something."""
        held: Counter[int] = Counter()
        for account in asked:
            if is_within_share(held[account] + 1, held.total() + 1, most):
                held[account] += 1
        self.assertLessEqual(held.total(), max(1, most - most // 16))
        self.assertLessEqual(max(held.values(), default=0), max(1, most // 2))
        self.assertEqual(bool(asked), held.total() > 0)
