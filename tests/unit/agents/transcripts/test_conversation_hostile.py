"""Transcripts made to harm the service that shows them as items."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.agents.transcripts.generated_conversations import GENERATORS
from tests.unit.agents.transcripts.transcript_lines import write_lines
from tservice.agents.transcripts.conversation.items import ConversationItem, ItemKind
from tservice.agents.transcripts.conversation.pages import PageRequest
from tservice.agents.transcripts.conversation.reader_cache import ReaderCache, read_to_end
from tservice.agents.transcripts.conversation.readers import find_branch, make_reader
from tservice.agents.transcripts.conversation.responses import make_item_response
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.http.envelope import dump_json

MIB = 1024 * 1024

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def mutated(value: Any, chance: random.Random, other: Any) -> Any:
    """The value with some of its parts replaced by something else."""
    if chance.random() < 0.05:
        return other
    if isinstance(value, dict):
        return {name: mutated(each, chance, other) for name, each in value.items()}
    return [mutated(each, chance, other) for each in value] if isinstance(value, list) else value


class HostileConversationTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir(parents=True)
        self.path = self.folder / "t.jsonl"

    def items(self, mode: str = "primary") -> tuple[ConversationItem, ...]:
        reader = make_reader(self.path, mode, lambda _: None, is_branch=False)
        read_to_end(reader)
        return reader.read_page(PageRequest(limit=500)).items

    def say(self, text: str, **more: Any) -> dict[str, Any]:
        return {"type": "user", "message": {"role": "user", "content": text}, **more}

    def test_sparse_file_and_long_lines_take_little_memory(self) -> None:
        """1 GB of zeros, then a line of 100 MB; what is behind them is shown."""
        with self.path.open("wb") as file:
            file.truncate(1024 * MIB)
        write_lines(self.path, b"\n", self.say("behind the zeros"))
        with self.path.open("ab") as file:
            file.write(b'{"type":"user","message":{"content":"')
            for _ in range(100):
                file.write(b"x" * MIB)
            file.write(b'"}}\n')
        write_lines(self.path, self.say("last"))
        tracemalloc.start()
        try:
            items = self.items()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.assertLess(peak, 64 * MIB)
        shown = [(each.kind, each.text) for each in items if each.kind is ItemKind.TEXT]
        self.assertEqual([("text", "behind the zeros"), ("text", "last")], shown)
        self.assertEqual(1, [each.kind for each in items].count(ItemKind.NOTICE))

    def test_broken_lines_are_one_notice_and_the_rest_is_shown(self) -> None:
        write_lines(
            self.path,
            self.say("one"),
            b'{"type": "user", "message": {"content": "half\n',
            b"\xff\xfe not JSON at all, and no text\n",
            self.say("two \x1b[31m\x00 \ud83d red"),
            b"[" * 5000 + b"\n",
        )
        kinds = [each.kind for each in self.items()]
        self.assertEqual(["text", "notice", "text", "notice"], kinds)
        for item in self.items():
            json.loads(dump_json(make_item_response(item)))

    def test_cyclic_parents_end(self) -> None:
        """Items name no parent that they have not met; sessions of Codex may name each other."""
        write_lines(self.path, self.say("a", uuid="1", parentUuid="1", isSidechain=True))
        write_lines(self.path, self.say("b", uuid="1", parentUuid="2", isSidechain=True))
        self.assertEqual([None, None], [each.parent_id for each in self.items()])
        first, second = "a" * 36, "b" * 36
        for own, parent in ((first, second), (second, first)):
            meta = {"id": own, "parent_thread_id": parent, "cwd": "/w"}
            write_lines(
                self.folder / f"rollout-{own}.jsonl", {"type": "session_meta", "payload": meta}
            )
        files = TranscriptLocations(roots={"codex": self.folder})
        start = self.folder / f"rollout-{first}.jsonl"
        self.assertEqual(start, find_branch(files, self.folder / "none", "codex", first) or start)
        self.assertIsNone(find_branch(files, start, "codex", "c" * 36))

    def test_links_and_pipes_are_not_read(self) -> None:
        secret = self.folder / "secret.jsonl"
        write_lines(secret, self.say("secret"))
        self.path.symlink_to(secret)
        with self.assertRaises(OSError):
            self.items()
        self.path.unlink()
        os.mkfifo(self.path)
        with self.assertRaises(OSError):
            self.items()
        main = self.folder / "main.jsonl"
        write_lines(main, self.say("main"))
        elsewhere = self.folder / "other" / "subagents"
        elsewhere.mkdir(parents=True)
        write_lines(elsewhere / "agent-x.jsonl", self.say("theirs"))
        files = TranscriptLocations(roots={})
        (self.folder / "main").mkdir()
        (self.folder / "main" / "subagents").symlink_to(elsewhere)
        self.assertIsNone(find_branch(files, main, "primary", "x"))
        (self.folder / "main" / "subagents").unlink()
        (self.folder / "main").rmdir()
        (self.folder / "main").symlink_to(self.folder / "other")
        self.assertIsNone(find_branch(files, main, "primary", "x"))

    def test_replaced_file_of_another_user_shows_nothing_of_the_index(self) -> None:
        cache = ReaderCache(lambda _: None)
        write_lines(self.path, self.say("mine"))
        cache.use_reader(self.path, "primary", read_to_end)
        other = self.folder / "other.jsonl"
        write_lines(other, self.say("theirs"))
        self.path.unlink()
        self.path.symlink_to(other)
        with self.assertRaises(OSError):
            cache.use_reader(self.path, "primary", lambda reader: reader.read_page(PageRequest()))

    def test_many_keys_and_values_are_bounded(self) -> None:
        deep: Any = "end"
        for _ in range(200):
            deep = {"in": deep}
        given_ = {"deep": deep, "many": list(range(40_000)), "big": 10**400}
        call = {"type": "tool_use", "id": "t", "name": "Bash", "input": given_}
        message = {"role": "assistant", "content": [call]}
        write_lines(self.path, {"type": "assistant", "message": message})
        (item,) = self.items()
        self.assertTrue(item.cut)
        self.assertLess(len(dump_json(make_item_response(item))), 64 * 1024)

    @settings(
        max_examples=example_count(60),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(sorted(GENERATORS)), st.integers(0, 10**6), JSON)
    def test_lines_of_any_shape_are_read(self, mode: str, seed: int, other: Any) -> None:
        chance = random.Random(seed)
        lines = GENERATORS[mode](chance, 4).decode().split("\n")[:-1]
        changed = [mutated(json.loads(line), chance, other) for line in lines]
        self.path.write_bytes(b"")
        write_lines(self.path, *changed)
        for item in self.items(mode):
            json.loads(dump_json(make_item_response(item)))
