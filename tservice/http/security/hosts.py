"""Rules for the Host and Origin headers, and for the headers of reverse proxies.

A page of another site can make a browser send requests to the service; these rules refuse such
requests (protocol-hosts).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from attrs import evolve, frozen

TUNNEL_SUFFIXES = (".ts.net", ".trycloudflare.com", ".cfargotunnel.com")
"""Host suffixes of tunnel providers, always admitted (protocol-hosts)."""

LOOPBACK = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})
"""Addresses that count as this machine for hooks (protocol-hook-secret)."""

MOST_HOPS = 32
"""Limit on the entries of X-Forwarded-For that are read."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"(https?)://([^/?#@\s]+)")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_THIS_MACHINE = (ip_network("127.0.0.0/8"), ip_network("::1/128"))

Network = IPv4Network | IPv6Network


@frozen
class HostHeader:
    """Parsed Host header.

    @ivar name: lower case, without brackets and without a trailing dot.
    @ivar port: port number.  C{None} if the header names no port.
    """

    name: str
    port: int | None


@frozen
class WebOrigin:
    """Parsed Origin header; C{port} is the scheme's default if the header names none."""

    scheme: str
    name: str
    port: int


@frozen(kw_only=True)
class HostPolicy:
    """Host names to which this service answers.

    @ivar names: exact names: the bind host and hosts of active tunnels.
    @ivar suffixes: suffixes with a leading dot; C{.x} does not admit C{x} itself.
    """

    names: frozenset[str]
    suffixes: tuple[str, ...] = TUNNEL_SUFFIXES


def make_host_policy(bind_hosts: Iterable[str], allowed_hosts: Iterable[str]) -> HostPolicy:
    """Return the host policy of a configuration.

    @param bind_hosts: host names that the service listens on.
    @param allowed_hosts: C{SERVICE_ALLOWED_HOSTS}: names, or suffixes with a leading dot.
    """
    allowed = [host.lower() for host in allowed_hosts]
    return HostPolicy(
        names=frozenset(
            [host.lower() for host in bind_hosts]
            + [host for host in allowed if not host.startswith(".")]
        ),
        suffixes=TUNNEL_SUFFIXES + tuple(host for host in allowed if host.startswith(".")),
    )


@lru_cache(maxsize=256)
def parse_host(header: str) -> HostHeader | None:
    """Parse a Host header; return C{None} if it is empty or not a host."""
    found = _HOST.fullmatch(header)
    if found is None:
        return None
    name = found[1].lower()
    if name.startswith("["):
        name = name[1:-1]
        if not is_address(name):
            return None
    else:
        name = name.removesuffix(".")
        if not all(0 < len(label) < 64 for label in name.split(".")):
            return None
    port = int(found[2]) if found[2] else None
    return None if port is not None and port > 65535 else HostHeader(name, port)


@lru_cache(maxsize=64)
def is_address(text: str) -> bool:
    """Return whether C{text} is an IP literal in its normal spelling."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def admits_host(host: HostHeader | None, rules: HostPolicy) -> bool:
    """Return whether requests with this Host header are admitted.

    IP literals are admitted: without a name lookup, DNS rebinding is impossible.
    """
    if host is None:
        return False
    if host.name == "localhost" or host.name in rules.names or is_address(host.name):
        return True
    return any(host.name.endswith(suffix) and host.name != suffix for suffix in rules.suffixes)


def parse_origin(header: str) -> WebOrigin | None:
    """Parse an Origin header; return C{None} for C{null} and anything else that is not a web
    origin.
    """
    found = _ORIGIN.fullmatch(header.lower())
    host = parse_host(found[2]) if found else None
    if found is None or host is None:
        return None
    port = _DEFAULT_PORTS[found[1]] if host.port is None else host.port
    return WebOrigin(found[1], host.name, port)


def is_same_origin(origin: WebOrigin | None, host: HostHeader, scheme: str | None) -> bool:
    """Return whether a page of C{origin} belongs to this service (protocol-hosts).

    @param host: the Host header of the request.
    @param scheme: the scheme that a trusted proxy reported.  C{None} if it is unknown and is not
        compared.
    """
    if origin is None or origin.name != host.name:
        return False
    if scheme is not None and origin.scheme != scheme:
        return False
    port = _DEFAULT_PORTS[origin.scheme] if host.port is None else host.port
    return origin.port == port


def parse_localhost_origins(texts: Iterable[str]) -> frozenset[WebOrigin]:
    """Parse the origins that CORS admits.

    @raise ValueError: an origin is not on this machine; CORS is only for localhost.
    """
    found = set()
    for text in texts:
        origin = parse_origin(text.rstrip("/"))
        local = origin is not None and (origin.name == "localhost" or origin.name in LOOPBACK)
        if origin is None or not local:
            raise ValueError(f"allowed-origins: {text} must be an origin on localhost")
        found.add(origin)
    return frozenset(found)


def parse_trusted_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Parse the addresses and networks of proxies whose X-Forwarded-* headers are trusted.

    @raise ValueError: a text is neither an address nor a network.
    """
    return tuple(ip_network(text, strict=False) for text in texts)


