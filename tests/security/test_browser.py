"""A real browser, signed in, that visits a page of somebody else.

The page is on another port of the same address, which is the hardest case: cookies do not know
ports, so the browser sends ours along.  What it must not come to is what counts.
"""

from __future__ import annotations

import re
import shutil
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page

from tests.browser.chromium import ChromiumPool
from tests.browser.harness import PATIENCE, wait_until_on_page
from tests.integration.harness import DaemonCase
from tests.unit.http.gate_harness import basic_headers

PASSWORD = "long enough"
NAME = "rebound.example"
ADMIN = basic_headers("admin", PASSWORD)

READ = """async (url) => {
    try {
        const answer = await fetch(url, {credentials: "include"});
        return await answer.text();
    } catch (error) { return "blocked " + error.name; }
}"""
POST = """async ([url, kind]) => {
    const body = JSON.stringify({mode: "shell"});
    const headers = {"Content-Type": kind};
    for (const mode of ["no-cors", "cors"]) {
        try {
            await fetch(url, {method: "POST", mode, credentials: "include", body, headers});
        } catch (error) { /* what counts is whether a session was made */ }
    }
}"""
BLIND = """async (url) => {
    const picture = new Image();
    const gone = new Promise((done) => { picture.onload = picture.onerror = done; });
    picture.src = url;
    await gone;
    try {
        await fetch(url, {mode: "no-cors", credentials: "include"});
        return "asked";
    } catch (error) { return "blocked " + error.name; }
}"""
FORM = """(url) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.name = "sink";
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, {method: "POST", action: url, target: "sink", enctype: "text/plain"});
    const field = document.createElement("input");
    Object.assign(field, {name: '{"mode":"shell","name":"', value: '"}'});
    form.append(field);
    document.body.append(form);
    frame.addEventListener("load", () => done(true));
    form.submit();
    setTimeout(() => done(false), 60000);
})"""
KEY = """async () => {
    const answer = await fetch("/api/login", {method: "POST"});
    return (await answer.json()).data.key;
}"""
SOCKET = """([url, protocols]) => new Promise((done) => {
    const socket = new WebSocket(url, protocols);
    socket.onopen = () => done("open");
    socket.onmessage = () => done("message");
    socket.onerror = () => done("error");
})"""
HELD = """([kind, url]) => new Promise((done) => {
    const holder = document.createElement(kind);
    holder.onload = holder.onerror = () => done(true);
    holder[kind === "object" ? "data" : "src"] = url;
    document.body.append(holder);
})"""
EVENTS = """(url) => new Promise((done) => {
    const source = new EventSource(url, {withCredentials: true});
    source.addEventListener("init", () => done("init"));
    source.onerror = () => { source.close(); done("error"); };
})"""
FRAME = """(url) => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.src = url;
    frame.addEventListener("load", () => {
        try { done(frame.contentDocument ? "readable" : "opaque"); }
        catch (error) { done("opaque"); }
    });
    document.body.append(frame);
})"""


class _EvilPageHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = b"<!doctype html><title>evil</title><body>evil"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        """The test's output is for the test."""


