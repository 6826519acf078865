"""Tests for L{tservice.http.security.hosts}."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.http.security.hosts import (
    TUNNEL_SUFFIXES,
    HostHeader,
    WebOrigin,
    admits_host,
    find_source,
    is_same_origin,
    make_host_policy,
    normalize_address,
    parse_host,
    parse_localhost_origins,
    parse_origin,
    parse_trusted_networks,
)

RULES = make_host_policy(["Box"], ["Alias.example", ".corp.example"])


class HostTests(SynchronousTestCase):
    """L{parse_host} and L{admits_host} (protocol-hosts)."""

    def test_allowed_hosts_are_admitted(self) -> None:
        for header in (
            "localhost",
            "LOCALHOST:8770",
            "localhost.",
            "127.0.0.1:8770",
            "[::1]:8770",
            "192.168.1.7",
            "[fe80::1]",
            "box:1",
            "alias.example",
            "a.corp.example",
            "a.b.corp.example:443",
            "x.ts.net",
            "x-y.trycloudflare.com",
        ):
            self.assertTrue(admits_host(parse_host(header), RULES), header)

    def test_foreign_hosts_are_refused(self) -> None:
        for header in (
            "",
            "evil.example",
            "localhost.evil.example",
            "evil-localhost",
            "corp.example",
            "xcorp.example",
            ".corp.example",
            "..corp.example",
            "a..corp.example",
            "sub.alias.example",
            "ts.net",
            "evilts.net",
            "trycloudflare.com.evil.example",
            "localhost:99999",
            "localhost:",
            "localhost:80:80",
            "localhost/",
            "user@localhost",
            "localhost evil",
            "127.1",
            "2130706433",
            "0x7f000001",
            "[::1",
            "::1",
            "[localhost]",
            "[1.2.3.4.5]",
            "lo\u0441alhost",
            "a" * 64 + ".ts.net",
        ):
            self.assertFalse(admits_host(parse_host(header), RULES), header)

    def test_host_header_is_split_into_name_and_port(self) -> None:
        self.assertEqual(HostHeader("::1", 80), parse_host("[::1]:80"))
        self.assertEqual(HostHeader("x", None), parse_host("X."))

    @settings(max_examples=example_count(100))
    @given(st.text(max_size=30))
    def test_any_host_header_is_parsed(self, text: str) -> None:
        host = parse_host(text)
        if host is not None and host.port is not None:
            assert 0 <= host.port <= 65535

    @settings(max_examples=example_count(300))
    @given(st.from_regex(r"[a-z0-9-]{1,20}(\.[a-z0-9-]{1,20}){0,3}", fullmatch=True))
    def test_host_name_must_be_allowed_by_a_rule(self, name: str) -> None:
        """Nothing but the listed names, and names below the listed suffixes."""
        reasons = (
            name in ("localhost", "box", "alias.example"),
            name.endswith((*TUNNEL_SUFFIXES, ".corp.example")),
            name.count(".") == 3 and name.replace(".", "").isdigit(),
        )
        assert not admits_host(parse_host(name), RULES) or any(reasons)


NAMES = st.sampled_from(["localhost", "a.ts.net", "127.0.0.1", "[::1]"])
PORTS = st.sampled_from(["", ":80", ":443", ":8770", ":8771"])
SCHEMES = st.sampled_from(["http", "https"])
NUMBERS = {"": None, ":80": 80, ":443": 443, ":8770": 8770, ":8771": 8771}


class OriginTests(SynchronousTestCase):
    """L{is_same_origin} (protocol-hosts)."""

    def same(self, origin: str, host: str, scheme: str | None = None) -> bool:
        found = parse_host(host)
        assert found is not None
        return is_same_origin(parse_origin(origin), found, scheme)

    def test_same_origin_is_recognized(self) -> None:
        for origin, host in (
            ("http://localhost:8770", "localhost:8770"),
            ("https://x.ts.net", "x.ts.net"),
            ("http://x.ts.net", "X.ts.net:80"),
            ("https://x.ts.net", "x.ts.net:443"),
            ("HTTP://[::1]:8770", "[::1]:8770"),
        ):
            self.assertTrue(self.same(origin, host), (origin, host))

    def test_foreign_origin_is_refused(self) -> None:
        for origin, host in (
            ("null", "localhost"),
            ("", "localhost"),
            ("http://localhost:3000", "localhost:8770"),
            ("http://127.0.0.1:8770", "localhost:8770"),
            ("http://localhost", "localhost:8770"),
            ("http://localhost:8770", "localhost"),
            ("https://x.ts.net", "x.ts.net:80"),
            ("http://localhost:8770/", "localhost:8770"),
            ("http://user@localhost:8770", "localhost:8770"),
            ("file://localhost", "localhost"),
            ("http://localhost:8770 http://evil", "localhost:8770"),
            ("http://localhost:8770.evil.example", "localhost:8770"),
        ):
            self.assertFalse(self.same(origin, host), (origin, host))

    def test_known_scheme_must_match(self) -> None:
        self.assertTrue(self.same("https://x.ts.net", "x.ts.net", "https"))
        self.assertFalse(self.same("http://x.ts.net", "x.ts.net", "https"))

    @settings(max_examples=example_count(200))
    @given(SCHEMES, NAMES, PORTS, NAMES, PORTS)
    def test_origin_matches_only_equal_host_and_port(
        self, scheme: str, name: str, port: str, host: str, host_port: str
    ) -> None:
        mine = NUMBERS[port] or {"http": 80, "https": 443}[scheme]
        theirs = NUMBERS[host_port] or {"http": 80, "https": 443}[scheme]
        want = name == host and mine == theirs
        assert self.same(f"{scheme}://{name}{port}", f"{host}{host_port}") is want

    @given(st.text(max_size=40))
    def test_any_origin_header_is_parsed(self, text: str) -> None:
        assert not self.same(text, "localhost:1") or text.lower() == "http://localhost:1"

    def test_cors_is_localhost_only(self) -> None:
        self.assertEqual(
            {WebOrigin("http", "localhost", 5173), WebOrigin("https", "127.0.0.1", 443)},
            parse_localhost_origins(["http://localhost:5173/", "https://127.0.0.1"]),
        )
        for text in ("http://evil.example", "*", "null", "localhost:5173", ""):
            self.assertRaises(ValueError, parse_localhost_origins, [text])


class ForwardedSourceTests(SynchronousTestCase):
    """L{find_source}: only a trusted proxy is believed."""

    HEADERS = {
        "x-forwarded-for": "6.6.6.6, 1.2.3.4, 10.0.0.2",
        "x-forwarded-proto": "http, https",
        "x-forwarded-host": "x.ts.net",
    }

    def ask(self, peer: str, trusted: tuple[str, ...], **other: str) -> tuple[object, ...]:
        headers = {**self.HEADERS, **{k.replace("_", "-"): v for k, v in other.items()}}
        found = find_source(peer, "localhost", parse_trusted_networks(trusted), headers.get)
        return found.address, found.scheme, found.host

    def test_untrusted_proxy_is_ignored(self) -> None:
        self.assertEqual(("9.9.9.9", None, "localhost"), self.ask("9.9.9.9", ()))
        self.assertEqual(("9.9.9.9", None, "localhost"), self.ask("9.9.9.9", ("10.0.0.0/8",)))
        self.assertEqual(("127.0.0.1", None, "localhost"), self.ask("::ffff:127.0.0.1", ()))

    def test_trusted_proxy_gives_the_address(self) -> None:
        proxies = ("127.0.0.1", "10.0.0.0/8")
        self.assertEqual(("1.2.3.4", "https", "x.ts.net"), self.ask("127.0.0.1", proxies))
        self.assertEqual(("10.0.0.2", "https", "x.ts.net"), self.ask("127.0.0.1", proxies[:1]))

    def test_invalid_address_ends_the_forwarded_chain(self) -> None:
        self.assertEqual("127.0.0.1", self.ask("127.0.0.1", ("127.0.0.1",), x_forwarded_for="x")[0])
        self.assertEqual("127.0.0.1", self.ask("127.0.0.1", ("127.0.0.1",), x_forwarded_for="")[0])

    def test_invalid_forwarded_scheme_and_host_are_ignored(self) -> None:
        found = self.ask("::1", ("::1",), x_forwarded_proto="gopher", x_forwarded_host="")
        self.assertEqual((None, "localhost"), found[1:])

    def test_unix_socket_has_no_address(self) -> None:
        self.assertEqual("unix", self.ask("unix", ("0.0.0.0/0",))[0])

    def test_addresses_are_normalized(self) -> None:
        for text, want in (
            ("::FFFF:1.2.3.4", "1.2.3.4"),
            ("0:0:0:0:0:0:0:1", "::1"),
            ("fe80::1%eth0", "fe80::1"),
            ("x", "x"),
        ):
            self.assertEqual(want, normalize_address(text))

    def test_invalid_proxy_networks_are_refused(self) -> None:
        self.assertRaises(ValueError, parse_trusted_networks, ["proxy.example"])
