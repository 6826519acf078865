"""The external CLIs, the real ones, driven through the real daemon over HTTP.

Each is one walk, for they take long to come up: its first dialog, a prompt that waits for it, a
turn, a command allowed and one refused, the exit, a crash.
"""

from __future__ import annotations

import json

import pytest

from tests.agents.driven_family import AT_REST, WAIT, FamilyCase


@pytest.mark.essential
class FirstSessionTests(FamilyCase):
    """One session of each client: its first dialog, a turn, a command, the exit."""

    def run_first_session(self, cli: str) -> None:
        self.begin(cli)
        self.first_turn()
        self.a_command_allowed()
        self.the_exit()

    def test_codex_completes_its_first_session(self) -> None:
        self.run_first_session("codex")

    def test_gemini_completes_its_first_session(self) -> None:
        self.run_first_session("gemini")

    def test_opencode_completes_its_first_session(self) -> None:
        self.run_first_session("opencode")

    def test_pi_completes_its_first_session(self) -> None:
        self.run_first_session("pi")

    def test_pi_writes_its_status_to_a_file(self) -> None:
        self.begin("pi")
        file = self.daemon.data / "channels" / f"{self.path.rpartition('/')[2]}.json"
        self.prompt("HOLD: door", wait="working", waitTimeout=WAIT)
        self.until("its work", lambda: json.loads(file.read_text())["status"] == "busy")
        self.world.stub.release("door")
        self.until("its end", lambda: json.loads(file.read_text())["status"] == "idle")
        self.assertEqual("idle", self.reason(*AT_REST)["status"])
        self.daemon.request("DELETE", self.path).data()
        self.until("nothing left", lambda: not file.exists())


@pytest.mark.long(minutes=9)
class FamilySessionTests(FamilyCase):
    """The whole walk."""

    def test_codex_dialog_turn_command_and_exit(self) -> None:
        self.walk("codex")
        self.assertEqual("stub-model", self.record()["displayModel"])

    def test_gemini_dialog_turn_command_and_exit(self) -> None:
        self.walk("gemini")

    def test_opencode_dialog_turn_command_and_exit(self) -> None:
        self.walk("opencode")

    def test_pi_dialog_turn_command_and_exit(self) -> None:
        self.walk("pi")

    def test_qwen_dialog_turn_command_and_exit(self) -> None:
        self.walk("qwen")

    def test_copilot_dialog_turn_command_and_exit(self) -> None:
        self.walk("copilot")

    def test_older_pi_dialog_turn_command_and_exit(self) -> None:
        self.installed = "pi-0.73"
        self.walk("pi")
