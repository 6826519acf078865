"""What passes between a browser and a target, and what does not."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from ipaddress import ip_address
from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.protocol import Protocol
from twisted.internet.task import Clock
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.core.net.resolvers import ScriptedResolver
from tests.unit.http.site_driver import MemoryTransport
from tservice.core.net.egress import EgressRefused
from tservice.http.envelope import HttpRefusal
from tservice.webviews.model import get_target_resource, parse_referer_token, parse_token
from tservice.webviews.pinning import MOST, AddressPin, AddressPins
from tservice.webviews.rewriting import (
    PIECE,
    REWRITTEN,
    Pairs,
    build_preflight_headers,
    confine_cookie,
    get_rewritable_length,
    remove_cookies,
    rewrite_content,
    rewrite_location,
    rewrite_page,
    rewrite_request_headers,
    rewrite_response_headers,
    rewrite_script,
    rewrite_style_sheet,
)
from tservice.webviews.routes.upstream import TargetConnector
from tservice.webviews.routes.websocket_relay import build_handshake_answer
from tservice.webviews.service import WebTabGuard

WORD = "w" * 32
PREFIX = f"/webview/{WORD}"
ORIGIN = "http://app:5173"
OURS = frozenset({"service_session"})


class WebTabPathTests(SynchronousTestCase):
    def test_capability_is_read_from_the_path(self) -> None:
        self.assertEqual(WORD, parse_token(f"{PREFIX}/x"))
        for path in ("/webview/short/x", f"/api/{WORD}/", f"/webview/{WORD}w/"):
            self.assertIsNone(parse_token(path), path)

    def test_safe_paths_pass_unchanged(self) -> None:
        for rest in (b"/", b"/a/b%20c;d=1?x=/../y", b"/%C3%A9", b"/a.b/..c", b"/a%2fb"):
            self.assertEqual(rest, get_target_resource(PREFIX.encode() + rest, WORD))
        self.assertEqual(b"/x", get_target_resource(b"/base" + PREFIX.encode() + b"/x", WORD))
        self.assertEqual(b"/?q", get_target_resource(PREFIX.encode() + b"?q", WORD))

    def test_path_that_could_lead_out_is_refused(self) -> None:
        for rest in (
            b"/../x", b"/%2e%2E/x", b"/a/./b", b"//evil", b"/a\\b", b"/a%5cb", b"/%0d%0aX", b"/%00",
            b"/..%2fx", b"/a%2f../b",
        ):  # fmt: skip
            self.assertIsNone(get_target_resource(PREFIX.encode() + rest, WORD), rest)

    def test_capability_is_read_from_a_matching_referer(self) -> None:
        here = f"http://h:1{PREFIX}/page"
        self.assertEqual(WORD, parse_referer_token(here, "h:1"))
        self.assertEqual(WORD, parse_referer_token(f"http://h:1/base{PREFIX}/", "h:1", "/base"))
        for other in (None, "", "http://[", f"http://evil{PREFIX}/", f"ftp://h:1{PREFIX}/"):
            self.assertIsNone(parse_referer_token(other, "h:1"), other)


class UpwardTests(SynchronousTestCase):
    def sent(self, *given: tuple[str, str], plain: bool = False) -> Pairs:
        return rewrite_request_headers(
            list(given), origin=ORIGIN, prefix=PREFIX, cookies=OURS, plain=plain
        )

    def test_credentials_of_the_service_are_not_forwarded(self) -> None:
        found = self.sent(
            ("Authorization", "Basic x"),
            ("Proxy-Authorization", "x"),
            ("Cookie", "service_session=secret; a=b;service_session=again"),
            ("X-Service-Key", "k"),
            ("X-Service-Hook-Secret", "s"),
            ("X-Forwarded-For", "10.0.0.1"),
            ("Forwarded", "for=x"),
            ("Host", "service"),
            ("Accept", "*/*"),
        )
        self.assertEqual([("Accept", "*/*"), ("Cookie", "a=b")], found)

    def test_authorization_set_by_the_page_is_forwarded_except_service_tokens(self) -> None:
        def sent(value: str) -> Pairs:
            return rewrite_request_headers([("Authorization", value)], origin=ORIGIN, prefix=PREFIX,
                                   cookies=OURS,
                          plain=False, apart=True)  # fmt: skip

        for own in ("token t", "Bearer eyJ", "x"):
            self.assertEqual([("Authorization", own)], sent(own))
        for other in ("Basic eDp5", "digest x", "Negotiate x", "Bearer tsk_word", "bearer  tsk_w"):
            self.assertEqual([], sent(other), other)
        self.assertEqual([], self.sent(("Authorization", "token t")))

    def test_kept_cookies_are_sent_first_and_once(self) -> None:
        given = [("Cookie", "a=old; b=2; service_session=secret")]
        found = rewrite_request_headers(
            given, origin=ORIGIN, prefix=PREFIX, cookies=OURS, plain=False, kept="a=new"
        )
        self.assertEqual([("Cookie", "a=new; b=2")], found)

    def test_permitted_headers_are_valid_names(self) -> None:
        found = build_preflight_headers("authorization, x-a,bad name,\r\nX: y, content-type")
        names = "authorization, x-a, content-type"
        self.assertEqual(names, found["Access-Control-Allow-Headers"])

    def test_hop_by_hop_headers_are_removed(self) -> None:
        found = self.sent(("Connection", "close, X-Gone"), ("X-Gone", "1"), ("TE", "gzip"),
                          ("Transfer-Encoding", "chunked"), ("Upgrade", "h2c"))  # fmt: skip
        self.assertEqual([], found)

    def test_origin_and_referer_of_own_pages_are_translated(self) -> None:
        found = self.sent(("Origin", "null"), ("Referer", f"http://service{PREFIX}/a?b"))
        self.assertEqual([("Origin", ORIGIN), ("Referer", f"{ORIGIN}/a?b")], found)
        self.assertEqual([], self.sent(("Referer", "http://service/?session=1")))

    def test_rewritten_resources_are_requested_uncompressed(self) -> None:
        self.assertEqual(
            [("Accept-Encoding", "identity")], self.sent(("Accept-Encoding", "br"), plain=True)
        )

    def test_service_cookies_are_removed(self) -> None:
        self.assertEqual("", remove_cookies(" service_session = x ;", OURS))
        self.assertEqual("service_session2=x", remove_cookies("service_session2=x", OURS))


class DownwardTests(SynchronousTestCase):
    def answered(self, *given: tuple[str, str]) -> Pairs:
        return rewrite_response_headers(
            list(given), origin=ORIGIN, asked=f"{ORIGIN}/a/b", prefix=PREFIX, cookies=OURS
        )

    def test_headers_that_affect_the_origin_are_dropped(self) -> None:
        dropped = (
            "Clear-Site-Data", "Service-Worker-Allowed", "Strict-Transport-Security", "Refresh",
            "WWW-Authenticate", "X-Frame-Options", "Content-Security-Policy", "Alt-Svc", "Link",
            "Access-Control-Allow-Origin", "NEL", "Reporting-Endpoints", "Content-Length",
            "Transfer-Encoding", "X-Service-Key", "Accept-CH", "Critical-CH", "Set-Login",
            "Secure-Session-Registration", "Secure-Session-Challenge",
            "Use-As-Dictionary", "Speculation-Rules", "Attribution-Reporting-Register-Source",
            "Observe-Browsing-Topics", "Activate-Storage-Access",
        )  # fmt: skip
        self.assertEqual([], self.answered(*((name, "x") for name in dropped)))
        kept = ("ETag", "x")
        self.assertEqual([kept], self.answered(kept))

    def test_redirects_are_translated(self) -> None:
        for given, want in (
            ("/x?y#z", f"{PREFIX}/x?y#z"),
            ("c", f"{PREFIX}/a/c"),
            (f"{ORIGIN}/x", f"{PREFIX}/x"),
            ("//app:5173/x", f"{PREFIX}/x"),
            ("https://app:5173/x", "https://app:5173/x"),
            ("http://other/x", "http://other/x"),
        ):
            self.assertEqual(want, rewrite_location(given, ORIGIN, f"{ORIGIN}/a/b", PREFIX))

    def test_target_cookies_are_confined_to_the_prefix(self) -> None:
        self.assertEqual(
            f"a=b; HttpOnly; Max-Age=5; SameSite=Lax; Path={PREFIX}/x",
            confine_cookie(
                "a=b; Domain=evil; HttpOnly; Path=/x; Max-Age=5; SameSite=None", PREFIX, OURS
            ),
        )
        for refused in (
            "service_session=x",
            " service_session =x",
            "__Host-a=b",
            "=b",
            "a",
            "a b=c",
        ):
            self.assertIsNone(confine_cookie(refused, PREFIX, OURS), refused)

    def test_links_in_pages_and_sheets_are_rewritten(self) -> None:
        html = b'<a class=x href="/a"><img src=\'/b\'><a href=//o><a href="http://app:5173/c"></a>'
        want = html.replace(b'"/a', b'"%b/a').replace(b"'/b", b"'%b/b")
        want = want.replace(b"http://app:5173/c", b"%b/c") % ((PREFIX.encode(),) * 3)
        self.assertEqual(want, rewrite_page(html, ORIGIN, PREFIX))
        self.assertEqual(
            f'import a from "{PREFIX}/a"; import("{PREFIX}/b"); x = "/c"'.encode(),
            rewrite_script(b'import a from "/a"; import("/b"); x = "/c"', PREFIX),
        )
        self.assertEqual(
            f"a{{b:url({PREFIX}/c) url(//d)}}".encode(),
            rewrite_style_sheet(b"a{b:url(/c) url(//d)}", PREFIX),
        )


def pieces(kind: str, content: bytes) -> list[bytes]:
    parts: list[bytes] = []
    while content:
        parts.append(content[: get_rewritable_length(kind, content)])
        content = content[len(parts[-1]) :]
    return parts


class PieceTests(SynchronousTestCase):
    """Eight MB of a target's took a second of everybody's time."""

    def test_rewriting_in_pieces_equals_rewriting_the_whole(self) -> None:
        for kind, unit in (
            ("text/html", b'<p>x <img  src="/a"> from "/b.js" </p>'),
            ("text/css", b"a{b: url(/c)} @import '/d';"),
            ("text/javascript", b'import "/e"; import("/f");\n'),
        ):
            content = unit * (3 * PIECE // len(unit))
            parts = pieces(kind, content)
            self.assertEqual(content, b"".join(parts))
            self.assertLess(2, len(parts))
            self.assertLessEqual(max(map(len, parts)), PIECE)
            rewritten = b"".join(
                rewrite_content(kind, part, "http://h", "/webview/w") for part in parts
            )
            self.assertEqual(rewrite_content(kind, content, "http://h", "/webview/w"), rewritten)

    def test_text_without_a_cut_point_is_cut_at_the_piece_size(self) -> None:
        for kind in REWRITTEN:
            parts = pieces(kind, b" " * (2 * PIECE + 1))
            self.assertEqual([PIECE, PIECE, 1], [*map(len, parts)])


class WebTabGuardTests(SynchronousTestCase):
    def test_address_of_the_service_is_refused(self) -> None:
        guard = WebTabGuard(own_ports=lambda: [8770], trusts=lambda name: True)
        self.assertEqual(5173, guard.check_target("http://localhost:5173/", "ann").port)
        guard.check_target("http://10.0.0.1:8770/", "ann")
        for url in ("http://127.0.0.1:8770/", "http://[::1]:8770", "http://2130706433:8770/",
                    "http://[::ffff:127.0.0.1]:8770/", "http://LocalHost.:8770/",
                    "http://a.localhost:8770/"):  # fmt: skip
            self.assertRaises(EgressRefused, guard.check_target, url, "ann")


class UntrustedTests(SynchronousTestCase):
    """An account that may not run commands reads the public internet."""

    def setUp(self) -> None:
        self.guard = WebTabGuard(own_ports=lambda: [8770], trusts=lambda name: name == "root")

    def test_untrusted_view_refuses_private_addresses(self) -> None:
        for url in ("http://127.0.0.1:2019/config/", "http://localhost/", "http://[::1]/",
                    "http://10.0.0.1/", "http://192.168.1.1/", "http://172.16.0.1/",
                    "http://100.64.0.1/", "http://[fd00::1]/", "http://169.254.1.1/",
                    "http://0.0.0.0/", "http://[::ffff:10.0.0.1]/", "http://167772161/",
                    "http://a.localhost/", "http://127.0.0.1:8770/"):  # fmt: skip
            self.assertRaises(EgressRefused, self.guard.check_target, url, "ann")

    def test_name_is_judged_by_its_resolved_address(self) -> None:
        policy = self.guard.policy_for(80, "ann")
        self.assertFalse(policy.admits_address(ip_address("10.0.0.1")))
        self.assertTrue(policy.admits_address(ip_address("93.184.216.34")))

    def test_untrusted_view_allows_only_reading(self) -> None:
        self.assertTrue(
            self.guard.allows_method("GET", "ann") and self.guard.allows_method("HEAD", "ann")
        )
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "UPGRADE", "get"):
            self.assertFalse(self.guard.allows_method(method, "ann"), method)
            self.assertTrue(self.guard.allows_method(method, "root"), method)


class OwnAddressTests(SynchronousTestCase):
    """The service by an address of this machine that is not loopback's."""

    def connect(self, near: str, port: int) -> tuple[Deferred[Any], MemoryTransport]:
        transport = MemoryTransport("192.168.1.5")
        transport.hostAddr = IPv4Address("TCP", near, 40000)

        class Endpoint:
            def connect(self, factory: Any) -> Deferred[Any]:
                protocol = factory.buildProtocol(None)
                protocol.makeConnection(transport)
                return succeed(protocol)

        self.patch(TargetConnector, "_make_endpoint", lambda *asked: Endpoint())
        guard = WebTabGuard(own_ports=lambda: [8770], trusts=lambda name: True)
        upstream = TargetConnector(reactor=Clock(), guard=guard)
        target = guard.check_target(f"http://192.168.1.5:{port}/", "ann")
        return Deferred.fromCoroutine(
            upstream.connect(target, Protocol, "ann", AddressPin())
        ), transport

    def test_connection_to_the_service_is_closed(self) -> None:
        made, transport = self.connect("192.168.1.5", 8770)
        refused = self.failureResultOf(made, HttpRefusal).value
        self.assertEqual(502, refused.response.status)
        self.assertTrue(transport.aborted)

    def test_connections_to_other_ports_and_machines_are_kept(self) -> None:
        for near, port in (("192.168.1.5", 8771), ("192.168.1.4", 8770)):
            made, transport = self.connect(near, port)
            self.assertIsInstance(self.successResultOf(made), Protocol)
            self.assertFalse(transport.aborted)


