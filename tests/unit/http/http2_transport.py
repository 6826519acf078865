"""A transport that negotiated HTTP/2."""

from __future__ import annotations

from tests.unit.http.site_driver import MemoryTransport


class HTTP2Transport(MemoryTransport):
    """As after a TLS handshake that chose HTTP/2."""

    negotiatedProtocol = b"h2"
