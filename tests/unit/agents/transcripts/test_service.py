"""Reading what agents keep of their conversations (protocol-session, protocol-conversations)."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import own_location, places_of, unbounded
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.harness import run_directly, unpriced_readers
from tests.unit.agents.transcripts.transcript_lines import ID, answer_line, prompt_line, write_lines
from tests.unit.agents.transcripts.usage_totals import usage_totals_of
from tests.unit.http.site_driver import ApiHarness
from tests.unit.sessions.harness import ADMIN
from tservice.agents.transcripts import reader as transcript_reader
from tservice.agents.transcripts import service as module
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.history import ConversationHistory
from tservice.agents.transcripts.model import ReadPosition, make_title
from tservice.agents.transcripts.prices import PriceTable, load_packaged_prices
from tservice.agents.transcripts.reader import read_lines, read_new_lines
from tservice.agents.transcripts.routes import TranscriptRoutes
from tservice.agents.transcripts.service import MOMENT, TranscriptService
from tservice.agents.transcripts.transcript_homes import TranscriptHomes, find_own_locations
from tservice.agents.transcripts.turn_times import LOOK, PATIENCE, SETTLED
from tservice.agents.transcripts.usage.position_store import ReadPositionStore
from tservice.agents.transcripts.usage.store import UsageStore
from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.launcher import CliRegistry
from tservice.clis.registry_merge import merge_registry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.callers.identity import Identity
from tservice.core.values.numbers import TOKENS_MAX
from tservice.http.operation_decorator import collect_operations
from tservice.sessions.record.model import ModelSource, NameSource, Session, TokenUsage
from tservice.settings.interfaces import ModelPrice

_T = TypeVar("_T")
AT_MS = 1_795_181_400_250


class ReaderTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.path = Path(self.mktemp()).absolute() / "t.jsonl"

    def read(self, place: ReadPosition | None = None, mode: str = "primary") -> ReadPosition:
        return read_new_lines(place or ReadPosition(path=""), self.path, mode)

    def test_usage_of_one_message_is_counted_once(self) -> None:
        write_lines(
            self.path, prompt_line("hi"), answer_line("one", made=3), answer_line("two", made=7)
        )
        write_lines(self.path, answer_line("three", "m2", sent=200))
        place = self.read()
        tally, sums = place.tally, usage_totals_of(place)
        self.assertEqual((2300, 14, 1207), (sums.input, sums.output, tally.context))
        self.assertEqual(("three", AT_MS), (tally.response, tally.response_at))

    def test_parts_of_one_answer_are_joined(self) -> None:
        write_lines(self.path, answer_line("one"), answer_line("two"))
        self.assertEqual("one\n\ntwo", self.read().tally.response)

    def test_half_written_line_is_read_once_complete(self) -> None:
        half = json.dumps(answer_line("whole", "m2")).encode()
        write_lines(self.path, answer_line("one"), half[:40])
        place = self.read()
        self.assertEqual("one", place.tally.response)
        write_lines(self.path, half[40:], b"\n")
        self.assertEqual("whole", self.read(place).tally.response)

    def test_truncated_transcript_is_read_again(self) -> None:
        write_lines(self.path, answer_line("one"), answer_line("two", "m2"))
        place = self.read()
        self.path.write_bytes(b"")
        write_lines(self.path, answer_line("new"))
        anew = self.read(place)
        self.assertEqual((1100, "new"), (usage_totals_of(anew).input, anew.tally.response))

    def test_repeated_message_is_counted_once_with_its_last_figures(self) -> None:
        """Also behind others, and with what it was told last."""
        write_lines(
            self.path,
            answer_line("one", "m1", sent=0, made=5),
            answer_line("two", "m2", sent=0, made=1),
        )
        write_lines(self.path, answer_line("one", "m1", sent=0, made=10))
        place = self.read()
        self.assertEqual((2000, 11), (usage_totals_of(place).input, usage_totals_of(place).output))

    def test_invalid_lines_are_skipped(self) -> None:
        rubbish = (
            b"\xff\xfe\n",
            b"[1]\n",
            b"{\n",
            b"\n",
            b'{"type":"assistant","message":7}\n',
            b'{"type":"user","message":{"content":[7,{"type":"text"}]}}\n',
        )
        write_lines(
            self.path,
            *rubbish,
            answer_line("fine"),
            {**answer_line("side", "m9"), "isSidechain": True},
        )
        self.assertEqual("fine", self.read().tally.response)

    def test_codex_transcript_gives_tokens_response_and_title(self) -> None:
        usage = {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55}
        count = {
            "type": "token_count",
            "info": {
                "total_token_usage": usage,
                "last_token_usage": usage,
                "model_context_window": 100,
            },
        }
        write_lines(
            self.path,
            {"type": "session_meta", "payload": {"id": ID, "cwd": "/srv"}},
            {"type": "event_msg", "payload": {"type": "user_message", "message": "do it"}},
            {"type": "event_msg", "payload": count},
            {"type": "event_msg", "payload": {"type": "agent_message", "message": "done"}},
            {"type": "event_msg", "payload": count},
        )
        place = self.read(mode="codex")
        tally, sums = place.tally, usage_totals_of(place)
        self.assertEqual((50, 5, 55, 100), (sums.input, sums.output, tally.context, tally.window))
        self.assertEqual(("done", "do it", ID), (tally.response, tally.title, tally.conversation))

    def test_endless_line_is_skipped(self) -> None:
        self.patch(transcript_reader, "LINE_LIMIT", 1000)
        self.patch(transcript_reader, "PIECE", 300)
        write_lines(
            self.path, answer_line("before"), b"x" * 5000, b"\n", answer_line("after", "m2")
        )
        self.assertEqual("after", self.read().tally.response)

    def test_each_call_reads_a_bounded_amount(self) -> None:
        self.patch(transcript_reader, "TURN", 1000)
        write_lines(self.path, *(answer_line(str(n), f"m{n}") for n in range(50)))
        place = self.read()
        made = [usage_totals_of(place).output]
        while not place.ended:
            place = self.read(place)
            made.append(usage_totals_of(place).output)
        self.assertEqual(("49", 50 * 7), (place.tally.response, sum(made)))
        self.assertGreater(len(made), 5)
        self.patch(transcript_reader, "REPORTS", 2)
        self.assertEqual((2, False), (len(self.read().used), self.read().ended))

    def test_transcript_memory_does_not_grow_with_the_file(self) -> None:
        with self.subTest("a sparse gigabyte"):
            write_lines(self.path, answer_line("before"))
            with self.path.open("r+b") as file:
                file.truncate(1_000_000_000)
            tracemalloc.start()
            self.addCleanup(tracemalloc.stop)
            self.read()
            self.assertLess(tracemalloc.get_traced_memory()[1], 64_000_000)

    def test_transcript_reader_opens_only_regular_files(self) -> None:
        self.path.parent.mkdir(parents=True)
        os.mkfifo(self.path)
        self.assertRaises(OSError, self.read)
        link = self.path.with_name("l.jsonl")
        link.symlink_to("/etc/passwd")
        self.assertRaises(OSError, read_new_lines, ReadPosition(path=""), link, "primary")

    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.binary(max_size=40)), st.integers(1, 50), st.integers(1, 60))
    def test_pieces_give_every_short_line_with_its_end(
        self, parts: list[bytes], piece: int, limit: int
    ) -> None:
        """However it is cut, every short line is given once, with where it ends."""
        self.patch(transcript_reader, "PIECE", piece)
        self.patch(transcript_reader, "LINE_LIMIT", max(limit, piece))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        data = b"\n".join(parts)
        self.path.write_bytes(data)
        with self.path.open("rb") as file:
            found = [(line, end) for line, end in read_lines(file, 0, len(data) + 1) if line]
        whole = data.split(b"\n")[:-1]
        short = [line for line in whole if line and len(line) <= limit]
        self.assertEqual([], [line for line in short if line not in [each for each, _ in found]])
        for line, end in found:
            self.assertEqual(line + b"\n", data[end - len(line) - 1 : end])

    def test_titles_are_taken_from_the_first_prompt(self) -> None:
        for text, want in (
            ("fix the\tdoor\nand more", "fix the door"),
            ("/clear", None),
            ("  \n", None),
            ("请 " + "修" * 80, "请 " + "修" * 37 + "…"),
            ("می\u200cروم", "می\u200cروم"),
            ("word " * 30, "word word word word word word word…"),
        ):
            self.assertEqual(want, make_title(text))


class TranscriptServiceTests(ApprovalCase):
    """Transcripts of sessions."""

    def setUp(self) -> None:
        super().setUp()
        self.files = TranscriptLocations.from_home(self.machine.home)
        self.homes = TranscriptHomes(
            own=self.files, places=places_of(own_location()), inside=unbounded
        )
        self.prices = PriceTable(
            packaged=load_packaged_prices(), chosen=lambda: self.machine.settings.get().model_prices
        )
        self.open_transcripts()
        self.history = ConversationHistory(
            self.sessions, self.homes, run_directly, self.clock.seconds, unpriced_readers()
        )
        routes = TranscriptRoutes(self.transcripts, self.history)
        self.api = ApiHarness(collect_operations(routes), clock=self.clock)

    def open_transcripts(self) -> None:
        store, usage = ReadPositionStore(self.machine.database), UsageStore(self.machine.database)
        self.transcripts = TranscriptService(
            self.clock,
            self.sessions,
            self.agents.agents,
            self.homes,
            store,
            usage,
            run_directly,
            self.prices,
        )
        self.transcripts.start(self.machine.hub)
        self.addCleanup(self.transcripts.stop)

    def spoken(self, *entries: Any) -> Session:
        """A session whose agent told where its transcript is, and ended a turn."""
        session = self.ready()
        self.path = self.files.get_claude_folder(session.working_dir) / f"{ID}.jsonl"
        write_lines(self.path, *entries)
        self.hook(session, "session_start", session_id=ID, transcript_path=str(self.path))
        self.hook(session, "stop", session_id=ID)
        self.clock.advance(MOMENT)
        self.clock.advance(PATIENCE)
        return self.sessions.get(session.id)

    def test_finished_turn_updates_the_session_record(self) -> None:
        session = self.spoken(prompt_line("paint the door"), answer_line("done"))
        self.assertEqual(TokenUsage.from_counts(1100, 7), session.tokens)
        self.assertEqual((0.0, True), (session.total_cost, session.cost_unknown))
        self.assertEqual((ID,), session.conversation_ids)
        self.assertEqual(("paint the door", NameSource.AUTO), (session.name, session.name_source))

    def test_cost_and_context_are_computed_without_a_status_line(self) -> None:
        """By the table; a status line's word holds in its place."""
        answer = answer_line("done")
        answer["message"]["model"] = "claude-opus-4-5"
        session = self.spoken(prompt_line("paint"), answer)
        # 100 tokens at 5, 1000 of the cache at 0.5, 7 at 25 dollars a million; 1107 of 200,000.
        self.assertEqual((0.001175, 0.6), (session.total_cost, session.context_used_percentage))
        self.sessions.report_model(session.id, ModelSource.SCREEN, "Opus 4.5 (1M context)")
        answer["message"]["id"] = "m2"
        write_lines(self.path, answer)
        self.hook(session, "stop", session_id=ID)
        self.clock.advance(MOMENT)
        session = self.sessions.get(session.id)
        self.assertEqual((0.00235, 0.1), (session.total_cost, session.context_used_percentage))
        told = {"cost": {"total_cost_usd": 7}, "model": {"id": "opus"}}
        self.agents.telemetry.handle_telemetry_report(session.id, told)
        answer["message"]["id"] = "m3"
        write_lines(self.path, answer)
        self.hook(session, "stop", session_id=ID)
        self.clock.advance(MOMENT)
        session = self.sessions.get(session.id)
        self.assertEqual((7.0, None), (session.total_cost, session.cost_unknown))

    def test_price_setting_overrides_the_table(self) -> None:
        row = ModelPrice.model_validate_json(
            '{"model": "claude-*", "input": 1000, "output": 0, "cacheRead": 0, "window": 2214}'
        )
        self.change_settings(model_prices=(row,))
        answer = answer_line("done")
        answer["message"]["model"] = "claude-opus-4-5"
        session = self.spoken(prompt_line("paint"), answer)
        self.assertEqual((0.1, 50.0), (session.total_cost, session.context_used_percentage))

    def test_transcript_written_after_the_hook_is_read_too(self) -> None:
        session = self.ready()
        path = self.files.get_claude_folder(session.working_dir) / f"{ID}.jsonl"
        write_lines(path, prompt_line("paint"))
        self.hook(session, "stop", session_id=ID, transcript_path=str(path))
        write_lines(path, answer_line("done"))
        self.clock.advance(MOMENT)
        self.assertEqual(7, self.sessions.get(session.id).tokens.output)

    def test_figures_out_of_range_are_clamped(self) -> None:
        """The record stays one that a browser reads exactly."""
        huge = {"input_tokens": 10**400, "output_tokens": 2**63, "cache_read_input_tokens": -1}
        lines = [answer_line("done", name=f"m{number}") for number in range(3)]
        for line in lines:
            line["message"]["usage"] = huge
        session = self.spoken(prompt_line("paint"), *lines)
        tokens = session.tokens
        self.assertEqual([TOKENS_MAX] * 3, [tokens.input, tokens.output, tokens.total])

    def test_session_deleted_before_reading_is_not_read(self) -> None:
        session = self.ready()
        self.hook(session, "stop", session_id=ID)
        self.run_now(self.sessions.delete(session.id))
        self.clock.advance(MOMENT)
        self.assertIsNone(self.transcripts.get_tally(session.id))

    def test_session_deleted_while_reading_is_not_stored(self) -> None:
        """Of a long one nothing more is read, and nothing is kept."""
        session = self.ready()
        path = self.files.get_claude_folder(session.working_dir) / f"{ID}.jsonl"
        write_lines(path, prompt_line("paint"), answer_line("done"))
        self.hook(session, "stop", session_id=ID, transcript_path=str(path))
        calls: list[ReadPosition] = []

        def endless(
            place: ReadPosition, path: Path, mode: str, known: Sequence[str]
        ) -> ReadPosition:
            calls.append(place)
            if len(calls) == 2:
                self.run_now(self.sessions.delete(session.id))
            self.assertLess(len(calls), 5)
            return evolve(place, position=place.position + 1, ended=False)

        self.patch(module, "read_new_messages", endless)
        self.clock.advance(MOMENT)
        self.assertEqual(2, len(calls))
        self.assertIsNone(self.transcripts.get_tally(session.id))

    def test_session_name_chosen_by_a_person_stays(self) -> None:
        session = self.ready(name="mine")
        path = self.files.get_claude_folder(session.working_dir) / f"{ID}.jsonl"
        write_lines(path, prompt_line("paint"), answer_line("done"))
        self.hook(session, "stop", session_id=ID, transcript_path=str(path))
        self.clock.advance(MOMENT)
        self.assertEqual("mine", self.sessions.get(session.id).name)

    def test_last_response_is_returned_with_context(self) -> None:
        session = self.spoken(prompt_line("paint"), answer_line("done"))
        path = f"/api/sessions/{session.id}/last-response"
        self.assertEqual({"text": "done", "timestamp": AT_MS}, self.api.get(path).data)
        data = self.api.get(f"{path}?context=full").data
        found = [(each["role"], each["text"]) for each in data["messages"]]
        self.assertEqual([("user", "paint"), ("assistant", "done")], found)
        self.assertEqual(400, self.api.get(f"{path}?context=half").status)

    def test_last_response_waits_for_an_answer_written_after_its_hook(self) -> None:
        """Whoever waited for the end of the turn is not told the answer before it."""
        session = self.spoken(prompt_line("paint"), answer_line("before"))
        self.hook(session, "prompt_submitted", session_id=ID)
        self.hook(session, "stop", session_id=ID)
        asked = Deferred.fromCoroutine(self.transcripts.get_last_response(session.id, whole=False))
        self.assertNoResult(asked)
        self.clock.advance(LOOK)
        self.assertNoResult(asked)
        now = datetime.fromtimestamp(self.clock.seconds(), UTC).isoformat()
        write_lines(self.path, answer_line("now", name="m2") | {"timestamp": now})
        self.clock.pump([LOOK] * 3)
        self.assertEqual("now", self.successResultOf(asked)["text"])

    def test_last_response_waits_only_briefly_for_a_missing_answer(self) -> None:
        session = self.spoken(prompt_line("paint"), answer_line("before"))
        self.hook(session, "prompt_submitted", session_id=ID)
        self.hook(session, "stop", session_id=ID)
        asked = Deferred.fromCoroutine(self.transcripts.get_last_response(session.id, whole=False))
        self.clock.pump([LOOK] * (int(PATIENCE / LOOK) - 1))
        self.assertNoResult(asked)
        self.clock.pump([LOOK] * 2)
        self.assertEqual("before", self.successResultOf(asked)["text"])

    def test_last_response_does_not_wait_for_a_failed_turn(self) -> None:
        """Its end says that it has no answer."""
        session = self.spoken(prompt_line("paint"), answer_line("before"))
        self.hook(session, "prompt_submitted", session_id=ID)
        self.hook(session, "stop", session_id=ID, hook_event_name="StopFailure")
        asked = Deferred.fromCoroutine(self.transcripts.get_last_response(session.id, whole=False))
        self.assertEqual("before", self.successResultOf(asked)["text"])

    def test_last_response_without_a_transcript_is_empty(self) -> None:
        session = self.ready()
        path = f"/api/sessions/{session.id}/last-response?context=full"
        self.assertEqual({"text": "", "timestamp": None, "messages": []}, self.api.get(path).data)
        shell = self.shell()
        self.assertEqual(400, self.api.get(f"/api/sessions/{shell.id}/last-response").status)

    def test_transcripts_of_other_sessions_and_links_are_not_read(self) -> None:
        session = self.ready()
        secret = self.machine.folder / "secret.jsonl"
        write_lines(secret, answer_line("secret"))
        other = self.files.claude_folder / "-other" / f"{ID}.jsonl"
        write_lines(other, answer_line("secret"))
        link = self.files.get_claude_folder(session.working_dir) / "l.jsonl"
        link.parent.mkdir(parents=True)
        link.symlink_to(secret)
        for path in (secret, other, link, "/dev/zero", "/etc/passwd"):
            self.hook(session, "stop", session_id=ID, transcript_path=str(path))
            self.clock.advance(SETTLED)
            data = self.run_now(self.transcripts.get_last_response(session.id, whole=True))
            self.assertEqual(("", []), (data["text"], data["messages"]), path)

    def test_restarted_service_continues_reading_where_it_was(self) -> None:
        session = self.spoken(prompt_line("paint"), answer_line("done"))
        before = self.path.read_bytes()
        self.transcripts.stop()
        # What was read is not read again: it could not be, for it is rubbish now.
        self.path.write_bytes(b"x" * (len(before) - 1) + b"\n")
        self.open_transcripts()
        write_lines(self.path, answer_line("more", "m2"))
        self.hook(session, "stop", session_id=ID)
        self.clock.advance(MOMENT)
        self.assertEqual(14, self.sessions.get(session.id).tokens.output)

    def test_codex_transcript_is_found_by_its_working_folder(self) -> None:
        session = self.agent("x", mode="codex")
        path = self.files.codex_folder / "2026" / "11" / "20" / "rollout-1-a.jsonl"
        meta = {"type": "session_meta", "payload": {"id": ID, "cwd": session.working_dir}}
        answer = {"type": "event_msg", "payload": {"type": "agent_message", "message": "done"}}
        write_lines(path, meta, answer)
        os.utime(path, (self.clock.seconds(), self.clock.seconds()))
        data = self.run_now(self.transcripts.get_last_response(session.id, whole=False))
        self.assertEqual("done", data["text"])
        self.assertEqual((ID,), self.sessions.get(session.id).conversation_ids)

    def test_transcript_in_a_moved_configuration_folder_is_found(self) -> None:
        """The session's own variable moves its folder; an unmoved session's stays where it was."""
        moved = self.machine.folder / "moved"
        session = self.ready(env_overrides={"CLAUDE_CONFIG_DIR": str(moved)})
        files = self.homes.get_transcript_locations(session)
        self.assertEqual(
            (moved / "projects", self.files.codex_folder), (files.claude_folder, files.codex_folder)
        )
        path = files.get_claude_folder(session.working_dir) / f"{ID}.jsonl"
        write_lines(path, prompt_line("paint"), answer_line("done"))
        self.hook(session, "stop", session_id=ID, transcript_path=str(path))
        self.clock.advance(MOMENT)
        self.assertEqual(7, self.sessions.get(session.id).tokens.output)
        self.assertEqual(1, self.run_now(self.history.list_conversations(ADMIN, 10, 0)).total)
        other = self.ready()
        self.hook(other, "stop", session_id=ID, transcript_path=str(path))
        self.clock.advance(MOMENT)
        self.assertEqual(0, self.sessions.get(other.id).tokens.output)

    def test_codex_transcript_is_found_under_its_codex_home(self) -> None:
        moved = self.machine.folder / "moved"
        session = self.agent("x", mode="codex", env_overrides={"CODEX_HOME": str(moved)})
        path = moved / "sessions" / "2026" / "11" / "20" / "rollout-1-a.jsonl"
        answer = {"type": "event_msg", "payload": {"type": "agent_message", "message": "done"}}
        meta = {"type": "session_meta", "payload": {"id": ID, "cwd": session.working_dir}}
        write_lines(path, meta, answer)
        os.utime(path, (self.clock.seconds(), self.clock.seconds()))
        data = self.run_now(self.transcripts.get_last_response(session.id, whole=False))
        self.assertEqual("done", data["text"])

    def test_variables_of_the_service_apply_to_modes_that_receive_them(self) -> None:
        environ = {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "relative", "PATH": "/bin"}
        clis = CliRegistry(
            settings=self.machine.settings,
            lookup=BinaryLookup(self.clock, environ, self.machine.home),
            environ=environ,
        )
        clis.replace_entries(merge_registry(load_stock_entries(), {}))
        files = find_own_locations(self.machine.home, clis)
        self.assertEqual(Path("/c/projects"), files.claude_folder)
        self.assertEqual(self.machine.home / ".codex" / "sessions", files.codex_folder)

    def test_history_is_listed_in_pages(self) -> None:
        for number in range(3):
            path = self.files.claude_folder / "-srv" / f"{number}.jsonl"
            write_lines(path, {**prompt_line(f"task {number}"), "sessionId": f"s{number}"})
            os.utime(path, (1000 + number, 1000 + number))
        data = self.api.get("/api/history/sessions?limit=2&offset=0").data
        self.assertEqual((3, ["s2", "s1"]), (data["total"], [s["id"] for s in data["sessions"]]))
        first = data["sessions"][0]
        self.assertEqual(
            ("task 2", "/srv", 1_002_000), (first["title"], first["workingDir"], first["updatedAt"])
        )
        data = self.api.get("/api/history/sessions?limit=2&offset=2").data
        self.assertEqual(["s0"], [s["id"] for s in data["sessions"]])
        for query in ("limit=0", "limit=101", "offset=-1", "limit=x"):
            self.assertEqual(400, self.api.get(f"/api/history/sessions?{query}").status)

    def test_history_of_other_accounts_is_hidden(self) -> None:
        write_lines(self.files.claude_folder / "-srv" / "1.jsonl", prompt_line("secret"))
        eve = Identity(username="eve", admin=False)
        self.assertEqual(0, self.run_now(self.history.list_conversations(eve, 10, 0)).total)
        self.assertEqual(1, self.run_now(self.history.list_conversations(ADMIN, 10, 0)).total)
