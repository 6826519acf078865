"""URLs, names and addresses that are out of bounds, in every spelling."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.net.egress import (
    GUARDED,
    PUBLIC_ONLY,
    EgressPolicy,
    EgressRefused,
    parse_address,
    parse_host,
    parse_target,
)

SPELLINGS = (
    "169.254.169.254",
    "169.254.169.254.",
    "2852039166",
    "0xa9fea9fe",
    "0XA9FEA9FE",
    "025177524776",
    "0251.0376.0251.0376",
    "0xa9.0xfe.0xa9.0xfe",
    "0xa9.254.0251.254",
    "169.16689662",
    "169.254.43518",
    "\uff11\uff16\uff19.254.169.254",
    "169\u3002254\u3002169\u3002254",
    "\u2460\u2465\u2468.254.169.254",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[0:0:0:0:0:ffff:169.254.169.254]",
    "[::ffff:0:a9fe:a9fe]",
    "[::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::169.254.169.254]",
    "[2002:a9fe:a9fe::1]",
    "[2001:0:a9fe:a9fe::]",
    "[2001::5601:5601]",
    "[2001:db8::5efe:a9fe:a9fe]",
    "[2001:db8::200:5efe:a9fe:a9fe]",
    "[fe80::1]",
    "[febf::1]",
    "[fe80::1%25eth0]",
    "[fd00:ec2::254]",
    "[fd00:0ec2:0::0254]",
    "[ff02::1]",
    "[::]",
    "0",
    "0.0.0.0",
    "00000000",
    "0x0",
    "224.0.0.1",
    "239.255.255.255",
    "255.255.255.255",
    "168.63.129.16",
    "100.100.100.200",
    "metadata.google.internal",
    "METADATA.google.Internal.",
    "metadata",
    "instance-data.ec2.internal",
    "x.metadata.goog",
    "\uff4d\uff45tadata.goog",
)

ALLOWED = (
    ("127.0.0.1", "127.0.0.1"),
    ("2130706433", "127.0.0.1"),
    ("127.1", "127.0.0.1"),
    ("10.0.0.1", "10.0.0.1"),
    ("192.168.1.2", "192.168.1.2"),
    ("100.100.100.201", "100.100.100.201"),
    ("[::1]", "::1"),
    ("[fd00::1]", "fd00::1"),
    ("[2606:4700::1111]", "2606:4700::1111"),
    ("localhost", "localhost"),
    ("Hooks.Example.COM.", "hooks.example.com"),
    ("b\u00fccher.example", "xn--bcher-kva.example"),
    ("my_host", "my_host"),
    ("1e100.net", "1e100.net"),
)


SPECIAL = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "::/127",
    "::ffff:0:0:0/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001::/23",
    "2001:db8::/32",
    "3fff::/20",
    "4000::/2",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
)
"""Those of the registries of IANA that are no place on the internet, and what is not given out."""


class LiteralTests(SynchronousTestCase):
    """What can be told from the URL alone."""

    def test_every_spelling_of_a_refused_address_is_refused(self) -> None:
        for host in SPELLINGS:
            for port in ("", ":80", ":65535"):
                self.assertRaises(EgressRefused, parse_target, f"http://{host}{port}/x")
                self.assertRaises(EgressRefused, parse_target, f"HTTPS://{host}{port}?q#f")

    def test_local_policy_allows_loopback_and_private_networks(self) -> None:
        for host, canonical in ALLOWED:
            self.assertEqual(canonical, parse_target(f"http://{host}/").host)

    def test_strict_policy_allows_only_the_internet(self) -> None:
        for host in (*SPELLINGS, "127.1", "10.0.0.1", "[::1]", "[fd00::1]", "[::ffff:10.0.0.1]"):
            self.assertRaises(EgressRefused, parse_target, f"http://{host}/", PUBLIC_ONLY)
        self.assertEqual("1.1.1.1", parse_target("http://1.1.1.1/", PUBLIC_ONLY).host)
        self.assertEqual(
            "2606:4700::1111", parse_target("http://[2606:4700::1111]/", PUBLIC_ONLY).host
        )

    def test_invalid_urls_are_refused(self) -> None:
        for url in (
            "",
            "http://",
            "http:///x",
            "//example.com/",
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://example.com/",
            "javascript:alert(1)",
            "http://user@example.com/",
            "http://user:secret@example.com/",
            "http://@example.com/",
            "http://example.com:0/",
            "http://example.com:65536/",
            "http://example.com:x/",
            "http://exa mple.com/",
            "http://example.com/\r\nX: y",
            "http://example.com/a b",
            "http://example.com\\@169.254.169.254/",
            "http://169.254.169.254\\.example.com/",
            "http://%31%36%39.254.169.254/",
            "http://256.256.256.256/",
            "http://1.2.3.4.5/",
            "http://0x1ffffffff/",
            "http://4294967296/",
            "http://09.1.1.1/",
            "http://a..b/",
            "http://.example.com/",
            "http://-x.example/",
            "http://" + "a" * 64 + ".example/",
            "http://" + "a." * 127 + "ab/",
            "http://[::1/",
            "http://[::1]x/",
            "http://[v1.x]/",
            "http://example.com/" + "a" * 2048,
        ):
            self.assertRaises(EgressRefused, parse_target, url)

    def test_parsed_url_has_a_canonical_target(self) -> None:
        for url, canonical, origin in (
            ("http://Example.com:80", "http://example.com/", "http://example.com"),
            ("https://example.com:443/a?b=c#d", "https://example.com/a?b=c", "https://example.com"),
            ("https://example.com:8443/\u00e9", "https://example.com:8443/%C3%A9",
             "https://example.com:8443"),
            ("http://[::1]:99/%41?x=%2F", "http://[::1]:99/%41?x=%2F", "http://[::1]:99"),
            ("http://0x7f.1/", "http://127.0.0.1/", "http://127.0.0.1"),
        ):  # fmt: skip
            target = parse_target(url)
            self.assertEqual((canonical, origin), (target.url, target.origin))


class EgressPropertyTests(SynchronousTestCase):
    """For all addresses and all texts."""

    @given(st.text(max_size=60), st.text(max_size=20))
    def test_refusal_never_shows_the_url(self, host: str, path: str) -> None:
        secret = "s3cr3t-token"
        url = f"http://{host}/{secret}{path}"
        try:
            parse_target(url)
        except EgressRefused as error:
            self.assertNotIn(secret, str(error))
            self.assertIsNone(error.__cause__)

    @given(st.ip_addresses(v=4))
    def test_every_spelling_of_an_address_is_judged_the_same(self, address: IPv4Address) -> None:
        value = int(address)
        a, b, c, d = address.packed
        for text in (
            str(value),
            hex(value),
            f"0{value:o}",
            f"{a}.{value & 0xFFFFFF}",
            f"0x{a:x}.0{b:o}.{value & 0xFFFF}",
            f"{a}.{b:#x}.0{c:o}.{d}.",
        ):
            self.assertEqual((str(address), address), parse_host(text))
            packed = socket.inet_aton(text.rstrip("."))
            self.assertEqual(address.packed, packed, "libc reads it otherwise")

    @given(st.text(alphabet="0123456789abcdefx.", min_size=1, max_size=24))
    def test_address_accepted_by_libc_is_an_address_here(self, text: str) -> None:
        try:
            packed = socket.inet_aton(text)
        except OSError:
            return
        try:
            _, address = parse_host(text)
        except EgressRefused:
            return
        self.assertEqual(IPv4Address(packed), address)

    @given(st.ip_addresses(v=4))
    def test_embedded_address_is_judged_like_itself(self, inner: IPv4Address) -> None:
        for prefix in ("::ffff:0:0", "64:ff9b::"):
            outer = IPv6Address(int(IPv6Address(prefix)) | int(inner))
            self.assertEqual(_refused(inner), _refused(outer))

    @given(st.ip_addresses())
    def test_zone_index_changes_nothing(self, address: IPv4Address | IPv6Address) -> None:
        self.assertEqual(address, parse_address(f"{address}%eth0"))

    def test_nat64_prefix_carries_an_address_at_each_position(self) -> None:
        """RFC 6052, 2.2: 169.254.169.254 behind a prefix of 48, 56, 64 and 96 bits (RFC 8215)."""
        for text in (
            "64:ff9b:1:a9fe:a9:fe00::",
            "64:ff9b:1:a9fe:a9:fe00::1",
            "64:ff9b:1:a9:fe:a9fe::",
            "64:ff9b:1:77a9:fe:a9fe::",
            "64:ff9b:1:0:a9:fea9:fe00:0",
            "64:ff9b:1::a9fe:a9fe",
        ):
            self.assertTrue(_refused(IPv6Address(text)), text)
        for text in ("64:ff9b:1:5db8:d8:2200::", "64:ff9b:1::5db8:d822"):
            self.assertFalse(_refused(IPv6Address(text)), text)

    @given(st.ip_addresses(v=4), st.ip_addresses(v=6))
    def test_strict_policy_agrees_with_python(self, four: IPv4Address, six: IPv6Address) -> None:
        for address in (four, six, IPv6Address("2002:100::")):
            if not address.is_global or str(address).startswith("2002:"):
                self.assertTrue(_refused(address, PUBLIC_ONLY), address)

    @given(st.sampled_from(SPECIAL), st.integers(0))
    def test_no_special_network_address_is_public(self, network: str, number: int) -> None:
        net = ip_network(network)
        address = net[number % net.num_addresses]
        self.assertTrue(_refused(address, PUBLIC_ONLY), address)


def _refused(address: IPv4Address | IPv6Address, policy: EgressPolicy = GUARDED) -> bool:
    try:
        policy.check_address(address)
    except EgressRefused:
        return True
    return False


class NetworkTests(SynchronousTestCase):
    def test_refusal_names_the_refused_addresses(self) -> None:
        for policy, words in ((GUARDED, "link-local"), (PUBLIC_ONLY, "public internet")):
            error = self.assertRaises(
                EgressRefused, parse_target, "http://169.254.169.254/x", policy
            )
            self.assertIn(words, str(error))

    def test_edges_of_refused_networks_are_exact(self) -> None:
        for text, refused in (
            ("169.253.255.255", False),
            ("169.254.0.0", True),
            ("169.254.255.255", True),
            ("169.255.0.0", False),
            ("223.255.255.255", False),
            ("168.63.129.15", False),
            ("fe7f:ffff::", False),
            ("fec0::", False),
            ("fd00:ec2::253", False),
            ("::1", False),
        ):
            self.assertEqual(refused, _refused(ip_address(text)), text)
