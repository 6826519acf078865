"""Tests for L{tservice.client.wires.reactor_wire}: faults, time and cancelling, on a clock."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.error import ConnectionRefusedError
from twisted.internet.task import Clock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.client import ResponseDone, ResponseNeverReceived
from twisted.web.http import PotentialDataLoss
from twisted.web.http_headers import Headers

from tservice.client.errors import ApiError, Unusable
from tservice.client.link.address import ServiceAddress
from tservice.client.link.caller import TIMEOUT, ResponseLost
from tservice.client.wires import reactor_wire
from tservice.client.wires.reactor_wire import ReactorWire, _ReadinessWaiter

WHOLE = b'{"success":true,"data":{"a":1}}'


class FakeAgent:
    """Answers when it is told to.

    @ivar asked: what was requested.
    @ivar answers: the Deferred of each request.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.answers: list[Deferred[Any]] = []

    def request(self, method: bytes, url: bytes, headers: Headers, body: Any) -> Deferred[Any]:
        self.asked.append((method, url, headers, body))
        self.answers.append(Deferred())
        return self.answers[-1]


class FakeResponse:
    """A response whose body goes to C{to}."""

    def __init__(self, code: int = 200) -> None:
        self.code, self.length, self.headers = code, 0, Headers()
        self.to: Any = None
        self.hung_up = 0

    def deliverBody(self, protocol: Any) -> None:
        self.to = protocol
        protocol.makeConnection(self)

    def loseConnection(self) -> None:
        self.hung_up += 1


class FakeReactor(Clock):
    """A clock that notes which sockets are watched."""

    def __init__(self) -> None:
        super().__init__()
        self.readers: set[Any] = set()
        self.writers: set[Any] = set()

    def getThreadPool(self) -> None:
        pass

    def addReader(self, one: Any) -> None:
        self.readers.add(one)

    def addWriter(self, one: Any) -> None:
        self.writers.add(one)

    def removeReader(self, one: Any) -> None:
        self.readers.discard(one)

    def removeWriter(self, one: Any) -> None:
        self.writers.discard(one)


class CallTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.reactor, self.agent = FakeReactor(), FakeAgent()
        self.wire = ReactorWire(
            self.reactor, ServiceAddress("h", 1, base="/b", authorization="Bearer x"), self.agent
        )

    def call_operation(self, *given: Any, **named: Any) -> Deferred[Any]:
        return Deferred.fromCoroutine(self.wire.send_request(*given, **named))

    def answered(self, content: bytes, end: Exception, code: int = 200) -> Deferred[Any]:
        """A call whose answer came so far."""
        work = self.call_operation("GET", "/s")
        response = FakeResponse(code)
        self.agent.answers[-1].callback(response)
        response.to.dataReceived(content)
        response.to.connectionLost(Failure(end))
        self.assertEqual([], self.reactor.getDelayedCalls())
        return work

    def test_request_has_url_headers_and_body(self) -> None:
        self.call_operation("POST", "s", {"k": 1}, {"a": "x y", "b": None})
        [(method, url, headers, body)] = self.agent.asked
        self.assertEqual((b"POST", b"http://h:1/b/api/v1/s?a=x+y"), (method, url))
        self.assertEqual([b"Bearer x"], headers.getRawHeaders(b"authorization"))
        self.assertEqual([b"application/json"], headers.getRawHeaders(b"content-type"))
        self.assertEqual(8, body.length)

    def test_answers_are_decoded(self) -> None:
        self.assertEqual({"a": 1}, self.successResultOf(self.answered(WHOLE, ResponseDone())))
        refused = self.answered(b'{"success":false,"errorCode":"NOT_FOUND","error":"no"}',
                                ResponseDone(), 404)  # fmt: skip
        self.assertEqual(404, self.failureResultOf(refused, ApiError).value.status)

    def test_truncated_answer_is_lost_or_accepted_by_its_length(self) -> None:
        whole = self.answered(WHOLE, PotentialDataLoss())
        self.assertEqual({"a": 1}, self.successResultOf(whole))
        self.failureResultOf(self.answered(WHOLE[:9], PotentialDataLoss()), ResponseLost)

    def test_connection_errors_are_losses(self) -> None:
        for fault in (
            ConnectionRefusedError(),
            ResponseNeverReceived([Failure(ConnectionRefusedError())]),
            OSError("no"),
        ):
            work = self.call_operation("GET", "/s")
            self.agent.answers[-1].errback(Failure(fault))
            self.failureResultOf(work, ResponseLost)
        self.assertEqual([], self.reactor.getDelayedCalls())

    def test_missing_answer_times_out(self) -> None:
        work = self.call_operation("GET", "/s", wait_ms=5000)
        self.reactor.advance(TIMEOUT + 4)
        self.assertNoResult(work)
        self.reactor.advance(1)
        self.assertIn("in time", str(self.failureResultOf(work, ResponseLost).value))

    def test_unfinished_body_times_out(self) -> None:
        work = self.call_operation("GET", "/s")
        response = FakeResponse()
        self.agent.answers[-1].callback(response)
        self.reactor.advance(TIMEOUT)
        self.failureResultOf(work, ResponseLost)
        self.assertEqual(1, response.hung_up)

    def test_cancelled_call_is_not_retried(self) -> None:
        """Else it would be tried again."""
        for turn in ("before", "within"):
            work = self.call_operation("GET", "/s")
            if turn == "within":
                self.agent.answers[-1].callback(FakeResponse())
            work.cancel()
            self.failureResultOf(work, CancelledError)
        work = self.call_operation("GET", "/s")
        reason = ResponseNeverReceived([Failure(CancelledError())])
        self.agent.answers[-1].errback(Failure(reason))
        self.failureResultOf(work, CancelledError)
        self.assertEqual([], self.reactor.getDelayedCalls())

    def test_too_long_answer_disconnects(self) -> None:
        self.patch(reactor_wire, "BOUND", 4)
        work = self.call_operation("GET", "/s")
        response = FakeResponse()
        self.agent.answers[-1].callback(response)
        response.to.dataReceived(b"12345")
        self.failureResultOf(work, Unusable)
        response.to.dataReceived(b"12345")
        response.to.connectionLost(Failure(ResponseDone()))
        self.assertEqual(1, response.hung_up)

    def test_certificate_pin_is_refused_instead_of_ignored(self) -> None:
        address = ServiceAddress("h", 1, tls=True, fingerprint=b"x" * 32)
        self.assertRaises(Unusable, ReactorWire, self.reactor, address)


class SocketReadinessTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.reactor = FakeReactor()

    def watch(self, unsent: bytes = b"") -> _ReadinessWaiter:
        socket: Any = SimpleNamespace(fileno=lambda: 7, unsent=unsent, ready=False)
        return _ReadinessWaiter(self.reactor, socket)

    def watched(self) -> tuple[int, int]:
        return len(self.reactor.readers), len(self.reactor.writers)

    def test_readiness_fires_once_and_is_removed(self) -> None:
        one = self.watch()
        self.assertEqual((1, 0), self.watched())
        one.doRead()
        self.successResultOf(one.fired)
        self.assertEqual((0, 0), self.watched())

    def test_unsent_data_is_watched_for_writing(self) -> None:
        one = self.watch(b"x")
        self.assertEqual((1, 1), self.watched())
        one.doWrite()
        self.assertEqual((0, 0), self.watched())
        one.connectionLost(Failure(OSError()))
        self.successResultOf(one.fired)

    def test_cancelled_readiness_is_removed(self) -> None:
        one = self.watch()
        one.fired.cancel()
        self.failureResultOf(one.fired, CancelledError)
        self.assertEqual((0, 0), self.watched())

    def test_broken_socket_fires_readiness(self) -> None:
        one = self.watch()
        one.connectionLost(Failure(OSError()))
        self.successResultOf(one.fired)


class ThreadTests(SynchronousTestCase):
    """Connecting happens in a thread; here at once, or when it is told to."""

    def setUp(self) -> None:
        self.reactor = FakeReactor()
        self.work: list[Any] = []
        self.result: Deferred[None] = Deferred()
        self.patch(reactor_wire, "deferToThreadPool", self.start)
        self.closed = 0
        self.wire = ReactorWire(self.reactor, ServiceAddress("h", 1), FakeAgent())

    def start(self, reactor: Any, pool: Any, work: Any) -> Deferred[None]:
        self.work.append(work)
        return self.result

    def close(self) -> None:
        self.closed += 1

    def test_cancelled_connect_closes_its_socket(self) -> None:
        stream: Any = SimpleNamespace(connect=lambda: None, close=self.close)
        work = Deferred.fromCoroutine(self.wire.connect_stream(stream))
        work.cancel()
        self.failureResultOf(work, CancelledError)
        self.closed = 0
        self.work[0]()
        self.assertEqual(1, self.closed)

    def test_connected_socket_is_kept(self) -> None:
        stream: Any = SimpleNamespace(connect=lambda: None, close=self.close)
        work = Deferred.fromCoroutine(self.wire.connect_stream(stream))
        self.work[0]()
        succeed(None).chainDeferred(self.result)
        self.successResultOf(work)
        self.assertEqual(0, self.closed)
