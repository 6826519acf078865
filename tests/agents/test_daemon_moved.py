"""The folder of an account moves under the real Claude Code: it goes on with its conversation."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import RealClaude
from tests.integration.harness import PATIENCE, DaemonAnswer, DaemonHarness
from tests.unit.http.gate_harness import basic_headers
from tests.unit.tap.oldfolders import age

WORD = "long enough"


class AdminsDaemon(DaemonHarness):
    """One with accounts, asked as its admin."""

    def __init__(self, **environment: str) -> None:
        super().__init__(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD, **environment)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> DaemonAnswer:
        asked = {**basic_headers("admin", WORD), **(headers or {})}
        return super().request(method, path, body, asked, patience)


class MovedTests(RealClaude, SynchronousTestCase):
    service = AdminsDaemon

    def begin(self, **environment: str) -> None:
        """Begin where the version of before had the folders of C{admin}."""
        self.work = self.daemon.folder / "cases" / "admin" / "work"
        self.work.mkdir(parents=True)
        super().begin(**environment)

    def test_conversation_begun_after_the_move_goes_on(self) -> None:
        """The agent that runs writes below the path of before, where there was nothing yet."""
        self.until("the composer", lambda: self.record()["status"] == "idle")
        pid = self.record()["pid"]
        listen = f"tcp:{urlsplit(self.daemon.url).port}:interface=127.0.0.1"
        self.daemon.kill()
        age(self.daemon.data / "tservice.db", self.work.parent.parent)
        self.daemon.start(listen=(listen,))
        self.prompt("SAY: first")
        self.until_idle()
        before = self.record()["conversationIds"]
        self.until_on_disk("first")
        os.kill(pid, signal.SIGTERM)
        self.until("its end", lambda: self.record()["pid"] is None)
        self.call("POST", f"/api/sessions/{self.session}/start")
        self.prompt("SAY: and again")
        self.assertEqual(before, self.record()["conversationIds"])
        self.assertEqual(["SAY: first", "SAY: and again"], self.world.stub.conversation())

    def test_conversation_goes_on_in_the_moved_folder(self) -> None:
        self.prompt("SAY: the word is kumquat")
        self.until_idle()
        before, pid = self.record()["conversationIds"], self.record()["pid"]
        # Hooks of the agent that runs go to the port of before.
        listen = f"tcp:{urlsplit(self.daemon.url).port}:interface=127.0.0.1"
        self.daemon.kill()
        age(self.daemon.data / "tservice.db", self.work.parent.parent)
        self.daemon.start(listen=(listen,))
        moved = self.daemon.cases_of("admin") / "work"
        self.assertEqual((str(moved), pid), (self.record()["workingDir"], self.record()["pid"]))
        self.until_idle()
        # The agent that runs goes by the path of before.
        self.assertEqual("stop", self.prompt("SAY: still here")["wait"]["signal"])
        self.until_idle()
        self.until_on_disk("still here")
        os.kill(pid, signal.SIGTERM)
        self.until("its end", lambda: self.record()["pid"] is None)
        self.call("POST", f"/api/sessions/{self.session}/start")
        self.assertEqual("stop", self.prompt("SAY: and again")["wait"]["signal"])
        self.assertEqual(before, self.record()["conversationIds"])
        said = ["SAY: the word is kumquat", "SAY: still here", "SAY: and again"]
        self.assertEqual(said, self.world.stub.conversation())
        path = f"/api/sessions/{self.session}/last-response"
        self.assertIn("and again", self.call("GET", path)["text"])
