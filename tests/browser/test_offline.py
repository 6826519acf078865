"""The page's own copy on the device: it opens without a network, and never stays an old one."""

from __future__ import annotations

import re
import shutil
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Page

from tests.browser.harness import LOST, BrowserCase, PageTerminal, wait_until_on_page
from tests.integration.harness import ROOT

CONTROLLED = "navigator.serviceWorker?.controller != null"
RELEASE = "document.documentElement.dataset.release"
KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const { url } of await (await caches.open(name)).keys()) found.push(url);
  return found;
}"""


class QuietPageHandler(SimpleHTTPRequestHandler):
    """The page's files, as the service serves them to somebody who is not signed in."""

    def translate_path(self, path: str) -> str:
        page = path.partition("?")[0] in ("/", "/login")
        return super().translate_path("/index.html" if page else path)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


class OfflineTests(BrowserCase):
    expected = (*LOST, r"Failed to load resource", r"service worker")

    def controlled(self, page: Page) -> None:
        """Wait until the worker has the page."""
        wait_until_on_page(page, "a worker", lambda: page.evaluate(CONTROLLED))

    @pytest.mark.essential
    def test_page_opens_without_a_network(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url)
        page = terminal.page
        self.controlled(page)
        context = page.context
        context.set_offline(True)
        # What is of use without a network opens, though it never did before.
        page.keyboard.press("Control+Shift+K")
        page.get_by_test_id("palette-field").fill("doctor")
        page.keyboard.press("Escape")
        page.reload()
        page.get_by_test_id("unreached").wait_for()
        wait_until_on_page(
            page, "says why", lambda: "offline" in page.get_by_test_id("banner").inner_text()
        )
        another = self.page(f"{daemon.url}/?page=fleet", context)
        another.get_by_test_id("unreached").wait_for()
        self.leave(another)
        context.set_offline(False)
        PageTerminal(page).ready()
        # What it keeps are files of the page: nobody's data.
        places = [url.removeprefix(daemon.url) for url in page.evaluate(KEPT)]
        strange = [p for p in places if not re.fullmatch(r"/login|/assets/[^/?]+", p)]
        self.assertEqual([], strange)
        self.assertIn("/login", places)

    def test_new_release_replaces_the_cached_page(self) -> None:
        folder = Path(self.mktemp()).resolve()
        shutil.copytree(ROOT / "tservice" / "static", folder)
        server = ThreadingHTTPServer(
            ("127.0.0.1", 0), partial(QuietPageHandler, directory=str(folder))
        )
        self.addCleanup(server.server_close)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        page = self.page(f"http://127.0.0.1:{server.server_port}/")
        # The page itself waits for its sessions with this.
        page.evaluate("navigator.serviceWorker.register('sw.js').then(() => true)")
        self.controlled(page)
        [old] = page.evaluate("caches.keys()")
        index, worker = folder / "index.html", folder / "sw.js"
        index.write_text(index.read_text().replace("<html ", "<html data-release='second' "))
        worker.write_text(re.sub('VERSION = "[^"]+"', 'VERSION = "second"', worker.read_text()))
        page.reload()
        self.assertEqual("second", page.evaluate(RELEASE))
        wait_until_on_page(
            page, "the old files gone", lambda: old not in page.evaluate("caches.keys()")
        )
        self.assertEqual(1, len(page.evaluate("caches.keys()")))
        page.context.set_offline(True)
        page.reload()
        self.assertEqual("second", page.evaluate(RELEASE))
        page.get_by_test_id("unreached").wait_for()
