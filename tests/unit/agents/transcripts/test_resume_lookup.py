"""Whose conversation it is, and what a start goes on with (protocol-start)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.runtime_harness import own_location, places_of, unbounded
from tests.unit.agents.harness import AgentHarnessCase, run_directly
from tests.unit.agents.transcripts.session_samples import MADE, make_session
from tests.unit.agents.transcripts.transcript_lines import answer_line, prompt_line, write_lines
from tests.unit.agents.transcripts.transcript_samples import make_database
from tservice.agents.transcripts.conversation_choice import (
    EARLY_MS,
    NEAR_MS,
    CandidateConversation,
    choose_conversation,
)
from tservice.agents.transcripts.conversation_stores import StoredConversation
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.model import TranscriptTally
from tservice.agents.transcripts.reader import HEAD
from tservice.agents.transcripts.resume_lookup import ResumeLookup
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.kernel.errors import ErrorCode
from tservice.core.locations.workspace_bounds import FolderLimit
from tservice.sessions.record.model import Session, SessionLocationKind

OLD, NEW = "11111111-aaaa", "22222222-bbbb"


def candidate(
    name: str, first_at: int | None, prompts: int = 1, size: int = 1, conversation: str = ""
) -> CandidateConversation:
    found = StoredConversation(path=Path(f"/c/{name}"), mode="codex", at=MADE, size=size)
    begins = TranscriptTally(conversation=conversation or name, first_at=first_at, prompts=prompts)
    return CandidateConversation(found=found, begins=begins)


class ConversationChoiceTests(SynchronousTestCase):
    """Which of several is the session's."""

    def choose(
        self, owner: Session, *candidates: CandidateConversation, shared: bool = False
    ) -> str | None:
        found = choose_conversation(owner, candidates, shared=shared)
        return None if found is None else found.path.name

    def test_first_prompt_identifies_the_conversation(self) -> None:
        at = MADE + 60_000
        owner = make_session(last_submit_at=at)
        others = (candidate("a", at - 3000), candidate("b", at - 400), candidate("c", at + 9000))
        self.assertEqual("b", self.choose(owner, *others, shared=True))

    def test_shared_folder_does_not_identify_the_conversation(self) -> None:
        owner = make_session(last_submit_at=MADE + NEAR_MS * 5)
        far = candidate("a", MADE + 1)
        self.assertIsNone(self.choose(owner, far, shared=True))
        self.assertEqual("a", self.choose(owner, far))

    def test_known_conversation_stays_until_another_begins(self) -> None:
        at = MADE + 60_000
        owner = make_session(conversation_ids=("a", "b"), last_submit_at=at)
        known = (candidate("a", MADE), candidate("b", MADE))
        self.assertEqual("b", self.choose(owner, *known, candidate("x", MADE + 1), shared=True))
        self.assertEqual("n", self.choose(owner, *known, candidate("n", at - 100), shared=True))

    def test_empty_conversation_is_not_chosen(self) -> None:
        """Gemini CLI leaves one behind when its trust dialog is answered."""
        self.assertIsNone(self.choose(make_session(), candidate("a", None, prompts=0)))
        self.assertEqual(
            "b", self.choose(make_session(), candidate("b", None, prompts=0, size=HEAD + 1))
        )

    def test_file_with_messages_is_preferred_to_a_newer_empty_one_of_the_conversation(self) -> None:
        """Gemini CLI begins one when it resumes, and goes on in the old one."""
        owner = make_session(conversation_ids=("a",))
        empty = candidate("empty", None, prompts=0, conversation="a")
        full = candidate("full", MADE, conversation="a")
        self.assertEqual("full", self.choose(owner, empty, full))
        self.assertEqual("empty", self.choose(owner, empty))

    def test_conversation_older_than_the_session_is_not_chosen(self) -> None:
        self.assertIsNone(self.choose(make_session(), candidate("a", MADE - EARLY_MS - 1)))


