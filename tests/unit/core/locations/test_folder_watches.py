"""Tests for L{tservice.core.locations.folder_watches}.

They use the kernel's own inotify, read by hand.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from unittest import mock

from twisted.internet import inotify
from twisted.internet.testing import MemoryReactorClock

from tests.unit.files.harness import WorkspaceCase, open_descriptors
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.folder_watches import (
    LISTENERS_PER_TURN,
    REST_SECONDS,
    TURN_SECONDS,
    FolderWatches,
)


class WatchesTests(WorkspaceCase):
    def setUp(self) -> None:
        super().setUp()
        self.before = open_descriptors()
        self.reactor = MemoryReactorClock()
        self.watches = FolderWatches(self.reactor)
        self.addCleanup(self.watches.close)
        self.heard: list[str] = []

    def watch(self, name: str, folder: str = "") -> object:
        descriptor = os.open(self.folder / folder, os.O_PATH | os.O_DIRECTORY)
        try:
            stop = self.watches.watch_folder(descriptor, lambda: self.heard.append(name))
        finally:
            os.close(descriptor)
        self.addCleanup(stop)
        return stop

    def told(self) -> set[str]:
        """Who was told since the last time."""
        if self.watches._notify is not None:
            self.watches._notify.doRead()
        found = set(self.heard)
        self.heard.clear()
        return found

    def test_every_change_in_a_folder_is_reported(self) -> None:
        self.watch("a")
        self.assertEqual(set(), self.told())
        file = self.put("x")
        self.assertEqual({"a"}, self.told())
        with file.open("a") as stream:
            stream.write("more")
        self.assertEqual({"a"}, self.told())
        file.rename(self.folder / "y")
        self.assertEqual({"a"}, self.told())
        (self.folder / "y").unlink()
        self.assertEqual({"a"}, self.told())

    def test_flood_of_changes_is_reported_once_and_rests(self) -> None:
        self.watch("a")
        self.watch("b")
        notify = self.watches._notify
        assert notify is not None
        for name in ("x", "y") * 1000:
            self.put(name)
        notify.doRead()
        self.assertEqual(["a", "b"], sorted(self.heard))
        self.assertEqual([], self.reactor.getReaders())
        self.reactor.advance(REST_SECONDS)
        self.assertEqual([notify], self.reactor.getReaders())

    def test_single_change_is_reported_immediately_and_the_next_after_a_rest(self) -> None:
        """A thousand a second, each read alone, held everybody else up."""
        self.watch("a")
        notify = self.watches._notify
        assert notify is not None
        self.put("x")
        notify.doRead()
        self.assertEqual(["a"], self.heard)
        self.reactor.advance(REST_SECONDS / 2)
        self.assertEqual([], self.reactor.getReaders())
        self.reactor.advance(REST_SECONDS / 2)
        self.assertEqual([notify], self.reactor.getReaders())

    def test_many_listeners_are_notified_in_batches(self) -> None:
        for number in range(2 * LISTENERS_PER_TURN + 1):
            self.watch(str(number))
        notify = self.watches._notify
        assert notify is not None
        for name in "xy":
            self.put(name)
            notify.doRead()
        told = [len(self.heard)]
        for _ in range(3):
            self.reactor.advance(TURN_SECONDS)
            told.append(len(self.heard))
        self.assertEqual(
            [
                LISTENERS_PER_TURN,
                2 * LISTENERS_PER_TURN,
                3 * LISTENERS_PER_TURN,
                3 * LISTENERS_PER_TURN + 1,
            ],
            told,
        )

    def test_watch_ended_before_its_turn_is_not_notified(self) -> None:
        stops = [self.watch(str(name)) for name in range(LISTENERS_PER_TURN + 2)]
        self.put("x")
        notify = self.watches._notify
        assert notify is not None
        notify.doRead()
        stop = stops[LISTENERS_PER_TURN]
        assert callable(stop)
        stop()
        self.reactor.advance(TURN_SECONDS)
        self.assertEqual(
            [*map(str, range(LISTENERS_PER_TURN)), str(LISTENERS_PER_TURN + 1)], self.heard
        )

    def test_failing_listener_is_logged_and_others_are_notified(self) -> None:
        descriptor = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)

        def fail() -> None:
            raise ZeroDivisionError

        self.addCleanup(self.watches.watch_folder(descriptor, fail))
        os.close(descriptor)
        self.watch("b")
        self.put("x")
        self.assertEqual({"b"}, self.told())
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))

    def test_ending_the_last_watch_inside_its_callback_closes_everything(self) -> None:
        stops: list[Callable[[], None]] = []
        descriptor = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
        stops.append(self.watches.watch_folder(descriptor, lambda: stops[0]()))
        os.close(descriptor)
        notify = self.watches._notify
        assert notify is not None
        self.put("x")
        notify.doRead()
        self.reactor.advance(1)
        self.assertEqual(([], []), (self.reactor.getReaders(), self.reactor.getDelayedCalls()))
        self.assertEqual(self.before, open_descriptors())

    def test_resting_watch_can_be_ended(self) -> None:
        stop = self.watch("a")
        for name in ("x", "y") * 1000:
            self.put(name)
        self.told()
        assert callable(stop)
        stop()
        self.reactor.advance(REST_SECONDS)
        self.assertEqual([], self.reactor.getReaders())
        self.assertEqual(self.before, open_descriptors())

    def test_overflow_by_one_folder_notifies_every_watch(self) -> None:
        """The kernel keeps some 16,000 changes for all folders together."""
        (self.folder / "sub").mkdir()
        self.watch("a")
        self.watch("c", "sub")
        notify = self.watches._notify
        assert notify is not None
        overflow = struct.pack("=iIII", -1, inotify.IN_Q_OVERFLOW, 0, 0)
        with mock.patch.object(os, "read", return_value=overflow):
            notify.doRead()
        self.assertEqual(["a", "c"], sorted(self.heard))

    def test_several_watches_of_one_folder_are_notified(self) -> None:
        """The kernel gives them one watch: none may end with another's."""
        stop = self.watch("a")
        self.watch("b")
        self.put("sub/x")
        self.watch("c", "sub")
        self.told()
        self.assertEqual(2, len(self.watches))
        assert callable(stop)
        stop()
        stop()
        self.put("y")
        self.assertEqual({"b"}, self.told())
        self.put("sub/y")
        self.assertEqual({"c"}, self.told())

    def test_renamed_folder_is_followed(self) -> None:
        (self.folder / "sub").mkdir()
        self.watch("a", "sub")
        (self.folder / "sub").rename(self.folder / "other")
        (self.folder / "other/x").touch()
        self.assertEqual({"a"}, self.told())

    def test_removed_folder_ends_only_its_own_watch(self) -> None:
        (self.folder / "sub").mkdir()
        stop = self.watch("a", "sub")
        self.watch("b")
        (self.folder / "sub").rmdir()
        self.told()
        assert callable(stop)
        stop()
        self.put("x")
        self.assertEqual({"b"}, self.told())

    def test_closed_watches_leave_no_descriptor(self) -> None:
        for _ in range(3):
            stop = self.watch("a")
            assert callable(stop)
            stop()
            self.assertEqual(0, len(self.watches))
            self.reactor.advance(0)
            self.assertEqual(self.before, open_descriptors())

    def test_failed_watch_is_reported_as_unavailable(self) -> None:
        for error in (inotify.INotifyError("no"), OSError(24, "files")):
            with mock.patch.object(inotify.INotify, "watch", side_effect=error):
                found = self.assertRaises(ServiceError, self.watch, "a")
            self.assertEqual(422, found.status)
            self.assertEqual(0, len(self.watches))
            self.reactor.advance(0)
            self.assertEqual(self.before, open_descriptors())
