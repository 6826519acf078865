"""Recording of a session's files at the ends of its turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.git.random_repositories import run_git
from tests.unit.review.review_harness import SESSION_ID, add_session_row
from tests.unit.review.turns.turns_harness import TurnTestCase, publish
from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.events import EventHub, EventName
from tservice.review.comparison.trees import CONTENT_BYTES
from tservice.review.turns import recording as recording_module
from tservice.review.turns.recording import SECONDS, TurnRecorder
from tservice.review.turns.store import TurnStore
from tservice.store.database import Database


class RecordingTests(TurnTestCase):
    """Turns in a real repository."""

    def list_turns(self) -> list[int]:
        return self.turns.list_turns(SESSION_ID, ".")

    def list_files(self, at: int) -> dict[bytes, tuple[str, bytes | None]]:
        (tree,) = self.turns.list_trees(SESSION_ID, at)
        found = {}
        for file in tree.files:
            content = self.turns.find_content(SESSION_ID, file.hash)
            found[file.path] = (file.mode, None if content is None else content.decompress())
        return found

    async def test_files_that_differ_from_the_commit_are_recorded(self) -> None:
        self.commit(same="1\n", edited="1\n", staged="1\n", gone="1\n", moved="a\nb\n")
        self.write("edited", "2\n")
        self.write("staged", "2\n")
        (self.folder / "gone").unlink()
        run_git(self.folder, "add", "staged")
        run_git(self.folder, "mv", "moved", "there")
        self.write("fresh", b"\xff")
        await self.end_turn(10)
        expected = {
            b"edited": ("100644", b"2\n"),
            b"fresh": ("100644", b"\xff"),
            b"gone": ("", None),
            b"moved": ("", None),
            b"staged": ("100644", b"2\n"),
            b"there": ("100644", b"a\nb\n"),
        }
        self.assertEqual(expected, self.list_files(10))

    async def test_turn_that_changed_nothing_is_not_recorded(self) -> None:
        self.commit(a="1\n")
        await self.end_turn(10)
        await self.end_turn(20)
        self.assertEqual([10], self.list_turns())
        self.write("a", "2\n")
        await self.end_turn(30)
        self.commit()
        await self.end_turn(40)
        self.assertEqual([40, 30, 10], self.list_turns())

    async def test_repository_without_a_commit_is_left_out(self) -> None:
        self.write("a", "1\n")
        await self.end_turn(10)
        self.assertEqual([], self.list_turns())

    async def test_too_many_files_are_left_out(self) -> None:
        self.commit(a="1\n")
        self.patch(recording_module, "MAX_COMPARED", 2)
        for name in ("b", "c"):
            self.write(name, "x\n")
        await self.end_turn(10)
        self.write("a", "x\n")
        await self.end_turn(20)
        self.assertEqual([10], self.list_turns())

    async def test_large_files_have_no_content(self) -> None:
        self.commit(a="1\n")
        self.write("large", b"x" * (CONTENT_BYTES + 1))
        self.write("small", b"x" * CONTENT_BYTES)
        await self.end_turn(10)
        files = self.list_files(10)
        self.assertEqual(("100644", None), files[b"large"])
        self.assertEqual(CONTENT_BYTES, len(files[b"small"][1] or b""))
        self.write("large", b"y" * (CONTENT_BYTES + 1))
        self.assertEqual({"large": ("modified", 0, 0)}, await self.read_listed(10))
        self.assertTrue((await self.diff(10, "large")).is_cut)

    async def test_contents_of_one_turn_are_bounded(self) -> None:
        self.commit(a="1\n")
        self.patch(recording_module, "TURN_BYTES", 5)
        self.patch(recording_module, "_BATCH", 1)
        for name in ("b", "c", "d"):
            self.write(name, name * 3)
        self.write("e", "e")
        await self.end_turn(10)
        kept = {path for path, (_, content) in self.list_files(10).items() if content is not None}
        self.assertEqual({b"b", b"e"}, kept)

    async def test_contents_that_are_kept_are_not_read_again(self) -> None:
        self.commit(a="1\n")
        self.write("a", "2\n")
        await self.end_turn(10)
        self.write("b", "3\n")
        asked: list[bytes] = []
        kind: Any = type(await self.world.copy())
        read = kind.read_files

        async def read_and_note(copy: Any, paths: Sequence[bytes], limit: int = 0) -> Any:
            asked.extend(paths if limit else ())
            return await read(copy, paths, limit)

        self.patch(kind, "read_files", read_and_note)
        await self.end_turn(20)
        self.assertEqual([b"b"], asked)


class PlayedCopies:
    """Openings of working copies that a test ends."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.waits: dict[str, Deferred[list[Any]]] = {}
        self.cancelled: list[str] = []

    async def open_working_copies(self, session_id: str) -> list[Any]:
        self.opened.append(session_id)
        wait: Deferred[list[Any]] = Deferred(lambda _: self.cancelled.append(session_id))
        self.waits[session_id] = wait
        return await wait