class BrowserTests(DaemonCase):
    """Two origins on loopback."""

    chromium: ClassVar[ChromiumPool]

    @classmethod
    def setUpClass(cls) -> None:
        assert shutil.which("chromium") is not None, "install chromium"
        super().setUpClass()
        cls.chromium = ChromiumPool(f"--host-resolver-rules=MAP {NAME} 127.0.0.1")
        cls.addClassCleanup(cls.chromium.close)

    def setUp(self) -> None:
        self.service = self.daemon(SERVICE_PASSWORD=PASSWORD).start()
        self.port = urlsplit(self.service.url).port
        self.evil = self.serve_evil()
        self.context: BrowserContext = self.chromium.browser.new_context(
            http_credentials={"username": "admin", "password": PASSWORD}
        )
        self.addCleanup(self.chromium.put_away, self.context)
        self.context.set_default_timeout(PATIENCE * 1000)
        self.page: Page = self.sign_in()

    def serve_evil(self) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _EvilPageHandler)
        thread = threading.Thread(target=partial(server.serve_forever, 0.05))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    def sign_in(self) -> Page:
        """In a page of our own, so that the cookie is the browser's; then to the other one."""
        page = self.context.new_page()
        page.goto(f"{self.service.url}/api/me")
        self.assertIn('"admin"', page.content())
        names = [cookie["name"] for cookie in self.context.cookies()]
        self.assertEqual(["service_session"], names)
        page.goto(self.evil)
        return page

    def sessions(self) -> Any:
        return self.service.request("GET", "/api/sessions", headers=ADMIN).data()

    def test_foreign_page_cannot_read_responses(self) -> None:
        for path in ("/api/sessions", "/api/me", "/api/settings", "/healthz"):
            found = self.page.evaluate(READ, f"{self.service.url}{path}")
            self.assertEqual("blocked TypeError", found, path)
        self.assertEqual("error", self.page.evaluate(EVENTS, f"{self.service.url}/api/events"))

    def test_foreign_page_cannot_start_a_costly_reading(self) -> None:
        """A picture needs no leave to be loaded, yet would cost a child or a stream here."""
        self.assertEqual({"GET": 1}, self.counted("/api/me"))
        for path in ("/api/doctor", "/api/events", "/api/status"):
            found = self.page.evaluate(BLIND, f"{self.service.url}{path}")
            self.assertEqual("blocked TypeError", found, path)
            self.assertEqual({}, self.counted(path))
        # Of these a browser says that they are navigated, as of a link that somebody followed.
        for kind in ("iframe", "object", "embed"):
            self.page.evaluate(HELD, [kind, f"{self.service.url}/api/doctor"])
        self.assertEqual({}, self.counted("/api/doctor"))

    def counted(self, route: str) -> dict[str, int]:
        """How often a route was reached, by method, without asking as the browser."""
        text = self.service.request("GET", "/metrics", headers=ADMIN).body.decode()
        pattern = r'_requests_total\{method="(\w+)",route="%s",status="200"\} (\d+)'
        return {name: int(number) for name, number in re.findall(pattern % re.escape(route), text)}

    def test_foreign_page_cannot_post(self) -> None:
        url = f"{self.service.url}/api/sessions"
        for kind in ("text/plain", "application/json"):
            self.page.evaluate(POST, [url, kind])
        self.assertTrue(self.page.evaluate(FORM, url), "the form was sent and answered")
        self.assertEqual([], self.sessions())
        counted = self.service.request("GET", "/metrics", headers=ADMIN).body
        self.assertIn(b'"403"', counted)

    def test_foreign_page_cannot_open_a_websocket(self) -> None:
        made = self.service.request("POST", "/api/sessions", {"mode": "shell"}, ADMIN)
        path = f"/ws/sessions/{made.data()['session']['id']}/terminal"
        url = self.service.url.replace("http", "ws") + path
        self.assertEqual("error", self.page.evaluate(SOCKET, [url, []]))
        self.page.goto(f"{self.service.url}/api/me")
        shown = [url, ["tservice", f"key.{self.page.evaluate(KEY)}"]]
        self.assertEqual("open", self.page.evaluate(SOCKET, shown))
        self.page.goto(self.evil)
        self.assertEqual("error", self.page.evaluate(SOCKET, shown))

    def test_foreign_page_cannot_frame_the_service(self) -> None:
        refused: list[str] = []
        self.page.on("console", lambda message: refused.append(message.text))
        self.page.evaluate(FRAME, f"{self.service.url}/")
        told = ("frame-ancestors", "X-Frame-Options")
        wait_until_on_page(
            self.page, "a refusal", lambda: any(word in " ".join(refused) for word in told)
        )

    def test_rebound_host_name_gets_nothing(self) -> None:
        page = self.context.new_page()
        found = page.goto(f"http://{NAME}:{self.port}/api/sessions")
        assert found is not None
        self.assertEqual((403, "Forbidden: host not allowed"), (found.status, found.text()))
        shown = page.evaluate(READ, f"http://{NAME}:{self.port}/api/sessions")
        self.assertEqual("Forbidden: host not allowed", shown)
        url = f"ws://{NAME}:{self.port}/ws/sessions/x/terminal"
        self.assertEqual("error", page.evaluate(SOCKET, [url, []]))
