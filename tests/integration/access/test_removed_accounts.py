"""A name that is given again, on the real daemon."""

from __future__ import annotations

import http.client
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from tests.integration.files import FORM, form_body, read_answer
from tests.integration.harness import PATIENCE, DaemonAnswer, DaemonCase
from tests.unit.http.gate_harness import basic_headers

WORD = "long enough"
ADMIN, MAX = basic_headers("admin", WORD), basic_headers("max", WORD)
PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20


class ReusedNameTests(DaemonCase):
    def setUp(self) -> None:
        super().setUp()
        self.service = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD).start()
        self.make()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return self.service.request(method, path, body, MAX).data()

    def make(self) -> None:
        body = {"username": "max", "password": WORD, "role": "user"}
        self.service.request("POST", "/api/admin/users", body, ADMIN).data()

    def screenshot(self) -> DaemonAnswer:
        where = urlsplit(self.service.url)
        made = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        with closing(made) as connection:
            sent = form_body(("file", "a.png", PNG))
            headers = {**MAX, "Content-Type": FORM}
            connection.request("POST", "/api/screenshots", sent, headers)
            return read_answer(connection)

    def test_the_next_of_that_name_finds_nothing(self) -> None:
        shot = self.screenshot().data()["filename"]
        self.ask("POST", "/api/webviews", {"name": "a", "url": "http://93.184.216.34/"})
        for name in ("alpha", "beta"):
            self.ask("POST", "/api/cases", {"name": name})
        self.ask("PUT", "/api/cases/order", {"order": ["beta", "alpha"]})
        self.assertEqual(["beta", "alpha"], self.cases())

        self.service.request("DELETE", "/api/admin/users/max", headers=ADMIN).data()
        self.make()
        self.assertEqual([], self.ask("GET", "/api/screenshots")["screenshots"])
        gone = self.service.request("GET", f"/api/screenshots/{shot}", headers=MAX)
        self.assertEqual(404, gone.status)
        self.assertEqual([], self.ask("GET", "/api/webviews")["webviews"])
        self.assertEqual([], self.cases())

    def cases(self) -> list[str]:
        return [each["name"] for each in self.ask("GET", "/api/cases")]
