"""Key that a page sends in addition to its cookie.

Browsers send cookies to all ports of a host, so programs on other ports receive the service's
cookies.  Therefore a browser's cookie is only valid together with a key.  The page keeps the key in
the storage of its origin, which includes the port.
"""

from __future__ import annotations

from tservice.http.request import ServiceRequest

HEADER = "X-Service-Key"
"""Header that carries the key.  A page without a key also sends the header, to identify itself as a
page.
"""

WANTED = "wanted"
"""Value of the header in a response to a page without a key that was admitted by other credentials.
"""

PROTOCOL = "tservice"
"""Subprotocol of the service's WebSockets, for clients that ask for one."""

KEY_PREFIX = "key."
"""Prefix of the subprotocol that holds the key, because a page can set no header of an upgrade."""


def find_page_key(request: ServiceRequest, upgrade: bool) -> str | None:
    """Return the page key in a request, valid or not; C{None} if no page sent the request."""
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
