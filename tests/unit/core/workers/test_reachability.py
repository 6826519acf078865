"""Tests for L{tservice.core.workers.reachability}: what does not answer."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IResolutionReceiver
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.runtime_harness import own_location, places_of
from tests.unit.core.workers.held_work import PATIENCE, HeldWork, ThreadClock
from tests.unit.os_user_harness import OsUserWorld
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.location import (
    OWN_LOCATION,
    LocationId,
    LocationKind,
    make_os_user_location,
)
from tservice.core.workers.reachability import PROBE_SECONDS, ReachabilityProbe
from tservice.core.workers.resolver import PooledResolver, limit_to_owner_share
from tservice.core.workers.user_directory import REMEMBERED, UserDirectory
from tservice.core.workers.worker_pool import NAMES, PoolBounds, WorkerPool

SHARE = 2
BOUNDS = PoolBounds(threads=4, stuck=4, share=SHARE, queue=16, seconds=30.0)


async def always() -> list[str]:
    return ["/usr/bin", "relative"]


class ReachabilityProbeTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = ThreadClock()
        self.door = WorkerPool(self.clock, "files", "the file system", BOUNDS)
        self.held = HeldWork()
        self.touched: list[str] = []
        patched = mock.patch("tservice.core.workers.reachability.os.stat", self.stat)
        patched.start()
        self.addCleanup(patched.stop)
        self.addCleanup(self.let_go)

    def let_go(self) -> None:
        self.held.free.set()
        while self.door.usage.threads:
            self.clock.hear()

    def stat(self, path: str) -> None:
        """A machine where all below /dead hangs."""
        self.touched.append(path)
        if path.startswith("/dead"):
            self.held()
        raise FileNotFoundError

    def ask(self, *paths: str, os_user: str | None = None, reach: Any = None) -> Deferred[None]:
        asked = (reach or self.reach).check_paths(make_os_user_location(os_user), paths, "ann")
        return Deferred.fromCoroutine(asked)

    def answered(self, done: Deferred[None]) -> None:
        while not done.called:
            self.clock.hear()
        self.assertIsNone(self.successResultOf(done))

    def silent(self, done: Deferred[Any], path: str) -> None:
        error: ServiceError = self.failureResultOf(done, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(f"{path} does not answer", error.message)

    @property
    def reach(self) -> ReachabilityProbe:
        if not hasattr(self, "_reach"):
            self._reach = ReachabilityProbe(places_of(own_location()), self.door, always)
        return self._reach

    def test_answering_path_passes(self) -> None:
        self.answered(self.ask("/a", "/a", "", "b"))
        self.assertEqual(["/a/.", "/usr/bin/."], sorted(self.touched))

    def test_unresponsive_path_is_named_and_remembered(self) -> None:
        done = self.ask("/a", "/dead/b")
        self.assertTrue(self.held.begun.wait(PATIENCE))
        self.clock.hear()  # the search folders answered
        self.assertNoResult(done)
        self.clock.advance(PROBE_SECONDS)
        for again in (done, self.ask("/dead/b")):
            self.silent(again, "/dead/b")
        self.assertEqual(1, self.door.usage.threads)
        self.let_go()
        self.answered(self.ask("/dead/b"))

    def test_no_further_probe_is_sent_to_a_hanging_path(self) -> None:
        done = self.ask("/dead/b")
        self.assertTrue(self.held.begun.wait(PATIENCE))
        self.clock.advance(PROBE_SECONDS)
        self.silent(done, "/dead/b")
        self.silent(self.door.run(self.held, at="/dead/b", owner="bob"), "/dead/b")

    def test_search_folder_that_hangs_is_not_taken_for_the_named_one(self) -> None:
        async def dead() -> list[str]:
            return ["/dead/bin"]

        reach = ReachabilityProbe(places_of(own_location()), self.door, dead)
        done = self.ask("/a", reach=reach)
        self.assertTrue(self.held.begun.wait(PATIENCE))
        self.clock.hear()
        self.clock.advance(PROBE_SECONDS)
        self.silent(done, "/dead/bin")
        self.answered(self.ask("/a"))

    def test_probe_waits_for_the_given_time(self) -> None:
        asked = self.reach.check_paths(OWN_LOCATION, ["/dead/b"], "ann", PROBE_SECONDS / 2)
        done = Deferred.fromCoroutine(asked)
        self.assertTrue(self.held.begun.wait(PATIENCE))
        self.clock.advance(PROBE_SECONDS / 2)
        self.failureResultOf(done, ServiceError)
        self.let_go()

    def test_path_and_home_are_probed_as_the_os_user(self) -> None:
        world = OsUserWorld(Path(self.mktemp()).absolute())
        ann = world.add("ann", 2000)
        done = self.ask("/a", os_user="ann", reach=ReachabilityProbe(world.places(), self.door))
        self.answered(done)
        self.assertEqual(["/a/.", f"{ann.home}/."], sorted(self.touched[-2:]))
        self.assertEqual(["ann", "ann"], world.acted)

    def test_remote_paths_are_not_probed(self) -> None:
        """Nor of a user who is not there."""
        reach = ReachabilityProbe(OsUserWorld(Path(self.mktemp()).absolute()).places(), self.door)
        for place in (
            LocationId(kind=LocationKind.REMOTE, name="h"),
            make_os_user_location("nobody"),
        ):
            asked = reach.check_paths(place, ["/a"], "ann")
            self.successResultOf(Deferred.fromCoroutine(asked))
        self.assertNotIn("/a/.", self.touched)


class DirectoryTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = ThreadClock()
        self.door = WorkerPool(self.clock, "names", "the directory", NAMES)
        self.asked: list[int] = []
        self.known = {"ann": SimpleNamespace(pw_name="ann", pw_gid=5)}
        self.directory = UserDirectory(self.look_up, lambda name, gid: [gid, 6])
        self.directory.use_threads(self.door)

    def look_up(self, name: str) -> SimpleNamespace:
        self.asked.append(threading.get_ident())
        return self.known[name]

    def refresh(self, name: str) -> None:
        done = Deferred.fromCoroutine(self.directory.refresh_entry(name))
        if not done.called:
            self.clock.hear()
        self.successResultOf(done)

    def test_directory_is_queried_outside_the_reactor_thread(self) -> None:
        self.refresh("ann")
        self.assertEqual("ann", self.directory.get_entry("ann").pw_name)
        self.assertEqual((5, 6), self.directory.get_groups("ann", 5))
        self.assertNotIn(threading.get_ident(), self.asked)

    def test_entry_is_cached_until_the_next_refresh(self) -> None:
        self.refresh("ann")
        self.known.clear()
        self.assertEqual("ann", self.directory.get_entry("ann").pw_name)
        self.refresh("ann")
        self.assertRaises(KeyError, self.directory.get_entry, "ann")

    def test_unresponsive_directory_times_out(self) -> None:
        held = HeldWork()
        self.patch(self.directory, "_entry", lambda name: held())
        done = Deferred.fromCoroutine(self.directory.refresh_entry("ann"))
        self.clock.advance(NAMES.seconds or 0)
        error = self.failureResultOf(done, ServiceError).value
        self.assertIn("the directory does not answer", error.message)
        held.free.set()
        self.clock.hear()

    def test_cached_entries_are_bounded(self) -> None:
        for number in range(REMEMBERED + 5):
            self.refresh(f"n{number}")
        self.assertEqual(REMEMBERED, len(self.directory._known))

    def test_entry_without_a_refresh_is_read_and_logged(self) -> None:
        """It works, but is a fault that the log shows."""
        self.assertEqual("ann", self.directory.get_entry("ann").pw_name)
        self.assertEqual([threading.get_ident()], self.asked)


@implementer(IResolutionReceiver)
class ResolutionReceiver:
    def __init__(self) -> None:
        self.found: list[object] = []
        self.complete = False

    def resolutionBegan(self, resolution: object) -> None:
        """Nothing to keep."""

    def addressResolved(self, address: object) -> None:
        self.found.append(address)

    def resolutionComplete(self) -> None:
        self.complete = True


class PooledResolverTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = ThreadClock()
        self.door = WorkerPool(self.clock, "names", "the directory", NAMES)
        self.resolver = PooledResolver(self.clock, self.door)

    def test_address_resolves_to_itself(self) -> None:
        receiver = ResolutionReceiver()
        self.resolver.resolveHostName(receiver, "127.0.0.1", 80)
        self.clock.hear()
        self.clock.hear()
        self.assertTrue(receiver.complete)
        self.assertEqual(1, len(receiver.found))

    def test_unresponsive_name_server_blocks_only_its_share(self) -> None:
        held = HeldWork()
        self.resolver = evolve(self.resolver, ask=lambda *_: held())
        receivers = [ResolutionReceiver() for _ in range(6)]
        for receiver in receivers:
            self.resolver.resolveHostName(receiver, "example.invalid", 80)
        # Users are looked up all the same.
        other = self.door.run(lambda: "answers", "users")
        self.clock.hear()
        self.assertEqual("answers", self.successResultOf(other))
        self.assertEqual((4, 2), (self.door.usage.busy, self.door.usage.queued))
        self.clock.advance(NAMES.seconds or 0)
        held.free.set()
        while not all(receiver.complete for receiver in receivers):
            self.clock.hear()
        self.assertEqual([], [found for receiver in receivers for found in receiver.found])

    def test_slow_names_of_an_account_are_limited(self) -> None:
        """They take nothing of others, nor of what whoever runs the service has chosen."""
        held = HeldWork()
        slow = limit_to_owner_share(evolve(self.resolver, ask=lambda *_: held()), "ann")
        receivers = [ResolutionReceiver() for _ in range(8)]
        for receiver in receivers:
            slow.resolveHostName(receiver, "example.invalid", 80)
        self.assertEqual((4, 4), (self.door.usage.busy, self.door.usage.queued))
        for owner in ("bob", None):
            found = ResolutionReceiver()
            limit_to_owner_share(self.resolver, owner).resolveHostName(found, "127.0.0.1", 80)
            while not found.complete:
                self.clock.hear()
            self.assertEqual(1, len(found.found))
        self.clock.advance(NAMES.seconds or 0)
        held.free.set()
        while not all(receiver.complete for receiver in receivers):
            self.clock.hear()
