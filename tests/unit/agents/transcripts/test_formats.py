"""Conversations that the real Gemini CLI, pi and opencode kept, read as the service reads them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.transcripts.transcript_lines import repeated_gemini_lines
from tests.unit.agents.transcripts.transcript_samples import RECORDED, make_database
from tests.unit.agents.transcripts.usage_totals import usage_totals_of
from tservice.agents.transcripts.conversation_access import (
    read_beginning,
    read_messages,
    read_new_messages,
)
from tservice.agents.transcripts.conversation_stores import scan_conversations
from tservice.agents.transcripts.model import (
    LINE_VALUES,
    ReadPosition,
    TranscriptTally,
    TurnFailure,
    decode_tally,
)
from tservice.agents.transcripts.parsers import gemini
from tservice.agents.transcripts.sqlite import rows as transcript_rows
from tservice.agents.transcripts.usage.record import MODELS, MessageUsage, ModelUsage, UsageTotals
from tservice.clis.interfaces import CONVERSATION_STORES

CLAUDE_LIMIT = "You've hit your session limit · resets 8:01am (UTC)"


class GeminiTranscriptTests(SynchronousTestCase):
    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute() / "work"
        self.path = folder / "chats" / "session-2026-11-22T06-45-01109a00.jsonl"
        self.path.parent.mkdir(parents=True)
        shutil.copy(RECORDED / "gemini-0.61.0.jsonl", self.path)
        (folder / ".project_root").write_text("/home/me/work")

    def test_gemini_transcript_gives_tokens_and_model(self) -> None:
        place = read_new_messages(ReadPosition(path=""), self.path, "gemini")
        tally, sums = place.tally, usage_totals_of(place)
        self.assertEqual("01109a00-754f-449f-ab59-1c8641cb47ba", tally.conversation)
        self.assertEqual(("SAY: hello there", 3), (tally.title, tally.prompts))
        self.assertEqual(1_795_329_919_691, tally.first_at)
        self.assertEqual("last words", tally.response)
        # Four requests, one of them told twice.
        self.assertEqual((4800, 136, 1234), (sums.input, sums.output, tally.context))
        self.assertEqual("gemini-3.8-flash", tally.model)

    def test_gemini_transcript_gives_user_and_assistant_messages(self) -> None:
        """Neither its surroundings nor what tools answered, and nothing twice."""
        self.assertEqual(
            [
                ("user", "SAY: hello there"),
                ("assistant", "hello there"),
                ("user", "RUN: echo x > made.txt"),
                ("assistant", "Done with the tool."),
                ("user", "SAY: last words"),
                ("assistant", "last words"),
            ],
            [(each.role, each.text) for each in read_messages(self.path, "gemini")],
        )

    def test_conversation_that_gemini_writes_again_is_counted_once(self) -> None:
        tally = TranscriptTally()
        *before, prompt, answer = repeated_gemini_lines()
        for line in before:
            tally = gemini.advance_tally(tally, line)
        self.assertEqual((2, "one"), (tally.prompts, tally.response))
        tally = gemini.advance_tally(gemini.advance_tally(tally, prompt), answer)
        self.assertEqual((3, "three"), (tally.prompts, tally.response))

    def test_growing_gemini_message_is_one_message(self) -> None:
        line = (
            '{"id":"a","timestamp":"2026-11-22T06:46:00Z","type":"gemini","content":"half%s",'
            '"tokens":{"input":10,"output":%d,"cached":4,"thoughts":1,"total":20}}\n'
        )
        with self.path.open("a") as file:
            file.write(line % ("", 1) + line % (" and half", 2))
        place = read_new_messages(ReadPosition(path=""), self.path, "gemini")
        self.assertEqual("half and half", place.tally.response)
        self.assertEqual((4810, 139), (usage_totals_of(place).input, usage_totals_of(place).output))
        self.assertEqual(
            ["half and half"], [m.text for m in read_messages(self.path, "gemini")][6:]
        )

    def test_gemini_project_folder_is_read_from_a_regular_file(self) -> None:
        begins = read_beginning(self.path, "gemini")
        self.assertEqual(("/home/me/work", 3), (begins.cwd, begins.prompts))
        project = self.path.parent.parent / ".project_root"
        for content in (b"relative", b"/" + b"x" * 5000, b"\xff"):
            project.write_bytes(content)
            self.assertIsNone(read_beginning(self.path, "gemini").cwd)
        project.unlink()
        os.mkfifo(project)
        self.assertIsNone(read_beginning(self.path, "gemini").cwd)

    def test_only_gemini_conversations_are_found(self) -> None:
        (self.path.parent.parent / "other.jsonl").write_text("{}")
        found = list(scan_conversations(self.path.parent.parent.parent, "gemini"))
        self.assertEqual([self.path], [each.path for each in found])


class PiTests(SynchronousTestCase):
    path = RECORDED / "pi-0.73.1.jsonl"

    def test_pi_transcript_gives_tokens_and_model(self) -> None:
        place = read_new_messages(ReadPosition(path=""), self.path, "pi")
        tally, sums = place.tally, usage_totals_of(place)
        self.assertEqual("01a20200-192b-70d8-9a51-c50e1d9f1882", tally.conversation)
        self.assertEqual(("/home/me/work", "SAY: hello there"), (tally.cwd, tally.title))
        self.assertEqual("last words", tally.response)
        self.assertEqual((4800, 136, 1234), (sums.input, sums.output, tally.context))
        self.assertEqual(("stub-model", 0.0), (tally.model, sums.cost))

    def test_pi_transcript_gives_user_and_assistant_messages(self) -> None:
        said = [(each.role, each.text) for each in read_messages(self.path, "pi")]
        self.assertEqual(("user", "RUN: echo x > made.txt"), said[2])
        self.assertEqual(("assistant", "last words"), said[-1])
        self.assertEqual(6, len(said))

    def test_pi_transcript_gives_prices_and_errors(self) -> None:
        path = Path(self.mktemp())
        shutil.copy(self.path, path)
        with path.open("a") as file:
            file.write(
                '{"type":"message","id":"x","timestamp":"2026-11-22T07:00:00Z","message":{"role":'
                '"assistant","content":[],"model":"m","usage":{"input":10,"output":1,"cacheRead":5,'
                '"cacheWrite":2,"cost":{"total":0.25}},"stopReason":"error","errorMessage":"429"}}\n'
            )
        place = read_new_messages(ReadPosition(path=""), path, "pi")
        sums, failure = usage_totals_of(place), TurnFailure(text="429", at=1_795_330_800_000)
        self.assertEqual((0.25, failure), (sums.cost, place.tally.failure))
        known = {each.model: each for each in sums.usage}
        self.assertEqual(
            ModelUsage(model="m", input=10, cache_read=5, cache_write=2, output=1), known["m"]
        )


class OpencodeTranscriptTests(SynchronousTestCase):
    ID = "ses_dfdff04dcffeRkFTm0FqI7aA1a"

    def setUp(self) -> None:
        self.database = Path(self.mktemp()).absolute() / "opencode.db"

    def path(self, *more: str) -> Path:
        return make_database(self.database, *more) / self.ID

    def test_opencode_database_gives_tokens_and_model(self) -> None:
        place = read_new_messages(ReadPosition(path=""), self.path(), "opencode")
        tally, sums = place.tally, usage_totals_of(place)
        self.assertEqual((self.ID, "/home/me/work"), (tally.conversation, tally.cwd))
        self.assertEqual(("SAY: hello there", "last words"), (tally.title, tally.response))
        self.assertEqual((3600, 102, 1234), (sums.input, sums.output, tally.context))
        self.assertEqual(("stub-model", 0.0), (tally.model, sums.cost))
        self.assertEqual(
            (1_795_329_948_472, 1_795_329_957_015), (tally.first_at, tally.prompted_at)
        )

    def test_opencode_database_gives_user_and_assistant_messages(self) -> None:
        said = [(each.role, each.text) for each in read_messages(self.path(), "opencode")]
        self.assertEqual(
            [("user", "SAY: hello there"), ("assistant", "hello there"), ("user", "SAY: second")],
            said[:3],
        )
        self.assertEqual(6, len(said))

    def test_opencode_error_is_a_failure(self) -> None:
        path = self.path(
            "INSERT INTO message VALUES ('msg_z', '" + self.ID + "', 1795400000000, 0, "
            '\'{"role":"assistant","error":{"name":"APIError","data":{"message":"no more"}}}\')'
        )
        tally = read_new_messages(ReadPosition(path=""), path, "opencode").tally
        self.assertEqual(TurnFailure(text="no more", at=1_795_400_000_000), tally.failure)

    def test_opencode_subagent_conversations_are_not_listed(self) -> None:
        """Conversations of subagents belong to those that began them."""
        path = self.path(
            "INSERT INTO session SELECT 'ses_b', project_id, workspace_id, id, slug, directory,"
            "path, title, version, share_url, summary_additions, summary_deletions, summary_files,"
            "summary_diffs, metadata, cost, tokens_input, tokens_output, tokens_reasoning,"
            "tokens_cache_read, tokens_cache_write, revert, permission, agent, model, time_created,"
            "time_updated, time_compacting, time_archived FROM session"
        )
        (found,) = scan_conversations(self.database, "opencode")
        self.assertEqual((path, 1_795_329_957_597), (found.path, found.at))

    def test_opencode_file_that_is_no_database_is_skipped(self) -> None:
        self.database.parent.mkdir()
        self.assertEqual([], list(scan_conversations(self.database, "opencode")))
        self.database.write_bytes(b"rubbish" * 1000)
        self.assertEqual([], list(scan_conversations(self.database, "opencode")))
        self.assertRaises(
            OSError, read_new_messages, ReadPosition(path=""), self.database / self.ID, "opencode"
        )
        self.assertEqual(TranscriptTally(), read_beginning(self.database / self.ID, "opencode"))
        self.database.unlink()
        os.mkfifo(self.database)
        self.assertEqual([], list(scan_conversations(self.database, "opencode")))
        self.database.unlink()
        self.database.symlink_to("/etc/passwd")
        self.assertEqual([], list(scan_conversations(self.database, "opencode")))

    def test_oversized_opencode_value_is_skipped(self) -> None:
        crowd = "[" + "0," * LINE_VALUES + "0]"
        path = self.path(f"UPDATE message SET data = json_set(data, '$.x', json('{crowd}'))")
        self.assertEqual([], read_messages(path, "opencode"))

    def test_endless_opencode_query_is_given_up(self) -> None:
        """Whoever the agent is may put a view in a table's place."""
        self.patch(transcript_rows, "STEPS", 1_000_000)
        self.database.parent.mkdir()
        rows = sqlite3.connect(self.database)
        rows.execute(
            "CREATE VIEW session AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            "SELECT i AS id, i AS time_updated, NULL AS parent_id FROM n"
        )
        rows.close()
        self.assertEqual([], list(scan_conversations(self.database, "opencode")))

    def test_reading_the_opencode_database_writes_nothing(self) -> None:
        path = self.path()
        before = self.database.read_bytes()
        read_new_messages(ReadPosition(path=""), path, "opencode")
        self.assertEqual(before, self.database.read_bytes())


