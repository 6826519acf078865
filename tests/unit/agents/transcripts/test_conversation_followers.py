"""Tests for L{tservice.agents.transcripts.conversation.followers}, on a clock, without a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.agents.transcripts.conversation import followers as module
from tservice.agents.transcripts.conversation.followers import (
    DEBOUNCE,
    FOLLOW_SECONDS,
    QUIET,
    SEARCHING,
    UNWATCHED,
    ConversationFollowers,
    FollowedId,
)
from tservice.core.kernel.errors import make_failure_error

ONE = FollowedId("s1")
PATH = Path("/w/t.jsonl")


class PlayedWatches:
    """Watches that a test rings."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[], None]] = []
        self.full = False

    def watch_folder(self, folder: int, listener: Callable[[], None]) -> Callable[[], None]:
        os.fstat(folder)
        if self.full:
            raise make_failure_error("path: the system's limit of watched folders is reached")
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def ring(self) -> None:
        for listener in tuple(self.listeners):
            listener()


class FollowerTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.watches = PlayedWatches()
        self.opened: list[Path] = []
        self.read: list[FollowedId] = []
        self.held: Deferred[None] | None = None
        watches: Any = self.watches
        self.followers = ConversationFollowers(self.clock, watches, self.open, self.look)
        self.addCleanup(self.followers.close)

    async def open(self, followed: FollowedId, path: Path) -> int | None:
        self.opened.append(path)
        return os.open("/", os.O_RDONLY)

    async def look(self, followed: FollowedId) -> None:
        self.read.append(followed)
        if self.held is not None:
            await self.held

    def follow(self, followed: FollowedId = ONE, path: Path | None = PATH) -> None:
        work = self.followers.follow(followed, path)
        self.successResultOf(Deferred.fromCoroutine(work))

    def test_change_is_read_once_soon_after_many_notifications(self) -> None:
        self.follow()
        for _ in range(20):
            self.watches.ring()
            self.clock.advance(DEBOUNCE / 40)
        self.assertEqual([], self.read)
        self.clock.advance(DEBOUNCE)
        self.assertEqual([ONE], self.read)

    def test_busy_folder_does_not_put_the_reading_off(self) -> None:
        self.follow()
        for _ in range(100):
            self.watches.ring()
            self.clock.advance(DEBOUNCE / 10)
        self.assertGreaterEqual(len(self.read), 9)

    def test_change_during_a_reading_is_read_after_it(self) -> None:
        self.follow()
        self.held = Deferred()
        self.watches.ring()
        self.clock.advance(DEBOUNCE)
        self.watches.ring()
        self.clock.advance(DEBOUNCE)
        self.assertEqual(1, len(self.read))
        held, self.held = self.held, None
        held.callback(None)
        self.clock.advance(DEBOUNCE)
        self.assertEqual(2, len(self.read))

    def test_conversation_is_read_now_and_then_without_a_notification(self) -> None:
        self.follow()
        self.clock.advance(QUIET)
        self.assertEqual([ONE], self.read)
        self.watches.full = True
        other = FollowedId("s2")
        self.follow(other)
        self.assertFalse(self.followers.is_watched(other))
        self.clock.advance(UNWATCHED)
        self.clock.advance(UNWATCHED)
        self.assertEqual([ONE, other, other], self.read)

    def test_conversation_that_does_not_exist_yet_is_searched_for(self) -> None:
        self.follow(path=None)
        for _ in range(3):
            self.clock.advance(SEARCHING)
        self.assertEqual(3, len(self.read))
        self.assertEqual([], self.opened)
        self.follow()
        self.assertTrue(self.followers.is_watched(ONE))

    def test_following_ends_some_time_after_the_last_request(self) -> None:
        self.follow()
        self.clock.advance(FOLLOW_SECONDS - 1)
        self.follow()
        self.clock.advance(FOLLOW_SECONDS - 1)
        self.assertTrue(self.followers.is_watched(ONE))
        self.clock.advance(1)
        self.assertEqual((0, []), (len(self.followers), self.watches.listeners))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_another_file_is_watched_in_place_of_the_first(self) -> None:
        self.follow()
        self.follow(path=Path("/w/other.jsonl"))
        self.assertEqual(1, len(self.watches.listeners))
        self.assertEqual([PATH, Path("/w/other.jsonl")], self.opened)

    def test_number_of_followed_conversations_is_limited(self) -> None:
        self.patch(module, "FOLLOWED", 3)
        for number in range(5):
            self.follow(FollowedId(f"s{number}"))
        self.follow(FollowedId("s2"))
        self.follow(FollowedId("s9"))
        watched = [n for n in range(10) if self.followers.is_watched(FollowedId(f"s{n}"))]
        self.assertEqual([2, 4, 9], watched)

    def test_ended_session_and_service_leave_nothing(self) -> None:
        self.follow()
        self.follow(FollowedId("s1", "a"))
        self.follow(FollowedId("s2"))
        self.followers.check_session("s2")
        self.followers.drop_session("s1")
        self.assertEqual(1, len(self.watches.listeners))
        self.followers.close()
        self.assertEqual([], self.watches.listeners)
        self.assertEqual([], self.clock.getDelayedCalls())
