"""Tokens of sessions: each message once, over files, forks, subagents and restarts."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import make_event
from tests.runtime_harness import own_location, places_of, unbounded
from tests.unit.agents.harness import AgentHarnessCase, run_directly
from tests.unit.agents.transcripts.independent_totals import READERS
from tests.unit.agents.transcripts.transcript_lines import ID, answer_line, prompt_line, write_lines
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.prices import PriceTable, load_packaged_prices
from tservice.agents.transcripts.service import MOMENT, TranscriptService
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.agents.transcripts.turn_times import PATIENCE
from tservice.agents.transcripts.usage.position_store import ReadPositionStore
from tservice.agents.transcripts.usage.record import MODEL_CHARS, MessageUsage, ModelUsage
from tservice.agents.transcripts.usage.store import UsageStore
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.events import EventName
from tservice.sessions.record.model import Session
from tservice.store.database import Database

RECORDED = Path(__file__).parent / "forked"
"""What the real CLIs kept of sessions with forks, subagents and new conversations."""
FOLDER = "/home/me/work"
CLAUDE = (
    "a8805432-8f7f-4984-8369-719bf06b7133",
    "3505532e-b68e-4ddb-80e7-bc8539eb65d5",
    "52b7e1c0-f08d-469c-b374-22501e071282",
)
CODEX = (
    "01a21f40-0ed0-7221-9d11-cc068cc6f813",
    "01a21f40-2dd3-78a0-b916-6f4b03d85d92",
    "01a21f40-6ed3-77f3-8a40-42d27081f3e1",
)
PI = (
    "01a21f47-3851-77a9-b304-174cfd80c084",
    "01a21f47-635d-759b-bb47-4e076933b406",
    "01a21f47-947b-76bd-aad4-19033726760a",
    "01a21f47-ac06-77ac-ba43-7b33d93b1a8a",
)
GEMINI = ("e44001ca-61c7-42b2-bae9-44bf73807af5", "242aee1b-d5ed-408b-9dd2-31d32a1daff7")


class UsageCase(AgentHarnessCase):
    """Sessions whose agents keep their conversations in the machine's home."""

    def setUp(self) -> None:
        super().setUp()
        self.files = TranscriptLocations.from_home(self.machine.home)
        self.homes = TranscriptHomes(
            own=self.files, places=places_of(own_location()), inside=unbounded
        )
        self.open()

    def open(self) -> None:
        """A service that begins now."""
        database = self.machine.database
        self.transcripts = TranscriptService(
            self.clock,
            self.sessions,
            self.agents.agents,
            self.homes,
            ReadPositionStore(database),
            UsageStore(database),
            run_directly,
            PriceTable(packaged=load_packaged_prices(), chosen=tuple),
        )
        self.transcripts.start(self.machine.hub)
        self.addCleanup(self.transcripts.stop)

    def restart(self) -> None:
        self.transcripts.stop()
        self.open()

    def put(self, name: str, root: Path) -> None:
        """The recorded conversations, as if they had begun in the session's folder."""
        shutil.copytree(RECORDED / name, root, dirs_exist_ok=True)
        for path in root.rglob("*"):
            if path.is_file():
                path.write_text(path.read_text("utf-8").replace(FOLDER, str(self.work)), "utf-8")
                os.utime(path, (self.clock.seconds(), self.clock.seconds()))

    def told(self, session: Session) -> tuple[int, int]:
        """What the record tells once the agent has rested."""
        self.machine.hub.publish(make_event(EventName.SESSION_IDLE, session_id=session.id))
        self.clock.advance(MOMENT)
        self.clock.advance(PATIENCE)
        tokens = self.sessions.get(session.id).tokens
        return tokens.input, tokens.output

    def checked(self, session: Session, root: Path) -> None:
        """The totals are those of the independent reader: now, after a restart, and of files that
        were written anew.
        """
        wanted = READERS[session.mode](root)
        self.assertGreater(wanted[0], 0)
        self.assertEqual(wanted, self.told(session))
        self.restart()
        self.assertEqual(wanted, self.told(session))
        for path in root.rglob("*.jsonl"):
            shutil.copy2(path, path.with_suffix(".new"))
            path.with_suffix(".new").rename(path)
        self.assertEqual(wanted, self.told(session))


