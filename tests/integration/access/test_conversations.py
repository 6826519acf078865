"""Conversations that agents keep in the one home that accounts share, on the real daemon."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.agents.mocks import install_mock
from tests.integration.access.harness import ADMIN, BOB, TEXT, KeptCase
from tests.integration.harness import DaemonAnswer
from tests.unit.agents.transcripts.transcript_lines import answer_line, prompt_line, write_lines

OWN, HERS = "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "22222222-bbbb-4bbb-8bbb-bbbbbbbbbbbb"
OUTSIDE = "resumeSessionId: a conversation outside the workspace of this account"


class ConversationOwnerTests(KeptCase):
    """Claude Code writes the names of C{bob}'s case and of a case of C{bob-shop}'s alike."""

    def setUp(self) -> None:
        super().setUp()
        install_mock(self.service.home / ".local/bin", "claude")
        self.alike = self.folder / "c"
        self.alike.mkdir()
        self.kept(OWN, self.alike, "mine")
        self.kept(HERS, Path(f"{self.folder.parent}-shop/c"), TEXT)

    def kept(self, conversation: str, folder: Path, answer: str) -> None:
        """What Claude Code leaves behind of a conversation."""
        name = re.sub(r"[^A-Za-z0-9]", "-", str(folder))
        path = self.service.home / ".claude/projects" / name / f"{conversation}.jsonl"
        first = {**prompt_line("go"), "sessionId": conversation, "cwd": str(folder)}
        write_lines(path, first, answer_line(answer))

    def made(self, conversation: str, headers: dict[str, str], **more: Any) -> DaemonAnswer:
        body = {"mode": "primary", "workingDir": str(self.alike), **more}
        body["resumeSessionId"] = conversation
        return self.service.request("POST", "/api/sessions", body, headers)

    def answers(self, conversation: str, headers: dict[str, str]) -> tuple[str, DaemonAnswer]:
        """What a session shows of a conversation that it is to go on with, and its start."""
        at = f"/api/sessions/{self.made(conversation, headers).data()['session']['id']}"
        shown = self.service.request("GET", f"{at}/last-response", headers=headers).data()
        items = self.service.request("GET", f"{at}/conversation", headers=headers).data()["items"]
        self.assertEqual(
            [shown["text"]] if shown["text"] else [], [each["text"] for each in items][1:]
        )
        return str(shown["text"]), self.service.request("POST", f"{at}/start", {}, headers)

    def test_conversation_of_another_account_is_hidden(self) -> None:
        shown, started = self.answers(HERS, BOB)
        self.assertEqual(("", 403, OUTSIDE), (shown, started.status, started.json()["error"]))
        at_once = self.made(HERS, BOB, start=True)
        self.assertEqual((403, OUTSIDE), (at_once.status, at_once.json()["error"]))

    def test_own_conversation_is_shown_and_resumed(self) -> None:
        shown, started = self.answers(OWN, BOB)
        self.assertEqual(("mine", 200), (shown, started.status), started.body)

    def test_admin_reads_conversations_of_other_accounts(self) -> None:
        shown, started = self.answers(HERS, ADMIN)
        self.assertEqual((TEXT, 200), (shown, started.status), started.body)
