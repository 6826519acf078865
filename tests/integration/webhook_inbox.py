"""A receiver of webhooks on loopback, in a thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.integration.harness import PATIENCE


class WebhookInbox:
    """A receiver in threads: what came, and the status that it answers."""

    def __init__(self) -> None:
        self.status = 500
        self.sessions: list[str] = []
        self.events: list[str] = []
        self.changed = threading.Condition()
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with inbox.changed:
                    inbox.sessions.append(body["sessionId"])
                    inbox.events.append(body["event"])
                    inbox.changed.notify_all()
                self.send_response(inbox.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                """Nobody reads it."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self.server.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def wait(self, done: Callable[[list[str]], bool]) -> list[str]:
        """What came, once it is C{done}."""
        with self.changed:
            assert self.changed.wait_for(lambda: done(self.sessions), PATIENCE), self.sessions
            return list(self.sessions)

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()