class RecordedUsageTests(UsageCase):
    """Beside an independent reader."""

    def test_claude_usage_matches_an_independent_count(self) -> None:
        """Two subagents, a compaction, a branch and a new conversation, one after the other."""
        session = self.ready()
        folder = self.files.get_claude_folder(session.working_dir)
        self.put("claude-2.1.197", folder)
        for conversation in CLAUDE:
            path = folder / f"{conversation}.jsonl"
            self.hook(session, "stop", session_id=conversation, transcript_path=str(path))
            self.told(session)
        self.assertEqual(CLAUDE, self.sessions.get(session.id).conversation_ids)
        self.checked(session, folder)

    def known(self, mode: str, *conversations: str) -> Session:
        self.machine.install(mode)
        session = self.agent("x", mode=mode)
        self.sessions.update_record(session.id, conversation_ids=conversations, created_at=0)
        return self.sessions.get(session.id)

    def test_codex_usage_matches_an_independent_count(self) -> None:
        """A fork, a compaction, and two subagents, one of which begins with a copy."""
        self.put("codex-0.169.0", self.files.codex_folder)
        self.checked(self.known("codex", *CODEX), self.files.codex_folder)

    def test_pi_usage_matches_an_independent_count(self) -> None:
        """A clone, a fork and a new conversation."""
        self.put("pi-0.73.1", self.files.roots["pi"])
        self.checked(self.known("pi", *PI), self.files.roots["pi"])

    def test_gemini_usage_matches_an_independent_count(self) -> None:
        """Two conversations, and a subagent in the folder of the second one."""
        root = self.files.roots["gemini"]
        self.put("gemini-0.61.0", root)
        usage = {"input": 70, "output": 3, "cached": 0, "thoughts": 2, "tool": 1, "total": 76}
        line = {"id": "s", "type": "gemini", "timestamp": "2026-11-27T23:12:59Z", "tokens": usage}
        write_lines(root / "work" / "chats" / GEMINI[1] / "a.jsonl", line)
        self.checked(self.known("gemini", *GEMINI), root)

    def test_opencode_usage_matches_an_independent_count(self) -> None:
        """A subagent, and a fork whose messages have other ids."""
        path = self.files.roots["opencode"]
        path.parent.mkdir(parents=True)
        rows = sqlite3.connect(path)
        script = (RECORDED / "opencode-1.18.33.sql").read_text("utf-8")
        rows.executescript(script.replace(FOLDER, str(self.work)))
        found = rows.execute("SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created")
        session = self.known("opencode", *(name for (name,) in found))
        self.checked(session, path.parent)
        rows.execute(
            "UPDATE message SET data = json_set(data, '$.tokens.output', 40)"
            " WHERE data ->> 'role' = 'assistant'"
        )
        rows.execute("UPDATE session SET tokens_output = tokens_output / 34 * 40")
        rows.commit()
        rows.close()
        self.checked(session, path.parent)

    def test_subagent_conversation_is_not_of_the_session(self) -> None:
        self.put("codex-0.169.0", self.files.codex_folder)
        session = self.known("codex")
        at = 1_795_820_653_000  # when Codex began the first subagent
        self.sessions.update_record(session.id, last_submit_at=at)
        self.told(session)
        (known,) = self.sessions.get(session.id).conversation_ids
        self.assertIn(known, CODEX)


