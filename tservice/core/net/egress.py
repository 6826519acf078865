"""Rules for outgoing requests: URLs, host names and addresses.  Nothing here does I/O.

L{parse_target} parses a URL once, and the later request is built from the L{EgressTarget}.  So no
second parser can find another host in the URL.  L{tservice.core.net.outbound} applies the address
rules to the addresses of a name, and connects to exactly the address that passed.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote, urlsplit

from attrs import evolve, frozen

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

URL_LIMIT = 2048
"""Limit on a URL in characters."""

_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_BRACKETED = re.compile(r"\[[^\[\]]*\](:[0-9]*)?")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_HERE = IPv4Address("127.0.0.1")
_PATH_SAFE = "/%:@!$&'()*+,;=-._~?[]"


class EgressRefused(ValueError):
    """Error of a target that breaks a rule; the text names the rule and never holds the URL."""


@frozen(kw_only=True)
class EgressPolicy:
    """Rules that determine which addresses and host names are refused.

    @ivar networks: networks that are refused.  An IPv6 address is also refused if it embeds an IPv4
        address of such a network.
    @ivar names: host names in lower case that are refused without resolving them.
    @ivar rule: the error text for an address in C{networks}.
    @ivar within: networks that are allowed; any other address is refused as well.
    """

    networks: tuple[Network, ...]
    rule: str
    names: frozenset[str]
    within: tuple[Network, ...] = (ip_network("0.0.0.0/0"), ip_network("::/0"))

    def check_name(self, host: str) -> None:
        """Refuse a canonical host name.

        @raise EgressRefused: the name is one of C{names}, a subdomain of one, or a reserved name of
            this machine (RFC 6761, 6.3).
        """
        labels = host.rstrip(".").split(".")
        if labels[-1] == "localhost":
            self.check_address(_HERE)
        if any(".".join(labels[start:]) in self.names for start in range(len(labels))):
            raise EgressRefused("must not be a cloud metadata service")

    def check_address(self, address: Address) -> None:
        """Refuse an address.

        @raise EgressRefused: the address, or an IPv4 address inside it, lies in one of C{networks}
            or outside of C{within}.
        """
        if not any(address.version == net.version and address in net for net in self.within):
            raise EgressRefused(self.rule)
        for form in (address, *_find_translated_addresses(address)):
            if any(form.version == net.version and form in net for net in self.networks):
                raise EgressRefused(self.rule)

    def admits_address(self, address: Address) -> bool:
        """Return whether L{check_address} accepts C{address}."""
        try:
            self.check_address(address)
        except EgressRefused:
            return False
        return True

    def with_refused_networks(
        self, *networks: str, rule: str, within: tuple[str, ...] = ("0.0.0.0/0", "::/0")
    ) -> EgressPolicy:
        """Return a copy of the policy that also refuses C{networks}.

        @param rule: the error text for an address in any refused network.
        @param within: networks that the copy allows.
        """
        return evolve(
            self,
            networks=(*self.networks, *map(ip_network, networks)),
            rule=rule,
            within=tuple(map(ip_network, within)),
        )


GUARDED = EgressPolicy(
    networks=tuple(
        ip_network(text)
        for text in (
            "0.0.0.0/8",
            "169.254.0.0/16",
            "224.0.0.0/4",
            "255.255.255.255/32",
            "168.63.129.16/32",
            "100.100.100.200/32",
            "192.0.0.192/32",
            "::/128",
            "fe80::/10",
            "ff00::/8",
            "fd00:ec2::254/128",
            "fd20:ce::254/128",
        )
    ),
    rule="must not be 0.0.0.0, or a link-local (169.254.x.x), multicast or cloud metadata address",
    names=frozenset(
        {
            "metadata",
            "metadata.goog",
            "metadata.google.internal",
            "metadata.azure.internal",
            "metadata.azure.com",
            "metadata.packet.net",
            "metadata.platformequinix.com",
            "metadata.tencentyun.com",
            "metadata.oraclecloud.com",
            "instance-data",
            "instance-data.ec2.internal",
        }
    ),
)
"""Policy of protocol-egress, for targets that an administrator sets.

Link-local addresses, metadata services, multicast and unspecified addresses are refused.  This host
and private networks are allowed.  Webhooks, web tabs and model endpoints use this policy.
"""

PUBLIC_ONLY = GUARDED.with_refused_networks(
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "240.0.0.0/4",
    "2001::/23",
    "2001:db8::/32",
    # 6to4 is obsolete, and leads to an arbitrary relay
    "2002::/16",
    "3fff::/20",
    within=("0.0.0.0/0", "2000::/3", "64:ff9b::/96"),
    rule="must be an address of the public internet",
)
"""Policy that allows only the public internet.

