"""Suggestions by the real Claude Code against the stub model (protocol-suggestions)."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress as passing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import HELD, RealClaude
from tests.agents.harness import find_leftovers
from tests.integration.harness import PATIENCE, DaemonAnswer

GOOD = {
    "suggestions": [
        {"prompt": "Run the tests", "why": "They were not run", "kind": "verify"},
        {"prompt": "Go on", "why": "It stopped", "kind": "continue"},
    ]
}


class LiveSuggestionTests(RealClaude, SynchronousTestCase):
    """What the stub is to say stands in C{steer}, the last line of its prompt that directs it."""

    def setUp(self) -> None:
        super().setUp()
        self.call("PUT", "/api/settings", readMyMindEnabled=True)
        self.prompt("SAY: the parser is written")

    def asked(self) -> list[int]:
        """The processes of CLIs that are asked now, and of what they started: of this home's, for
        other tests ask beside this one.
        """
        found = []
        for pid in find_leftovers(self.world.place.home):
            with passing(OSError):  # it is over
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                found += [pid] if b"--no-session-persistence" in words else []
        return found

    def over(self) -> bool:
        """Whether nobody asks any more: the CLI is gone and the service has seen its end, or it
        would refuse the next question.
        """
        return not self.asked() and not list((self.daemon.data / "mind").iterdir())

    def ask(self, **body: Any) -> DaemonAnswer:
        path = f"/api/sessions/{self.session}/readmymind"
        return self.daemon.request("POST", path, body, patience=HELD)

    def unusable(self, steer: str) -> str:
        """The refusal; nothing of the CLI is left, and the session has heard nothing."""
        answer = self.ask(steer=steer)
        self.assertEqual(422, answer.status, answer.body)
        self.until("no CLI left", lambda: not self.asked())
        self.assertEqual([], list((self.daemon.data / "mind").iterdir()))
        text: str = answer.json()["error"]
        return text

    def test_suggestions_use_the_conversation_and_leave_the_session_alone(self) -> None:
        """It reads what was said and asked for, has no tools, and the session hears nothing."""
        answer = self.ask(steer=f"SAY: {json.dumps(GOOD)}", rejected=["Delete it all"])
        found = answer.data()
        self.assertEqual(GOOD["suggestions"], found["suggestions"])
        self.assertGreater(found["durationMs"], 0)
        read = self.turns()[-1].prompt
        for words in ("the parser is written", "Delete it all", "begin, untrusted"):
            self.assertIn(words, read)
        self.assertNotIn("Run the tests", self.screen())
        self.assertEqual(1, len(self.record()["conversationIds"]))
        self.until("no CLI left", lambda: not self.asked())

        fenced = f"```json\\n{json.dumps(GOOD)}\\n```"
        self.assertEqual(2, len(self.ask(steer=f"SAY: {fenced}").data()["suggestions"]))
        # A tool that the model calls all the same is none of the CLI's.
        self.unusable('TOOL: Bash {"command": "touch pwned", "description": "x"}')
        self.assertEqual([], list(self.work.glob("pwned")))
        path = f"/api/sessions/{self.session}/intent"
        intent = self.until("an intent", lambda: self.call("GET", path)["intent"])
        self.assertEqual(str(self.work.resolve()), intent["workingDir"])
        said = [each["text"] for each in intent["recentPrompts"]]
        self.assertEqual(["SAY: the parser is written"], said)

    def test_input_typed_while_switched_off_is_not_collected(self) -> None:
        """Nor what was typed then into a turn that goes on."""
        self.until("the first prompt", self.collected)
        self.call("PUT", "/api/settings", readMyMindEnabled=False)
        self.prompt("SAY: off the record")
        self.type("HOLD: door")
        self.until("the turn", lambda: len(self.turns()) == 3)
        self.type("SAY: queued off the record")
        self.until("the queue", lambda: "queued off the record" in self.screen())
        self.call("PUT", "/api/settings", readMyMindEnabled=True)
        self.release("door")
        self.until("the queued turn", lambda: len(self.turns()) == 4)
        self.until_idle()
        self.prompt("SAY: on the record")
        self.until("the last prompt", lambda: "SAY: on the record" in self.collected())
        said = ["SAY: the parser is written", "SAY: on the record"]
        self.assertEqual(said, self.collected())

    def collected(self) -> list[str]:
        intent = self.call("GET", f"/api/sessions/{self.session}/intent")["intent"]
        return [each["text"] for each in (intent or {}).get("recentPrompts", ())]

    def test_unusable_output_of_the_cli_is_an_error(self) -> None:
        self.assertIn("JSON", self.unusable("SAY: I cannot help with that."))
        self.assertIn("JSON", self.unusable('SAY: Sure! {"suggestions": []}'))
        self.assertIn("1 to 3", self.unusable('SAY: {"suggestions": []}'))
        # Of 10 MB the CLI ends having passed on what was read by then: 128 KB, or too much.
        self.assertRegex(self.unusable("HUGE: 500000"), "JSON|it printed too much$")
        self.assertIn("no suggestions", self.unusable("FAIL: 400"))

    def test_hanging_cli_ends_when_the_request_or_session_ends(self) -> None:
        """Who asks meanwhile is refused; who hangs up, or deletes the session, ends it."""
        self.hang("HOLD: never")
        self.assertEqual(409, self.ask().status)
        self.connection.close()
        self.until("the end of the CLI", self.over)
        self.hang("HOLD: again")
        path = f"/api/sessions/{self.session}"
        self.assertEqual(200, self.daemon.request("DELETE", path).status)
        self.assertIn(b" 404 ", self.connection.recv(4096).split(b"\r\n")[0])
        self.connection.close()
        self.until("the end of the CLI", self.over)

    def test_crashed_cli_is_an_error(self) -> None:
        self.hang("HOLD: never")
        for pid in self.asked():
            with passing(ProcessLookupError):  # it ended with the one that started it
                os.kill(pid, 9)
        self.assertIn(b" 422 ", self.connection.recv(4096).split(b"\r\n")[0])
        self.connection.close()
        self.until("the end of the CLI", self.over)

    def hang(self, steer: str) -> None:
        """Ask on a connection of its own, and wait until the model was asked."""
        turns = len(self.turns())
        where = urlsplit(self.daemon.url)
        body = json.dumps({"steer": steer})
        self.connection = socket.create_connection((str(where.hostname), int(where.port or 0)))
        self.addCleanup(self.connection.close)
        self.connection.settimeout(PATIENCE)
        head = f"POST /api/sessions/{self.session}/readmymind HTTP/1.1\r\nHost: {where.netloc}\r\n"
        length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.connection.sendall((head + length + body).encode())
        self.until("the model", lambda: len(self.turns()) > turns and self.asked())
