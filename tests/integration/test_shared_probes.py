"""What users have the service ask for is bounded: a server that never answers sees few of them."""

from __future__ import annotations

import select
import socket
from contextlib import closing
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import PATIENCE, DaemonHarness
from tests.unit.http.gate_harness import basic_headers
from tests.unit.http.site_driver import request_head
from tservice.webviews.service import PROBES

WORD = "a long password"
MANY = 40


class AskingOutTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = DaemonHarness(
            SERVICE_MULTIUSER="1", SERVICE_USERNAME="root", SERVICE_PASSWORD=WORD
        ).start()
        self.addCleanup(self.daemon.close)
        self.silent = socket.create_server(("127.0.0.1", 0), backlog=4 * MANY)
        self.addCleanup(self.silent.close)
        self.url = f"http://127.0.0.1:{self.silent.getsockname()[1]}"
        self.root = basic_headers("root", WORD)
        self.call(
            "POST",
            "/api/admin/users",
            {"username": "ann", "password": WORD, "canBypassPermissions": True},
            self.root,
        )
        self.ann = basic_headers("ann", WORD)
        # A password that was right a moment ago is known: what comes now is asked for at once, and
        # not so late that what was asked for first was given up.
        self.call("GET", "/api/me", None, self.ann)

    def call(self, method: str, path: str, body: Any, who: dict[str, str]) -> Any:
        return self.daemon.request(method, path, body, who).data()

    def asked(self, awaited: int) -> int:
        """How many connections came to the silent server: C{awaited} in their time, or more."""
        count = 0
        while True:
            self.silent.settimeout(PATIENCE if count < awaited else 0.5)
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
            one.sendall(request_head(method, path, named) + body)
            made.append(one)
        return made

    def test_loaded_models_of_a_server_are_asked_for_once(self) -> None:
        self.call("PUT", "/api/settings", {"customModelEndpointsEnabled": True}, self.root)
        body = {"label": "silent", "baseUrl": self.url}
        made = self.call("POST", "/api/model-endpoints", body, self.root)["endpoint"]
        self.send_many("GET", f"/api/model-endpoints/{made['id']}/running-status")
        self.daemon.request("GET", "/api/me", None, self.ann)
        self.assertEqual(1, self.asked(1))

    def test_probes_of_unanswered_urls_are_limited(self) -> None:
        body = b'{"url":"%s"}' % self.url.encode()
        asking = self.send_many("POST", "/api/webviews/probe", body)
        self.assertEqual(PROBES, self.asked(PROBES))
        # Whose password is checked first asks first, so who is refused is not foretold.
        waiting = set(asking)
        while len(waiting) > PROBES:
            answered, _, _ = select.select(waiting, (), (), PATIENCE)
            self.assertNotEqual([], answered)
            for one in answered:
                with closing(one.makefile("rb")) as answer:
                    self.assertEqual(b"HTTP/1.1 429 ", answer.readline()[:13])
            waiting -= set(answered)
        self.assertEqual(PROBES, len(waiting))