@lru_cache(maxsize=64)
def normalize_address(text: str) -> str:
    """Return the canonical spelling of an address: an IPv4-mapped IPv6 address becomes that IPv4
    address.
    """
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return text
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return str(mapped or found)


@frozen(kw_only=True)
class RequestSource:
    """Sender of a request, and how it reached the service.

    @ivar address: the client's address.
    @ivar scheme: C{http} or C{https} as a trusted proxy reported it.  C{None} if it is unknown.
    @ivar host: the Host header, or its replacement from a trusted proxy.
    """

    address: str
    scheme: str | None
    host: str | None


def find_source(
    peer: str,
    host: str | None,
    trusted: Sequence[Network],
    header: Callable[[str], str | None],
) -> RequestSource:
    """Return the sender of a request, with a trusted proxy's headers applied.

    @param peer: address of the connection's peer.
    @param host: the Host header.
    @param trusted: networks of trusted proxies.
    @param header: returns a request header; repeated headers are joined by commas.
    """
    peer = normalize_address(peer)
    if not _is_trusted(peer, trusted):
        return RequestSource(address=peer, scheme=None, host=host)
    scheme = (_last_value(header("x-forwarded-proto")) or "").lower()
    return RequestSource(
        address=_find_client_address(peer, header("x-forwarded-for") or "", trusted),
        scheme=scheme if scheme in _DEFAULT_PORTS else None,
        host=_last_value(header("x-forwarded-host")) or host,
    )


def find_tunnel_source(
    came: RequestSource, tunnels: Collection[str], header: Callable[[str], str | None]
) -> RequestSource:
    """Return the sender of a request that may have come through the managed tunnel.

    The tunnel's program connects from this machine.  If the Host is the tunnel's, its headers for
    the client's address and scheme are trusted; its header for the Host never is.  Another program
    on this machine can pretend to be the tunnel, so the address may only be displayed and counted.

    @param came: the result of L{find_source}.
    @param tunnels: host names of the tunnels that are up.
    @param header: as for L{find_source}.
    """
    host = parse_host(came.host or "")
    if host is None or host.name not in tunnels or came.address not in LOOPBACK:
        return came
    return evolve(find_source(came.address, came.host, _THIS_MACHINE, header), host=came.host)


def _find_client_address(peer: str, chain: str, trusted: Sequence[Network]) -> str:
    """Return the client's address: the last one in the chain that is not a trusted proxy.

    @param chain: the X-Forwarded-For header.
    """
    found = peer
    for hop in reversed(chain.split(",")[-MOST_HOPS:]):
        address = normalize_address(hop.strip())
        if not is_address(address):
            break
        found = address
        if not _is_trusted(address, trusted):
            break
    return found


def _is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    if not trusted or not is_address(address):
        return False
    found = ip_address(address)
    return any(found in network for network in trusted)


def _last_value(header: str | None) -> str | None:
    return header.rpartition(",")[2].strip() or None if header else None
