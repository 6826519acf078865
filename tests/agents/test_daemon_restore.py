"""A reboot under the real Claude Code: it goes on with its conversation (protocol-restore)."""

from __future__ import annotations

import signal

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude
from tests.integration.rebooting import RebootDaemon


class LiveRestoreTests(RealClaude, SynchronousTestCase):
    service = RebootDaemon
    daemon: RebootDaemon

    def test_restored_conversation_goes_on(self) -> None:
        """Above its screen stands what it showed; the model is told all that was said."""
        self.prompt("SAY: the word is kumquat")
        self.until_idle()
        before = self.record()["conversationIds"]
        self.until_on_disk("kumquat")
        self.daemon.reboot(signal.SIGTERM)
        found = self.call("POST", "/api/reboot-restore/restore")
        self.assertEqual(["restored"], [each["outcome"] for each in found["entries"]])
        self.assertTrue(found["entries"][0]["scrollbackRestored"])
        self.assertEqual("stop", self.prompt("SAY: and again")["wait"]["signal"])
        self.assertEqual(before, self.record()["conversationIds"])
        said = self.world.stub.conversation()
        self.assertEqual(["SAY: the word is kumquat", "SAY: and again"], said)
        path = f"/api/sessions/{self.session}/search?q=machine%20restarted"
        self.assertEqual(1, len(self.call("GET", path)["matches"]))
