"""Web Push of a real daemon: its key, what it keeps over a restart, what it refuses."""

from __future__ import annotations

import stat

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import DaemonHarness
from tests.unit.push.push_browsers import PushBrowser

BROWSER = PushBrowser()


class DaemonPushTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = DaemonHarness()
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def key(self) -> str:
        found: str = self.daemon.request("GET", "/api/push/key").data()["publicKey"]
        return found

    def test_push_key_and_subscription_outlive_a_restart(self) -> None:
        key = self.key()
        made = self.daemon.request("POST", "/api/push/subscriptions", BROWSER.body)
        self.assertEqual({}, made.data())
        mode = (self.daemon.data / "push-key").stat().st_mode
        self.assertEqual(0o600, stat.S_IMODE(mode))
        self.daemon.restart()
        self.assertEqual(key, self.key())
        gone = self.daemon.request(
            "DELETE", "/api/push/subscriptions", {"endpoint": BROWSER.endpoint}
        )
        self.assertEqual({"removed": True}, gone.data())

    def test_push_target_inside_is_refused_by_its_field(self) -> None:
        body = {**BROWSER.body, "endpoint": "https://169.254.169.254/latest"}
        answer = self.daemon.request("POST", "/api/push/subscriptions", body)
        self.assertEqual(400, answer.status)
        self.assertIn("endpoint: ", answer.json()["error"])
        self.assertNotIn("169.254", answer.json()["error"])
