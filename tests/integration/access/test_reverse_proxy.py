"""The nginx sample of docs/reverse-proxy.rst, run by a real nginx in front of a real daemon."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import subprocess
import textwrap
import threading
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.integration.harness import PATIENCE, ROOT
from tests.integration.test_daemon import DaemonCase
from tservice.client.tls import make_certificate

NAME = "box.example.org"
PASSWORD = "long enough"
AUTH = {"Authorization": "Basic " + base64.b64encode(f"admin:{PASSWORD}".encode()).decode()}
FRAME = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{sample}
}}
"""


def sample() -> str:
    """The configuration as the page shows it."""
    text = (ROOT / "docs/reverse-proxy.rst").read_text(encoding="utf-8")
    inside = text.partition(".. nginx begin")[2].partition(".. nginx end")[0]
    return textwrap.dedent(inside.partition(".. code-block:: nginx\n")[2])


def free_port() -> int:
    """One that the kernel chose a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port


class NginxTests(DaemonCase):
    """TLS, a base path, WebSockets and events through nginx."""

    def setUp(self) -> None:
        self.daemon_ = self.daemon(
            SERVICE_PASSWORD=PASSWORD,
            SERVICE_TRUSTED_PROXIES="127.0.0.1",
            SERVICE_BASE_PATH="/terminals",
            SERVICE_ALLOWED_HOSTS=NAME,
        ).start()
        self.folder = self.daemon_.folder / "nginx"
        make_certificate(self.folder, [NAME], 30, _now())
        self.port = free_port()
        self.start_nginx()

    def start_nginx(self) -> None:
        backend = urlsplit(self.daemon_.url).port
        text = sample()
        for old, new in (
            ("listen 443", f"listen 127.0.0.1:{self.port}"),
            ("/etc/ssl/box/", f"{self.folder}/"),
            ("127.0.0.1:8770", f"127.0.0.1:{backend}"),
        ):
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.folder / "nginx.conf"
        path.write_text(FRAME.format(folder=self.folder, sample=text))
        self.nginx = subprocess.Popen(
            ["/usr/sbin/nginx", "-p", str(self.folder), "-c", str(path), "-e", "stderr"],
            stderr=subprocess.PIPE,
        )
        self.addCleanup(self.stop_nginx)
        for _ in range(int(PATIENCE / 0.05)):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            self.assertIsNone(self.nginx.poll(), "nginx ended")
            threading.Event().wait(0.05)
        self.fail("nginx does not listen")

    def stop_nginx(self) -> None:
        self.nginx.terminate()
        self.nginx.communicate(timeout=PATIENCE)

    def connect(self) -> ssl.SSLSocket:
        context = ssl.create_default_context(cafile=str(self.folder / "certificate.pem"))
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        return context.wrap_socket(plain, server_hostname=NAME)

    def ask(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[HTTPResponse, bytes]:
        connection = HTTPSConnection(NAME, self.port, timeout=PATIENCE)
        connection.sock = self.connect()
        content = None if body is None else json.dumps(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, path, content, {**AUTH, **kind, **headers})
        found = connection.getresponse()
        text = found.read()
        connection.close()
        return found, text

    @property
    def origin(self) -> str:
        return f"https://{NAME}:{self.port}"

    def test_requests(self) -> None:
        found, text = self.ask("GET", "/terminals/api/me")
        self.assertEqual(200, found.status, text)
        cookie = found.getheader("set-cookie") or ""
        self.assertIn("; Secure", cookie)
        self.assertIn("max-age", found.getheader("strict-transport-security") or "")
        self.assertEqual(308, self.ask("GET", "/terminals")[0].status)
        self.assertEqual(200, self.ask("GET", "/terminals/")[0].status)
        body = {"mode": "shell"}
        own, text = self.ask("POST", "/terminals/api/sessions", body, Origin=self.origin)
        self.assertEqual(200, own.status, text)
        for origin in ("https://evil.example", f"http://{NAME}:{self.port}", f"https://{NAME}"):
            answer, _ = self.ask("POST", "/terminals/api/sessions", body, Origin=origin)
            self.assertEqual(403, answer.status, origin)

    def test_visitors_are_told_apart(self) -> None:
        self.ask("GET", "/terminals/api/me", **{"X-Forwarded-For": "203.0.113.9"})
        found, text = self.ask("GET", "/terminals/api/admin/audit?action=login")
        self.assertEqual(200, found.status)
        entries: Any = json.loads(text)["data"]["entries"]
        self.assertEqual({"203.0.113.9", "127.0.0.1"}, {entry["address"] for entry in entries})

    def test_a_socket(self) -> None:
        _, text = self.ask("POST", "/terminals/api/sessions", {"mode": "shell", "start": True})
        session = json.loads(text)["data"]["session"]["id"]
        for origin, want in ((self.origin, b" 101 "), ("https://evil.example", b" 403 ")):
            with self.connect() as stream:
                stream.sendall(self.upgrade(session, origin))
                answer = stream.recv(4096)
                self.assertIn(want, answer.partition(b"\r\n")[0])
                while want == b" 101 " and b'"hello"' not in answer:
                    answer += stream.recv(4096)

    def upgrade(self, session: str, origin: str) -> bytes:
        lines = [
            f"GET /terminals/ws/sessions/{session}/terminal HTTP/1.1",
            f"Host: {NAME}:{self.port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            f"Origin: {origin}",
            f"Authorization: {AUTH['Authorization']}",
        ]
        return "\r\n".join([*lines, "", ""]).encode()

    def test_events_come_at_once(self) -> None:
        with self.connect() as stream:
            head = f"GET /terminals/api/events HTTP/1.1\r\nHost: {NAME}:{self.port}\r\n"
            stream.sendall(f"{head}Authorization: {AUTH['Authorization']}\r\n\r\n".encode())
            self.read_until(stream, b"event: init")
            self.ask("POST", "/terminals/api/sessions", {"mode": "shell"})
            self.read_until(stream, b"event: session:created")

    def read_until(self, stream: ssl.SSLSocket, wanted: bytes) -> None:
        text = b""
        while wanted not in text:
            more = stream.recv(4096)
            self.assertTrue(more, text)
            text += more


def _now() -> float:
    """The machine's own clock: the certificate must hold while the test runs."""
    return Path("/proc/self/stat").stat().st_mtime
