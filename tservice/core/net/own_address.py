"""Address under which other machines reach the service."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from tservice.core.net.endpoints import ListenAddress

UNROUTED = ("192.0.2.1", 9)
"""Address of the documentation network: choosing a route to it sends no packet."""


def find_phone_url(urls: Sequence[str], addresses: Sequence[ListenAddress]) -> str | None:
    """Return the first URL that another machine can use; C{None} if there is none.

    @param urls: the URL of each address, where wildcards stand as loopback addresses.
    """
    for url, address in zip(urls, addresses, strict=True):
        parts = urlsplit(url)
        if address.kind == "unix" or not address.shared or parts.hostname is None:
            continue
        host: str | None = parts.hostname
        if ipaddress.ip_address(parts.hostname).is_loopback:
            host = find_own_address()
        if host is not None:
            shown = f"[{host}]" if ":" in host else host
            return f"{parts.scheme}://{shown}:{parts.port}{parts.path}"
    return None


def find_own_address() -> str | None:
    """Return the address of this machine on its network; C{None} without a route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(UNROUTED)
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return address