class ClaudeTranscriptTests(SynchronousTestCase):
    def test_client_error_is_a_failure_until_the_next_prompt(self) -> None:
        path = Path(self.mktemp())
        line = (
            '{"type":"assistant","timestamp":"2026-11-22T07:01:14.907Z","message":{"model":'
            '"<synthetic>","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":0}},'
            '"error":"rate_limit","isApiErrorMessage":true}\n'
        )
        path.write_text(line % CLAUDE_LIMIT)
        place = read_new_messages(ReadPosition(path=""), path, "primary")
        self.assertEqual(TurnFailure(text=CLAUDE_LIMIT, at=1_795_330_874_907), place.tally.failure)
        with path.open("a") as file:
            file.write('{"type":"user","message":{"content":"go on"}}\n')
        self.assertIsNone(read_new_messages(place, path, "primary").tally.failure)

    def test_prompt_written_after_its_answer_is_put_in_order(self) -> None:
        """Seen of Claude Code 2.1.197 on a machine with twenty times its load."""
        path = Path(self.mktemp())
        lines = (
            ("assistant", "12:00:01.500", "before"),
            ("user", "12:00:01.000", "SAY: before"),
            ("user", "12:00:02.000", "SAY: after"),
            ("assistant", "12:00:02.500", "after"),
        )
        path.write_text(
            "".join(
                json.dumps(
                    {
                        "type": role,
                        "timestamp": f"2026-11-20T{at}Z",
                        "message": {"role": role, "model": "m", "content": text},
                    }
                )
                + "\n"
                for role, at, text in lines
            )
        )
        said = [each.text for each in read_messages(path, "primary")]
        self.assertEqual(["SAY: before", "before", "SAY: after", "after"], said)

    def test_message_written_by_the_client_is_no_answer(self) -> None:
        path = Path(self.mktemp())
        path.write_text(
            '{"type":"assistant","message":{"model":"m","content":"done"}}\n'
            '{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text",'
            '"text":"No response requested."}]}}\n'
        )
        self.assertEqual(
            "done", read_new_messages(ReadPosition(path=""), path, "primary").tally.response
        )
        self.assertEqual(["done"], [each.text for each in read_messages(path, "primary")])


