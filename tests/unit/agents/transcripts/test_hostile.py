"""Transcripts made to harm whoever reads them: they harm nobody, themselves included."""

from __future__ import annotations

import json
import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.transcripts.session_samples import make_session
from tservice.agents.transcripts import reader as transcript_reader
from tservice.agents.transcripts.conversation_access import read_new_messages
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.model import ReadPosition


class HostileTranscriptTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.files = TranscriptLocations.from_home(Path(self.mktemp()).absolute())
        self.folder = self.files.codex_folder / "2026" / "01" / "02"
        self.folder.mkdir(parents=True)
        self.owner = make_session(mode="codex", working_dir=str(self.folder), created_at=0)

    def put(self, name: bytes | str, cwd: str) -> Path:
        path = os.fsencode(self.folder) + b"/" + os.fsencode(name)
        about = {"type": "session_meta", "payload": {"id": "abc", "cwd": cwd}}
        prompt = {"type": "event_msg", "payload": {"type": "user_message", "message": "hi"}}
        lines = "".join(json.dumps(each) + "\n" for each in (about, prompt))
        Path(os.fsdecode(path)).write_text(lines)
        return Path(os.fsdecode(path))

    def located(self) -> Path | None:
        return self.files.find_conversation(self.owner, None, (), shared=False)

    def test_folder_with_an_impossible_name_hides_no_conversation(self) -> None:
        good = self.put("good.jsonl", str(self.folder))
        os.utime(good, (1, 1))
        for number, cwd in enumerate(("/tmp/a\0b", "/tmp/\ud800", "\0", "/" + "a/" * 2000)):
            self.put(f"bad{number}.jsonl", cwd)
            self.assertEqual(good, self.located(), cwd)

    def test_impossible_transcript_path_is_refused(self) -> None:
        owner = make_session(mode="primary", working_dir="/w")
        for told in ("\0", "/tmp/\ud800.jsonl", "/tmp/a\0.jsonl"):
            self.assertIsNone(self.files.find_reported_file(owner, told))

    def test_undecodable_file_name_is_skipped(self) -> None:
        self.put(b"rollout-\xff.jsonl", str(self.folder))
        self.assertIsNone(self.located())

    def test_sparse_hole_of_a_transcript_is_skipped(self) -> None:
        """Four terabytes that take no room on the disk."""
        path = self.folder / "hole.jsonl"
        with path.open("wb") as file:
            file.truncate(4 << 40)
        self.patch(transcript_reader, "UNREAD", 64 << 20)
        turns = 0
        place = ReadPosition(path="", ended=False)
        while not place.ended:
            place = read_new_messages(place, path, "codex")
            turns += 1
        self.assertLessEqual(turns, 6)

    def test_millions_of_lines_are_read_in_steps(self) -> None:
        """Each is a moment of a thread; what stands behind them is read as well."""
        for line in (b"\n", b"1\n", b'{"a": 12345678}\n'):
            self.patch(transcript_reader, "LINES", 1000)
            path = self.put("a.jsonl", "/w")
            last = path.read_bytes()
            path.write_bytes(line * 10_500 + last)
            place, turns = ReadPosition(path="", ended=False), 0
            while not place.ended:
                before = place.position
                place = read_new_messages(place, path, "codex")
                self.assertLessEqual(place.position - before, 1000 * len(line) + len(last))
                turns += 1
            self.assertEqual(11, turns)
            self.assertEqual("/w", place.tally.cwd)

    def test_lines_too_short_to_matter_are_not_parsed(self) -> None:
        parsed: list[bytes] = []
        self.patch(transcript_reader, "parse_line", parsed.append)
        path = self.put("a.jsonl", "/w")
        path.write_bytes(b"\n{}\n" * 1000 + b'{"type": "user"}\n')
        read_new_messages(ReadPosition(path=""), path, "codex")
        self.assertEqual([b'{"type": "user"}'], parsed)

    def test_end_of_a_huge_transcript_counts(self) -> None:
        path = self.put("a.jsonl", "/w")
        last = path.read_bytes()
        with path.open("wb") as file:
            file.truncate(1 << 40)
            file.seek(0, os.SEEK_END)
            file.write(b"\n" + last)
        self.patch(transcript_reader, "UNREAD", 1 << 20)
        self.assertEqual("/w", read_new_messages(ReadPosition(path=""), path, "codex").tally.cwd)
