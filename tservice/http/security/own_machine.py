"""Rule for requests that can only come from a browser on the service's own machine."""

from __future__ import annotations

from ipaddress import ip_address

from tservice.core.callers.authentication import AuthenticationRequest
from tservice.http.security.hosts import LOOPBACK, is_address, parse_host

FORWARDED = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "cf-connecting-ip",
    "tailscale-user-login",
)
"""Headers of reverse proxies and tunnels.  A request with one of them may come from elsewhere."""


def is_from_this_machine(visit: AuthenticationRequest) -> bool:
    """Return whether a request can only come from this machine, at an address that only means it.

    The gate has refused foreign origins.  A name such as C{box.ts.net} is admitted there, but leads
    here from elsewhere, and pages of allowed origins on other ports are other programs.
    """
    if visit.address not in LOOPBACK or visit.cors is not None or visit.led:
        return False
    if any(visit.header(name) for name in FORWARDED):
        return False
    host = parse_host(visit.host)
    if host is None:
        return False
    return host.name == "localhost" or (is_address(host.name) and ip_address(host.name).is_loopback)
