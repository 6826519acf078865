"""Runs the commands for real: C{sh} and C{curl} against a server on loopback."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from attrs import frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.waiting import PATIENCE

SECRET = "5ec" * 21 + "x"
SHELLS = [shell for shell in ("dash", "bash") if shutil.which(shell)]


@frozen
class PostedRequest:
    """One request as it arrived."""

    path: str
    secret: str | None
    content_type: str | None
    body: bytes


class LoopbackServer:
    """A server that answers every POST with one line.

    @ivar hold: cleared to keep it from answering.
    @ivar begun: somebody has asked.
    """

    def __init__(self, context: ssl.SSLContext | None = None, answer: bytes = b"a line") -> None:
        self.posted: list[PostedRequest] = []
        self.hold, self.begun = threading.Event(), threading.Event()
        self.hold.set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                server.begun.set()
                server.hold.wait(PATIENCE)
                found = self.headers.get
                server.posted.append(
                    PostedRequest(
                        self.path,
                        found("X-Service-Hook-Secret"),
                        found("Content-Type"),
                        self.rfile.read(length),
                    )
                )
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *words: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = False
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}/base"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def close(self) -> None:
        """Wait for what is under way, then free the port."""
        self.hold.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def self_signed(folder: Path) -> ssl.SSLContext:
    """A certificate that nobody knows, for another name."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "box.example")])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=36500))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = folder / "both.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def make_tool_folder(folder: Path, names: Iterable[str]) -> str:
    """A folder for the PATH that holds these programs and no others."""
    folder.mkdir(exist_ok=True)
    for name in names:
        found = shutil.which(name)
        assert found is not None, name
        if not (folder / name).exists():
            (folder / name).symlink_to(found)
    return str(folder)


def run_shell(
    shell: str, command: str, given: bytes, env: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run a command as an agent does; its output must end in time."""
    program = shutil.which(shell)
    assert program is not None
    return subprocess.run(
        [program, "-c", command],
        input=given,
        env=env,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
