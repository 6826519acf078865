"""Tests for L{tservice.files.tail} and L{tservice.files.following}, on a clock."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, aclosing
from typing import Any, cast

from attrs import evolve
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import Clock

from tests.unit.files.workspacecase import WorkspaceCase, descriptors
from tservice.core.errors import ServiceError
from tservice.files.following import BEAT, BEAT_SECONDS, IDLE_SECONDS, STREAMS, Followers
from tservice.files.tail import LINES_BYTES, PIECE, News, Tail
from tservice.files.watches import Watches


class TailTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.held = ExitStack()
        self.addCleanup(self.held.close)

    def tail(self, path: str = "log", lines: int = 50) -> tuple[Tail, News]:
        tail = Tail(str(self.folder), path, self.closed)
        return tail, tail.begin(self.held, lines)

    def test_the_last_lines(self) -> None:
        self.put("log", "".join(f"{n}\n" for n in range(100)))
        for lines, text in ((0, ""), (1, "99\n"), (3, "97\n98\n99\n")):
            self.assertEqual(text, self.tail(lines=lines)[1].text, lines)
        self.put("log", "a\nb\nhalf")
        self.assertEqual("b\nhalf", self.tail(lines=2)[1].text)
        self.assertEqual("a\nb\nhalf", self.tail(lines=9)[1].text)
        self.put("log", "")
        self.assertEqual("", self.tail()[1].text)

    def test_of_long_lines_no_more_than_a_bound(self) -> None:
        self.put("log", b"x" * (3 * LINES_BYTES))
        tail, news = self.tail(lines=1)
        size = 0
        while news.more:
            size += len(news.text)
            news = tail.look()
        self.assertEqual(LINES_BYTES, size)

    def test_what_is_added(self) -> None:
        file = self.put("log", "")
        tail, _ = self.tail()
        self.assertEqual(News(), tail.look())
        file.write_text("a")
        self.assertEqual(News("a", more=True), tail.look())
        with file.open("ab") as stream:
            stream.write("ü".encode()[:1])
            stream.flush()
            self.assertEqual("", tail.look().text)
            stream.write("ü".encode()[1:] + b"\xff")
        self.assertEqual("ü\ufffd", tail.look().text)

    def test_piece_by_piece(self) -> None:
        file = self.put("log", "")
        tail, _ = self.tail()
        file.write_bytes(b"x" * (PIECE + 1))
        self.assertEqual(PIECE, len(tail.look().text))
        self.assertEqual(1, len(tail.look().text))

    def test_truncation(self) -> None:
        file = self.put("log", "long before")
        tail, _ = self.tail()
        file.write_text("new")
        self.assertEqual(News("new", truncated=True, more=True), tail.look())

    def test_rotation(self) -> None:
        file = self.put("log", "a\n")
        tail, _ = self.tail()
        with file.open("a") as stream:
            stream.write("last\n")
        file.rename(self.folder / "log.1")
        file.write_text("new\n")
        self.assertEqual("last\n", tail.look().text)
        self.assertEqual("new\n", tail.look().text)
        self.assertEqual(News(), tail.look())

    def test_removed_and_made_again(self) -> None:
        file = self.put("log", "a\n")
        tail, _ = self.tail()
        file.unlink()
        self.assertEqual(News(), tail.look())
        file.write_text("new\n")
        self.assertEqual("new\n", tail.look().text)

    def test_replaced_by_what_may_not_be_read(self) -> None:
        file = self.put("log", "a\n")
        for make in (
            lambda: os.symlink(self.outside / "secret.txt", file),
            lambda: os.mkfifo(file),
            lambda: os.symlink("/etc/passwd", file),
        ):
            tail, _ = self.tail()
            file.unlink()
            make()
            self.assertRaises(ServiceError, tail.look)
            file.unlink()
            file.write_text("a\n")

    def test_what_cannot_be_followed(self) -> None:
        os.mkfifo(self.folder / "fifo")
        self.put(".env")
        for path in ("fifo", ".env", "../outside/secret.txt", "."):
            self.assertRaises(ServiceError, self.tail, path)
        self.assertRaises(FileNotFoundError, self.tail, "none")


class FakeWatches:
    """Folders whose changes a test tells."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[], None]] = []

    def watch(self, folder: int, heard: Callable[[], None]) -> Callable[[], None]:
        os.fstat(folder)
        self.listeners.append(heard)
        return lambda: self.listeners.remove(heard)

    def change(self) -> None:
        for heard in tuple(self.listeners):
            heard()


class FollowersTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.clock = Clock()
        self.watches = FakeWatches()
        self.followers = Followers(
            self.clock,
            self.workers,
            cast(Watches, self.watches),
            lambda _: self.closed,
            lambda: "id",
        )
        self.addCleanup(self.followers.end)

    def follow(self, session: str = "s1", lines: int = 50) -> tuple[list[Any], Deferred[None]]:
        told: list[Any] = []
        workspace = evolve(self.workspace, session_id=session)
        stream = self.followers.follow(workspace, "log", lines)

        async def listen(messages: AsyncIterator[Any]) -> None:
            async with aclosing(messages):  # type: ignore[type-var]
                async for message in messages:
                    told.append(message)

        return told, Deferred.fromCoroutine(listen(stream))

    def test_what_is_told(self) -> None:
        file = self.put("log", "a\nb\n")
        told, ended = self.follow(lines=1)
        connected = {"type": "connected", "streamId": "id"}
        self.assertEqual([connected, {"type": "data", "data": "b\n"}], told)
        with file.open("a") as stream:
            stream.write("c\n")
        self.watches.change()
        self.assertEqual({"type": "data", "data": "c\n"}, told[-1])
        file.write_text("d")
        self.watches.change()
        self.assertEqual([{"type": "truncated"}, {"type": "data", "data": "d"}], told[-2:])
        self.followers.end()
        self.assertEqual({"type": "end"}, told[-1])
        self.successResultOf(ended)
        self.assertEqual(([], 0), (self.watches.listeners, self.followers.count))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_an_error_ends_it(self) -> None:
        file = self.put("log", "a")
        told, ended = self.follow()
        file.unlink()
        os.symlink("/etc/passwd", file)
        self.watches.change()
        self.successResultOf(ended)
        self.assertEqual(
            {"type": "error", "message": "path: outside the workspace of the session"}, told[-1]
        )
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_five_idle_minutes_with_signs_of_life(self) -> None:
        file = self.put("log", "")
        told, ended = self.follow()
        beats = int(IDLE_SECONDS / BEAT_SECONDS)
        for _ in range(beats - 1):
            self.clock.advance(BEAT_SECONDS)
            self.watches.change()  # of another file
        self.assertEqual([BEAT] * (beats - 1), told[1:])
        file.write_text("x")
        self.watches.change()
        for _ in range(beats - 1):
            self.clock.advance(BEAT_SECONDS)
        self.assertNoResult(ended)
        self.clock.advance(BEAT_SECONDS)
        self.successResultOf(ended)
        self.assertEqual({"type": "end"}, told[-1])

    def test_what_nobody_tells_of_is_seen_all_the_same(self) -> None:
        file = self.put("log", "")
        told, _ = self.follow()
        file.write_text("from another machine")
        self.clock.advance(BEAT_SECONDS)
        self.assertEqual({"type": "data", "data": "from another machine"}, told[-1])

    def test_it_ends_with_its_session(self) -> None:
        """Also while the first look is under way."""
        self.put("log", "a\n")
        (told, ended), (_, others) = self.follow(), self.follow("another")
        self.followers.end(self.workspace.session_id)
        self.successResultOf(ended)
        self.assertEqual({"type": "end"}, told[-1])
        self.assertEqual(1, self.followers.count)
        self.assertNoResult(others)

        def gone_meanwhile(work: Callable[[], Any], *_: Any, **__: Any) -> Deferred[Any]:
            self.followers.end(self.workspace.session_id)
            return maybeDeferred(work)

        self.patch(self.door, "run", gone_meanwhile)
        told, ended = self.follow()
        self.successResultOf(ended)
        self.assertEqual(["connected", "end"], [each["type"] for each in told])

    def test_so_many_of_a_session(self) -> None:
        self.put("log", "")
        streams = [self.follow() for _ in range(STREAMS)]
        _, refused = self.follow()
        self.assertEqual(429, self.failureResultOf(refused, ServiceError).value.status)
        self.follow("another")
        self.followers.end()
        for _, ended in streams:
            self.successResultOf(ended)
        self.follow()

    def test_what_was_refused_does_not_count(self) -> None:
        for _ in range(STREAMS + 1):
            _, refused = self.follow()
            self.assertEqual(404, self.failureResultOf(refused, ServiceError).value.status)

    def test_a_listener_that_leaves(self) -> None:
        self.put("log", "a")
        before = descriptors()
        _, ended = self.follow()
        ended.cancel()
        self.failureResultOf(ended)
        self.assertEqual(([], 0), (self.watches.listeners, self.followers.count))
        self.assertEqual(before, descriptors())
        self.assertEqual([], self.clock.getDelayedCalls())
