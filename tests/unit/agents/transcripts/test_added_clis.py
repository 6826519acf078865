"""Transcripts of GitHub Copilot CLI and Qwen Code, as their versions wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.transcripts.transcript_samples import RECORDED
from tservice.agents.transcripts.conversation.items import ConversationItem, ItemKind, ToolStatus
from tservice.agents.transcripts.conversation.pages import PageRequest
from tservice.agents.transcripts.conversation.reader_cache import read_to_end
from tservice.agents.transcripts.conversation.readers import make_reader
from tservice.agents.transcripts.conversation_access import read_beginning, read_messages
from tservice.agents.transcripts.conversation_stores import scan_conversations
from tservice.agents.transcripts.formats import FORMATS
from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.reader import read_new_lines

COPILOT = RECORDED / "recorded/copilot-1.0.102.jsonl"
QWEN = RECORDED / "recorded/qwen-0.24.4.jsonl"
SAID = [
    ("user", "SAY: hello there"),
    ("assistant", "hello there"),
    ("user", "SLOW: 3"),
    ("assistant", "word0 word1 word2 word3 word4 word5"),
    ("user", "RUN: touch made.txt"),
    ("assistant", "Done with the tool."),
]
FILES = {"copilot": COPILOT, "qwen": QWEN}


def read_items(path: Path, mode: str) -> list[ConversationItem]:
    reader = make_reader(path, mode, lambda message: message.cost or None, is_branch=False)
    read_to_end(reader)
    return list(reader.read_page(PageRequest(limit=500)).items)


class RecordedTranscriptTests(SynchronousTestCase):
    """What was said, by whom, and what it took."""

    def test_messages_are_read_in_order(self) -> None:
        for mode, path in FILES.items():
            said = [(each.role, each.text) for each in read_messages(path, mode)]
            self.assertEqual(SAID, said[: len(SAID)], mode)

    def test_beginning_tells_conversation_and_folder(self) -> None:
        for mode, path in FILES.items():
            begins = read_beginning(path, mode)
            self.assertEqual("/home/me/work", begins.cwd, mode)
            self.assertRegex(str(begins.conversation), r"^[0-9a-f-]{36}$")
            self.assertEqual("SAY: hello there", begins.title)

    def test_usage_of_every_request_is_counted_once(self) -> None:
        for mode, path, requests in (("copilot", COPILOT, 4), ("qwen", QWEN, 7)):
            used = read_new_lines(ReadPosition(path=str(path), inode=0), path, mode).used
            self.assertEqual(requests, len(used), mode)
            for each in used.values():
                self.assertEqual(
                    ("stub-model", 1200, 34),
                    (each.used.model, each.used.total_input, each.used.output),
                )

    def test_command_is_an_item_with_its_end(self) -> None:
        for mode, path in FILES.items():
            ran = next(each.tool for each in read_items(path, mode) if each.tool is not None)
            self.assertEqual("Bash touch made.txt", ran.title, mode)
            self.assertEqual((ToolStatus.DONE, 0, ""), (ran.status, ran.exit_code, ran.output))

    def test_refused_question_of_qwen_is_denied(self) -> None:
        asked = [each for each in read_items(QWEN, "qwen") if each.tool is not None][1]
        assert asked.tool is not None
        self.assertEqual(ItemKind.QUESTION, asked.kind)
        self.assertEqual(ToolStatus.DENIED, asked.tool.status)


class CopilotEventTests(SynchronousTestCase):
    """Events that the recording has not."""

    def read(self, kind: str, **data: Any) -> list[Any]:
        path = Path(self.mktemp())
        line = {"type": kind, "timestamp": "2026-11-28T17:12:16.130Z", "data": data}
        path.write_text(json.dumps(line) + "\n")
        return read_items(path, "copilot")

    def test_prompt_that_a_skill_added_is_no_prompt(self) -> None:
        self.assertEqual(1, len(self.read("user.message", content="typed")))
        self.assertEqual([], self.read("user.message", content="added", source="skill-pdf"))
        self.assertEqual([], self.read("user.message", content="on", isAutopilotContinuation=True))

    def test_error_is_an_item_and_the_failure_of_the_turn(self) -> None:
        (item,) = self.read("session.error", message="no such model")
        self.assertEqual((ItemKind.ERROR, "no such model"), (item.kind, item.text))

    def test_message_of_a_sub_agent_is_none_of_the_conversation(self) -> None:
        found = {"type": "user.message", "agentId": "a1", "data": {"content": "look"}}
        self.assertIsNone(FORMATS["copilot"].parse_message(found))


class StoreTests(SynchronousTestCase):
    """Where both keep conversations, and what is beside them."""

    def test_copilot_conversation_is_named_by_its_folder(self) -> None:
        root = Path(self.mktemp())
        for name in ("one/events.jsonl", "one/deeper/other.jsonl"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("{}\n")
        (found,) = scan_conversations(root, "copilot")
        self.assertEqual("one", found.name)

    def test_qwen_conversations_are_in_the_folder_chats(self) -> None:
        root = Path(self.mktemp())
        for name in ("-home-me/chats/a-b.jsonl", "-home-me/other/c-d.jsonl"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("{}\n")
        (found,) = scan_conversations(root, "qwen")
        self.assertEqual("a-b.jsonl", found.name)
