"""Choice of the protocol over real TLS: HTTP/1.1, and a clear alert for anything else."""

from __future__ import annotations

import subprocess

import pytest

from tests.integration.certificates import make_certificate
from tests.integration.harness import PATIENCE, DaemonCase
from tservice.core.config.load import NO_HTTP2

pytestmark = pytest.mark.extended


class AlpnTests(DaemonCase):
    """OpenSSL's own client on loopback."""

    def serve(self, **environment: str) -> None:
        self.one = self.daemon(SERVICE_LOG_LEVEL="info", **environment)
        key, certificate = self.one.folder / "key.pem", self.one.folder / "cert.pem"
        make_certificate(key, certificate)
        endpoint = f"ssl:0:privateKey={key}:certKey={certificate}:interface=127.0.0.1"
        self.one.start(listen=(endpoint,))

    def connect(self, *words: str) -> str:
        """What the client prints about the handshake."""
        port = self.one.url.rpartition(":")[2]
        command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *words]
        told = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip
        return told.stdout + told.stderr

    def assert_only_http1(self) -> None:
        """RFC 7301: other protocols get no_application_protocol, which is alert 120."""
        for words in (("h2",), ("h2", "-tls1_2"), ("h2,spdy/3",), ("acme-tls/1",)):
            self.assertIn("SSL alert number 120", self.connect("-alpn", *words), words)
        for offered in ("h2,http/1.1", "http/1.1"):
            self.assertIn("ALPN protocol: http/1.1", self.connect("-alpn", offered))
        self.assertIn("No ALPN negotiated", self.connect())
        for word in ("critical", "Traceback", "Unhandled"):
            self.assertNotIn(word, self.one.log)

    def test_unknown_tls_protocols_are_refused_by_their_alert(self) -> None:
        self.serve()
        self.assert_only_http1()
        self.assertNotIn("http2", self.one.log)

    def test_deprecated_http2_setting_only_warns(self) -> None:
        self.serve(SERVICE_HTTP2="1")
        self.assert_only_http1()
        [line] = [line for line in self.one.log.splitlines() if "http2" in line]
        self.assertIn(" warn ", line)
        self.assertIn(NO_HTTP2, line)
