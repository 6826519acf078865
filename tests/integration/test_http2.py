"""HTTP/2 over real TLS: off unless asked for, and cut when it is abused."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from hpack import Encoder
from hyperframe import frame

from tests.integration.certificates import make_certificate
from tests.integration.harness import PATIENCE, DaemonCase
from tests.waiting import wait_until

pytestmark = pytest.mark.extended

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame.SettingsFrame(0).serialize()
CUT = "aborting an HTTP/2 connection"
FLOOD = 32 * 1024 * 1024
"""Bytes of each connection that does not stop by itself."""

GROWTH = 48 * 1024 * 1024
"""Bytes that the service may have grown by while it is flooded with four times as much."""


class RawHTTP2Tests(DaemonCase):
    """A raw client on loopback."""

    def serve(self, **environment: str) -> None:
        self.one = self.daemon(SERVICE_LOG_LEVEL="info", **environment)
        key, certificate = self.one.folder / "key.pem", self.one.folder / "cert.pem"
        make_certificate(key, certificate)
        endpoint = f"ssl:0:privateKey={key}:certKey={certificate}:interface=127.0.0.1"
        self.one.start(listen=(endpoint,))
        self.context = ssl.create_default_context(cafile=str(certificate))
        self.context.set_alpn_protocols(["h2", "http/1.1"])

    def connect(self) -> ssl.SSLSocket:
        port = int(self.one.url.rpartition(":")[2])
        plain = socket.create_connection(("127.0.0.1", port), PATIENCE)
        made = self.context.wrap_socket(plain, server_hostname="127.0.0.1")
        self.addCleanup(made.close)
        return made

    def memory(self) -> int:
        pages = int(Path(f"/proc/{self.one.pid}/statm").read_text().split()[1])
        return pages * 4096

    def flood(self, first: bytes, again: bytes) -> int:
        """Send until it is cut: how many bytes that took."""
        client, sent = self.connect(), len(first)
        client.sendall(PREFACE + first)
        piece = again * max(1, 65_536 // len(again))
        with contextlib.suppress(OSError):
            while sent < FLOOD:
                client.sendall(piece)
                sent += len(piece)
        return sent

    def test_http2_is_off_by_default(self) -> None:
        self.serve()
        self.assertEqual("http/1.1", self.connect().selected_alpn_protocol())

    def alert(self, *words: str) -> str:
        """What OpenSSL's own client says of the handshake."""
        port = self.one.url.rpartition(":")[2]
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *words]
        told = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip
        return told.stdout + told.stderr

    def test_unknown_tls_protocols_are_refused_by_their_alert(self) -> None:
        """RFC 7301: no_application_protocol, which is alert 120."""
        self.serve()
        for words in (("h2",), ("h2", "-tls1_2"), ("h2,spdy/3",), ("acme-tls/1",)):
            self.assertIn("SSL alert number 120", self.alert("-alpn", *words), words)
        for offered in ("h2,http/1.1", "http/1.1"):
            self.assertIn("ALPN protocol: http/1.1", self.alert("-alpn", offered))
        self.assertIn("No ALPN negotiated", self.alert())
        for word in ("critical", "Traceback", "Unhandled"):
            self.assertNotIn(word, self.one.log)

    def test_http2_endpoint_refuses_unknown_protocols(self) -> None:
        self.serve(SERVICE_HTTP2="1")
        self.assertIn("ALPN protocol: h2", self.alert("-alpn", "h2"))
        self.assertIn("SSL alert number 120", self.alert("-alpn", "h3"))

    def test_http2_floods_are_cut(self) -> None:
        self.serve(SERVICE_HTTP2="1")
        self.assertEqual("h2", self.connect().selected_alpn_protocol())
        fields = [(":method", "GET"), (":path", "/"), (":scheme", "https"), (":authority", "x")]
        start = frame.HeadersFrame(1, data=Encoder().encode(fields)).serialize()
        more = frame.ContinuationFrame(1, data=b"\0" * 16_384).serialize()
        ping = frame.PingFrame(0, opaque_data=b"12345678").serialize()
        before = self.memory()
        for first, again in ((start, more), (b"", ping), (b"\xff" * 9, b"\xff" * 9)):
            for _ in range(4):
                self.assertLess(self.flood(first, again), FLOOD)
        self.assertLess(self.memory() - before, GROWTH)
        # The last lines of the log may still be on their way.
        wait_until("every cut", lambda: self.one.log.count(CUT) >= 12)
        for word in ("critical", "Traceback", "Unhandled"):
            self.assertNotIn(word, self.one.log)
        self.assertEqual(12, self.one.log.count(CUT))
