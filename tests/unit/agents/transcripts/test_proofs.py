"""What agents themselves tell of their prompts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.ground import here, places_of
from tests.unit.agents.rig import at_once
from tests.unit.agents.transcripts.samples import RECORDED, database
from tservice.agents.transcripts.files import TranscriptFiles
from tservice.agents.transcripts.homes import Homes
from tservice.agents.transcripts.proofs import EARLY_MS, HEARD, Proofs
from tservice.sessions.record.model import NameSource, Session

NOW = 1_800_000_000_000
STAMP = "2027-01-15T08:00:01.000Z"
TOOL = "RUN: echo x > made.txt"
EARLIER = "2027-01-15T07:59:00.000Z"


class ProofTests(SynchronousTestCase):
    """One session of the primary mode."""

    def setUp(self) -> None:
        home = Path(self.mktemp()).absolute()
        files = TranscriptFiles.of_home(home)
        self.folder = files.folder_of("/work")
        self.folder.mkdir(parents=True)
        self.path = self.folder / "c1.jsonl"
        homes = Homes(own=files, places=places_of(here()))
        self.proofs = Proofs(homes, lambda session_id: str(self.path), at_once)
        self.session = Session(
            id="s",
            mode="primary",
            name="s",
            name_source=NameSource.MANUAL,
            working_dir="/work",
            created_at=NOW,
            last_activity_at=NOW,
        )

    def asked(self, text: str, since: int = NOW) -> bool | None:
        found = self.proofs.submitted(self.session, text, since)
        return self.successResultOf(Deferred.fromCoroutine(found))

    def write(self, *entries: Mapping[str, object]) -> None:
        self.path.write_text("".join(json.dumps(each) + "\n" for each in entries))

    def test_a_hook_tells(self) -> None:
        self.proofs.heard("s", "fix  the\ttest", NOW)
        self.assertTrue(self.asked("fix the test"))
        self.proofs.forget("s")
        self.assertIsNone(self.asked("fix the test"))

    def test_so_it_does_of_a_paste_between_tags(self) -> None:
        """As Claude Code 2.1.330 hands a long one on."""
        tagged = '\n\n<pasted_content id="851a">\none\ntwo\n</pasted_content id="851a">\n'
        self.proofs.heard("s", tagged, NOW)
        self.assertTrue(self.asked("one\ntwo"))

    def test_one_of_before_is_none(self) -> None:
        self.proofs.heard("s", "again", NOW - 5000)
        self.assertIsNone(self.asked("again"))

    def test_what_is_no_text_is_passed_over(self) -> None:
        for prompt in (None, 5, ["x"]):
            self.proofs.heard("s", prompt, NOW)
        self.assertIsNone(self.asked("x"))

    def test_a_few_are_remembered(self) -> None:
        for number in range(HEARD + 1):
            self.proofs.heard("s", f"p{number}", NOW)
        self.assertIsNone(self.asked("p0"))
        self.assertTrue(self.asked("p1"))

    def test_the_transcript_tells(self) -> None:
        said = {"type": "user", "timestamp": STAMP, "message": {"content": "hello\nthere"}}
        queued = {"type": "queue-operation", "timestamp": STAMP, "content": "later"}
        answer = {"type": "assistant", "timestamp": STAMP, "message": {"content": "echo"}}
        self.write(said, queued, answer)
        self.assertTrue(self.asked("hello there"))
        self.assertTrue(self.asked("later"))
        self.assertIs(False, self.asked("echo"))
        self.assertIs(False, self.asked("hello"))

    def test_an_entry_of_before_is_none(self) -> None:
        self.write({"type": "user", "timestamp": EARLIER, "message": {"content": "hello"}})
        self.assertIs(False, self.asked("hello"))

    def test_broken_lines_are_passed_over(self) -> None:
        self.path.write_bytes(b'{"type": \xff\n[]\n{"timestamp": 5}\n')
        self.assertIs(False, self.asked("hello"))

    def test_nothing_is_known_without_a_transcript(self) -> None:
        self.assertIsNone(self.asked("hello"))
        self.session = evolve(self.session, mode="gemini")
        self.write({"type": "user", "timestamp": STAMP, "message": {"content": "hello"}})
        self.assertIsNone(self.asked("hello"))


class KeptTests(SynchronousTestCase):
    """Gemini CLI, opencode, pi: what they kept was submitted, what they did not may have been."""

    def proofs(self, mode: str, kept: Path, conversation: str) -> Callable[[str, int], bool | None]:
        """What is known of a text since a moment, of a session whose conversation is on disk."""
        homes = Homes(own=TranscriptFiles.of_home(kept), places=places_of(here()))
        session = Session(
            id="s",
            mode=mode,
            name="s",
            name_source=NameSource.MANUAL,
            working_dir="/home/me/work",
            created_at=0,
            last_activity_at=NOW,
            conversation_ids=(conversation,),
        )
        proofs = Proofs(homes, lambda session_id: None, at_once)

        def asked(text: str, since: int) -> bool | None:
            found = proofs.submitted(session, text, since)
            return self.successResultOf(Deferred.fromCoroutine(found))

        return asked

    def judge(
        self, asked: Callable[[str, int], bool | None], given: int, text: str, answer: str
    ) -> None:
        """C{given}: when C{text} was given."""
        self.assertIs(True, asked(f" {text}\n", given))
        self.assertIsNone(asked(text, given + EARLY_MS + 1), "one of before")
        self.assertIsNone(asked(text[:-1], 0), "a part of one")
        self.assertIsNone(asked(answer, 0), "the agent's own words")
        self.assertIsNone(asked("never said", 0))

    def test_gemini(self) -> None:
        home = Path(self.mktemp()).absolute()
        folder = home / ".gemini" / "tmp" / "work"
        (folder / "chats").mkdir(parents=True)
        (folder / ".project_root").write_text("/home/me/work")
        name = "session-2026-11-22T06-45-01109a00.jsonl"
        shutil.copy(RECORDED / "gemini-0.61.0.jsonl", folder / "chats" / name)
        asked = self.proofs("gemini", home, "01109a00-754f-449f-ab59-1c8641cb47ba")
        self.judge(asked, 1_795_329_923_953, TOOL, "last words")

    def test_pi(self) -> None:
        home = Path(self.mktemp()).absolute()
        folder = home / ".pi" / "agent" / "sessions" / "--home-me-work--"
        folder.mkdir(parents=True)
        shutil.copy(RECORDED / "pi-0.73.1.jsonl", folder / "1_01a20200.jsonl")
        asked = self.proofs("pi", home, "01a20200-192b-70d8-9a51-c50e1d9f1882")
        self.judge(asked, 1_795_329_898_338, TOOL, "hello there")

    def test_opencode(self) -> None:
        home = Path(self.mktemp()).absolute()
        database(home / ".local" / "share" / "opencode" / "opencode.db")
        asked = self.proofs("opencode", home, "ses_dfdff04dcffeRkFTm0FqI7aA1a")
        self.judge(asked, 1_795_329_952_763, "SAY: second", "second")