class ClaudeUsageTests(UsageCase):
    """Transcripts as they could be."""

    def setUp(self) -> None:
        super().setUp()
        self.session = self.ready()
        self.folder = self.files.get_claude_folder(self.session.working_dir)
        self.path = self.folder / f"{ID}.jsonl"

    def write(self, *entries: Any, path: Path | None = None) -> None:
        write_lines(path or self.path, *entries)

    def goes_on(self, path: Path) -> tuple[int, int]:
        """The session's agent tells that its conversation is in C{path}."""
        told = {"session_id": path.stem, "transcript_path": str(path)}
        self.hook(self.session, "stop", **told)
        return self.told(self.session)

    def line(self, name: str, sent: int, made: int, **more: Any) -> dict[str, Any]:
        usage = {"input_tokens": sent, "output_tokens": made}
        message = {"id": name, "model": "claude-opus-4-8", "content": [], "usage": usage}
        return {"type": "assistant", "sessionId": ID, "message": message, **more}

    def test_message_repeated_after_another_is_counted_once(self) -> None:
        self.write(prompt_line("hi"), self.line("m1", 900, 100), self.line("m2", 5, 5))
        self.goes_on(self.path)
        self.write(self.line("m1", 900, 100))
        self.assertEqual((905, 105), self.goes_on(self.path))
        self.assertEqual(0.00715, self.sessions.get(self.session.id).total_cost)
        self.write(self.line("m1", 900, 90))
        self.assertEqual((905, 95), self.goes_on(self.path))
        self.assertEqual(0.0069, self.sessions.get(self.session.id).total_cost)

    def test_usage_written_after_the_conversation_was_left_is_counted(self) -> None:
        self.write(prompt_line("hi"), self.line("m1", 10, 1))
        self.goes_on(self.path)
        other = self.folder / "7c1f6a52-0000-4000-8000-000000000002.jsonl"
        self.write(self.line("m2", 20, 2))
        self.write({**prompt_line("two"), "sessionId": other.stem}, path=other)
        self.assertEqual((30, 3), self.goes_on(other))
        late = self.folder / ID / "subagents" / "workflows" / "w" / "agent-1.jsonl"
        self.write(self.line("m3", 30, 3, isSidechain=True), path=late)
        self.assertEqual((60, 6), self.goes_on(other))
        self.assertEqual((60, 6), self.goes_on(self.path))

    def test_copied_message_is_counted_once_in_any_reading_order(self) -> None:
        copy = self.folder / "7c1f6a52-0000-4000-8000-000000000002.jsonl"
        half = self.line("m1", 10, 1, timestamp="2026-11-20T13:30:00Z")
        whole = self.line("m1", 10, 9, timestamp="2026-11-20T13:30:01Z")
        mine = {"sessionId": copy.stem}
        self.write(prompt_line("hi"), half, whole)
        self.write(
            {**prompt_line("hi"), **mine}, {**half, **mine}, self.line("m2", 5, 5), path=copy
        )
        self.goes_on(self.path)
        self.assertEqual((15, 14), self.goes_on(copy))
        self.restart()
        self.assertEqual((15, 14), self.goes_on(self.path))

    def test_subagent_lines_in_the_same_file_are_counted(self) -> None:
        self.write(prompt_line("hi"), answer_line("mine"), self.line("s1", 50, 5, isSidechain=True))
        self.assertEqual((1150, 12), self.goes_on(self.path))
        place = self.run_now(self.transcripts.read_new_part(self.session.id))
        self.assertEqual(("mine", 1107), (place.tally.response, place.tally.context))

    def test_only_subagents_in_the_folder_of_the_session_are_counted(self) -> None:
        self.write(prompt_line("hi"), self.line("m1", 10, 1))
        elsewhere = self.machine.folder / "elsewhere"
        self.write(self.line("x", 1000, 1), path=elsewhere / "agent-x.jsonl")
        (self.folder / ID).mkdir()
        (self.folder / ID / "subagents").symlink_to(elsewhere)
        self.assertEqual((10, 1), self.goes_on(self.path))

    def test_odd_names_and_numbers_are_tolerated(self) -> None:
        lines = [self.line("\ud800" + "n" * 500, 1, 1), self.line("=", 2, 2)]
        lines[0]["message"]["model"] = "\ud800"
        lines[1]["message"]["model"] = "m" * (MODEL_CHARS + 1)
        nameless = self.line("", 4, 4, uuid="u")
        self.write(prompt_line("hi"), *lines, nameless, nameless, *lines)
        self.assertEqual((7, 7), self.goes_on(self.path))

    def test_full_disk_keeps_the_answer_and_counts_usage_later(self) -> None:
        self.write(prompt_line("hi"), answer_line("mine"))
        full = self.patch(UsageStore, "merge_usage", _refuse)
        self.goes_on(self.path)
        answer = self.run_now(self.transcripts.get_last_response(self.session.id, whole=False))
        self.assertEqual("mine", answer["text"])
        full.restore()
        self.assertEqual((1100, 7), self.told(self.session))


def _refuse(store: UsageStore, session_id: str, found: object) -> bool:
    raise DiskFull("the disk is full")


class UsageStoreTests(SynchronousTestCase):
    """The table of messages."""

    def setUp(self) -> None:
        self.database = Database.open_in_memory()
        self.addCleanup(self.database.close)
        self.database.query_rows("PRAGMA foreign_keys = OFF")
        self.store = UsageStore(self.database, most=20)

    def merge(self, *names: str, at: int = 0) -> None:
        used = ModelUsage(model="m", input=10, output=1)
        found = {name: MessageUsage(name=name, used=used, cost=0.5, at=at) for name in names}
        self.store.merge_usage("s", found)

    def test_stored_messages_are_bounded(self) -> None:
        for number in range(100):
            self.merge(f"m{number}", at=number)
        totals = self.store.get_totals("s")
        self.assertEqual((1000, 100, 50.0), (totals.input, totals.output, totals.cost))
        self.assertLessEqual(totals.messages, 21)
        self.merge("m99", at=99)
        self.assertEqual(1000, self.store.get_totals("s").input)
        self.assertEqual(1000, UsageStore(self.database).get_totals("s").input)

    def test_endless_numbers_are_not_stored(self) -> None:
        used = ModelUsage(model="m", input=2**53)
        for number in range(2000):
            name = str(number)
            UsageStore(self.database).merge_usage("s", {name: MessageUsage(name=name, used=used)})
        self.assertGreater(UsageStore(self.database).get_totals("s").input, 2**60)

    def test_sums_of_older_versions_are_discarded(self) -> None:
        """Older services kept sums that may be wrong."""
        names = [json.dumps({"input": 5, "counted": "m", "share": {"model": ""}, "usage": []})]
        sql = "INSERT INTO transcripts VALUES ('s', '/a', 1, 5, ?)"
        self.database.execute(sql, names)
        self.assertEqual("", ReadPositionStore(self.database).load_position("s").path)
