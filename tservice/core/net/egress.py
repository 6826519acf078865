"""Where requests of the service may go: rules on URLs, host names and addresses.

Pure.  A URL is read once, by L{parse_target}, and what is asked for later is built from the
L{EgressTarget}, so that no second parser can see another host in it.  L{tservice.core.net.outbound}
applies the address rules to what a name resolves to, and connects to the very address that passed.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import quote, urlsplit

from attrs import evolve, frozen

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

URL_LIMIT = 2048
"""Characters of a URL."""

_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_BRACKETED = re.compile(r"\[[^\[\]]*\](:[0-9]*)?")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_HERE = IPv4Address("127.0.0.1")
_PATH_SAFE = "/%:@!$&'()*+,;=-._~?[]"


class EgressRefused(ValueError):
    """A target against the rules; the text is the rule and never holds the URL."""


@frozen(kw_only=True)
class EgressPolicy:
    """Which addresses and names are out of bounds.

    @ivar networks: refused, also where an IPv6 address carries such an IPv4 one.
    @ivar names: host names refused without asking what they resolve to; lower case.
    @ivar rule: what is said of C{networks} to whoever named one of their addresses.
    @ivar within: an address in none of these is refused as well.
    """

    networks: tuple[Network, ...]
    rule: str
    names: frozenset[str]
    within: tuple[Network, ...] = (ip_network("0.0.0.0/0"), ip_network("::/0"))

    def check_name(self, host: str) -> None:
        """Refuse a canonical host name.

        @raise EgressRefused: it is one of C{names}, or below one of them; or it is this machine's
            (RFC 6761, 6.3), which is refused.
        """
        labels = host.rstrip(".").split(".")
        if labels[-1] == "localhost":
            self.check_address(_HERE)
        if any(".".join(labels[start:]) in self.names for start in range(len(labels))):
            raise EgressRefused("must not be a cloud metadata service")

    def check_address(self, address: Address) -> None:
        """Refuse an address.

        @raise EgressRefused: it, or an IPv4 address inside it, lies in one of C{networks}, or it
            lies outside of C{within}.
        """
        if not any(address.version == net.version and address in net for net in self.within):
            raise EgressRefused(self.rule)
        for form in (address, *_carried(address)):
            if any(form.version == net.version and form in net for net in self.networks):
                raise EgressRefused(self.rule)

    def admits(self, address: Address) -> bool:
        """Whether L{check_address} refuses nothing."""
        try:
            self.check_address(address)
        except EgressRefused:
            return False
        return True

    def stricter(
        self, *networks: str, rule: str, within: tuple[str, ...] = ("0.0.0.0/0", "::/0")
    ) -> EgressPolicy:
        """The same, and these networks as well."""
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
"""protocol-egress: link-local, metadata services, multicast, unspecified; this host and private
networks are allowed.  For what an administrator sets: webhooks, web tabs, model endpoints."""

PUBLIC_ONLY = GUARDED.stricter(
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
    # 6to4 is out of use, and leads to a relay that nobody chose
    "2002::/16",
    "3fff::/20",
    within=("0.0.0.0/0", "2000::/3", "64:ff9b::/96"),
    rule="must be an address of the public internet",
)
"""Nothing but the public internet: of IPv6 what is given out for it, and what DNS64 makes of IPv4.
For targets that a user's browser names, as push services."""


@frozen(kw_only=True)
class EgressTarget:
    """A URL, taken apart.

    @ivar host: lower-case ASCII name without a trailing dot, or a canonical address.
    @ivar address: what C{host} is, where it is an address in whichever spelling.
    @ivar resource: path and query, as they go on the request line.
    """

    scheme: str
    host: str
    port: int
    resource: str
    address: Address | None = None

    @property
    def origin(self) -> str:
        """C{scheme://host[:port]}, all that may be shown of a secret URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def url(self) -> str:
        """The canonical URL, without a fragment."""
        return f"{self.origin}{self.resource}"


def parse_target(url: str, policy: EgressPolicy = GUARDED) -> EgressTarget:
    """Read C{url} and refuse what is against the rules on its face; asks no name server.

    @raise EgressRefused: saying which rule; the text never holds a part of C{url}.
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
        raise EgressRefused("must hold a host, and no port but 1 to 65535")
    bracketed = "[" in parts.netloc
    if bracketed and not _BRACKETED.fullmatch(parts.netloc):
        raise EgressRefused("must hold nothing but a port behind the brackets")
    name, address = read_host(host, bracketed=bracketed)
    policy.check_name(name) if address is None else policy.check_address(address)
    return EgressTarget(
        scheme=parts.scheme,
        host=name,
        port=port or _PORTS[parts.scheme],
        resource=_resource(parts.path, parts.query),
        address=address,
    )


