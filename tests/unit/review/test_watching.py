"""Counts of changes are told when they change, and bases are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.review.review_harness import ANN, SESSION_ID, RecordingSessions, add_session_row
from tests.unit.store.review_story import COMMENT
from tservice.core.kernel.errors import make_failure_error
from tservice.core.kernel.event_payloads import OccurrencePayload, SessionPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.review.model import (
    BaseSource,
    ChangeTotals,
    ComparisonBase,
    RepositoryChanges,
)
from tservice.review.service import SessionChanges
from tservice.review.store import ReviewStore
from tservice.review.watching import (
    MAX_WATCHED,
    WATCHED_SECONDS,
    ChangesWatcher,
)
from tservice.store.database import Database


def make_changes(files: int) -> SessionChanges:
    base = ComparisonBase(ref=None, commit=None, source=BaseSource.HEAD, tree="t")
    repository = RepositoryChanges(
        path=".", name="n", base=base, branch="main", commit=None, is_detached=False,
        totals=ChangeTotals(files=files, added=files, removed=0),
    )  # fmt: skip
    return SessionChanges(repositories=[repository])


class PlayedCopy:
    """A repository whose HEAD is known."""

    path = "."

    async def run_git(self, words: Sequence[str | bytes], limit: int) -> tuple[bytes, bool]:
        return b"c0ffee\n", False


class PlayedReview:
    """Readings that a test ends, and whose results it sets."""

    def __init__(self) -> None:
        self.files = 0
        self.read: list[str] = []
        self.fails = False
        self.waits: Deferred[None] | None = None
        self.watcher: ChangesWatcher | None = None

    async def read_changes(self, session_id: str) -> SessionChanges:
        self.read.append(session_id)
        await (self.waits or succeed(None))
        if self.fails:
            raise make_failure_error("git timed out")
        found = make_changes(self.files)
        assert self.watcher is not None
        self.watcher.report_changes(session_id, found)
        return found

    async def open_working_copies(self, session_id: str) -> list[PlayedCopy]:
        if self.fails:
            raise make_failure_error("no repository")
        return [PlayedCopy()]


class WatchingTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.hub, self.review = Clock(), EventHub(), PlayedReview()
        self.database = Database.open_in_memory()
        self.addCleanup(self.database.close)
        add_session_row(self.database)
        self.store = ReviewStore(self.database)
        parts: dict[str, Any] = {
            "sessions": RecordingSessions(None),  # type: ignore[arg-type]
            "copies": self.review,
            "review": self.review,
        }
        self.watcher = ChangesWatcher(clock=self.clock, hub=self.hub, store=self.store, **parts)
        self.review.watcher = self.watcher
        self.told: list[Any] = []
        self.hub.subscribe(self.keep)
        self.watcher.start()
        self.addCleanup(self.watcher.stop)

    def keep(self, event: Event) -> None:
        if event.name is EventName.SESSION_CHANGES:
            self.told.append(event.payload)
            self.assertEqual(("ann", SESSION_ID), (event.owner, event.session_id))

    def publish(self, name: EventName, session_id: str = SESSION_ID) -> None:
        at = OccurrencePayload(id=session_id, at=1)
        payload = SessionPayload(id=session_id) if name is EventName.SESSION_CREATED else at
        self.hub.publish(Event(name=name, payload=payload, session_id=session_id, owner="ann"))

    def test_end_of_a_turn_tells_the_counts_once(self) -> None:
        self.review.files = 3
        self.publish(EventName.SESSION_STOP)
        self.assertEqual([3], [told.totals.files for told in self.told])
        self.publish(EventName.SESSION_STOP)
        self.assertEqual((2, 1), (len(self.review.read), len(self.told)))

    def test_shell_that_is_quiet_again_is_not_read(self) -> None:
        self.publish(EventName.SESSION_IDLE)
        self.assertEqual([], self.review.read)

    def test_session_without_changes_says_nothing(self) -> None:
        self.publish(EventName.SESSION_STOP)
        self.assertEqual([], self.told)

    def test_watched_session_is_read_about_once_a_second(self) -> None:
        self.watcher.watch(SESSION_ID)
        for number in range(1, 6):
            self.review.files = number
            self.clock.advance(1)
        self.assertEqual([1, 2, 3, 4, 5], [told.totals.files for told in self.told])
        self.clock.pump([1] * int(WATCHED_SECONDS))
        count = len(self.review.read)
        self.clock.pump([1] * 10)
        self.assertEqual((count, []), (len(self.review.read), self.clock.getDelayedCalls()))

    def test_slow_reading_is_repeated_less_often(self) -> None:
        self.review.waits = Deferred()
        self.watcher.watch(SESSION_ID)
        self.clock.advance(1)
        self.clock.advance(2)
        waits, self.review.waits = self.review.waits, None
        waits.callback(None)
        self.clock.advance(19)
        self.assertEqual(1, len(self.review.read))
        self.clock.advance(1)
        self.assertEqual(2, len(self.review.read))

    def test_failed_reading_goes_on(self) -> None:
        self.review.fails = True
        self.watcher.watch(SESSION_ID)
        self.clock.pump([1] * 3)
        self.assertEqual((3, []), (len(self.review.read), self.told))

    def test_number_of_watched_sessions_is_bounded(self) -> None:
        for number in range(MAX_WATCHED + 5):
            self.watcher.watch(f"s{number}")
        self.assertEqual(MAX_WATCHED, len(self.clock.getDelayedCalls()))

    def test_comments_are_counted(self) -> None:
        self.store.save_comment(evolve(COMMENT, session_id=SESSION_ID))
        self.watcher.report_comments(SESSION_ID)
        self.assertEqual((1, 0), (self.told[0].comments.open, self.told[0].comments.sent))
        self.assertEqual(self.told, self.watcher.describe_known(ANN))

    def test_base_is_recorded_once(self) -> None:
        self.publish(EventName.SESSION_CREATED)
        self.assertEqual("c0ffee", self.store.find_start(SESSION_ID, "."))
        self.store.save_start(SESSION_ID, ".", "other", 2)
        self.publish(EventName.SESSION_INTERACTIVE)
        self.assertEqual("c0ffee", self.store.find_start(SESSION_ID, "."))

    def test_session_without_a_repository_has_no_base(self) -> None:
        self.review.fails = True
        self.publish(EventName.SESSION_CREATED)
        self.assertFalse(self.store.has_start(SESSION_ID))

    def test_removed_session_is_forgotten(self) -> None:
        self.review.files = 1
        self.watcher.watch(SESSION_ID)
        self.clock.advance(1)
        self.publish(EventName.SESSION_DELETED)
        self.assertEqual([], self.clock.getDelayedCalls())
        self.assertEqual([], self.watcher.describe_known(ANN))