class CodexFailureTests(SynchronousTestCase):
    def test_failed_codex_turn_is_a_failure(self) -> None:
        path = Path(self.mktemp())
        path.write_text(
            '{"timestamp":"2026-11-22T07:02:18.133Z","type":"event_msg","payload":{"type":'
            '"task_complete","error":{"message":"exceeded retry limit"}}}\n'
        )
        found = read_new_messages(ReadPosition(path=""), path, "codex").tally.failure
        self.assertEqual(TurnFailure(text="exceeded retry limit", at=1_795_330_938_133), found)


class TranscriptTallyTests(SynchronousTestCase):
    def test_models_in_a_tally_are_bounded(self) -> None:
        sums = UsageTotals()
        for number in range(MODELS + 30):
            used = ModelUsage(model=sums.get_sum_name(f"m{number}"), input=1)
            sums.add_message(MessageUsage(name=str(number), used=used))
        self.assertLessEqual(len(sums.usage), MODELS + 1)
        self.assertEqual(MODELS + 30, sum(each.input for each in sums.usage))

    def test_tally_of_another_version_is_discarded(self) -> None:
        self.assertIsNone(decode_tally({"input": 5, "counted": ["m", 1, 2]}))
        self.assertIsNone(decode_tally({"nonsense": 5, "share": {"model": ""}, "usage": []}))

    def test_every_mode_has_a_transcript_store(self) -> None:
        self.assertEqual(
            {"primary", "codex", "copilot", "gemini", "opencode", "pi", "qwen"},
            set(CONVERSATION_STORES),
        )
