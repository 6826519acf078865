"""Tests for L{tservice.http.transfer.large_responses}: answers that are read, and that are not."""

from __future__ import annotations

import gc
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.sample_operations import PageQuery, SampleHandlers, sample_operation
from tests.unit.http.site_driver import (
    ApiHarness,
    MemoryTransport,
    OpenGate,
    ParsedAnswer,
    SiteConnection,
    parse_http_answer,
    request_head,
)
from tservice.core.callers.identity import Identity
from tservice.http.operations import OperationCall
from tservice.http.transfer import large_responses
from tservice.http.transfer.streamed_response import STALLED_SECONDS

SIZE = 16 * large_responses.PIECE
ANN, BOB, CID = (Identity(username=name, admin=False) for name in ("ann", "bob", "cid"))
CROWD = 500
"""More calls than may be nested."""


class UnreadTransport(MemoryTransport):
    """Fills up with each write of more than a little, and empties when it is told to."""

    def write(self, data: bytes) -> None:
        super().write(data)
        if len(data) >= large_responses.PIECE and self.producer is not None:
            self.producer.pauseProducing()


class LargeCase(SynchronousTestCase):
    """A site with an answer of L{SIZE}, which a handler makes at once unless it is held."""

    def setUp(self) -> None:
        self.held: list[Deferred[None]] = []
        self.holds = False
        self.made = 0
        self.gate = OpenGate(ANN)
        table = [
            sample_operation("GET", "/api/history", self.history, query=PageQuery, large=_is_long),
            sample_operation("GET", "/api/list", self.listing),
            sample_operation("GET", "/api/small", SampleHandlers().echo),
        ]
        self.api = ApiHarness(table, self.gate)
        self.addCleanup(self.api.close)
        # With a little around it, each answer is more than SIZE.
        self.patch(large_responses, "MAX_UNREAD_PER_ACCOUNT", 2 * SIZE)
        self.patch(large_responses, "MAX_UNREAD", 3 * SIZE)

    async def history(self, call: OperationCall) -> object:
        self.made += 1
        if self.holds:
            self.held.append(Deferred())
            await self.held[-1]
        return {"text": "x" * SIZE}

    async def listing(self, call: OperationCall) -> object:
        return {"text": "x" * SIZE}

    @property
    def untaken(self) -> int:
        return self.api.kernel._large.unread_bytes

    def ask(self, path: str = "/api/history", who: Identity = ANN) -> SiteConnection:
        """A request whose sender reads nothing until it is told to."""
        self.gate.identity = who
        connection = self.api.connect(transport=UnreadTransport())
        connection.send(request_head("GET", path, {}))
        self.api.clock.advance(0)
        return connection

    def take(self, connection: SiteConnection) -> ParsedAnswer:
        """Read all of it."""
        for _ in range(SIZE // large_responses.PIECE + 1):
            connection.producer.resumeProducing()
        return parse_http_answer(connection.value())


def _is_long(query: Any) -> bool:
    return bool(query.limit > 1)


class UntakenTests(LargeCase):
    """What is held until it is taken."""

    def test_large_answer_is_written_as_fast_as_it_is_read(self) -> None:
        connection = self.ask()
        self.assertGreater(self.untaken, SIZE)
        self.assertLess(len(connection.value()), 2 * large_responses.PIECE)
        self.assertEqual(SIZE, len(self.take(connection).data["text"]))
        self.assertEqual(0, self.untaken)

    def test_client_that_reads_nothing_gets_no_more_answers(self) -> None:
        for path in ("/api/history", "/api/list"):
            unread = [self.ask(path), self.ask(path)]
            self.made = 0
            text = "2 MiB of your responses are waiting to be read; read them first"
            self.assertEqual(
                (429, "RATE_LIMITED", text), parse_http_answer(self.ask(path).value()).error
            )
            self.assertEqual(0, self.made)
            self.take(unread[0])
            last = self.ask(path)
            self.assertTrue(last.value().startswith(b"HTTP/1.1 200"))
            for connection in (*unread, last):
                connection.lose()
            self.assertEqual(0, self.untaken)

    def test_accounts_together_are_bounded(self) -> None:
        for who in (ANN, ANN, BOB):
            self.assertTrue(self.ask(who=who).value().startswith(b"HTTP/1.1 200"))
        refused = parse_http_answer(self.ask(who=CID).value())
        text = "3 MiB of responses are waiting to be read; try again later"
        self.assertEqual(text, refused.error[2])
        self.assertEqual("1", refused.headers["retry-after"])

    def test_small_answers_are_always_sent(self) -> None:
        for _ in range(2):
            self.ask()
        self.assertEqual({"path": {}}, parse_http_answer(self.ask("/api/small").value()).data)

    def test_client_that_stalls_is_cut_off(self) -> None:
        connection = self.ask()
        self.api.clock.advance(STALLED_SECONDS)
        self.assertTrue(connection.transport.aborted)
        connection.lose()
        self.assertEqual(0, self.untaken)
        self.assertEqual([], self.flushLoggedErrors())

    def test_head_request_sends_no_large_body(self) -> None:
        connection = self.api.connect()
        connection.send(request_head("HEAD", "/api/list", {}))
        answer = parse_http_answer(connection.value(), "HEAD")
        self.assertEqual((200, b""), (answer.status, answer.content))
        self.assertGreater(int(answer.headers["content-length"]), SIZE)
        self.assertEqual(0, self.untaken)

    def test_connection_serves_the_next_request_after_a_large_answer(self) -> None:
        connection = self.ask("/api/list")
        first = self.take(connection)
        connection.transport.clear()
        connection.send(request_head("GET", "/api/list", {}))
        self.api.clock.advance(0)
        self.assertEqual(first.content, self.take(connection).content)


class LargeAnswerTurnTests(LargeCase):
    """How many are made at a time."""

    def setUp(self) -> None:
        super().setUp()
        self.holds = True

    def finish(self) -> None:
        """The oldest that is being made is done."""
        self.held.pop(0).callback(None)
        self.api.clock.advance(0)

    def test_many_requests_of_one_account_wait_for_a_turn(self) -> None:
        asked = [self.ask() for _ in range(8)]
        self.assertEqual(large_responses.MAX_PREPARING_PER_ACCOUNT, self.made)
        for connection in asked:
            self.finish()
            self.assertEqual(200, self.take(connection).status)
        self.assertEqual(8, self.made)

    def test_other_accounts_do_not_wait(self) -> None:
        for who in (ANN, ANN, ANN, BOB):
            self.ask(who=who)
        self.assertEqual(3, self.made)

    def test_large_answers_prepared_at_a_time_are_bounded(self) -> None:
        many = [
            evolve(ANN, username=str(number)) for number in range(large_responses.MAX_PREPARING + 1)
        ]
        for who in many:
            self.ask(who=who)
        self.assertEqual(large_responses.MAX_PREPARING, self.made)
        self.finish()
        self.assertEqual(large_responses.MAX_PREPARING + 1, self.made)

    def test_small_answers_do_not_wait(self) -> None:
        for _ in range(large_responses.MAX_PREPARING_PER_ACCOUNT):
            self.ask()
        self.ask("/api/history?limit=1")
        self.assertEqual(large_responses.MAX_PREPARING_PER_ACCOUNT + 1, self.made)

    def test_disconnected_client_leaves_the_queue(self) -> None:
        asked = [self.ask() for _ in range(4)]
        for connection in asked[:3]:
            connection.lose()
        self.api.clock.advance(0)
        self.assertEqual(large_responses.MAX_PREPARING_PER_ACCOUNT + 1, self.made)
        self.held[-1].callback(None)
        self.assertEqual(200, self.take(asked[-1]).status)
        gc.collect()
        self.assertEqual(0, len(self.api.kernel._large._own))

    def test_too_many_waiting_requests_are_refused_one_by_one(self) -> None:
        self.patch(large_responses, "MAX_UNREAD_PER_ACCOUNT", 1)
        asked = [self.ask() for _ in range(CROWD)]
        self.finish()
        self.finish()
        for _ in range(CROWD):
            self.api.clock.advance(0)
        found = [connection.value()[9:12] for connection in asked]
        self.assertEqual(
            {b"200": 1, b"429": CROWD - 1}, {each: found.count(each) for each in found}
        )
