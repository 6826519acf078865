"""The samples of docs/howto/proxy.rst, run by a real nginx and a real Caddy.

Each stands in front of a real daemon.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import ssl
import subprocess
import textwrap
import threading
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import SkipTest
from urllib.parse import urlsplit

from tests.held_port import HeldPort
from tests.integration.harness import PATIENCE, ROOT, DaemonCase
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


CADDY_OPTIONS = """
    auto_https off
    storage file_system {folder}/caddy
"""
"""Beside the sample's own: no request leaves the machine for a certificate."""


def sample(name: str) -> str:
    """The configuration as the page shows it."""
    text = (ROOT / "docs/howto/proxy.rst").read_text(encoding="utf-8")
    inside = text.partition(f".. {name} begin")[2].partition(f".. {name} end")[0]
    return textwrap.dedent(inside.partition(".. code-block::")[2].partition("\n")[2])


if TYPE_CHECKING:
    _Case = DaemonCase
else:
    _Case = object


class ProxyContract(_Case):
    """TLS, a base path, WebSockets and events; mixed into a test case for each proxy."""

    folder: Path

    def start_proxy(self) -> None:
        """Start it on L{port}, in front of the daemon."""
        raise NotImplementedError

    def setUp(self) -> None:
        self.daemon_ = self.daemon(
            SERVICE_PASSWORD=PASSWORD,
            SERVICE_TRUSTED_PROXIES="127.0.0.1",
            SERVICE_BASE_PATH="/terminals",
            SERVICE_ALLOWED_HOSTS=NAME,
        ).start()
        self.folder = self.daemon_.folder / "proxy"
        make_certificate(self.folder, [NAME], 30, _now())
        held = HeldPort()
        self.addCleanup(held.close)
        self.port = held.number
        self.start_proxy()

    def configured(self, name: str, frame: str, **places: str) -> Path:
        """A file of the sample, its place and names changed to those of the test.

        @param places: what of the sample to replace, by what.
        """
        text = sample(name)
        backend = {"127.0.0.1:8770": f"127.0.0.1:{urlsplit(self.daemon_.url).port}"}
        for old, new in {**places, **backend}.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.folder / f"{name}.conf"
        path.write_text(frame.format(folder=self.folder, sample=text))
        return path

    def run_proxy(self, *argv: str) -> None:
        """Run it until the test is over; come back once it listens."""
        # Caddy keeps what it was told in its home.
        environ = {"PATH": os.defpath, "HOME": str(self.folder)}
        self.proxy = subprocess.Popen(argv, stderr=subprocess.PIPE, env=environ)
        self.addCleanup(self.stop_proxy)
        for _ in range(int(PATIENCE / 0.05)):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            self.assertIsNone(self.proxy.poll(), "the proxy ended")
            threading.Event().wait(0.05)
        self.fail("the proxy does not listen")

    def stop_proxy(self) -> None:
        self.proxy.terminate()
        self.proxy.communicate(timeout=PATIENCE)

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

    def test_requests_pass_the_proxy_with_cookie_and_origin(self) -> None:
        found, text = self.ask("GET", "/terminals/api/me")
        self.assertEqual(200, found.status, text)
        cookie = found.getheader("set-cookie") or ""
        self.assertIn("; Secure", cookie)
        self.assertIn("; Path=/terminals;", cookie)
        self.assertIn("max-age", found.getheader("strict-transport-security") or "")
        self.assertEqual(308, self.ask("GET", "/terminals")[0].status)
        self.assertEqual(200, self.ask("GET", "/terminals/")[0].status)
        body = {"mode": "shell"}
        own, text = self.ask("POST", "/terminals/api/sessions", body, Origin=self.origin)
        self.assertEqual(200, own.status, text)
        for origin in ("https://evil.example", f"http://{NAME}:{self.port}", f"https://{NAME}"):
            answer, _ = self.ask("POST", "/terminals/api/sessions", body, Origin=origin)
            self.assertEqual(403, answer.status, origin)

    def visitors(self) -> set[str]:
        """Where the daemon believes to be visited from, one of them by its own word."""
        self.ask("GET", "/terminals/api/me", **{"X-Forwarded-For": "203.0.113.9"})
        found, text = self.ask("GET", "/terminals/api/admin/audit?action=login")
        self.assertEqual(200, found.status)
        entries: Any = json.loads(text)["data"]["entries"]
        return {entry["address"] for entry in entries}

    def test_forwarded_host_of_a_visitor_is_ignored(self) -> None:
        for name in ("evil.example", "localhost"):
            found, _ = self.ask("GET", "/terminals/api/me", **{"X-Forwarded-Host": name})
            self.assertEqual(200, found.status)
        # Caddy answers what is for nobody with nothing at all.
        _, text = self.ask("GET", "/terminals/api/me", Host="evil.example")
        self.assertNotIn(b"success", text)

    def test_websocket_passes_the_proxy(self) -> None:
        _, text = self.ask("POST", "/terminals/api/sessions", {"mode": "shell", "start": True})
        session = json.loads(text)["data"]["session"]["id"]
        for origin, want in ((self.origin, b" 101 "), ("https://evil.example", b" 403 ")):
            with self.connect() as stream:
                stream.sendall(self.upgrade(session, origin))
                answer = stream.recv(4096)
                self.assertIn(want, answer.partition(b"\r\n")[0])
                if want == b" 101 " and b'"hello"' not in answer:
                    self.read_until(stream, b'"hello"')

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

    def test_events_pass_the_proxy_without_delay(self) -> None:
        with self.connect() as stream:
            head = f"GET /terminals/api/events HTTP/1.1\r\nHost: {NAME}:{self.port}\r\n"
            stream.sendall(f"{head}Authorization: {AUTH['Authorization']}\r\n\r\n".encode())
            self.read_until(stream, b"event: init")
            self.ask("POST", "/terminals/api/sessions", {"mode": "shell"})
            self.read_until(stream, b"event: session:created")
        for _ in range(int(PATIENCE / 0.05)):
            if not self.streams():
                return
            threading.Event().wait(0.05)
        self.fail("the stream of a visitor who left is still open")

    def streams(self) -> int:
        _, text = self.ask("GET", "/terminals/metrics")
        [line] = [each for each in text.splitlines() if each.startswith(b"tservice_event_streams ")]
        return int(float(line.split()[1]))

    def read_until(self, stream: ssl.SSLSocket, wanted: bytes) -> None:
        text = b""
        while wanted not in text:
            more = stream.recv(4096)
            self.assertTrue(more, text)
            text += more


