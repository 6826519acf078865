"""The doctor and the webhook as the real daemon serves them."""

from __future__ import annotations

import contextlib
import stat
import time
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import PATIENCE, DaemonHarness
from tests.integration.webhook_inbox import WebhookInbox


class DaemonTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = DaemonHarness()
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def test_doctor_route_reports_tools_and_summary(self) -> None:
        found = self.daemon.request("GET", "/api/doctor?category=core").data()
        tools = {tool["id"]: tool for tool in found["tools"]}
        self.assertEqual("ok", tools["tmux"]["status"])
        self.assertIn("cli-primary", tools)
        self.assertEqual(len(tools), sum(found["summary"].values()))
        self.assertEqual(400, self.daemon.request("GET", "/api/doctor?category=x").status)

    def test_webhook_delivery_survives_a_kill(self) -> None:
        inbox = WebhookInbox()
        self.addCleanup(inbox.close)
        inbox.status = 200
        change = {"enabled": True, "kind": "generic", "scope": "all", "url": inbox.url}
        shown = self.daemon.request("PUT", "/api/webhook", change).data()
        self.assertEqual(inbox.url.removesuffix("/hook"), shown["urlMasked"])
        file = self.daemon.data / "webhook.json"
        self.assertEqual(0o600, stat.S_IMODE(file.stat().st_mode))
        self.daemon.kill()
        self.daemon.start()
        self.assertTrue(self.daemon.request("POST", "/api/webhook/test").data()["ok"])
        last = self.daemon.request("GET", "/api/webhook").data()["lastResult"]
        self.assertEqual((True, 200), (last["ok"], last["status"]))
        self.assertNotIn("/hook", self.daemon.log)

    def test_waiting_webhook_delivery_survives_a_kill(self) -> None:
        """A failed run is told, over a kill -9; the URL is nowhere but in its file."""
        inbox = WebhookInbox()
        self.addCleanup(inbox.close)
        word = "s3cr3t-path"
        change = {"enabled": True, "kind": "generic", "url": f"{inbox.url}/{word}?key={word}"}
        self.daemon.request("PUT", "/api/webhook", change).data()
        self.fail_a_run()
        inbox.wait(bool)
        logged = self.daemon.log
        self.daemon.kill()
        inbox.status = 200
        before = len(inbox.sessions)
        self.daemon.start()
        inbox.wait(lambda came: len(came) > before)
        self.until_delivered()
        self.assertNotIn(word, logged + self.daemon.log)
        for file in self.daemon.data.rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # a draft has its name for a moment
                if file.is_file() and file.name != "webhook.json":
                    self.assertNotIn(word.encode(), file.read_bytes(), file)

    def fail_a_run(self) -> None:
        """A job whose prompt file is not there, run by hand."""
        work = self.daemon.folder / "work"
        work.mkdir()
        job: dict[str, Any] = {
            "name": "broken",
            "agentType": "shell",
            "workingDir": str(work),
            "promptMode": "prompt_file_path",
            "promptFilePath": str(work / "none"),
            "inputMode": "paste",
            "scheduleType": "interval",
            "intervalMinutes": 60,
            "enabled": False,
            "concurrencyPolicy": "warn_only",
        }
        made = self.daemon.request("POST", "/api/cron/jobs", job).data()["job"]["id"]
        found = self.daemon.request("POST", f"/api/cron/jobs/{made}/run").data()["run"]
        self.assertEqual("failed", found["status"], found)

    def until_delivered(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if b"tservice_webhook_waiting 0.0" in self.daemon.request("GET", "/metrics").body:
                last = self.daemon.request("GET", "/api/webhook").data()["lastResult"]
                self.assertTrue(last["ok"], last)
                return
            time.sleep(0.1)
        raise AssertionError(f"never delivered\n{self.daemon.log}")
