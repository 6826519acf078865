"""Web tabs through the whole service: theirs alone, bounded, ended with what they rest on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionAborted, ConnectionDone
from twisted.internet.task import Clock
from twisted.logger import ILogObserver, globalLogPublisher
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.http import _ChunkedTransferDecoder

from tests.security.world import World
from tests.unit.http.driver import Connection, MemoryTransport, head, turn
from tests.unit.http.websockets.wsframes import UPGRADE
from tservice.access.capabilities import CapabilityRegistry
from tservice.core.authentication import Visit
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.core.net.asking import INTERIM
from tservice.core.net.outbound import (
    OutboundError,
    OutboundFault,
    OutboundReply,
    OutboundRequest,
)
from tservice.http.connections.turns import SHARE, TURN
from tservice.http.envelope import Refusal
from tservice.webviews.jar import TOLD, Jars
from tservice.webviews.model import MOST, REQUESTS
from tservice.webviews.routes.bodies import Download
from tservice.webviews.routes.entrance import Doorway, Entrance, _counted
from tservice.webviews.routes.pacing import CHUNKS
from tservice.webviews.routes.relay import Relay
from tservice.webviews.routes.upstream import Upstream
from tservice.webviews.service import PROBES, Guard, WebViews

MANY = 10_000
"""Chunks of a byte that a read holds, about."""


class ViewTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.world = World()
        self.addCleanup(self.world.close)
        # Nothing can be connected to from here.
        self.world.clock.nameResolver = None  # type: ignore[attr-defined]
        self.world.populate()
        self.targets: list[Any] = []

    def connected(self) -> None:
        """Have targets that can be connected to: they say what a test has them say."""

        async def connect(
            upstream: Upstream, target: object, protocol: Callable[[], Any], *rest: object
        ) -> Any:
            made = protocol()
            made.makeConnection(MemoryTransport())
            self.targets.append(made)
            return made

        self.patch(Upstream, "connect", connect)

    def call(self, method: str, path: str = "", body: Any = None, name: str = "ann") -> Any:
        return self.world.good(name, method, f"/api/webviews{path}", body)

    def make(self, **more: Any) -> dict[str, Any]:
        body = {"name": "app", "url": "http://127.0.0.1:5173/x", **more}
        found: dict[str, Any] = self.call("POST", "", body)["webview"]
        return found

    def status(self, method: str, path: str, body: Any = None, name: str = "ann") -> int:
        cookie = {"Cookie": self.world.cookies[name]}
        return self.world.ask(method, path, body, cookie).status

    def test_a_tab_s_life(self) -> None:
        made = self.make(icon="x")
        self.assertEqual("ann", made["owner"])
        self.assertEqual([made], self.call("GET")["webviews"])
        self.assertEqual([], self.call("GET", name="root")["webviews"], "not even an admin's")
        changed = self.call("PATCH", f"/{made['id']}", {"name": "b", "icon": None})["webview"]
        self.assertEqual(("b", False), (changed["name"], "icon" in changed))
        self.assertEqual({}, self.call("DELETE", f"/{made['id']}"))
        self.assertEqual([], self.call("GET")["webviews"])

    def test_what_is_refused(self) -> None:
        for field, value in (
            ("name", ""), ("name", "a\nb"), ("name", "x" * 61), ("url", "ftp://x/"), ("url", "x"),
            ("url", "http://169.254.169.254/"), ("url", "http://user:p@x/"), ("icon", "x" * 65),
            ("more", 1),
        ):  # fmt: skip
            body = {"name": "app", "url": "http://h/", field: value}
            cookie = {"Cookie": self.world.cookies["ann"]}
            answer = self.world.ask("POST", "/api/webviews", body, cookie)
            self.assertEqual(400, answer.status, (field, value))
            self.assertIn(field, answer.body)

    def test_so_many(self) -> None:
        for _ in range(MOST):
            self.make()
        body = {"name": "app", "url": "http://h/"}
        self.assertEqual(422, self.status("POST", "/api/webviews", body))

    def test_a_word_ends_with_what_it_opens(self) -> None:
        for how in ("address", "deleted", "signed out"):
            made = self.make()
            path = self.call("POST", f"/{made['id']}/open")["embedUrl"]
            self.assertTrue(path.endswith("/x"), path)
            self.assertEqual(403, self.status("GET", path, name="bob"), "somebody else's cookie")
            self.assertNotEqual(403, self.world.ask("GET", path).status, "needs no credentials")
            if how == "address":
                self.call("PATCH", f"/{made['id']}", {"url": "http://other/"})
            elif how == "deleted":
                self.call("DELETE", f"/{made['id']}")
            else:
                self.call_logout()
            self.assertEqual(403, self.world.ask("GET", path).status, how)

    def call_logout(self) -> None:
        cookie = {"Cookie": self.world.cookies["ann"]}
        self.assertEqual(200, self.world.ask("POST", "/api/logout", None, cookie).status)

    def test_what_is_open_ends_with_the_word(self) -> None:
        """A socket, an answer under way, and one that has not begun."""
        self.connected()
        for how in ("address", "deleted", "signed out", "account"):
            self.targets.clear()
            made = self.make()
            path = self.call("POST", f"/{made['id']}/open")["embedUrl"]
            socket, answer, silent = self.socket(path), self.request(path), self.request(path)
            self.targets[1].dataReceived(b"HTTP/1.1 200 OK\r\n\r\nsome of it")
            self.assertIn(b"some of it", answer.value())
            if how == "address":
                self.call("PATCH", f"/{made['id']}", {"url": "http://other/"})
            elif how == "deleted":
                self.call("DELETE", f"/{made['id']}")
            elif how == "signed out":
                self.call_logout()
                self.world.cookies["ann"] = self.world.sign_in("ann")
            else:
                path = "/api/admin/users/ann"
                self.world.good("root", "PATCH", path, {"enabled": False})
            for each in (socket, answer, silent):
                self.assertTrue(each.transport.aborted, how)
                each.lose()
            self.assertTrue(all(it.transport.aborted for it in self.targets), how)

    def socket(self, path: str) -> Connection:
        """A WebSocket of the tab's page that its target took."""
        opened = self.request(path, **UPGRADE, Origin="http://localhost")
        accept = b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        self.targets[-1].dataReceived(b"HTTP/1.1 101 Yes\r\n%b\r\n\r\n" % accept)
        self.assertTrue(opened.value().startswith(b"HTTP/1.1 101 "), opened.value())
        return opened

    def request(self, path: str, **headers: str) -> Connection:
        """One whose target was asked, and says nothing yet."""
        connection = Connection(self.world.site, MemoryTransport())
        self.addCleanup(connection.lose)
        connection.send(head("GET", path, headers))
        self.assertIn(b"GET /x HTTP/1.1", self.targets[-1].transport.value())
        return connection

    def opened(self) -> Connection:
        """A request of a tab whose target was asked."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        return self.request(path)

    def test_a_head_without_an_end(self) -> None:
        """A target is hung up on; what it said before is held no more and logged but a little."""
        for first, again in (
            (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
            (b"HTTP/1.1 200 OK\r\nX: y\r\n", b" more\r\n"),
            (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            (b"", b"HTTP/1.1 103 Early Hints\n\n"),
        ):
            answer = self.opened()
            target = self.targets[-1]
            lines: list[Any] = []
            noted: ILogObserver = lines.append  # type: ignore[assignment]
            globalLogPublisher.addObserver(noted)
            self.addCleanup(globalLogPublisher.removeObserver, noted)
            target.dataReceived(first)
            for _ in range(64):
                if not target.transport.aborted:
                    target.dataReceived(again * (4096 // len(again)))
            self.assertTrue(target.transport.aborted, again)
            self.assertLessEqual(len(lines), INTERIM + 1, again)
            target.connectionLost(Failure(ConnectionAborted()))
            self.assertIn(b"HTTP/1.1 502 ", answer.value())

    def test_what_comes_before_an_answer(self) -> None:
        """Byte by byte and all at once."""
        said = b"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n" * INTERIM
        said += b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\n\n"
        for pieces in ([said], [said[at : at + 1] for at in range(len(said))]):
            answer = self.opened()
            for piece in pieces:
                self.targets[-1].dataReceived(piece)
            self.assertTrue(answer.value().startswith(b"HTTP/1.1 200 OK\r\n"), answer.value())
            self.assertTrue(answer.value().endswith(b"\r\n\r\n\n\n"))
            self.assertNotIn(b"Link", answer.value())

    def chunked(self) -> tuple[Connection, Any]:
        """An answer in chunks that has begun, and its target."""
        answer = self.opened()
        target = self.targets[-1]
        target.dataReceived(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        return answer, target

    def test_an_answer_in_crumbs(self) -> None:
        """A read of ten thousand chunks is others' turn in between; nothing more is read then."""
        answer, target = self.chunked()
        sizes: list[int] = []
        real = Download.dataReceived

        def counted(body: Download, data: bytes) -> None:
            sizes.append(len(data))
            real(body, data)

        self.patch(Download, "dataReceived", counted)
        target.dataReceived(b"1\r\nx\r\n" * MANY)
        turns = 0
        while sum(sizes) < MANY:
            self.assertEqual("paused", target.transport.producerState)
            turn(self.world.clock)
            turns += 1
        self.assertGreaterEqual(turns, MANY // (CHUNKS * TURN))
        self.assertLessEqual(max(sizes), CHUNKS * SHARE)
        self.assertLessEqual(len(sizes), MANY // (CHUNKS * SHARE) + 1)
        self.assertEqual("producing", target.transport.producerState)
        target.dataReceived(b"0\r\n\r\n")
        self.assertEqual(b"x" * MANY, unchunked(answer.value()))
        self.assertFalse(answer.transport.aborted)

    def test_many_answers_in_crumbs(self) -> None:
        """Together they take no more of a turn than one."""
        begun = [self.chunked() for _ in range(9)]
        turn(self.world.clock)
        before = sum(len(unchunked(answer.value())) for answer, _ in begun)
        for _, target in begun:
            target.dataReceived(b"1\r\nx\r\n" * MANY)
        most = CHUNKS * (TURN + SHARE)
        while before < len(begun) * MANY:
            after = sum(len(unchunked(answer.value())) for answer, _ in begun)
            self.assertLessEqual(after - before, most)
            before = after
            turn(self.world.clock)

    def test_crumbs_whose_reader_is_slow(self) -> None:
        """The two reasons to wait do not undo each other."""
        answer, target = self.chunked()
        reader: Any = answer.transport.producer
        reader.pauseProducing()
        for _ in range(40):
            if target.transport.producerState == "producing":
                target.dataReceived(b"1\r\nx\r\n" * MANY)
            for _ in range(40):
                turn(self.world.clock)
        self.assertEqual("paused", target.transport.producerState)
        held = len(unchunked(answer.value()))
        reader.resumeProducing()
        for _ in range(10):
            turn(self.world.clock)
        self.assertGreater(len(unchunked(answer.value())), held)
        self.assertEqual("producing", target.transport.producerState)

    def test_crumbs_of_a_target_that_hangs_up(self) -> None:
        """What came before is all told, and of a whole answer the end as well."""
        for end, whole in ((b"0\r\n\r\n", True), (b"", False), (b"z\r\n", False)):
            answer, target = self.chunked()
            target.dataReceived(b"1\r\nx\r\n" * MANY + end)
            target.dataReceived(b"")
            target.connectionLost(Failure(ConnectionDone()))
            self.assertEqual(b"x" * MANY, unchunked(answer.value()))
            self.assertEqual(whole, not answer.transport.aborted)
            for _ in range(40):
                turn(self.world.clock)
        self.assertEqual([], self.flushLoggedErrors())

    def test_what_comes_while_it_waits(self) -> None:
        """As over TLS, which has some in hand."""
        answer, target = self.chunked()
        for _ in range(3):
            target.dataReceived(b"1\r\nx\r\n" * 1000)
        target.dataReceived(b"2\r\nyz\r\n0\r\n\r\n")
        for _ in range(10):
            turn(self.world.clock)
        self.assertEqual(b"x" * 3000 + b"yz", unchunked(answer.value()))

    def test_a_status_that_is_none(self) -> None:
        for status in (b"-5", b"000", b"0", b"1000", b"99999999999"):
            answer = self.opened()
            self.targets[-1].dataReceived(b"HTTP/1.1 %b X\r\nContent-Length: 0\r\n\r\n" % status)
            self.assertIn(b"HTTP/1.1 502 ", answer.value(), status)

    def test_a_target_that_breaks_off(self) -> None:
        """Its reader sees that there was more to come; it is no fault of the service's."""
        answer = self.opened()
        self.targets[-1].dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome")
        self.targets[-1].connectionLost(Failure(ConnectionDone()))
        self.assertTrue(answer.value().endswith(b"\r\n\r\nsome"))
        self.assertTrue(answer.transport.aborted)
        self.assertEqual([], self.flushLoggedErrors())

    def test_a_target_that_answers_before_the_body_s_end(self) -> None:
        """It has what it wants; what still comes goes nowhere, and is no fault either."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        crumbs = b"1\r\nx\r\n" * MANY
        for kind, body, more in (
            ({"Transfer-Encoding": "chunked"}, b"4\r\nsome\r\n", crumbs),
            ({"Content-Length": "90"}, b"some", b"some"),
        ):
            for how in ("the browser", "the target", "the body"):
                answer = Connection(self.world.site, MemoryTransport())
                answer.send(head("POST", path, kind) + body)
                target = self.targets[-1]
                self.assertIn(b"some", target.transport.value())
                target.dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell")
                self.assertTrue(answer.value().endswith(b"\r\n\r\nwell"), answer.value())
                if how == "the target":
                    target.transport.producer.stopProducing()
                if how == "the body":
                    answer.send(more)
                answer.lose()
                target.connectionLost(Failure(ConnectionDone()))
                self.assertEqual([], self.flushLoggedErrors(), how)

    def test_a_body_that_is_refused_on_its_way(self) -> None:
        """The target never sees its end, and its sender hears of it."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        answer = Connection(self.world.site, MemoryTransport())
        answer.send(head("POST", path, {"Transfer-Encoding": "chunked"}) + b"1\r\nx\r\n" * MANY)
        self.assertIn(b"HTTP/1.1 400 ", answer.value())
        self.assertIn(b"body: must not come in more than", answer.value())
        target = self.targets[-1]
        self.assertTrue(target.transport.aborted)
        self.assertNotIn(b"0\r\n\r\n", target.transport.value())
        target.connectionLost(Failure(ConnectionAborted()))
        answer.lose()
        self.assertEqual([], self.flushLoggedErrors())

    def test_cookies_do_not_drive_out_the_service_s(self) -> None:
        """A browser keeps 180 of a host, whatever their port."""
        self.connected()
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        told: set[bytes] = set()
        for again in range(5):
            answer = self.request(path)
            cookies = b"".join(b"Set-Cookie: c%dx%d=1\r\n" % (again, n) for n in range(90))
            say = (
                b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
                + cookies
                + b"Set-Cookie: c0x0=2\r\n\r\n"
            )
            self.targets[-1].dataReceived(say)
            told.update(re.findall(rb"Set-Cookie: (\w+)=", answer.value()))
            self.assertIn(b"Set-Cookie: c0x0=2;", answer.value(), "those that it has change")
        self.assertEqual(TOLD, len(told))

    def test_a_worker_s_script(self) -> None:
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        answer = self.world.ask("GET", path, None, {"Service-Worker": "script"})
        self.assertEqual(403, answer.status)

    def test_what_lost_its_prefix(self) -> None:
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        from_it = {"Host": "127.0.0.1", "Referer": f"http://127.0.0.1{path}"}
        prefix = path.removesuffix("/x")
        found = self.world.ask("GET", "/lost.js?a=b", None, from_it)
        self.assertEqual((307, f"{prefix}/lost.js?a=b"), (found.status, found.headers["location"]))
        self.assertEqual("no-store", found.headers["cache-control"])
        frame = self.world.ask("GET", "/lost", None, {**from_it, "Sec-Fetch-Dest": "iframe"})
        self.assertEqual(404, frame.status)
        self.assertIn("left its web tab", frame.body)
        for method, other in (("POST", "/lost.js"), ("GET", "/api/sessions"), ("GET", "/ws/x")):
            self.assertEqual(401, self.world.ask(method, other, None, from_it).status, other)

    def test_so_many_at_a_time(self) -> None:
        counts: Counter[str] = Counter({"w": REQUESTS - 1})
        with _counted(counts, "w", REQUESTS):
            self.assertRaises(Refusal, _counted(counts, "w", REQUESTS).__enter__)
        self.assertEqual(REQUESTS - 1, counts["w"])


def unchunked(said: bytes) -> bytes:
    """The body of an answer in chunks, so far."""
    parts: list[bytes] = []
    decoder = _ChunkedTransferDecoder(parts.append, lambda behind: None)
    decoder.dataReceived(said.partition(b"\r\n\r\n")[2])
    return b"".join(parts)


class ApartTests(SynchronousTestCase):
    """The listener of web tabs, where nobody signs in."""

    def test_no_password_is_tried_there(self) -> None:
        """Wrong ones, which any page can send there, would count against whoever looks at it."""
        tried: list[Visit] = []

        async def recognise(visit: Visit) -> None:
            tried.append(visit)

        guard, clock = Guard(own_ports=list), Clock()
        relay = Relay(
            upstream=Upstream(reactor=clock, guard=guard),
            guard=guard,
            cookies=frozenset(),
            jars=Jars(clock),
        )
        visit = Visit(
            method="GET", path="/x", host="h", address="::1", secure=False, upgrade=False, key=None,
            base="", header={"authorization": "Basic eDp5"}.get, cookies=lambda name: [],
        )  # fmt: skip
        for apart in (True, False):
            doorway = Doorway(
                words=CapabilityRegistry(clock, lambda size: b""),
                url_of=lambda tab: "http://localhost:5173/",
                recognise=recognise,
                ancestors=lambda host: [],
                apart=apart,
            )
            found = Capability()
            made = Entrance(doorway, relay)._passage(visit, "word", found, b"/")
            self.assertEqual(apart, self.successResultOf(Deferred.fromCoroutine(made)).apart)
        self.assertEqual([visit], tried)


@frozen
class Capability:
    """What a word opens."""

    subject: str = "tab"
    username: str = "ann"


class ProbeTests(SynchronousTestCase):
    """Looking at addresses."""

    def test_an_account_looks_at_so_many_at_a_time(self) -> None:
        """Each is a connection that the service opens, for as long as nobody answers."""
        held: list[Deferred[OutboundReply]] = []

        class Silent:
            async def send(self, request: OutboundRequest) -> OutboundReply:
                held.append(Deferred())
                return await held[-1]

        parts = Mock()
        parts.outbound = lambda policy: Silent()
        parts.guard = Guard(own_ports=lambda: ())
        views = WebViews(parts)

        def probe(name: str) -> Deferred[Any]:
            who = Identity(username=name, admin=False)
            return Deferred.fromCoroutine(views.probe("http://127.0.0.1:1/", who))

        under_way = [probe("ann") for _ in range(PROBES)]
        refused = self.failureResultOf(probe("ann"), ServiceError).value
        self.assertEqual(ErrorCode.RATE_LIMITED, refused.code)
        under_way.append(probe("bob"))
        self.assertEqual(PROBES + 1, len(held), "another's are no matter")
        held[0].callback(OutboundReply(status=204, headers={}))
        self.assertEqual(204, self.successResultOf(under_way[0]).status)
        held[1].errback(OutboundError(OutboundFault.TIMED_OUT))
        self.assertFalse(self.successResultOf(under_way[1]).ok)
        under_way += [probe("ann"), probe("ann")]
        self.failureResultOf(probe("ann"), ServiceError)
