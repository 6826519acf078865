"""Items of conversations: recorded and generated ones, compared with an independent reader."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import IS_LONG
from tests.unit.agents.transcripts import generated_databases
from tests.unit.agents.transcripts.conversation_reading import EVERY, FILES, read_all, reader_of
from tests.unit.agents.transcripts.generated_conversations import GENERATORS
from tests.unit.agents.transcripts.generated_databases import TABLES, DatabaseGenerator
from tests.unit.agents.transcripts.independent_items import (
    Found,
    answers_in,
    found_in,
    found_in_database,
)
from tests.unit.agents.transcripts.transcript_lines import (
    gemini_line,
    repeated_gemini_lines,
    write_lines,
)
from tests.unit.agents.transcripts.transcript_samples import RECORDED, make_database
from tservice.agents.transcripts.conversation import file_reader, index, pages
from tservice.agents.transcripts.conversation.items import ConversationItem, ItemKind, ItemRole
from tservice.agents.transcripts.conversation.pages import ConversationReader, PageRequest
from tservice.agents.transcripts.conversation.reader_cache import read_to_end
from tservice.agents.transcripts.conversation.readers import find_branch
from tservice.agents.transcripts.files import TranscriptLocations

OPENCODE = "opencode-1.18.33.sql"
MAIN, CHILD = "ses_dde1b6f5cffePKHh93060nvSiG", "ses_dde1b125affe0UeNFQ6jDabr34"
OLDER = "opencode-1.18.32.sql"
OLDER_MAIN, OLDER_CHILD = "ses_dd8c090aaffekQHUwYrCePSI4h", "ses_dd8bfffb9ffec2t05fXxHMIMIZ"


def recorded_database(path: Path, *more: str) -> Path:
    return make_database(path.absolute(), *more, sample=f"recorded/{OPENCODE}")


def as_found(items: Sequence[ConversationItem]) -> list[Found]:
    """Items in the words of the independent reader, which leaves out notices."""
    found: list[Found] = []
    for item in items:
        if item.tool is not None:
            found.append(("call", item.tool.name))
        elif item.kind is ItemKind.THINKING:
            found.append(("thought", item.text or ""))
        elif item.kind in (ItemKind.ERROR, ItemKind.COMPACTION):
            found.append((str(item.kind), item.text or ""))
        elif item.kind is ItemKind.TEXT:
            kind = "prompt" if item.role is ItemRole.USER else "answer"
            found.append((kind, item.text or ""))
    return found


def call_of(items: Sequence[ConversationItem], title: str) -> ConversationItem:
    return next(each for each in items if each.tool is not None and each.tool.title == title)


class RecordedConversationTests(SynchronousTestCase):
    def test_every_item_of_each_agent_is_shown_once_in_order(self) -> None:
        for mode, name in EVERY:
            path = RECORDED / "recorded" / name
            for limit in (500, 3):
                items = read_all(reader_of(path, mode), limit)
                self.assertEqual(found_in(path, mode), as_found(items), (name, limit))
                self.assertEqual(len(items), len({each.id for each in items}))
                self.assertEqual(sorted(each.order for each in items), [x.order for x in items])

    def test_every_item_of_opencode_is_shown_once_in_order(self) -> None:
        for sample, names in ((OPENCODE, (MAIN, CHILD)), (OLDER, (OLDER_MAIN, OLDER_CHILD))):
            path = make_database(Path(self.mktemp()).absolute(), sample=f"recorded/{sample}")
            for name in names:
                for limit in (500, 3):
                    items = read_all(reader_of(path / name, "opencode"), limit)
                    self.assertNotEqual([], items)
                    self.assertEqual(found_in_database(path, name), as_found(items), (name, limit))

    def test_results_of_commands_and_edits_are_shown(self) -> None:
        titles = {
            "primary": ("Bash echo bad; exit 3", "Edit /home/me/work/a.txt"),
            "gemini": ("Bash echo bad; exit 3", "Edit /home/me/work/a.txt"),
            "opencode": ("Bash echo bad; exit 3", "Edit /home/me/work/a.txt"),
        }
        database = recorded_database(Path(self.mktemp()) / "o.db")
        for mode, (command, edit) in titles.items():
            path = database / MAIN if mode == "opencode" else RECORDED / "recorded" / FILES[mode]
            items = read_all(reader_of(path, mode))
            ran, edited = call_of(items, command).tool, call_of(items, edit).tool
            assert ran is not None
            assert edited is not None
            self.assertEqual(("failed", 3), (ran.status, ran.exit_code), mode)
            self.assertEqual("bad", (ran.output or "").strip(), mode)
            (diff,) = edited.diffs
            self.assertEqual("done", edited.status, mode)
            self.assertIn("-two", diff.hunks[0].lines, mode)
            self.assertGreaterEqual(diff.added, 1, mode)

    def test_refused_and_interrupted_calls_of_codex_are_denied(self) -> None:
        items = read_all(reader_of(RECORDED / "recorded" / FILES["codex"], "codex"))
        ran = call_of(items, "Bash echo out; echo err >&2").tool
        refused = call_of(items, "Bash echo bad; exit 3").tool
        assert ran is not None
        assert refused is not None
        self.assertEqual(("done", 0, "out\nerr\n"), (ran.status, ran.exit_code, ran.output))
        self.assertEqual("denied", refused.status)

    def test_tokens_of_all_items_are_those_of_the_conversation(self) -> None:
        """Each answer of the stub made 34 tokens."""
        for mode in ("primary", "gemini"):
            path = RECORDED / "recorded" / FILES[mode]
            items = read_all(reader_of(path, mode))
            answers = answers_in(path)
            made = sum(each.tokens.output for each in items if each.tokens is not None)
            self.assertEqual(34 * answers, made, mode)

    def test_queued_prompt_is_shown_once_with_its_state(self) -> None:
        items = read_all(reader_of(RECORDED / "recorded" / FILES["primary"], "primary"))
        (queued,) = [each for each in items if each.text == "SAY: queued prompt"]
        answer = next(each for each in items if each.text == "queued prompt")
        self.assertEqual(("sent", queued.id), (queued.state, answer.turn))

    def test_todos_are_shown(self) -> None:
        for mode in ("primary", "codex", "gemini"):
            items = read_all(reader_of(RECORDED / "recorded" / FILES[mode], mode))
            (todo,) = [each for each in items if each.kind is ItemKind.TODO]
            self.assertEqual((("Paint", "in_progress"),), todo.todos, mode)

    def test_conversation_of_a_subagent_is_found_by_its_call(self) -> None:
        home = Path(self.mktemp()).absolute()
        folder = home / ".claude" / "projects" / "-w"
        (folder / "main" / "subagents").mkdir(parents=True)
        main = folder / "main.jsonl"
        main.write_bytes((RECORDED / "recorded" / FILES["primary"]).read_bytes())
        side = folder / "main" / "subagents" / "agent-a42b1dbb2a2d778ea.jsonl"
        side.write_bytes((RECORDED / "recorded" / "claude-2.1.197-subagent.jsonl").read_bytes())
        call = call_of(read_all(reader_of(main, "primary")), "Agent look around").tool
        assert call is not None
        assert call.branch is not None
        files = TranscriptLocations.from_home(home)
        found = find_branch(files, main, "primary", call.branch)
        self.assertEqual(side, found)
        items = read_all(reader_of(side, "primary", is_branch=True))
        self.assertEqual(found_in(side, "primary"), as_found(items))
        self.assertEqual({None}, {each.parent_id for each in items})
        self.assertIsNone(find_branch(files, main, "primary", "other"))

    def test_subagents_of_opencode_and_codex_are_those_of_the_conversation_only(self) -> None:
        path = recorded_database(Path(self.mktemp()) / "o.db")
        files = TranscriptLocations(roots={"codex": RECORDED / "forked" / "codex-0.169.0"})
        self.assertEqual(path / CHILD, find_branch(files, path / MAIN, "opencode", CHILD))
        self.assertIsNone(find_branch(files, path / CHILD, "opencode", MAIN))
        rollouts = {each.stem[-36:]: each for each in files.codex_folder.rglob("*.jsonl")}
        parent, child = (
            "01a21f40-6ed3-77f3-8a40-42d27081f3e1", "01a21f40-8b0c-7cf1-9510-64e097b4a3f2",
        )  # fmt: skip
        found = find_branch(files, rollouts[parent], "codex", child)
        self.assertEqual(rollouts[child], found)
        self.assertIsNone(find_branch(files, rollouts[child], "codex", parent))


class ConversationFollower:
    """A client that asks for changes, as the page does."""

    def __init__(self) -> None:
        self.held: dict[str, ConversationItem] = {}
        self.cursor: str | None = None

    def catch_up(self, reader: ConversationReader, limit: int = 500) -> bool:
        """Ask for what changed; true if it began anew."""
        read_to_end(reader)
        while True:
            page = reader.read_page(PageRequest(after=self.cursor, limit=limit))
            if page.is_reset or self.cursor is None:
                self.held = {each.id: each for each in read_all(reader)}
                self.cursor = page.cursor
                return page.is_reset
            self.held |= {each.id: each for each in page.items}
            self.cursor = page.cursor
            if not page.has_more:
                return False

    def shown(self) -> list[Found]:
        return as_found(sorted(self.held.values(), key=lambda each: each.order))


class GrowingConversationTests(SynchronousTestCase):
    """A client that asks for changes has what the file has, however it is written."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp()).absolute() / "t.jsonl"
        self.path.parent.mkdir(parents=True)
        self.follower = ConversationFollower()

    def test_generated_conversations_are_followed_in_any_pieces(self) -> None:
        """With restarts of the reader between, as of a service that was killed."""
        self.follow_generated(25)

    @pytest.mark.long
    def test_thousand_turns_are_followed_in_any_pieces(self) -> None:
        self.follow_generated(250)

    def follow_generated(self, turns: int) -> None:
        for mode, generate in GENERATORS.items():
            chance = random.Random(f"{turns} pieces of {mode}")
            content = generate(chance, turns)
            self.path.write_bytes(b"")
            self.follower = ConversationFollower()
            reader = reader_of(self.path, mode)
            at = 0
            while at < len(content):
                size = chance.randrange(1, 4000)
                with self.path.open("ab") as file:
                    file.write(content[at : at + size])
                at += size
                if chance.random() < 0.1:
                    reader = reader_of(self.path, mode)
                began = self.follower.catch_up(reader, chance.choice((1, 7, 500)))
                self.assertFalse(began, mode)
            self.assertEqual(found_in(self.path, mode), self.follower.shown(), mode)
            fresh = {each.id: each for each in read_all(reader_of(self.path, mode))}
            self.assertEqual(fresh, self.follower.held, mode)
            self.assert_sides_name_their_calls(list(fresh.values()))

    def assert_sides_name_their_calls(self, items: list[ConversationItem]) -> None:
        """What a sub-agent wrote stands behind its call, which is the last one of that tool."""
        call: str | None = None
        for item in items:
            if item.tool is not None and item.tool.name == "Task":
                call = item.id
            elif item.parent_id is not None:
                self.assertEqual(call, item.parent_id)
        sides = [each for each in items if each.parent_id is not None]
        calls = [each for each in items if each.tool is not None and each.tool.name == "Task"]
        self.assertEqual(3 * len(calls), len(sides))

    def test_conversation_that_gemini_writes_again_is_shown_once(self) -> None:
        write_lines(self.path, *repeated_gemini_lines())
        items = read_all(reader_of(self.path, "gemini"))
        self.assertEqual(
            ["first", "one", "second", "first", "three"], [each.text for each in items]
        )

    def test_conversation_that_gemini_keeps_after_an_interrupt_is_not_compacted(self) -> None:
        """It tells the model of the interrupt by a message of its own."""
        first, one = gemini_line("u1", "user", "first"), gemini_line("a1", "gemini", "one")
        told = "[The previous response was interrupted before it completed.]"
        short = [gemini_line("c1", "user", "Summary"), gemini_line("c2", "gemini", "Got it.")]
        write_lines(
            self.path,
            first,
            one,
            {"$set": {"messages": [first, one, gemini_line("x1", "user", told)]}},
            gemini_line("u2", "user", "second"),
            {"$set": {"messages": short}},
            {"$set": {"messages": [*short, gemini_line("x2", "user", told)]}},
        )
        items = read_all(reader_of(self.path, "gemini"))
        self.assertEqual(["first", "one", "second", "Summary"], [each.text for each in items])
        self.assertEqual(found_in(self.path, "gemini"), as_found(items))

    def test_rewritten_truncated_and_replaced_file_begins_anew(self) -> None:
        generate = GENERATORS["primary"]
        first, second = (generate(random.Random(seed), 8) for seed in (1, 2))
        self.path.write_bytes(first)
        reader = reader_of(self.path, "primary")
        self.follower.catch_up(reader)
        for content, replaced in (
            (first[: first.index(b"\n", len(first) // 2) + 1], False),
            (second, False),
            (first, True),
            (second + first, False),
        ):
            if replaced:
                self.path.rename(self.path.with_suffix(".old"))
            self.path.write_bytes(content)
            self.assertTrue(self.follower.catch_up(reader))
            self.assertEqual(found_in(self.path, "primary"), self.follower.shown())
            change = reader.take_change()
            assert change is not None
            self.assertEqual(self.follower.cursor, change.cursor)

    def test_change_names_the_changed_items_once(self) -> None:
        lines = GENERATORS["primary"](random.Random(3), 2).splitlines(keepends=True)
        write_lines(self.path, *lines[:-1])
        reader = reader_of(self.path, "primary")
        read_to_end(reader)
        self.assertIsNotNone(reader.take_change())
        self.assertIsNone(reader.take_change())
        write_lines(self.path, lines[-1])
        read_to_end(reader)
        change = reader.take_change()
        assert change is not None
        self.assertLessEqual(1, len(change.changed))
        self.assertIsNone(reader.take_change())

    def test_oldest_items_are_dropped_at_the_limit(self) -> None:
        self.patch(index, "ITEMS", 40)
        self.patch(index, "DROPPED", 10)
        self.path.write_bytes(GENERATORS["pi"](random.Random(4), 60))
        reader = reader_of(self.path, "pi")
        items = read_all(reader)
        self.assertLessEqual(len(items), 41)
        page = reader.read_page(PageRequest(before=items[1].order))
        self.assertTrue(page.is_cut)
        self.assertEqual(found_in(self.path, "pi")[-20:], as_found(items)[-20:])

    def test_only_the_end_of_a_huge_file_is_indexed(self) -> None:
        self.patch(file_reader, "INDEXED", 20_000)
        self.path.write_bytes(GENERATORS["pi"](random.Random(5), 200))
        items = read_all(reader_of(self.path, "pi"))
        self.assertEqual(found_in(self.path, "pi")[-10:], as_found(items)[-10:])
        self.assertNotIn(ItemKind.NOTICE, {each.kind for each in items[:1]})

    def test_page_ends_at_its_limit_of_characters(self) -> None:
        self.patch(file_reader, "PAGE_CHARS", 5_000)
        self.path.write_bytes(GENERATORS["pi"](random.Random(6), 100))
        reader = reader_of(self.path, "pi")
        read_to_end(reader)
        self.assertTrue(reader.read_page(PageRequest(limit=pages.PAGE)).has_more)
        self.assertEqual(found_in(self.path, "pi"), as_found(read_all(reader)))

    def test_long_texts_are_cut_and_whole_in_an_item_alone(self) -> None:
        text = "word " * 100_000
        message: dict[str, Any] = {"role": "user", "content": text}
        write_lines(self.path, {"type": "user", "message": message})
        reader = reader_of(self.path, "primary")
        (item,) = read_all(reader)
        self.assertEqual((text[: 64 * 1024], True), (item.text, item.cut))
        whole = reader.read_item(item.id)
        assert whole is not None
        self.assertEqual((text, False), (whole.text, whole.cut))
        for other in ("", "x", "0", "0.1", "-1.0", "ffffffffff.0", "." * 50):
            self.assertIsNone(reader.read_item(other))

    def test_images_come_with_a_whole_item_only(self) -> None:
        image = {"type": "base64", "media_type": "image/png", "data": "aGk="}
        content = [{"type": "text", "text": "look"}, {"type": "image", "source": image}]
        write_lines(self.path, {"type": "user", "message": {"role": "user", "content": content}})
        reader = reader_of(self.path, "primary")
        (item,) = read_all(reader)
        whole = reader.read_item(item.id)
        assert whole is not None
        self.assertEqual(
            ("image/png", None), (item.attachments[0].media_type, item.attachments[0].data)
        )
        self.assertEqual("aGk=", whole.attachments[0].data)

    def test_withdrawn_prompts_are_marked(self) -> None:
        add = {"type": "queue-operation", "operation": "enqueue", "content": "never"}
        write_lines(self.path, add)
        reader = reader_of(self.path, "primary")
        self.assertEqual(["queued"], [each.state for each in read_all(reader)])
        write_lines(self.path, {"type": "queue-operation", "operation": "popAll"})
        self.assertEqual(["withdrawn"], [each.state for each in read_all(reader)])

    def test_items_of_an_older_subagent_name_its_call(self) -> None:
        call = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"description": "look"}}
        said = [{"type": "text", "text": "from below"}]
        write_lines(
            self.path,
            {"type": "user", "message": {"role": "user", "content": "go"}},
            {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
            {"type": "assistant", "isSidechain": True, "message": {"content": said}},
        )
        prompt, task, side = read_all(reader_of(self.path, "primary"))
        self.assertEqual((task.id, prompt.id), (side.parent_id, side.turn))
        self.assertIsNone(task.parent_id)


class GrowingDatabaseTests(SynchronousTestCase):
    """The same of a database, and of the sub-agents in it."""

    def test_generated_conversation_is_followed_change_by_change(self) -> None:
        """Of a thousand turns in the long form of all CLIs together."""
        self.follow_generated(250 if IS_LONG else 25)

    def follow_generated(self, turns: int) -> None:
        chance = random.Random(f"{turns} changes")
        generator = DatabaseGenerator(chance)
        path = Path(self.mktemp()).absolute()
        database = sqlite3.connect(path, isolation_level=None)
        self.addCleanup(database.close)
        database.executescript(f"PRAGMA journal_mode = WAL; {TABLES}")
        followers: dict[str, ConversationFollower] = {}
        statements = list(generator.iterate_statements(turns))
        at = 0
        while at < len(statements):
            end = at + chance.randrange(1, 60)
            for statement, values in statements[at:end]:
                database.execute(statement, values)
            at = end
            begun = [row[0] for row in database.execute("SELECT id FROM session")]
            for name in chance.sample(begun, min(2, len(begun))):
                follower = followers.setdefault(name, ConversationFollower())
                reader = reader_of(path / name, "opencode")
                self.assertFalse(follower.catch_up(reader, chance.choice((1, 7, 500))))
        for name in (generated_databases.MAIN, *generator.sides):
            follower = followers.setdefault(name, ConversationFollower())
            follower.catch_up(reader_of(path / name, "opencode"), 7)
            self.assertEqual(found_in_database(path, name), follower.shown(), name)
            fresh = {each.id: each for each in read_all(reader_of(path / name, "opencode"))}
            self.assertEqual(fresh, follower.held, name)
        branches = [
            each.tool.branch
            for each in followers[generated_databases.MAIN].held.values()
            if each.tool is not None and each.tool.branch is not None
        ]
        self.assertEqual(generator.sides, branches)


class OpencodeChangeTests(SynchronousTestCase):
    def test_changed_parts_are_returned_after_a_cursor(self) -> None:
        path = recorded_database(Path(self.mktemp()) / "o.db")
        reader = reader_of(path / MAIN, "opencode")
        self.assertIsNotNone(reader.take_change())
        self.assertIsNone(reader.take_change())
        cursor = reader.read_page(PageRequest()).cursor
        self.assertEqual((), reader.read_page(PageRequest(after=cursor)).items)
        other = Path(self.mktemp()) / "grown.db"
        text = json.dumps({"type": "text", "text": "grown"})
        recorded_database(
            other,
            f"UPDATE part SET data = '{text}', time_updated = 1900000000000"
            " WHERE id = (SELECT max(id) FROM part)",
        )
        other.replace(path)
        page = reader.read_page(PageRequest(after=cursor))
        self.assertIn("grown", [each.text for each in page.items])
        self.assertIsNotNone(reader.take_change())

    def test_more_changes_than_a_page_holds_are_on_further_pages(self) -> None:
        """Also those of one moment, and those that were told before."""
        path = recorded_database(Path(self.mktemp()) / "o.db")
        other = recorded_database(
            Path(self.mktemp()) / "same.db", "UPDATE part SET time_updated = 1900000000000"
        )
        for database in (path, other):
            reader = reader_of(database / MAIN, "opencode")
            known = {each.id: each for each in read_all(reader)}
            for limit in (1, 3, 500):
                found: dict[str, ConversationItem] = {}
                cursor, has_more, pages_read = f"{MAIN}.0.0", True, 0
                while has_more and pages_read < len(known):
                    page = reader.read_page(PageRequest(after=cursor, limit=limit))
                    self.assertFalse(page.is_reset)
                    found |= {each.id: each for each in page.items}
                    cursor, has_more = page.cursor, page.has_more
                    pages_read += 1
                self.assertEqual((known, False), (found, has_more), limit)
                self.assertEqual(reader.read_page(PageRequest()).cursor, cursor)

    def test_removed_messages_begin_anew(self) -> None:
        path = recorded_database(Path(self.mktemp()) / "o.db")
        reader = reader_of(path / MAIN, "opencode")
        cursor = reader.read_page(PageRequest()).cursor
        other = Path(self.mktemp()) / "undone.db"
        last = f"(SELECT max(id) FROM message WHERE session_id = '{MAIN}')"
        make_database(
            other, f"DELETE FROM message WHERE id = {last}", sample=f"recorded/{OPENCODE}"
        )
        other.replace(path)
        self.assertTrue(reader.read_page(PageRequest(after=cursor)).is_reset)
        for wrong in ("x", f"{CHILD}.0.0", f"{MAIN}.zz.0"):
            self.assertTrue(reader.read_page(PageRequest(after=wrong)).is_reset)
