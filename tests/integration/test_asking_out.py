"""What users have the service ask for is bounded: a server that never answers sees few of them."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import PATIENCE, Daemon
from tests.unit.http.driver import head
from tests.unit.http.gatecase import basic
from tservice.webviews.service import PROBES

WORD = "a long password"
MANY = 40


class AskingOutTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = Daemon(
            SERVICE_MULTIUSER="1", SERVICE_USERNAME="root", SERVICE_PASSWORD=WORD
        ).start()
        self.addCleanup(self.daemon.close)
        self.silent = socket.create_server(("127.0.0.1", 0), backlog=4 * MANY)
        self.addCleanup(self.silent.close)
        self.url = f"http://127.0.0.1:{self.silent.getsockname()[1]}"
        self.root = basic("root", WORD)
        self.call("POST", "/api/admin/users", {"username": "ann", "password": WORD}, self.root)
        self.ann = basic("ann", WORD)

    def call(self, method: str, path: str, body: Any, who: dict[str, str]) -> Any:
        return self.daemon.request(method, path, body, who).data()

    def asked(self) -> int:
        """How many connections came to the silent server until now."""
        count = 0
        self.silent.settimeout(0.5)
        while True:
            try:
                found, _ = self.silent.accept()
            except TimeoutError:
                return count
            self.addCleanup(found.close)
            count += 1

    def send_many(self, method: str, path: str, body: bytes = b"") -> list[socket.socket]:
        host, port = self.daemon.url.removeprefix("http://").split(":")
        named = {**self.ann, "Host": f"{host}:{port}"}
        if body:
            named |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        made = []
        for _ in range(MANY):
            one = socket.create_connection((host, int(port)), PATIENCE)
            self.addCleanup(one.close)
            one.sendall(head(method, path, named) + body)
            made.append(one)
        return made

    def test_what_a_model_server_has_loaded(self) -> None:
        self.call("PUT", "/api/settings", {"customModelEndpointsEnabled": True}, self.root)
        body = {"label": "silent", "baseUrl": self.url}
        made = self.call("POST", "/api/model-endpoints", body, self.root)["endpoint"]
        self.send_many("GET", f"/api/model-endpoints/{made['id']}/running-status")
        self.daemon.request("GET", "/api/me", None, self.ann)
        self.assertEqual(1, self.asked())

    def test_whether_something_answers(self) -> None:
        body = b'{"url":"%s"}' % self.url.encode()
        asking = self.send_many("POST", "/api/webviews/probe", body)
        self.assertEqual(PROBES, self.asked())
        refused = 0
        for one in asking[PROBES:]:
            with closing(one.makefile("rb")) as answer:
                refused += answer.readline().startswith(b"HTTP/1.1 429 ")
        self.assertEqual(MANY - PROBES, refused)
