"""Messages of the service's webhook about agents with and without hooks."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import MockScenario
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.webhook_inbox import WebhookInbox

MODES = ("primary", "opencode")
"""One whose hooks tell all of it, and one without hooks."""


class WebhookMessageTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = played_daemon()
        self.addCleanup(self.daemon.close)
        self.inbox = WebhookInbox()
        self.addCleanup(self.inbox.close)
        self.inbox.status = 200
        self.daemon.start()
        self.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()
        webhook = {"enabled": True, "kind": "generic", "scope": "all", "url": self.inbox.url}
        self.daemon.request("PUT", "/api/webhook", webhook).data()

    def wait_for_events(self, *expected: str) -> None:
        """Wait for messages, and check that no others came before them."""
        self.inbox.wait(lambda sessions: len(sessions) >= len(expected))
        self.assertEqual([*expected], self.inbox.events)
        self.inbox.sessions.clear()
        self.inbox.events.clear()

    def test_every_agent_tells_that_it_asks_and_that_it_has_finished(self) -> None:
        for mode in MODES:
            session = PlayedSession(self.daemon, mode, MockScenario())
            session.prompt("SAY: done", wait="idle")
            self.wait_for_events("stop")
            session.prompt("RUN: touch made.txt", wait="blocked")
            self.wait_for_events("permission_prompt")
            self.daemon.request("DELETE", session.path).data()
