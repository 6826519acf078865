"""A transport that negotiated HTTP/2."""

from __future__ import annotations

from tests.unit.http.driver import MemoryTransport


class TLSTransport(MemoryTransport):
    """As after a TLS handshake that chose HTTP/2."""

    negotiatedProtocol = b"h2"
