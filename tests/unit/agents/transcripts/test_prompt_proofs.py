"""What agents themselves tell of their prompts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import own_location, places_of, unbounded
from tests.unit.agents.harness import run_directly
from tests.unit.agents.transcripts.transcript_samples import RECORDED, make_database
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.prompt_proofs import DISORDER_MS, PromptProofs
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.sessions.interfaces import PromptClaim, PromptReport
from tservice.sessions.record.model import NameSource, Session

NOW = 1_800_000_000_000
STAMP = "2027-01-15T08:00:01.000Z"
QUEUED = {"type": "queue-operation", "operation": "enqueue", "timestamp": STAMP}
TOOL = "RUN: echo x > made.txt"
EARLIER = "2027-01-15T07:59:00.000Z"


class ProofTests(SynchronousTestCase):
    """One session of the primary mode."""

    def setUp(self) -> None:
        home = Path(self.mktemp()).absolute()
        files = TranscriptLocations.from_home(home)
        self.folder = files.get_claude_folder("/work")
        self.folder.mkdir(parents=True)
        self.path = self.folder / "c1.jsonl"
        homes = TranscriptHomes(own=files, places=places_of(own_location()), inside=unbounded)
        self.clock = Clock()
        self.clock.advance(NOW / 1000)
        self.proofs = PromptProofs(
            self.clock, homes, lambda session_id: str(self.path), run_directly
        )
        self.session = Session(
            id="s",
            mode="primary",
            name="s",
            name_source=NameSource.MANUAL,
            working_dir="/work",
            created_at=NOW,
            last_activity_at=NOW,
        )

    def enter(self, text: str) -> PromptClaim:
        return self.proofs.claim_prompt(self.session, text, caught_up=True)

    def told(self, claim: PromptClaim) -> PromptReport:
        return self.successResultOf(Deferred.fromCoroutine(claim.get_report()))

    def asked(self, text: str) -> PromptReport:
        """Of a prompt whose Enter was pressed at NOW."""
        return self.told(self.enter(text))

    def write(self, *entries: Mapping[str, object]) -> None:
        self.path.write_text("".join(json.dumps(each) + "\n" for each in entries))

    def test_hook_confirms_a_prompt(self) -> None:
        claim = self.enter("fix the test")
        self.proofs.add_hook_report("s", "fix  the\ttest", NOW)
        self.assertIs(PromptReport.SUBMITTED, self.told(claim))
        self.proofs.forget_session("s")
        self.proofs.add_hook_report("s", "fix the test", NOW)
        self.assertIs(PromptReport.NOTHING, self.asked("fix the test"))

    def test_hook_with_a_tagged_paste_confirms_the_prompt(self) -> None:
        """As Claude Code 2.1.330 hands a long one on."""
        tagged = '\n\n<pasted_content id="851a">\none\ntwo\n</pasted_content id="851a">\n'
        claim = self.enter("one\ntwo")
        self.proofs.add_hook_report("s", tagged, NOW)
        self.assertIs(PromptReport.SUBMITTED, self.told(claim))

    def test_hook_received_before_the_enter_confirms_nothing(self) -> None:
        self.enter("again")
        self.proofs.add_hook_report("s", "again", NOW)
        self.clock.advance(0.2)
        self.assertIs(PromptReport.NOTHING, self.asked("again"))

    def test_hook_without_a_text_is_ignored(self) -> None:
        claim = self.enter("x")
        for prompt in (None, 5, ["x"]):
            self.proofs.add_hook_report("s", prompt, NOW)
        self.proofs.add_hook_report("unknown", "x", NOW)
        self.assertIs(PromptReport.NOTHING, self.told(claim))

    def test_hook_repeated_for_two_equal_prompts_is_unclear(self) -> None:
        first, second = self.enter("x"), self.enter("x")
        for _ in range(2):
            self.proofs.add_hook_report("s", "x", NOW, "851a")
        self.assertEqual([PromptReport.UNCLEAR] * 2, [self.told(first), self.told(second)])

    def test_transcript_confirms_a_prompt(self) -> None:
        said = {"type": "user", "timestamp": STAMP, "message": {"content": "hello\nthere"}}
        queued = QUEUED | {"content": "later"}
        answer = {"type": "assistant", "timestamp": STAMP, "message": {"content": "echo"}}
        self.write(said, queued, answer)
        self.assertIs(PromptReport.SUBMITTED, self.asked("hello there"))
        self.assertIs(PromptReport.SUBMITTED, self.asked("later"))
        self.assertIs(PromptReport.NOT_YET, self.asked("echo"))
        self.assertIs(PromptReport.NOT_YET, self.asked("hello"))

    def test_transcript_entry_older_than_the_prompt_confirms_nothing(self) -> None:
        self.write({"type": "user", "timestamp": EARLIER, "message": {"content": "hello"}})
        self.assertIs(PromptReport.NOT_YET, self.asked("hello"))

    def test_enter_of_before_a_restart_is_confirmed_later(self) -> None:
        self.write(QUEUED | {"content": "hello"})
        self.clock.advance(60)
        self.assertIs(PromptReport.NOT_YET, self.asked("hello"))
        self.session = evolve(self.session, last_submit_at=NOW)
        self.assertIs(PromptReport.SUBMITTED, self.asked("hello"))

    def test_repeated_queue_entry_belongs_to_the_earlier_prompt(self) -> None:
        """It is taken from the queue, or from there back to the composer, or was the last one."""
        for more in (
            {"type": "user", "promptSource": "queued", "message": {"content": "q"}},
            {"type": "queue-operation", "operation": "popAll", "content": "q"},
            {"type": "queue-operation", "operation": "remove", "content": "q"},
            {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "q"}},
            {"type": "user", "isMeta": True, "message": {"content": "q"}},
        ):
            self.write(QUEUED | {"content": "q", "timestamp": EARLIER}, more | {"timestamp": STAMP})
            self.assertIs(PromptReport.NOT_YET, self.asked("q"), more)
        self.write({"type": "last-prompt", "lastPrompt": "q"})
        self.assertIs(PromptReport.NOT_YET, self.asked("q"))

    def test_transcript_line_followed_by_older_lines_is_found(self) -> None:
        """Claude Code, stopped for a moment, wrote what it said before behind what it was given."""
        first, *others = (QUEUED | {"content": text} for text in ("one", "two"))
        older = {"type": "user", "timestamp": EARLIER, "message": {"content": "before"}}
        self.write(first, *[older] * 3, *others)
        self.assertIs(PromptReport.SUBMITTED, self.asked("one"))
        self.assertGreater(DISORDER_MS, 6200)

    def test_transcript_lines_after_a_much_older_line_are_ignored(self) -> None:
        old = {"type": "user", "timestamp": "2027-01-15T07:58:00.000Z", "message": {"content": "o"}}
        self.write(QUEUED | {"content": "one"}, old)
        self.assertIs(PromptReport.NOT_YET, self.asked("one"))

    def answered(self, since: int = NOW) -> bool:
        found = self.proofs.has_recorded_answer(self.session, since)
        return self.successResultOf(Deferred.fromCoroutine(found))

    def test_answer_or_failure_confirms_an_answer(self) -> None:
        said = {"type": "user", "timestamp": STAMP, "message": {"content": "hello"}}
        answer = {"type": "assistant", "timestamp": STAMP, "message": {"content": "echo"}}
        self.assertFalse(self.answered())
        self.write(answer | {"timestamp": EARLIER}, said)
        self.assertFalse(self.answered())
        self.write(said, answer)
        self.assertTrue(self.answered())
        self.assertFalse(self.answered(NOW + 1001), "one of before")
        self.path.unlink()
        self.assertFalse(self.answered())

    def test_broken_transcript_lines_are_skipped(self) -> None:
        self.path.write_bytes(b'{"type": \xff\n[]\n{"timestamp": 5}\n')
        self.assertIs(PromptReport.NOT_YET, self.asked("hello"))

    def test_missing_transcript_confirms_nothing(self) -> None:
        self.assertIs(PromptReport.NOTHING, self.asked("hello"))
        self.session = evolve(self.session, mode="gemini")
        self.write({"type": "user", "timestamp": STAMP, "message": {"content": "hello"}})
        self.assertIs(PromptReport.NOTHING, self.asked("hello"))


class StoredProofTests(SynchronousTestCase):
    """Gemini CLI, opencode, pi: what they kept was submitted, what they did not may have been."""

    def proofs(
        self, mode: str, kept: Path, conversation: str
    ) -> Callable[[str, int], PromptReport]:
        """What is known of a text since a moment, of a session whose conversation is on disk."""
        homes = TranscriptHomes(
            own=TranscriptLocations.from_home(kept),
            places=places_of(own_location()),
            inside=unbounded,
        )
        self.session = Session(
            id="s",
            mode=mode,
            name="s",
            name_source=NameSource.MANUAL,
            working_dir="/home/me/work",
            created_at=0,
            last_activity_at=NOW,
            conversation_ids=(conversation,),
        )
        clock = Clock()
        self.known = PromptProofs(clock, homes, lambda session_id: None, run_directly)

        def asked(text: str, since: int) -> PromptReport:
            clock.rightNow = since / 1000
            self.known.forget_session("s")
            claim = self.known.claim_prompt(self.session, text, caught_up=True)
            return self.successResultOf(Deferred.fromCoroutine(claim.get_report()))

        return asked

    def answered(self, since: int) -> bool:
        found = self.known.has_recorded_answer(self.session, since)
        return self.successResultOf(Deferred.fromCoroutine(found))

    def judge_answers(self, last: int) -> None:
        """C{last}: when the last answer was written."""
        self.assertTrue(self.known.has_transcript(self.session))
        self.assertTrue(self.answered(0))
        self.assertTrue(self.answered(last))
        self.assertFalse(self.answered(last + 1), "one of before")
        self.session = evolve(self.session, conversation_ids=("00000000-no-such",))
        self.assertFalse(self.answered(0), "nobody knows")
        self.assertFalse(self.known.has_transcript(evolve(self.session, mode="antigravity")))

    def judge(
        self, asked: Callable[[str, int], PromptReport], given: int, text: str, answer: str
    ) -> None:
        """C{given}: when C{text} was given."""
        self.assertIs(PromptReport.SUBMITTED, asked(f" {text}\n", given))
        self.assertIs(PromptReport.NOTHING, asked(text, given + 1), "one of before")
        self.assertIs(PromptReport.NOTHING, asked(text[:-1], given), "a part of one")
        self.assertIs(PromptReport.NOTHING, asked(answer, given), "the agent's own words")
        self.assertIs(PromptReport.NOTHING, asked("never said", given))

    def test_gemini_transcript_confirms_prompts_and_answers(self) -> None:
        home = Path(self.mktemp()).absolute()
        folder = home / ".gemini" / "tmp" / "work"
        (folder / "chats").mkdir(parents=True)
        (folder / ".project_root").write_text("/home/me/work")
        name = "session-2026-11-22T06-45-01109a00.jsonl"
        shutil.copy(RECORDED / "gemini-0.61.0.jsonl", folder / "chats" / name)
        asked = self.proofs("gemini", home, "01109a00-754f-449f-ab59-1c8641cb47ba")
        self.judge(asked, 1_795_329_923_953, TOOL, "last words")
        self.judge_answers(1_795_329_931_257)

    def test_pi_transcript_confirms_prompts_and_answers(self) -> None:
        home = Path(self.mktemp()).absolute()
        folder = home / ".pi" / "agent" / "sessions" / "--home-me-work--"
        folder.mkdir(parents=True)
        shutil.copy(RECORDED / "pi-0.73.1.jsonl", folder / "1_01a20200.jsonl")
        asked = self.proofs("pi", home, "01a20200-192b-70d8-9a51-c50e1d9f1882")
        self.judge(asked, 1_795_329_898_338, TOOL, "hello there")
        self.judge_answers(1_795_329_905_605)

    def test_opencode_database_confirms_prompts_and_answers(self) -> None:
        home = Path(self.mktemp()).absolute()
        make_database(home / ".local" / "share" / "opencode" / "opencode.db")
        asked = self.proofs("opencode", home, "ses_dfdff04dcffeRkFTm0FqI7aA1a")
        self.judge(asked, 1_795_329_952_763, "SAY: second", "second")
        self.judge_answers(1_795_329_957_041)

    def test_codex_transcript_confirms_answers(self) -> None:
        home = Path(self.mktemp()).absolute()
        folder = home / ".codex" / "sessions" / "2026" / "11" / "20"
        folder.mkdir(parents=True)
        shutil.copy(RECORDED / "codex-0.169.0.jsonl", folder / "rollout-01a1f992.jsonl")
        self.proofs("codex", home, "01a1f992-16a6-75d3-ab87-b7929ca8a4b1")
        self.judge_answers(1_795_188_479_142)
