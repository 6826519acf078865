"""A server that web tabs lead to, as hostile as one can be."""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class TargetHandler(BaseHTTPRequestHandler):
    """Serves L{TargetServer.pages}, and notes who asked with what.

    @ivar server: the target.
    """

    protocol_version = "HTTP/1.1"
    server: TargetServer

    def log_message(self, *arguments: object) -> None:
        """Not a word."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.seen.append((self.path, dict(self.headers.items())))
        if self.headers.get("Upgrade") == "websocket":
            self._echo()
        elif url.path == "/told":
            found = parse_qs(url.query)
            self.server.told[found["name"][0]] = found["outcome"][0]
            self._send(200, b"")
        elif url.path == "/away":
            self._send(302, b"", Location=parse_qs(url.query)["to"][0])
        elif url.path == "/split":
            # Two answers where one was asked for.
            one = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            self.wfile.write(one + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npwned!")
            self.close_connection = True
        elif url.path == "/" and self.server.packed:
            head = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
            page = self.server.pages["/"].replace(b"='/", b"='")
            self._send(200, gzip.compress(page), **head, **HOSTILE)
        else:
            kind = "text/html" if url.path == "/" else "text/javascript"
            content = self.server.pages.get(url.path, b"/* nothing */")
            self._send(200, content, **{"Content-Type": kind}, **HOSTILE)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    do_DELETE = do_GET

    def _send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Set-Cookie", "evil=1; Path=/")
        self.send_header("Set-Cookie", "service_session=evil; Path=/; HttpOnly")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _echo(self) -> None:
        key = self.headers["Sec-WebSocket-Key"].encode()
        accept = base64.b64encode(hashlib.sha1(key + GUID, usedforsecurity=False).digest())
        self.wfile.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n\x81\x05hello"
        )
        while self.connection.recv(4096):
            """Until the browser leaves."""
        self.close_connection = True


HOSTILE = {
    "Clear-Site-Data": '"*"',
    "Service-Worker-Allowed": "/",
    "Cache-Control": "public, max-age=31536000, immutable",
    "Access-Control-Allow-Credentials": "true",
    "X-Frame-Options": "DENY",
    "WWW-Authenticate": 'Basic realm="Service"',
    "Refresh": "0; url=/",
}


class TargetServer(ThreadingHTTPServer):
    """The server, running.

    @ivar pages: content by path; C{/} is HTML, all else a script.
    @ivar packed: whether C{/} comes compressed, which nobody on the way looks into.
    @ivar seen: paths and headers of all that was asked.
    @ivar told: what its page found out, by name.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), TargetHandler)
        script = Path(__file__).with_name("hostile.js").read_bytes()
        page = b"<!doctype html><title>Target</title><h1>Target</h1>"
        page += b"<script type='module' src='/hostile.js'></script>"
        self.pages = {"/": page, "/hostile.js": script}
        self.packed = False
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.told: dict[str, str] = {}
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser leaves as it likes."""

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()
