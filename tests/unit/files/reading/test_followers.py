"""Tests for L{tservice.files.reading.tail} and L{tservice.files.reading.followers}, on a clock."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any, cast

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import Clock

from tests.examples import example_count
from tests.unit.files.harness import WorkspaceCase, open_descriptors
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.folder_watches import FolderWatches
from tservice.files.reading.followers import (
    BEAT_SECONDS,
    HEARTBEAT,
    IDLE_SECONDS,
    STREAMS,
    FileFollowers,
)
from tservice.files.reading.tail import (
    COMPARED_CHUNKS,
    KEPT_CHUNKS,
    LINES_BYTES,
    PIECE,
    SETTLED_SECONDS,
    FileTail,
    ReadPrefix,
    TailUpdate,
)

thorough = settings(max_examples=example_count(200), deadline=None, database=None)


def _append(file: Path, data: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(_plain(data))


def _write_at_the_beginning(file: Path, data: bytes) -> None:
    with file.open("r+b") as stream:
        stream.write(_plain(data))


def _rename_over(file: Path, data: bytes) -> None:
    other = file.with_name("other")
    other.write_bytes(_plain(data))
    other.rename(file)


def _write_as_long_as_before(file: Path, data: bytes) -> None:
    size = file.stat().st_size
    file.write_bytes((_plain(data) * (size + 1))[:size].ljust(size, b"."))


def _plain(data: bytes) -> bytes:
    """ASCII: half a character is told only once the other half is there."""
    return bytes(each % 128 for each in data)


CHANGES: dict[str, Callable[[Path, bytes], object]] = {
    "append": _append,
    "write anew": lambda file, data: file.write_bytes(_plain(data)),
    "write anew, longer": lambda file, data: file.write_bytes(_plain(data) + file.read_bytes()),
    "write anew, as long": _write_as_long_as_before,
    "write at the beginning": _write_at_the_beginning,
    "rename over": _rename_over,
    "rename over, longer": lambda file, data: _rename_over(file, data + file.read_bytes()),
    "cut": lambda file, data: os.truncate(file, min(len(data), file.stat().st_size)),
}


class FollowedTailTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.held = ExitStack()
        self.addCleanup(self.held.close)

    def tail(self, path: str = "log", lines: int = 50) -> tuple[FileTail, TailUpdate]:
        tail = FileTail(str(self.folder), path, self.closed)
        return tail, tail.open_at_lines(self.held, lines)

    def test_last_lines_are_read_first(self) -> None:
        self.put("log", "".join(f"{n}\n" for n in range(100)))
        for lines, text in ((0, ""), (1, "99\n"), (3, "97\n98\n99\n")):
            self.assertEqual(text, self.tail(lines=lines)[1].text, lines)
        self.put("log", "a\nb\nhalf")
        self.assertEqual("b\nhalf", self.tail(lines=2)[1].text)
        self.assertEqual("a\nb\nhalf", self.tail(lines=9)[1].text)
        self.put("log", "")
        self.assertEqual("", self.tail()[1].text)

    def test_long_lines_are_read_up_to_the_bound(self) -> None:
        self.put("log", b"x" * (3 * LINES_BYTES))
        tail, news = self.tail(lines=1)
        size = 0
        while news.more:
            size += len(news.text)
            news = tail.read_news()
        self.assertEqual(LINES_BYTES, size)

    def test_appended_text_is_read(self) -> None:
        file = self.put("log", "")
        tail, _ = self.tail()
        self.assertEqual(TailUpdate(), tail.read_news())
        file.write_text("a")
        self.assertEqual(TailUpdate("a", more=True), tail.read_news())
        with file.open("ab") as stream:
            stream.write("ü".encode()[:1])
            stream.flush()
            self.assertEqual("", tail.read_news().text)
            stream.write("ü".encode()[1:] + b"\xff")
        self.assertEqual("ü\ufffd", tail.read_news().text)

    def test_appended_text_is_read_in_pieces(self) -> None:
        file = self.put("log", "")
        tail, _ = self.tail()
        file.write_bytes(b"x" * (PIECE + 1))
        self.assertEqual(PIECE, len(tail.read_news().text))
        self.assertEqual(1, len(tail.read_news().text))

    def test_truncated_file_is_read_from_its_start(self) -> None:
        file = self.put("log", "long before")
        tail, _ = self.tail()
        file.write_text("new")
        self.assertEqual(TailUpdate("new", truncated=True, more=True), tail.read_news())

    def test_rewritten_file_is_read_from_its_start(self) -> None:
        for new in ("new", "new and longer than before", "equal len.."):
            with self.subTest(new):
                file = self.put("log", "long before")
                tail, _ = self.tail()
                file.write_text(new)
                self.assertEqual(TailUpdate(new, truncated=True, more=True), tail.read_news())
                with file.open("a") as stream:
                    stream.write("more")
                self.assertEqual(TailUpdate("more", more=True), tail.read_news())

    def test_file_replaced_by_rename_is_read_from_its_start(self) -> None:
        for new in ("new", "new and longer than before", "equal len..", "long before and more"):
            with self.subTest(new):
                file = self.put("log", "long before")
                tail, _ = self.tail()
                self.put("log.new", new).rename(file)
                self.assertEqual(TailUpdate(new, truncated=True, more=True), tail.read_news())
                self.assertEqual(TailUpdate(), tail.read_news())

    def test_large_file_is_compared_at_both_ends_and_whole_once_it_rests(self) -> None:
        """What was read before the first line that is told counts as well."""
        size = (2 * COMPARED_CHUNKS + 4) * PIECE + 100
        for at, now, is_seen in (
            (0, 0.0, True),
            (size - 1, 0.0, True),
            (size - COMPARED_CHUNKS * PIECE, 0.0, True),
            (size // 2, 0.0, False),
            (size // 2, time.time() + 2 * SETTLED_SECONDS, True),
        ):
            with self.subTest(at=at, now=now):
                file = self.put("log", b"x" * size)
                tail, _ = self.tail(lines=0)
                with file.open("r+b") as stream:
                    stream.seek(at)
                    stream.write(b"y")
                self.assertEqual(is_seen, tail.read_news(now).truncated)

    def test_file_at_rest_is_compared_once(self) -> None:
        file = self.put("log", "before")
        tail, _ = self.tail()
        looked: list[bool] = []
        compare = ReadPrefix.is_prefix_of_file

        def is_in(part: ReadPrefix, descriptor: int, whole: bool) -> bool:
            looked.append(whole)
            return compare(part, descriptor, whole)

        self.patch(ReadPrefix, "is_prefix_of_file", is_in)
        late = time.time() + 2 * SETTLED_SECONDS
        for now in (0.0, 0.0, late, late):
            tail.read_news(now)
        self.assertEqual([False, False, True], looked)
        file.write_text("after.")
        self.assertTrue(tail.read_news(late).truncated)

    def test_file_is_not_compared_while_more_can_be_read(self) -> None:
        file = self.put("log", "")
        tail, _ = self.tail()
        file.write_bytes(b"x" * 9 * PIECE)
        looked: list[bool] = []

        def is_in(part: ReadPrefix, descriptor: int, whole: bool) -> bool:
            looked.append(whole)
            return True

        self.patch(ReadPrefix, "is_prefix_of_file", is_in)
        while tail.read_news().more:
            pass
        self.assertEqual(2, len(looked), "at the first piece, and behind the last")

    def test_digests_of_a_long_file_are_bounded(self) -> None:
        part = ReadPrefix()
        for _ in range(KEPT_CHUNKS + 3 * COMPARED_CHUNKS):
            part.extend_prefix(b"x" * PIECE)
        self.assertEqual(KEPT_CHUNKS + COMPARED_CHUNKS, len(part._pieces))
        file = self.put("log", b"x" * part.size)
        with file.open("rb") as stream:
            again = ReadPrefix.read_before(stream.fileno(), part.size)
            self.assertEqual(part._pieces, again._pieces)
            self.assertTrue(again.is_prefix_of_file(stream.fileno(), whole=True))

    @thorough
    @given(st.lists(st.tuples(st.sampled_from([*CHANGES]), st.binary(max_size=12)), max_size=12))
    def test_listener_always_has_the_file_content(self, changes: list[tuple[str, bytes]]) -> None:
        file = self.put("log", "begun\n")
        tail, news = self.tail(lines=1000)
        held = ""
        for kind, data in [("append", b""), *changes]:
            CHANGES[kind](file, data)
            for _ in range(2):
                while news.more or news.truncated:
                    held = news.text if news.truncated else held + news.text
                    news = tail.read_news()
                news = tail.read_news()
            self.assertEqual(file.read_bytes().decode("latin-1"), held)
        tail.close()

    def test_rotated_file_is_read_to_its_end_and_from_its_start(self) -> None:
        file = self.put("log", "a\n")
        tail, _ = self.tail()
        with file.open("a") as stream:
            stream.write("last\n")
        file.rename(self.folder / "log.1")
        file.write_text("new\n")
        self.assertEqual(TailUpdate("last\n", more=True), tail.read_news())
        self.assertEqual(TailUpdate("new\n", truncated=True, more=True), tail.read_news())
        self.assertEqual(TailUpdate(), tail.read_news())

    def test_removed_and_recreated_file_is_read_from_its_start(self) -> None:
        file = self.put("log", "a\n")
        tail, _ = self.tail()
        file.unlink()
        self.assertEqual(TailUpdate(), tail.read_news())
        file.write_text("new\n")
        self.assertEqual(TailUpdate("new\n", truncated=True, more=True), tail.read_news())

    def test_file_replaced_by_a_forbidden_one_is_refused(self) -> None:
        file = self.put("log", "a\n")
        for make in (
            lambda: os.symlink(self.outside / "secret.txt", file),
            lambda: os.mkfifo(file),
            lambda: os.symlink("/etc/passwd", file),
        ):
            tail, _ = self.tail()
            file.unlink()
            make()
            self.assertRaises(ServiceError, tail.read_news)
            file.unlink()
            file.write_text("a\n")

    def test_special_secret_and_outside_files_are_not_followed(self) -> None:
        os.mkfifo(self.folder / "fifo")
        self.put(".env")
        for path in ("fifo", ".env", "../outside/secret.txt", "."):
            self.assertRaises(ServiceError, self.tail, path)
        self.assertRaises(FileNotFoundError, self.tail, "none")


class FakeWatches:
    """Folders whose changes a test tells."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[], None]] = []

    def watch_folder(self, folder: int, listener: Callable[[], None]) -> Callable[[], None]:
        os.fstat(folder)
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def change(self) -> None:
        for heard in tuple(self.listeners):
            heard()


class FollowersTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.clock = Clock()
        self.watches = FakeWatches()
        self.followers = FileFollowers(
            self.clock,
            self.workers,
            cast(FolderWatches, self.watches),
            lambda _: self.closed,
            lambda: "id",
        )
        self.addCleanup(self.followers.end_streams)

    def follow(self, session: str = "s1", lines: int = 50) -> tuple[list[Any], Deferred[None]]:
        told: list[Any] = []
        workspace = evolve(self.workspace, session_id=session)
        stream = self.followers.follow_file(workspace, "log", lines)

        async def listen(messages: AsyncIterator[Any]) -> None:
            async with aclosing(messages):  # type: ignore[type-var]
                async for message in messages:
                    told.append(message)

        return told, Deferred.fromCoroutine(listen(stream))

    def test_follower_receives_connected_data_and_end(self) -> None:
        file = self.put("log", "a\nb\n")
        told, ended = self.follow(lines=1)
        connected = {"type": "connected", "streamId": "id"}
        self.assertEqual([connected, {"type": "data", "data": "b\n"}], told)
        with file.open("a") as stream:
            stream.write("c\n")
        self.watches.change()
        self.assertEqual({"type": "data", "data": "c\n"}, told[-1])
        for new in ("d", "e and longer"):
            file.write_text(new)
            self.watches.change()
            self.assertEqual([{"type": "truncated"}, {"type": "data", "data": new}], told[-2:])
        self.followers.end_streams()
        self.assertEqual({"type": "end"}, told[-1])
        self.successResultOf(ended)
        self.assertEqual(([], 0), (self.watches.listeners, self.followers.count))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_error_ends_the_follower(self) -> None:
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

    def test_idle_follower_ends_after_five_minutes_with_heartbeats(self) -> None:
        file = self.put("log", "")
        told, ended = self.follow()
        beats = int(IDLE_SECONDS / BEAT_SECONDS)
        for _ in range(beats - 1):
            self.clock.advance(BEAT_SECONDS)
            self.watches.change()  # of another file
        self.assertEqual([HEARTBEAT] * (beats - 1), told[1:])
        file.write_text("x")
        self.watches.change()
        for _ in range(beats - 1):
            self.clock.advance(BEAT_SECONDS)
        self.assertNoResult(ended)
        self.clock.advance(BEAT_SECONDS)
        self.successResultOf(ended)
        self.assertEqual({"type": "end"}, told[-1])

    def test_change_without_a_notification_is_found_by_polling(self) -> None:
        file = self.put("log", "")
        told, _ = self.follow()
        file.write_text("from another machine")
        self.clock.advance(BEAT_SECONDS)
        self.assertEqual({"type": "data", "data": "from another machine"}, told[-1])

    def test_follower_ends_with_its_session(self) -> None:
        """Also while the first look is under way."""
        self.put("log", "a\n")
        (told, ended), (_, others) = self.follow(), self.follow("another")
        self.followers.end_streams(self.workspace.session_id)
        self.successResultOf(ended)
        self.assertEqual({"type": "end"}, told[-1])
        self.assertEqual(1, self.followers.count)
        self.assertNoResult(others)

        def gone_meanwhile(work: Callable[[], Any], *_: Any, **__: Any) -> Deferred[Any]:
            self.followers.end_streams(self.workspace.session_id)
            return maybeDeferred(work)

        self.patch(self.door, "run", gone_meanwhile)
        told, ended = self.follow()
        self.successResultOf(ended)
        self.assertEqual(["connected", "end"], [each["type"] for each in told])

    def test_followers_of_a_session_are_limited(self) -> None:
        self.put("log", "")
        streams = [self.follow() for _ in range(STREAMS)]
        _, refused = self.follow()
        self.assertEqual(429, self.failureResultOf(refused, ServiceError).value.status)
        self.follow("another")
        self.followers.end_streams()
        for _, ended in streams:
            self.successResultOf(ended)
        self.follow()

    def test_refused_follower_does_not_count(self) -> None:
        for _ in range(STREAMS + 1):
            _, refused = self.follow()
            self.assertEqual(404, self.failureResultOf(refused, ServiceError).value.status)

    def test_disconnected_listener_closes_its_follower(self) -> None:
        self.put("log", "a")
        before = open_descriptors()
        _, ended = self.follow()
        ended.cancel()
        self.failureResultOf(ended)
        self.assertEqual(([], 0), (self.watches.listeners, self.followers.count))
        self.assertEqual(before, open_descriptors())
        self.assertEqual([], self.clock.getDelayedCalls())