class ResumeTests(AgentHarnessCase):
    """A start goes on with what is on disk."""

    def setUp(self) -> None:
        super().setUp()
        self.files = TranscriptLocations.from_home(self.machine.home)
        self.conversations = ResumeLookup(
            lambda: TranscriptHomes(
                own=self.files, places=places_of(own_location()), inside=unbounded
            ),
            run_directly,
        )

    def resumed(self, owner: Session) -> str | None:
        return self.run_now(self.conversations.find_last_conversation(owner))

    def test_claude_resumes_the_newest_conversation_on_disk(self) -> None:
        owner = make_session(mode="primary", conversation_ids=(OLD, NEW))
        folder = self.files.get_claude_folder(owner.working_dir)
        self.assertIsNone(self.resumed(owner))
        write_lines(
            folder / f"{OLD}.jsonl", {**prompt_line("go"), "sessionId": OLD}, answer_line("done")
        )
        self.assertEqual(OLD, self.resumed(owner))
        # One that was given no prompt is not kept by the agent.
        write_lines(folder / f"{NEW}.jsonl", {"type": "mode", "sessionId": NEW})
        self.assertEqual(OLD, self.resumed(owner))
        write_lines(folder / f"{NEW}.jsonl", {**prompt_line("more"), "sessionId": NEW})
        self.assertEqual(NEW, self.resumed(owner))

    def test_claude_conversation_resumes_only_in_its_own_folder(self) -> None:
        owner = make_session(mode="primary", conversation_ids=(OLD,))
        write_lines(
            self.files.claude_folder / "-other" / f"{OLD}.jsonl",
            {**prompt_line("go"), "sessionId": OLD},
        )
        self.assertIsNone(self.resumed(owner))

    def test_conversation_files_named_by_time_and_id_are_found(self) -> None:
        meta = {"type": "session_meta", "payload": {"id": OLD, "cwd": "/elsewhere"}}
        words = {"type": "event_msg", "payload": {"type": "user_message", "message": "go"}}
        write_lines(
            self.files.codex_folder / "2026" / "11" / "22" / f"rollout-t-{OLD}.jsonl", meta, words
        )
        self.assertEqual(OLD, self.resumed(make_session(conversation_ids=(OLD,))))
        self.assertIsNone(self.resumed(make_session(conversation_ids=(NEW,))))

    def test_opencode_resumes_only_a_full_conversation_id(self) -> None:
        make_database(self.files.roots["opencode"])
        known = "ses_dfdff04dcffeRkFTm0FqI7aA1a"
        self.assertEqual(
            known, self.resumed(make_session(mode="opencode", conversation_ids=(known,)))
        )
        self.assertIsNone(
            self.resumed(make_session(mode="opencode", conversation_ids=("ses_dfdff0",)))
        )

    def test_agent_with_unknown_files_resumes_its_last_id(self) -> None:
        self.assertEqual(
            NEW, self.resumed(make_session(mode="antigravity", conversation_ids=(OLD, NEW)))
        )
        self.assertIsNone(self.resumed(make_session(mode="antigravity")))

    def test_confined_account_resumes_only_conversations_of_its_cases(self) -> None:
        """Whose conversation it is tells where it began; Codex goes on with any."""
        inside = FolderLimit(self.machine.folder / "cases")
        homes = TranscriptHomes(
            own=self.files, places=places_of(own_location()), inside=lambda *_: inside
        )
        found = ResumeLookup(lambda: homes, run_directly)
        words = {"type": "event_msg", "payload": {"type": "user_message", "message": "go"}}
        for place, own in ((f"{inside.top}/shop", True), ("/elsewhere", False), (None, False)):
            name = uuid4().hex
            meta = {"type": "session_meta", "payload": {"id": name, "cwd": place}}
            write_lines(
                self.files.codex_folder / "2026/11/22" / f"rollout-t-{name}.jsonl", meta, words
            )
            owner = make_session(conversation_ids=(name,), created_at=0)
            self.assertEqual(
                name if own else None, self.run_now(found.find_last_conversation(owner))
            )
            located = homes.get_transcript_locations(owner).find_conversation(
                owner, None, (), shared=False
            )
            self.assertEqual(own, located is not None, place)
            if own:
                self.run_now(found.check_conversation(owner, name))
                continue
            refused = self.refusal(found.check_conversation(owner, name))
            self.assertEqual(ErrorCode.FORBIDDEN, refused.code)
        # What is not there the agent itself refuses; of an agent whose files nobody knows any.
        self.run_now(found.check_conversation(make_session(), OLD))
        self.run_now(found.check_conversation(make_session(mode="antigravity"), OLD))

    def test_unreadable_location_starts_a_new_conversation(self) -> None:
        homes = TranscriptHomes(own=self.files, places=places_of(own_location()), inside=unbounded)
        nowhere = make_session(location=SessionLocationKind.REMOTE, conversation_ids=(OLD,))
        found = ResumeLookup(lambda: homes, run_directly)
        self.assertIsNone(self.run_now(found.find_last_conversation(nowhere)))
        # Where nobody shares a home, nothing is looked at: the other machine may be away.
        self.run_now(found.check_conversation(nowhere, OLD))