class PlayedCopy:
    """A repository without changes."""

    path = "."

    async def run_git(self, words: Sequence[str | bytes], limit: int) -> tuple[bytes, bool]:
        return b"# branch.oid c0ffee\0# branch.head main\0", False

    async def read_files(self, paths: Sequence[bytes], content_limit: int = 0) -> list[Any]:
        return []

    async def run_in_thread(self, work: Any) -> Any:
        return work()


class RecordingOrderTests(SynchronousTestCase):
    """Order, cancellation and time limit of the readings."""

    def setUp(self) -> None:
        self.clock, self.hub, self.copies = Clock(), EventHub(), PlayedCopies()
        database = Database.open_in_memory()
        self.addCleanup(database.close)
        for session_id in (SESSION_ID, "s2"):
            add_session_row(database, session_id)
        self.store = TurnStore(database)
        copies: Any = self.copies
        self.recorder = TurnRecorder(
            clock=self.clock, hub=self.hub, copies=copies, store=self.store
        )
        self.recorder.start()
        self.addCleanup(self.recorder.stop)

    def publish(self, name: EventName, session_id: str = SESSION_ID) -> None:
        publish(self.hub, name, 5, session_id)

    def finish(self, session_id: str = SESSION_ID) -> None:
        self.copies.waits[session_id].callback([PlayedCopy()])

    def list_turns(self, session_id: str = SESSION_ID) -> list[int]:
        return self.store.list_turns(session_id, ".")

    def test_sessions_are_read_one_at_a_time(self) -> None:
        self.publish(EventName.SESSION_STOP)
        self.publish(EventName.SESSION_STOP, "s2")
        self.assertEqual([SESSION_ID], self.copies.opened)
        self.finish()
        self.assertEqual(([5], []), (self.list_turns(), self.list_turns("s2")))
        self.finish("s2")
        self.assertEqual([5], self.list_turns("s2"))
        self.assertEqual({}, self.recorder._tasks)

    def test_next_turn_cancels_the_reading(self) -> None:
        for name in (EventName.SESSION_WORKING, EventName.HOOK_PROMPT_SUBMITTED):
            self.publish(EventName.SESSION_STOP)
            self.publish(name)
            self.assertEqual({}, self.recorder._tasks)
        self.assertEqual([SESSION_ID] * 2, self.copies.cancelled)
        self.assertEqual([], self.list_turns())

    def test_session_that_waits_is_cancelled_too(self) -> None:
        self.publish(EventName.SESSION_STOP)
        self.publish(EventName.SESSION_STOP, "s2")
        self.publish(EventName.SESSION_WORKING, "s2")
        self.finish()
        self.assertEqual([SESSION_ID], self.copies.opened)
        self.publish(EventName.SESSION_STOP, "s2")
        self.finish("s2")
        self.assertEqual([5], self.list_turns("s2"))

    def test_slow_reading_ends_at_the_time_limit(self) -> None:
        self.publish(EventName.SESSION_STOP)
        self.publish(EventName.SESSION_STOP, "s2")
        self.clock.advance(SECONDS)
        self.assertEqual([SESSION_ID], self.copies.cancelled)
        self.finish("s2")
        self.assertEqual(([], [5]), (self.list_turns(), self.list_turns("s2")))

    def test_workspace_that_cannot_be_read_is_passed_over(self) -> None:
        self.publish(EventName.SESSION_STOP)
        self.copies.waits[SESSION_ID].errback(make_failure_error("no repository"))
        self.publish(EventName.SESSION_STOP)
        self.finish()
        self.assertEqual([5], self.list_turns())

    def test_removed_session_is_forgotten(self) -> None:
        self.publish(EventName.SESSION_STOP)
        self.publish(EventName.SESSION_DELETED)
        self.assertEqual(({}, [SESSION_ID]), (self.recorder._tasks, self.copies.cancelled))

    def test_stop_ends_the_readings(self) -> None:
        self.publish(EventName.SESSION_STOP)
        self.publish(EventName.SESSION_STOP, "s2")
        self.successResultOf(self.recorder.stop())
        self.assertEqual([SESSION_ID], self.copies.cancelled)
        self.publish(EventName.SESSION_STOP)
        self.assertEqual([SESSION_ID], self.copies.opened)
