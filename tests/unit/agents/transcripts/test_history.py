"""Past conversations: listed with their turns, searched and read, whichever agent wrote them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from attrs import evolve

from tests.runtime_harness import own_location, places_of
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.harness import run_directly
from tests.unit.agents.transcripts.transcript_lines import ID, answer_line, prompt_line, write_lines
from tests.unit.agents.transcripts.transcript_samples import RECORDED, make_database
from tests.unit.agents.transcripts.usage_totals import usage_totals_of
from tests.unit.sessions.harness import ADMIN
from tservice.agents.transcripts import conversation_search
from tservice.agents.transcripts import history as history_module
from tservice.agents.transcripts.conversation.pages import PageRequest
from tservice.agents.transcripts.conversation.reader_cache import ReaderCache
from tservice.agents.transcripts.conversation_access import read_new_messages
from tservice.agents.transcripts.files import TranscriptLocations
from tservice.agents.transcripts.history import ConversationHistory
from tservice.agents.transcripts.model import LINE_VALUES, NAME_CHARS, ReadPosition
from tservice.agents.transcripts.transcript_homes import TranscriptHomes
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode
from tservice.core.locations.workspace_bounds import ANYWHERE, FolderLimit
from tservice.core.users.os_users import OsUserId

EVE = Identity(username="eve", admin=False)


class ConversationHistoryTests(ApprovalCase):
    def setUp(self) -> None:
        super().setUp()
        self.files = TranscriptLocations.from_home(self.machine.home)
        self.inside = ANYWHERE
        homes = TranscriptHomes(
            own=self.files,
            places=places_of(own_location()),
            inside=lambda owner, place: self.inside,
        )
        self.history = ConversationHistory(
            self.sessions, homes, run_directly, self.clock.seconds, ReaderCache(lambda _: None)
        )

    def claude(self, name: str, *entries: Any, at: int = 1000) -> Path:
        path = self.files.claude_folder / "-srv" / f"{name}.jsonl"
        write_lines(path, *entries)
        os.utime(path, (at, at))
        return path

    def found(self, words: str, caller: Identity = ADMIN) -> list[str | None]:
        answer = self.run_now(self.history.search_conversations(caller, words, 10, 0))
        return [each.excerpt for each in answer.sessions]

    def listed(self) -> dict[str, tuple[str | None, str | None, int]]:
        answer = self.run_now(self.history.list_conversations(ADMIN, 10, 0))
        return {each.mode: (each.title, each.working_dir, each.turns) for each in answer.sessions}

    def everybody(self) -> None:
        """A conversation of each agent, as it wrote it."""
        roots = self.files.roots
        for mode, below, name in (
            ("codex", "2026/11/20", "codex-0.169.0"),
            ("pi", "--home-me-work--", "pi-0.73.1"),
            ("gemini", "work/chats", "gemini-0.61.0"),
        ):
            folder = roots[mode] / below
            folder.mkdir(parents=True)
            shutil.copy(RECORDED / f"{name}.jsonl", folder / f"session-{name}.jsonl")
        (roots["gemini"] / "work" / ".project_root").write_text("/home/me/work")
        make_database(roots["opencode"])
        self.claude(
            ID,
            prompt_line("SAY: hello there"),
            answer_line("hello there"),
            prompt_line("and again"),
        )

    def test_conversations_of_every_agent_are_listed_with_their_turns(self) -> None:
        self.everybody()
        listed = self.listed()
        self.assertEqual({"primary", "codex", "gemini", "opencode", "pi"}, set(listed))
        self.assertEqual(("SAY: hello there", "/srv", 2), listed.pop("primary"))
        for mode, (title, folder, turns) in listed.items():
            prompted = "HOLD: door" if mode == "codex" else "SAY: hello there"
            self.assertEqual((prompted, "/home/me/work"), (title, folder), mode)
            self.assertLess(1, turns, mode)

    def test_conversations_of_every_agent_are_searched_and_read(self) -> None:
        self.everybody()
        answer = self.run_now(self.history.search_conversations(ADMIN, "SAY: Hello", 10, 0))
        self.assertEqual((4, True), (answer.total, answer.complete))
        self.assertEqual(1, len(self.found("hold: DOOR")))
        for each in answer.sessions:
            self.assertIn("hello there", each.excerpt or "", each.mode)
            if each.mode not in ("primary", "opencode"):
                continue  # the copies of the others are not named after their conversation
            items = self.history.read_page(ADMIN, each.mode, each.id, PageRequest(limit=500), None)
            words = [(item.role, item.text) for item in self.run_now(items)[1].items]
            self.assertEqual(
                [("user", "SAY: hello there"), ("assistant", "hello there")], words[:2]
            )
            read = self.run_now(self.history.read_transcript(ADMIN, each.mode, each.id))
            self.assertEqual(
                ("user", "SAY: hello there"), (read.messages[0].role, read.messages[0].text)
            )
            self.assertEqual(
                ("assistant", "hello there"), (read.messages[1].role, read.messages[1].text)
            )
            self.assertFalse(read.truncated)

    def test_words_are_found_in_any_case_and_script(self) -> None:
        self.claude(ID, prompt_line('Paint the "Tür" /now'), answer_line("done\nwell"))
        for words in ("paint", 'the "tür"', "TÜR", "/NOW", "/srv", "done"):
            self.assertEqual(1, len(self.found(words)), words)
        for words in ("sessionid", "opus", "wall", "done well"):
            self.assertEqual([], self.found(words), words)

    def test_search_excerpt_is_short_and_on_one_line(self) -> None:
        self.claude(ID, prompt_line("long " * 100 + "\n the needle here \n" + "tail " * 100))
        (excerpt,) = self.found("NEEDLE")
        self.assertLess(len(excerpt or ""), conversation_search.AROUND + 3)
        self.assertRegex(excerpt or "", r"\A….* the needle here tail .*…\Z")

    def test_search_is_bounded(self) -> None:
        for number in range(3):
            path = self.claude(f"{number}", prompt_line("needle"), at=1000 + number)
        size = path.stat().st_size
        for name, bound in (("SEARCHED", 2), ("HITS", 2), ("SEARCHED_BYTES", 2 * size)):
            self.patch(conversation_search, name, bound)
            answer = self.run_now(self.history.search_conversations(ADMIN, "needle", 10, 0))
            self.assertEqual((2, False), (answer.total, answer.complete), name)
            self.patch(conversation_search, name, 10_000)
        moments = iter(range(0, 100, 2))
        late = ConversationHistory(
            self.sessions,
            self.history._homes,
            run_directly,
            lambda: float(next(moments)),
            ReaderCache(lambda _: None),
        )
        answer = self.run_now(late.search_conversations(ADMIN, "needle", 10, 0))
        self.assertEqual((2, False), (answer.total, answer.complete))

    def test_turns_of_a_grown_conversation_are_counted_again(self) -> None:
        self.claude(ID, prompt_line("one"))
        self.assertEqual(1, self.listed()["primary"][2])
        self.claude(ID, prompt_line("two"))
        self.assertEqual(2, self.listed()["primary"][2])
        self.patch(history_module, "REMEMBERED", 2)
        self.claude(ID, prompt_line("three"))
        self.assertEqual(3, self.listed()["primary"][2])
        self.assertEqual(1, len(self.history._turns))

    def test_turns_of_a_long_conversation_are_counted_at_its_beginning(self) -> None:
        self.claude(ID, prompt_line("one"), prompt_line("two"))
        size = len((self.files.claude_folder / "-srv" / f"{ID}.jsonl").read_bytes())
        for module in (conversation_search, history_module):
            self.patch(module, "COUNTED", size // 2)
        (one,) = self.run_now(self.history.list_conversations(ADMIN, 10, 0)).sessions
        self.assertEqual((1, True), (one.turns, one.turns_cut))

    def test_other_accounts_find_only_conversations_of_their_folders(self) -> None:
        self.claude(ID, prompt_line("secret needle"))
        self.assertEqual([], self.found("needle", EVE))
        self.assertEqual([], self.found("/srv", EVE))
        unseen = self.history.read_transcript(EVE, "primary", ID)
        self.assert_refused(ErrorCode.NOT_FOUND, unseen)
        self.assertEqual(
            1, len(self.run_now(self.history.read_transcript(ADMIN, "primary", ID)).messages)
        )
        # What was said is not looked into either: the time that takes would tell of it.
        self.patch(conversation_search, "iterate_messages", lambda *asked: self.fail("looked into"))
        self.assertEqual([], self.found("needle", EVE))

    def test_session_record_gives_no_right_to_its_folder(self) -> None:
        """Its owner was an admin, or had an OS user, when it was made."""
        session = self.create(ADMIN, working_dir=str(self.work))
        self.sessions.update_record(session.id, owner=ADMIN.username)
        self.claude(ID, {**prompt_line("secret needle"), "cwd": str(self.work)})
        demoted = evolve(ADMIN, admin=False)
        self.assertEqual(["secret needle"], self.found("needle", demoted))
        read = self.history.read_transcript(demoted, "primary", ID)
        self.assertEqual(1, len(self.run_now(read).messages))

        page = self.history.read_page(demoted, "primary", ID, PageRequest(), None)
        (item,) = self.run_now(page)[1].items
        whole = self.history.read_item(demoted, "primary", ID, item.id, None)
        self.assertEqual(item, self.run_now(whole))

        def assert_unseen() -> None:
            self.assertEqual(0, self.run_now(self.history.list_conversations(demoted, 10, 0)).total)
            self.assertEqual([], self.found("needle", demoted))
            for again in (
                self.history.read_transcript(demoted, "primary", ID),
                self.history.read_page(demoted, "primary", ID, PageRequest(), None),
                self.history.read_page(demoted, "primary", ID, PageRequest(), "agent"),
                self.history.read_item(demoted, "primary", ID, item.id, None),
            ):
                self.assert_refused(ErrorCode.NOT_FOUND, again)

        self.inside = FolderLimit(self.machine.config.cases_dir / "admin")
        assert_unseen()
        self.inside = ANYWHERE
        self.sessions.update_record(session.id, os_user=OsUserId(name="ann", uid=1234))
        assert_unseen()

    def test_line_with_too_many_values_is_skipped(self) -> None:
        """To parse eight MiB of them would hold up everybody for a second, in a thread too."""
        crowd = {**prompt_line("needle"), "x": [0] * LINE_VALUES}
        self.claude(ID, prompt_line("first"), crowd, prompt_line("needle last"))
        (one,) = self.run_now(self.history.list_conversations(ADMIN, 10, 0)).sessions
        self.assertEqual(2, one.turns)
        self.assertEqual(["needle last"], self.found("needle"))

    def test_oversized_names_are_not_stored(self) -> None:
        """What is kept of a conversation is written down at each of its turns."""
        long = "x" * (NAME_CHARS + 1)
        usage = {"input_tokens": 1, "output_tokens": 1}
        wrong = answer_line("an error " + long)
        entries = (
            {**prompt_line("first"), "cwd": long},
            {**wrong, "isApiErrorMessage": True},
            {**wrong, "message": {**wrong["message"], "id": long, "model": long, "usage": usage}},
        )
        path = self.claude(ID, *entries)
        place = read_new_messages(ReadPosition(path=""), path, "primary")
        tally = place.tally
        assert tally.failure is not None
        self.assertLessEqual(len(tally.failure.text), NAME_CHARS)
        self.assertIsNone(tally.cwd)
        self.assertEqual({"opus", ""}, {each.model for each in usage_totals_of(place).usage})

    def test_invalid_conversation_or_mode_is_refused(self) -> None:
        unknown = self.history.read_transcript(ADMIN, "primary", "../../etc/passwd")
        self.assert_refused(ErrorCode.NOT_FOUND, unknown)
        shell = self.history.read_transcript(ADMIN, "shell", ID)
        self.assertIn("mode", self.assert_refused(ErrorCode.INVALID_INPUT, shell))