class NginxTests(ProxyContract, DaemonCase):
    """nginx."""

    def start_proxy(self) -> None:
        path = self.configured(
            "nginx",
            FRAME,
            **{"listen 443": f"listen 127.0.0.1:{self.port}", "/etc/ssl/box/": f"{self.folder}/"},
        )
        folder = str(self.folder)
        self.run_proxy("/usr/sbin/nginx", "-p", folder, "-c", str(path), "-e", "stderr")

    def test_visitors_are_distinguished_by_forwarded_address(self) -> None:
        """The test's own address is the trusted proxy's, so its word counts, too."""
        self.assertEqual({"203.0.113.9", "127.0.0.1"}, self.visitors())


class CaddyTests(ProxyContract, DaemonCase):
    """Caddy, with a certificate of the test's instead of one that it gets itself."""

    def start_proxy(self) -> None:
        caddy = shutil.which("caddy")
        if caddy is None:
            raise SkipTest("no caddy on PATH")
        pair = f"{self.folder}/certificate.pem {self.folder}/key.pem"
        site = f"https://{NAME}:{self.port} {{\n    bind 127.0.0.1\n    tls {pair}"
        options = "admin off" + CADDY_OPTIONS.format(folder=self.folder)
        changes = {"admin off": options, f"{NAME} {{": site}
        path = self.configured("caddy", "{sample}", **changes)
        self.run_proxy(caddy, "run", "--config", str(path), "--adapter", "caddyfile")

    def test_visitors_cannot_forge_their_address(self) -> None:
        self.assertEqual({"127.0.0.1"}, self.visitors())


def _now() -> float:
    """The machine's own clock: the certificate must hold while the test runs."""
    return Path("/proc/self/stat").stat().st_mtime
