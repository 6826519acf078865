"""The doctor and the webhook as the real daemon serves them."""

from __future__ import annotations

import stat

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import Daemon
from tests.integration.test_webhook import Inbox


class DaemonTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def test_the_doctor(self) -> None:
        found = self.daemon.request("GET", "/api/doctor?category=core").data()
        tools = {tool["id"]: tool for tool in found["tools"]}
        self.assertEqual("ok", tools["tmux"]["status"])
        self.assertIn("cli-primary", tools)
        self.assertEqual(len(tools), sum(found["summary"].values()))
        self.assertEqual(400, self.daemon.request("GET", "/api/doctor?category=x").status)

    def test_a_webhook_over_a_kill(self) -> None:
        inbox = Inbox()
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