class ConversationStartTests(AgentHarnessCase):
    """C{POST start}."""

    def ended(self, **fields: Any) -> Session:
        """A session whose agent told of a conversation and ended."""
        owner = self.agent("x", **fields)
        self.hook(owner, "session_start", session_id=OLD)
        self.pane(owner).exit_program(0)
        return self.sessions.get(owner.id)

    def argv(self, owner: Session) -> list[str]:
        return list(self.pane(owner).spec.argv)

    def test_start_resumes_the_last_conversation(self) -> None:
        owner = self.ended()
        self.run_now(self.sessions.start(owner.id, GRANTED))
        argv = self.argv(owner)
        self.assertEqual(["--resume", OLD], argv[1:3])

    def test_fresh_start_begins_a_new_conversation(self) -> None:
        owner = self.ended()
        self.run_now(self.sessions.start(owner.id, GRANTED, fresh=True))
        self.assertNotIn(OLD, self.argv(owner))

    def test_start_resumes_a_named_conversation(self) -> None:
        """It goes before the last one, and before a fresh one."""
        for fresh in (False, True):
            owner = self.ended()
            started = self.sessions.start(owner.id, GRANTED, resume=NEW, fresh=fresh)
            self.run_now(started)
            self.assertEqual(["--resume", NEW], self.argv(owner)[1:3])

    def test_invalid_conversation_id_is_refused(self) -> None:
        """Nothing is started, and nothing of it reaches a command line."""
        agent, shell = self.ended(), self.shell()
        self.pane(shell).exit_program(0)
        for owner, resume in ((agent, "--model=x"), (agent, ""), (shell, OLD)):
            work = self.sessions.start(owner.id, GRANTED, resume=resume)
            text = self.assert_refused(ErrorCode.INVALID_INPUT, work)
            self.assertTrue(text.startswith("resumeSessionId: "), text)
            self.assertIsNone(self.sessions.get(owner.id).pid)

    def test_start_without_a_conversation_begins_one(self) -> None:
        owner = self.agent("x")
        self.pane(owner).exit_program(0)
        self.run_now(self.sessions.start(owner.id, GRANTED))
        self.assertNotIn("--resume", self.argv(owner))

    def test_shell_has_no_conversation(self) -> None:
        owner = self.shell()
        self.sessions.update_record(owner.id, conversation_ids=(OLD,))
        self.pane(owner).exit_program(0)
        self.run_now(self.sessions.start(owner.id, GRANTED))
        self.assertNotIn(OLD, self.argv(owner))