class PinTests(SynchronousTestCase):
    """A name that leads elsewhere while its page is open."""

    def led(self, *answers: Sequence[str]) -> list[str | None]:
        """Where one capability's connections went, one after another; C{None}: nowhere."""
        reactor: Any = MemoryReactorClock()
        reactor.nameResolver = ScriptedResolver({"evil.example": answers})
        guard, pin = WebTabGuard(own_ports=list, trusts=lambda name: True), AddressPin()
        target = guard.check_target("http://evil.example:9200/", "ann")
        upstream = TargetConnector(reactor=reactor, guard=guard)
        return [self.connect(reactor, upstream.connect(target, Protocol, "ann", pin))
                for _ in answers]  # fmt: skip

    def connect(self, reactor: Any, made: Coroutine[Any, Any, Any]) -> str | None:
        reactor.tcpClients.clear()
        done = Deferred.fromCoroutine(made)
        reactor.advance(1)
        if not reactor.tcpClients:
            self.assertEqual(502, self.failureResultOf(done, HttpRefusal).value.response.status)
            return None
        host, port, factory, *_ = reactor.tcpClients[0]
        kind = IPv6Address if ":" in host else IPv4Address
        transport = MemoryTransport(host)
        transport.peerAddr, transport.hostAddr = (kind("TCP", each, port) for each in (host, "::2"))
        factory.buildProtocol(None).makeConnection(transport)
        self.successResultOf(done)
        return str(host)

    def test_name_cannot_resolve_further_inside(self) -> None:
        public, near, here = "93.184.216.34", "10.1.2.3", "127.0.0.1"
        self.assertEqual([public, None, None], self.led([public], [here], [near]))
        self.assertEqual([near, None, public], self.led([near], [here], [public]))
        self.assertEqual([here, near, public], self.led([here], [near], [public]))

    def test_inner_addresses_of_a_public_name_are_left_out(self) -> None:
        public, near = "2606:2800::1", "10.1.2.3"
        self.assertEqual([public, public], self.led([public, near], [near, public]))

    def test_pin_of_each_capability_starts_fresh(self) -> None:
        pins = AddressPins()
        first = pins.get_pin("a")
        first.record_address("93.184.216.34")
        self.assertIs(first, pins.get_pin("a"))
        self.assertIsNone(pins.get_pin("b").policy)
        for number in range(MOST):
            pins.get_pin(str(number))
        self.assertIsNone(pins.get_pin("a").policy)


class HandshakeTests(SynchronousTestCase):
    KEY = "dGhlIHNhbXBsZSBub25jZQ=="
    GOOD = b"HTTP/1.1 101 OK\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nX: y"

    def test_handshake_response_holds_only_its_own_headers(self) -> None:
        found = build_handshake_answer(self.GOOD + b"\r\nSet-Cookie: service_session=x", self.KEY)
        self.assertNotIn(b"Cookie", found)
        self.assertNotIn(b"X: y", found)
        self.assertTrue(found.startswith(b"HTTP/1.1 101 Switching Protocols\r\n"))

    def test_invalid_handshake_is_refused(self) -> None:
        for head in (
            self.GOOD.replace(b"101", b"200"),
            self.GOOD.replace(b"s3p", b"S3p"),
            b"",
            b"x",
        ):
            self.assertRaises(HttpRefusal, build_handshake_answer, head, self.KEY)
