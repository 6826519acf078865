"""Key that a page sends in addition to its cookie.

Cookies ignore the port: any program that a browser visits on a port of this host receives the
service's cookies.  Therefore a browser's cookie is only valid with a key that its page keeps in the
storage of the origin, which includes the port.
"""

from __future__ import annotations

from tservice.http.request import ServiceRequest

HEADER = "X-Service-Key"
"""Header of the key; a page without a key sends it too, to identify itself as a page."""

WANTED = "wanted"
"""Value of the header in a response to a page that was admitted by other credentials."""

PROTOCOL = "tservice"
"""Subprotocol of the service's WebSockets, for clients that ask for one."""

KEY_PREFIX = "key."
"""Prefix of the subprotocol that holds the key: a page can put nothing else into an upgrade."""


def find_page_key(request: ServiceRequest, upgrade: bool) -> str | None:
    """Return the key of a request, right or wrong; C{None} if there is none, so no page sent it."""
    carried = (
        [word for word in offered_subprotocols(request) if word.startswith(KEY_PREFIX)]
        if upgrade
        else []
    )
    return carried[0].removeprefix(KEY_PREFIX) if carried else request.getHeader(HEADER)


def offered_subprotocols(request: ServiceRequest) -> list[str]:
    """Return the subprotocols that an upgrade offers."""
    offered = ",".join(request.header_values("sec-websocket-protocol"))
    return [word.strip() for word in offered.split(",")]
