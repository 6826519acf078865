"""Web tabs through the whole service: theirs alone, bounded, ended with what they rest on."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import Any
from unittest.mock import Mock

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tests.unit.http.websockets.ws_frames import UPGRADE
from tests.unit.webviews.harness import TabCase
from tservice.access.capabilities import CapabilityRegistry
from tservice.core.callers.authentication import AuthenticationRequest
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.net.outbound import (
    OutboundError,
    OutboundFault,
    OutboundRequest,
    OutboundResponse,
)
from tservice.http.connections.connection_limit import RELAYED
from tservice.http.envelope import HttpRefusal
from tservice.webviews.cookie_jar import CookieJars
from tservice.webviews.model import MOST, REQUESTS, SOCKETS
from tservice.webviews.routes.capability_routes import (
    CapabilityResolver,
    CapabilityRoutes,
    _limit_concurrency,
)
from tservice.webviews.routes.relay import RequestRelay
from tservice.webviews.routes.relay_limits import RelayLimits
from tservice.webviews.routes.upstream import TargetConnector
from tservice.webviews.service import PROBES, WebTabGuard, WebViewService


class ViewTests(TabCase):
    def test_web_tab_is_created_changed_and_deleted(self) -> None:
        made = self.make(icon="x")
        self.assertEqual("ann", made["owner"])
        self.assertEqual([made], self.call("GET")["webviews"])
        self.assertEqual([], self.call("GET", name="root")["webviews"], "not even an admin's")
        changed = self.call("PATCH", f"/{made['id']}", {"name": "b", "icon": None})["webview"]
        self.assertEqual(("b", False), (changed["name"], "icon" in changed))
        self.assertEqual({}, self.call("DELETE", f"/{made['id']}"))
        self.assertEqual([], self.call("GET")["webviews"])

    def test_invalid_web_tabs_are_refused(self) -> None:
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

    def test_account_without_grant_reads_public_addresses_only(self) -> None:
        inside = "http://127.0.0.1:2019/config/"
        kept = self.make(url=inside)
        self.world.good("root", "PATCH", "/api/admin/users/ann", {"canBypassPermissions": False})
        self.world.cookies["ann"] = self.world.sign_in("ann")
        asked = (
            ("POST", "", {"name": "app", "url": inside}),
            ("POST", "/probe", {"url": inside}),
            ("PATCH", f"/{kept['id']}", {"url": "http://10.0.0.1/"}),
            ("POST", f"/{kept['id']}/open", None),
        )
        for method, path, body in asked:
            self.assertEqual(400, self.status(method, f"/api/webviews{path}", body), (method, path))
        self.connected()
        public = self.make(url="http://93.184.216.34/x")
        path = self.call("POST", f"/{public['id']}/open")["embedUrl"]
        self.request(path)
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.assertEqual(403, self.world.ask(method, path).status, method)
        upgraded = SiteConnection(self.world.site, MemoryTransport())
        self.addCleanup(upgraded.lose)
        upgraded.send(request_head("GET", path, {**UPGRADE, "Origin": "http://localhost"}))
        self.assertTrue(upgraded.value().startswith(b"HTTP/1.1 403 "), upgraded.value())
        self.assertEqual(1, len(self.targets))

    def test_web_tabs_are_limited_in_number(self) -> None:
        for _ in range(MOST):
            self.make()
        body = {"name": "app", "url": "http://h/"}
        self.assertEqual(422, self.status("POST", "/api/webviews", body))

    def test_capability_ends_with_its_tab_or_login(self) -> None:
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

    def test_open_connections_end_with_the_capability(self) -> None:
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

    def test_service_worker_script_is_refused(self) -> None:
        path = self.call("POST", f"/{self.make()['id']}/open")["embedUrl"]
        answer = self.world.ask("GET", path, None, {"Service-Worker": "script"})
        self.assertEqual(403, answer.status)

    def test_request_that_lost_its_prefix_is_redirected_by_referer(self) -> None:
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

    def test_requests_of_a_tab_at_a_time_are_limited(self) -> None:
        counts: Counter[str] = Counter({"w": REQUESTS - 1})
        with _limit_concurrency(counts, "w", REQUESTS):
            self.assertRaises(HttpRefusal, _limit_concurrency(counts, "w", REQUESTS).__enter__)
        self.assertEqual(REQUESTS - 1, counts["w"])


class RelayedTests(SynchronousTestCase):
    """All web tabs together."""

    def held(self, relayed: RelayLimits, stack: ExitStack, owner: str) -> int:
        """How many more C{owner} gets."""
        for number in range(RELAYED + 1):
            try:
                stack.enter_context(relayed.hold_connection_slot(owner))
            except HttpRefusal as refusal:
                self.assertEqual(429, refusal.response.status)
                return number
        raise AssertionError("there is no bound")

    def test_one_account_leaves_connections_for_others(self) -> None:
        relayed = RelayLimits(shared=True)
        with ExitStack() as stack:
            got = [self.held(relayed, stack, owner) for owner in ("ann", "bob", "cat")]
            self.assertEqual([120, 60, 30], got)
            self.assertGreater(got[0], REQUESTS + SOCKETS)
        with ExitStack() as stack:
            self.assertEqual(120, self.held(relayed, stack, "bob"), "all of them are over")

    def test_single_account_may_use_all_connections(self) -> None:
        with ExitStack() as stack:
            self.assertEqual(RELAYED, self.held(RelayLimits(shared=False), stack, "ann"))


class WebTabListenerTests(SynchronousTestCase):
    """The listener of web tabs, where nobody signs in."""

    def test_web_tab_listener_does_not_check_passwords(self) -> None:
        """Wrong ones, which any page can send there, would count against whoever looks at it."""
        tried: list[AuthenticationRequest] = []

        async def recognise(visit: AuthenticationRequest) -> None:
            tried.append(visit)

        guard, clock = WebTabGuard(own_ports=list, trusts=lambda name: True), Clock()
        relay = RequestRelay(
            upstream=TargetConnector(reactor=clock, guard=guard),
            guard=guard,
            cookies=frozenset(),
            jars=CookieJars(clock),
            relayed=RelayLimits(shared=True),
        )
        visit = AuthenticationRequest(
            method="GET", path="/x", host="h", address="::1", secure=False, upgrade=False, key=None,
            base="", header={"authorization": "Basic eDp5"}.get, cookies=lambda name: [],
        )  # fmt: skip
        for apart in (True, False):
            doorway = CapabilityResolver(
                capabilities=CapabilityRegistry(clock, lambda size: b""),
                url_of=lambda tab: "http://localhost:5173/",
                recognise=recognise,
                ancestors=lambda host: [],
                is_isolated=apart,
            )
            found = FoundCapability()
            made = CapabilityRoutes(doorway, relay)._make_context(visit, "word", found, b"/")
            self.assertEqual(apart, self.successResultOf(Deferred.fromCoroutine(made)).is_isolated)
        self.assertEqual([visit], tried)


@frozen
class FoundCapability:
    """What a word opens."""

    subject: str = "tab"
    username: str = "ann"


class WebTabProbeTests(SynchronousTestCase):
    """Looking at addresses."""

    def test_probes_of_an_account_at_a_time_are_limited(self) -> None:
        """Each is a connection that the service opens, for as long as nobody answers."""
        held: list[Deferred[OutboundResponse]] = []

        class Silent:
            async def send(self, request: OutboundRequest) -> OutboundResponse:
                held.append(Deferred())
                return await held[-1]

        parts = Mock()
        parts.outbound = lambda policy: Silent()
        parts.guard = WebTabGuard(own_ports=lambda: (), trusts=lambda name: True)
        views = WebViewService(parts)

        def probe(name: str) -> Deferred[Any]:
            who = Identity(username=name, admin=False)
            return Deferred.fromCoroutine(views.probe_url("http://127.0.0.1:1/", who))

        under_way = [probe("ann") for _ in range(PROBES)]
        refused = self.failureResultOf(probe("ann"), ServiceError).value
        self.assertEqual(ErrorCode.RATE_LIMITED, refused.code)
        under_way.append(probe("bob"))
        self.assertEqual(PROBES + 1, len(held), "another's are no matter")
        held[0].callback(OutboundResponse(status=204, headers={}))
        self.assertEqual(204, self.successResultOf(under_way[0]).status)
        held[1].errback(OutboundError(OutboundFault.TIMED_OUT))
        self.assertFalse(self.successResultOf(under_way[1]).ok)
        under_way += [probe("ann"), probe("ann")]
        self.failureResultOf(probe("ann"), ServiceError)