def read_host(host: str, *, bracketed: bool = False) -> tuple[str, Address | None]:
    """The canonical form of a host, and its address if it is a literal in any spelling.

    Decimal, octal, hexadecimal and shortened IPv4, as C{inet_aton} reads them; full-width digits
    and dots; trailing dots; IPv6 in brackets.

    @raise EgressRefused: neither a name nor an address.
    """
    if bracketed:
        return _literal6(host)
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise EgressRefused("must hold a valid host name") from None
    labels = name.split(".")
    # Whatever ends in a number is read as an address by one resolver or another.
    if _NUMBER.fullmatch(labels[-1]):
        address = _literal4(labels)
        return str(address), address
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise EgressRefused("must hold a valid host name")
    return name, None


def _literal6(host: str) -> tuple[str, Address]:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise EgressRefused("must hold a valid IPv6 address in the brackets") from None
    if address.scope_id is not None:
        raise EgressRefused("must not hold an IPv6 zone")
    return str(address), address


def _literal4(labels: list[str]) -> IPv4Address:
    """Four parts or fewer; the last one fills what is left."""
    try:
        numbers = [_number(label) for label in labels]
        *heads, last = numbers
        if (
            len(numbers) > 4
            or any(head > 255 for head in heads)
            or last >= 256 ** (5 - len(labels))
        ):
            raise ValueError
    except ValueError:
        raise EgressRefused("must not be a number that is no address") from None
    value = last
    for index, head in enumerate(heads):
        value += head << (8 * (3 - index))
    return IPv4Address(value)


def _number(label: str) -> int:
    if not _NUMBER.fullmatch(label):
        raise ValueError
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if len(label) > 1 and label[0] == "0" else 10)


def _resource(path: str, query: str) -> str:
    asked = f"{path or '/'}?{query}" if query else path or "/"
    return quote(asked, safe=_PATH_SAFE)


_CARRIERS: tuple[tuple[IPv6Network, int], ...] = (
    (IPv6Network("::/96"), 0),
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("::ffff:0:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
)
"""Networks whose addresses carry an IPv4 address, and how far from the right it stands."""
_TEREDO = IPv6Network("2001::/32")
_ISATAP = 0x5EFE
_LOCAL_GATEWAYS = IPv6Network("64:ff9b:1::/48")
"""Prefixes of any length that a network has chosen for its NAT64 (RFC 8215)."""


def _carried(address: Address) -> list[IPv4Address]:
    """The IPv4 addresses that a gateway may take out of C{address}."""
    if isinstance(address, IPv4Address):
        return []
    value, low = int(address), 0xFFFFFFFF
    found = [value >> shift & low for network, shift in _CARRIERS if address in network]
    if address in _TEREDO:
        found += [value & low ^ low, value >> 64 & low]
    if value >> 32 & 0xFCFFFFFF == _ISATAP:
        found.append(value & low)
    if address in _LOCAL_GATEWAYS:
        # No host is in 0.0.0.0/8: these zeros belong to a prefix of another length.
        found += [inner for inner in _placed(value) if inner >> 24]
    # The loopback and unspecified addresses of IPv6 look like carriers, and carry nothing.
    return [IPv4Address(inner) for inner in found if value > 1]


def _placed(value: int) -> tuple[int, ...]:
    """What stands behind a prefix of 48, 56, 64 and 96 bits (RFC 6052, 2.2: 64 to 71 are empty)."""
    return (
        (value >> 64 & 0xFFFF) << 16 | value >> 40 & 0xFFFF,
        (value >> 64 & 0xFF) << 24 | value >> 32 & 0xFFFFFF,
        value >> 24 & 0xFFFFFFFF,
        value & 0xFFFFFFFF,
    )


def read_address(text: str) -> Address:
    """An address as a resolver gives it; a zone is dropped.

    @raise ValueError: it is none.
    """
    return ip_address(text.partition("%")[0])
