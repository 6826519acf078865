"""Tests for L{tservice.access.passwords.hashing}: who waits for whom, and how many may."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.access.harness import cheap_hasher
from tests.unit.held_threads import HeldThreads
from tservice.access.passwords.hashing import (
    MAX_AROUND,
    MAX_TOTAL,
    MAX_WAITING,
    FairQueue,
    TooManyChecks,
)
from tservice.core.workers.worker_pool import SIZE


class HashTurnTests(SynchronousTestCase):
    """The fair order."""

    def setUp(self) -> None:
        self.threads = HeldThreads()
        self.turns = FairQueue(self.threads)

    def ask(self, place: str, word: str) -> Deferred[Any]:
        return Deferred.fromCoroutine(self.turns.run_in_turn(place, lambda: word))

    def test_hashes_at_a_time_are_limited(self) -> None:
        asked = [self.ask("a", str(n)) for n in range(SIZE + 1)]
        self.assertEqual(SIZE, len(self.threads.begun))
        self.threads.finish()
        self.assertEqual("0", self.successResultOf(asked[0]))
        self.assertEqual(SIZE, len(self.threads.begun))

    def test_addresses_take_turns(self) -> None:
        for n in range(SIZE + MAX_WAITING):
            self.ask("flood", f"f{n}")
        self.ask("ann", "ann")
        self.ask("bob", "bob")
        order = [self.threads.finish() for _ in range(SIZE + MAX_WAITING + 2)]
        self.assertLess(order.index("ann"), SIZE + 2)
        self.assertLess(order.index("bob"), SIZE + 3)

    def test_waiting_hashes_of_an_address_are_bounded(self) -> None:
        for n in range(SIZE + MAX_WAITING):
            self.ask("flood", str(n))
        self.failureResultOf(self.ask("flood", "more"), TooManyChecks)
        self.assertNoResult(self.ask("ann", "ann"))

    def test_waiting_hashes_are_bounded_in_total(self) -> None:
        for n in range(SIZE + MAX_TOTAL):
            self.ask(str(n), "")
        self.failureResultOf(self.ask("more", ""), TooManyChecks)

    def test_password_checks_of_networks_take_turns(self) -> None:
        """Whoever has a /48 has places enough to stand in every line."""
        for n in range(SIZE + MAX_AROUND):
            self.ask(f"2001:db8:7:{n:x}::/64", "flood")
        self.ask("2001:db8:8:1::/64", "ann")
        self.ask("10.0.0.1", "bob")
        order = [self.threads.finish() for _ in range(SIZE + 4)]
        self.assertIn("ann", order)
        self.assertIn("bob", order)

    def test_waiting_hashes_of_a_network_are_bounded(self) -> None:
        for n in range(SIZE + MAX_AROUND):
            self.ask(f"9.9.9.{n}", "flood")
        self.failureResultOf(self.ask("9.9.9.200", "flood"), TooManyChecks)
        self.assertNoResult(self.ask("9.9.8.1", "ann"))

    def test_loopback_addresses_are_no_network(self) -> None:
        for n in range(SIZE + MAX_AROUND + 1):
            self.assertNoResult(self.ask(f"127.0.0.{n}", ""))

    def test_network_with_most_waiting_hashes_makes_room(self) -> None:
        """So a flood from many networks keeps out nobody who comes from another."""
        asked = [self.ask(f"10.0.{n % 8}.{n // 64}", "flood") for n in range(SIZE + MAX_TOTAL)]
        mine = self.ask("10.9.9.9", "mine")
        self.assertNoResult(mine)
        refused = [one for one in asked if one.called]
        self.assertEqual(1, len(refused))
        self.failureResultOf(refused[0], TooManyChecks)
        order = [self.threads.finish() for _ in range(SIZE + 9)]
        self.assertIn("mine", order)

    def test_cancelled_hash_is_not_computed(self) -> None:
        for n in range(SIZE):
            self.ask("a", str(n))
        gone = self.ask("a", "gone")
        gone.addErrback(lambda why: None)
        gone.cancel()
        last = self.ask("a", "last")
        results = [self.threads.finish() for _ in range(SIZE + 1)]
        self.assertNotIn("gone", results)
        self.assertEqual("last", self.successResultOf(last))

    def test_failed_hash_reaches_the_caller_and_frees_its_turn(self) -> None:
        async def broken() -> None:
            await self.turns.run_in_turn("a", lambda: 1)

        asked = Deferred.fromCoroutine(broken())
        self.threads.begun.pop()[1].errback(ZeroDivisionError())
        self.failureResultOf(asked, ZeroDivisionError)
        self.ask("a", "next")
        self.assertEqual("next", self.threads.finish())


class HasherTests(SynchronousTestCase):
    """Right, wrong and nobody's."""

    def setUp(self) -> None:
        self.hasher = cheap_hasher()

    def verify(self, known: str | None, word: str) -> bool:
        return self.successResultOf(
            Deferred.fromCoroutine(self.hasher.verify_password("", known, word))
        )

    def test_password_is_verified_against_its_hash(self) -> None:
        known = self.hasher.hash_in_this_thread("wörd")
        self.assertTrue(self.verify(known, "wörd"))
        self.assertFalse(self.verify(known, "word"))
        self.assertFalse(self.verify("no hash at all", "word"))
        self.assertFalse(self.verify(None, "word"))

    def test_unknown_account_costs_a_hash_as_well(self) -> None:
        """How long it takes does not tell whether there is somebody of a name."""
        threads = HeldThreads()
        asked = Deferred.fromCoroutine(cheap_hasher(threads).verify_password("", None, "word"))
        [(work, _)] = threads.begun
        self.assertTrue(str(work()).startswith("$argon2id$"))
        threads.finish()
        self.assertFalse(self.successResultOf(asked))

    def test_fingerprint_depends_on_hash_and_password(self) -> None:
        one = self.hasher.fingerprint_password("h1", "a")
        self.assertEqual(one, self.hasher.fingerprint_password("h1", "a"))
        for other in (("h1", "b"), ("h2", "a"), ("h", "1a")):
            self.assertNotEqual(one, self.hasher.fingerprint_password(*other))
