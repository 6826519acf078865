"""Model endpoints: kept, tested, changed, removed and chosen, in a real Chromium."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.harness import DELETED, PHONE, BrowserCase

MODELS = [{"id": "qwen3-30b", "context_length": 65_536}, {"id": "tiny", "context_length": 8_192}]


class TwoModelServer(BaseHTTPRequestHandler):
    """Offers two models to who has the key."""

    def do_GET(self) -> None:
        known = self.headers.get("Authorization") == "Bearer s3cr3t"
        body = json.dumps({"data": MODELS} if known else {"error": "key"}).encode()
        self.send_response(200 if known and self.path == "/v1/models" else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The test has its own."""


class ModelsTests(BrowserCase):
    expected = (DELETED, r"responded with a status of (409|422)")

    def setUp(self) -> None:
        super().setUp()
        server = ThreadingHTTPServer(("127.0.0.1", 0), TwoModelServer)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.address = f"http://127.0.0.1:{server.server_address[1]}"
        programs = Path(self.mktemp()).absolute()
        programs.mkdir(parents=True)
        program = programs / "claude"
        program.write_text("#!/bin/sh\nexec sleep 600\n")
        program.chmod(0o755)
        self.service = self.daemon(PATH=f"{programs}:{os.environ['PATH']}")

    @pytest.mark.essential
    def test_model_endpoint_is_saved_tested_chosen_and_removed(self) -> None:
        page = self.page(f"{self.service.url}/?page=models")
        page.get_by_test_id("models-enable").click()
        page.get_by_test_id("endpoint-new").click()
        page.get_by_test_id("endpoint-label").fill("workshop")
        page.get_by_test_id("endpoint-url").fill("127.0.0.1")
        page.get_by_test_id("endpoint-save").click()
        expect(page.get_by_test_id("endpoint-problem")).to_contain_text("http://")
        page.get_by_test_id("endpoint-url").fill(self.address)
        page.get_by_test_id("endpoint-save").click()
        row = page.locator("[data-endpoint=workshop]")
        expect(row).to_contain_text("not checked")
        expect(page.get_by_test_id("models-problem")).to_contain_text("enter a valid key")

        row.get_by_test_id("endpoint-edit").click()
        page.get_by_test_id("endpoint-key").fill("s3cr3t")
        page.get_by_test_id("endpoint-save").click()
        expect(row).to_contain_text("2 models")
        expect(row).to_contain_text("key saved")
        row.get_by_test_id("endpoint-edit").click()
        expect(page.get_by_test_id("endpoint-key")).to_have_value("")
        page.get_by_test_id("endpoint-default").select_option("tiny")
        page.get_by_test_id("endpoint-save").click()
        expect(row.locator("[data-first=true]")).to_contain_text("tiny")
        self.assertNotIn("s3cr3t", page.content())
        page.keyboard.press("Escape")

        page.get_by_test_id("new-session-button").click()
        page.get_by_test_id("mode-primary").locator("label").click()
        options = page.get_by_test_id("new-model").locator("option")
        expect(options.nth(1)).to_contain_text("tiny")
        page.get_by_test_id("mode-shell").locator("label").click()
        expect(page.get_by_test_id("new-model")).to_have_count(0)
        page.get_by_test_id("mode-primary").locator("label").click()
        page.get_by_test_id("new-model").select_option(index=1)
        page.get_by_test_id("new-place").click()
        page.get_by_test_id("new-folder").fill(str(self.service.home))
        page.get_by_test_id("new-start").click()
        ask = page.get_by_test_id("ask")
        expect(ask).to_contain_text("tiny has a context of 8,192 tokens")
        page.get_by_test_id("ask-agree").click()
        expect(page.get_by_test_id("new-session")).to_have_count(0)
        (made,) = self.service.request("GET", "/api/sessions").data()
        self.assertEqual("tiny", made["customModel"]["modelId"])

        page.goto(f"{self.service.url}/?page=models")
        row.get_by_test_id("endpoint-remove").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(page.get_by_test_id("models-problem")).to_contain_text("Close them")
        self.service.request("DELETE", f"/api/sessions/{made['id']}").data()
        row.get_by_test_id("endpoint-remove").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(row).to_have_count(0)

    def test_models_page_fits_a_phone(self) -> None:
        self.service.request("PUT", "/api/settings", {"customModelEndpointsEnabled": True}).data()
        kept = {"label": "workshop", "baseUrl": self.address, "apiKey": "s3cr3t"}
        made = self.service.request("POST", "/api/model-endpoints", kept).data()["endpoint"]
        page = self.page(f"{self.service.url}/?page=models", **PHONE)
        row = page.locator("[data-endpoint=workshop]")
        row.get_by_test_id("endpoint-test").tap()
        expect(row).to_contain_text("qwen3-30b")
        row.get_by_test_id("endpoint-edit").tap()
        expect(page.get_by_test_id("endpoint-form")).to_be_visible()
        content = page.locator(".dialog-content")
        self.assertTrue(content.evaluate("box => box.scrollWidth <= box.clientWidth"))
        self.assertTrue(made["apiKeySet"])
