"""A hostile target in a web tab (protocol-webtabs), in a real Chromium.

Nobody has to sign in to the service, so that whatever got through would have all of its power; and
the frame has no sandbox of its own, so that the header alone has to hold.
"""

from __future__ import annotations

import http.client
import socket
from typing import Any
from urllib.parse import quote, urlsplit

from tests.browser.harness import PATIENCE, BrowserCase, wait_until_on_page
from tests.browser.hostile_targets import TargetServer
from tests.integration.harness import LOOPBACK
from tests.run_figures import report_figure

GAINS = ("own", "ownSocket", "ownPost", "done")


class HostileTargetTests(BrowserCase):
    expected = (r".",)

    def setUp(self) -> None:
        super().setUp()
        self.target = TargetServer()
        # Its scripts are led nowhere: what holds them is the fence alone.
        self.target.packed = True
        self.addCleanup(self.target.close)
        self.service = self.daemon(SERVICE_WEBVIEW_LISTEN=LOOPBACK)
        self.precious = self.session(self.service, "precious")
        body = {"name": "t", "url": self.target.url}
        self.view = self.service.request("POST", "/api/webviews", body).data()["webview"]

    def opened(self) -> dict[str, Any]:
        path = f"/api/webviews/{self.view['id']}/open"
        found: dict[str, Any] = self.service.request("POST", path).data()
        return found

    def state(self) -> object:
        """What no page may change."""
        asked = [
            self.service.request("GET", f"/api/{what}").data() for what in ("cron/jobs", "cases")
        ]
        names = [one["name"] for one in self.service.request("GET", "/api/sessions").data()]
        return names, asked

    def attack(self, address: str) -> None:
        """Open the tab in a page of the service's, and let it try everything."""
        self.target.told.clear()
        before = self.state()
        context = self.context()
        context.add_cookies([{"name": "service_session", "value": "good", "url": self.service.url}])
        page = self.page(self.service.url, context)
        page.evaluate("localStorage.setItem('precious', '1'); document.title = 'service'")
        query = f"?service={quote(self.service.url)}&session={self.precious}"
        page.evaluate(
            "src => document.body.append(Object.assign(document.createElement('iframe'), {src}))",
            address + query,
        )
        # Each has its own time, and what is kept out takes all of it.
        while "done" not in self.target.told:
            before_it = len(self.target.told)
            wait_until_on_page(page, "a further try", lambda n=before_it: len(self.target.told) > n)  # type: ignore[misc]
        gained = {
            name: outcome
            for name, outcome in self.target.told.items()
            if name not in GAINS and outcome != "kept out"
        }
        self.assertEqual({}, gained)
        self.assertGreaterEqual(len(self.target.told), 30)
        self.assertEqual(before, self.state())
        self.assertTrue(page.url.startswith(f"{self.service.url}/?session="), page.url)
        self.assertEqual("1", page.evaluate("localStorage.getItem('precious')"))
        self.assertEqual(0, page.evaluate("navigator.serviceWorker.getRegistrations()"
                                          ".then(all => all.filter(one => "
                                          "one.scope.includes('webview')).length)"))  # fmt: skip
        kept = {each["name"]: each for each in context.cookies()}
        self.assertEqual("good", kept["service_session"]["value"])
        for name, cookie in kept.items():
            if name != "service_session":
                self.assertIn("/webview/", cookie["path"])
        self.assertEqual("imported", self.target.told["own"], "its own scripts reach it")
        for path, headers in self.target.seen:
            self.assertNotIn("good", str(headers), path)
            self.assertNotIn("Authorization", headers, path)
        self.chromium.put_away(context)

    def test_hostile_page_is_kept_out_in_thirty_attempts(self) -> None:
        found = self.opened()
        self.attack(self.service.url + found["embedUrl"])
        self.assertEqual("kept out", self.target.told["ownSocket"], "Origin: null")
        self.attack(found["isolatedUrl"])
        self.assertEqual("hello", self.target.told["ownSocket"])
        self.assertEqual("200", self.target.told["ownPost"])
        report_figure(f"a hostile target: {len(self.target.told)} tries at each of two origins")

    def passed_on(self, address: str, **headers: str) -> dict[str, str]:
        """What comes to the target of a request's headers; nothing where it is refused."""
        self.target.seen.clear()
        where = urlsplit(address)
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        connection.request("GET", where.path, headers=headers)
        connection.getresponse().read()
        connection.close()
        return self.target.seen[-1][1] if self.target.seen else {}

    def test_two_requests_in_one_write_keep_their_credentials_apart(self) -> None:
        """Two requests in one, two answers in one, and whose credentials go where."""
        found = self.opened()
        own, apart = self.service.url + found["embedUrl"], found["isolatedUrl"]
        for address, word, goes in (
            (own, "token t", False),
            (apart, "token t", True),
            (apart, "Bearer tsk_word", False),
            (apart, "Basic eDp5", False),
        ):
            sent = self.passed_on(address, Authorization=word, Cookie="service_session=good; a=b")
            self.assertEqual(word if goes else None, sent.get("Authorization"), address)
            self.assertNotIn("service_session", str(sent))
        self.assertIn("a=b", self.passed_on(apart, Cookie="service_session=good; a=b")["Cookie"])
        prefix = self.opened()["embedUrl"].rstrip("/")
        where = urlsplit(self.service.url)
        self.target.seen.clear()
        for tail in ("%0d%0aX:%20y", "%00", "%5c..%5cx", "..%2f..%2fx", "%2e%2e/x", "./x", "/x"):
            answer = self.service.request("GET", f"{prefix}/{tail}")
            self.assertIn(answer.status, (400, 404), tail)
        both = (
            f"POST {prefix}/a HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Length: 4\r\n"
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"
        )
        address = (str(where.hostname), where.port or 0)
        with socket.create_connection(address, timeout=PATIENCE) as raw:
            raw.sendall(both.encode())
            self.assertIn(b"400", raw.recv(4096).split(b"\r\n")[0])
        self.assertEqual([], self.target.seen)
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        for _ in range(2):
            connection.request("GET", f"{prefix}/split")
            self.assertEqual(b"ok", connection.getresponse().read())
        connection.close()
