"""What a page shows beside its cookie.

Cookies know no port: every program that can get a browser to a port of this host is handed
ours.  So a browser's cookie opens nothing without a key that its page keeps in a storage of the
origin, port included.
"""

from __future__ import annotations

from tservice.http.request import Request

HEADER = "X-Service-Key"
"""Carries the key; a page without one sends it all the same, and so says that it is a page."""

WANTED = "wanted"
"""The header's value in an answer to a page that another evidence let in."""

PROTOCOL = "tservice"
"""The subprotocol of the service's WebSockets, for clients that ask for one."""

CARRIER = "key."
"""Begins the subprotocol that is the key: a page can put nothing else into an upgrade."""


def shown_key(request: Request, upgrade: bool) -> str | None:
    """The key that a request shows, right or wrong; C{None}: none, so that no page sent it."""
    carried = [word for word in protocols(request) if word.startswith(CARRIER)] if upgrade else []
    return carried[0].removeprefix(CARRIER) if carried else request.getHeader(HEADER)


def protocols(request: Request) -> list[str]:
    """The subprotocols that an upgrade offers."""
    offered = ",".join(request.header_values("sec-websocket-protocol"))
    return [word.strip() for word in offered.split(",")]