Of IPv6 only the assigned part is allowed, and IPv4 addresses mapped by DNS64.  The policy is for
targets that a user's browser names, such as push services.
"""


@frozen(kw_only=True)
class EgressTarget:
    """Parsed URL of an outgoing request.

    @ivar host: lower-case ASCII name without a trailing dot, or a canonical address.
    @ivar address: the address, if C{host} is an address in any spelling.  C{None} for a name.
    @ivar resource: path and query, as sent in the request line.
    """

    scheme: str
    host: str
    port: int
    resource: str
    address: Address | None = None

    @property
    def origin(self) -> str:
        """C{scheme://host[:port]}, the only part of the URL that may be shown if the URL is
        secret.
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def url(self) -> str:
        """Canonical URL, without a fragment."""
        return f"{self.origin}{self.resource}"


def parse_target(url: str, policy: EgressPolicy = GUARDED) -> EgressTarget:
    """Parse C{url} and check it against C{policy}, without querying a name server.

    @raise EgressRefused: the URL breaks a rule.  The text names the rule and never holds a part of
        C{url}.
    """
    if not url or len(url) > URL_LIMIT:
        raise EgressRefused(f"must be 1 to {URL_LIMIT} characters")
    if _FORBIDDEN.search(url):
        raise EgressRefused("must not hold spaces, control characters or backslashes")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise EgressRefused("must be a valid URL") from None
    if parts.scheme not in _PORTS:
        raise EgressRefused("must begin with http:// or https://")
    if "@" in parts.netloc:
        raise EgressRefused("must not hold a user name or password")
    if not host or port == 0:
        raise EgressRefused("must have a host, and a port from 1 to 65535 if any")
    bracketed = "[" in parts.netloc
    if bracketed and not _BRACKETED.fullmatch(parts.netloc):
        raise EgressRefused("must have only a port after the brackets")
    name, address = parse_host(host, bracketed=bracketed)
    policy.check_name(name) if address is None else policy.check_address(address)
    return EgressTarget(
        scheme=parts.scheme,
        host=name,
        port=port or _PORTS[parts.scheme],
        resource=_join_resource(parts.path, parts.query),
        address=address,
    )


def parse_host(host: str, *, bracketed: bool = False) -> tuple[str, Address | None]:
    """Return the canonical form of a host, and its address if the host is an address in any
    spelling.

    The accepted spellings are decimal, octal, hexadecimal and shortened IPv4, as C{inet_aton} reads
    them.  Full-width digits and dots, trailing dots, and IPv6 in brackets are accepted too.

    @param bracketed: true if the host was in brackets, so that only IPv6 is valid.
    @raise EgressRefused: C{host} is neither a name nor an address.
    """
    if bracketed:
        return _parse_ipv6_literal(host)
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise EgressRefused("must hold a valid host name") from None
    labels = name.split(".")
    # Some resolvers read any name that ends in a number as an address.
    if _NUMBER.fullmatch(labels[-1]):
        address = _parse_ipv4_literal(labels)
        return str(address), address
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise EgressRefused("must hold a valid host name")
    return name, None


def _parse_ipv6_literal(host: str) -> tuple[str, Address]:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise EgressRefused("must hold a valid IPv6 address in the brackets") from None
    if address.scope_id is not None:
        raise EgressRefused("must not hold an IPv6 zone")
    return str(address), address


def _parse_ipv4_literal(labels: list[str]) -> IPv4Address:
    """Parse an IPv4 address of four parts or fewer; the last part fills the remaining bytes."""
    try:
        numbers = [_parse_number(label) for label in labels]
        *heads, last = numbers
        if (
            len(numbers) > 4
            or any(head > 255 for head in heads)
            or last >= 256 ** (5 - len(labels))
        ):
            raise ValueError
    except ValueError:
        raise EgressRefused("must not end in a number unless it is an address") from None
    value = last
    for index, head in enumerate(heads):
        value += head << (8 * (3 - index))
    return IPv4Address(value)


def _parse_number(label: str) -> int:
    if not _NUMBER.fullmatch(label):
        raise ValueError
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if len(label) > 1 and label[0] == "0" else 10)


def _join_resource(path: str, query: str) -> str:
    asked = f"{path or '/'}?{query}" if query else path or "/"
    return quote(asked, safe=_PATH_SAFE)


_CARRIERS: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("::/96"), 0),
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
"""IPv6 networks whose addresses embed an IPv4 address, and the position of its last bit, counted
from the right.
"""
_TEREDO = IPv6Network("2001::/32")
_ISATAP = 0x5EFE
_LOCAL_GATEWAYS = IPv6Network("64:ff9b:1::/48")
"""Network in which an operator chooses the prefixes, of any length, for NAT64 (RFC 8215)."""


def _find_translated_addresses(address: Address) -> list[IPv4Address]:
    """Return the IPv4 addresses to which a NAT64 or tunnel gateway might translate C{address}."""
    if isinstance(address, IPv4Address):
        return []
    value, low = int(address), 0xFFFFFFFF
    found = [value >> shift & low for network, shift in _CARRIERS if address in network]
    if address in _TEREDO:
        found += [value & low ^ low, value >> 64 & low]
    if value >> 32 & 0xFCFFFFFF == _ISATAP:
        found.append(value & low)
    if address in _LOCAL_GATEWAYS:
        # 0.0.0.0/8 holds no hosts: these zeros belong to a prefix of another length.
        found += [inner for inner in _extract_embedded_addresses(value) if inner >> 24]
    # The loopback and unspecified addresses of IPv6 match a carrier network but carry nothing.
    return [IPv4Address(inner) for inner in found if value > 1]


def _extract_embedded_addresses(value: int) -> tuple[int, ...]:
    """Return the IPv4 addresses that follow a prefix of 48, 56, 64 and 96 bits.

    Bits 64 to 71 are not part of the embedded address (RFC 6052, 2.2).
    """
    return (
        (value >> 64 & 0xFFFF) << 16 | value >> 40 & 0xFFFF,
        (value >> 64 & 0xFF) << 24 | value >> 32 & 0xFFFFFF,
        value >> 24 & 0xFFFFFFFF,
        value & 0xFFFFFFFF,
    )


def parse_address(text: str) -> Address:
    """Parse an address as a resolver returns it; an IPv6 zone is dropped.

    @raise ValueError: C{text} is not an address.
    """
    return ip_address(text.partition("%")[0])
