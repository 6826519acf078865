"""Rotation, grace, single use."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.tunnel.guess_limit import MAX_GUESSES, WrongCodeLimit
from tservice.tunnel.model import GRACE_SECONDS, ROTATION_SECONDS
from tservice.tunnel.qr_codes import MAX_OWNERS, QrCodeRegistry


class CodesTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_000_000)
        self.rotated: list[str] = []
        self.codes = QrCodeRegistry(self.clock, os.urandom, self.rotated.append)
        self.addCleanup(self.codes.revoke_all)

    def shown(self, owner: str = "ann") -> str:
        return self.codes.get_or_create_displayed_code(owner)[0]

    def test_code_is_valid_for_a_minute_and_gives_its_expiry(self) -> None:
        code, ends = self.codes.get_or_create_displayed_code("ann")
        self.assertEqual(1_000_060_000, ends)
        self.clock.advance(ROTATION_SECONDS - 1)
        self.assertEqual((code, ends), self.codes.get_or_create_displayed_code("ann"))
        self.clock.advance(1)
        self.assertNotEqual(code, self.shown())
        self.assertEqual(["ann"], self.rotated)

    def test_code_works_once(self) -> None:
        code = self.shown()
        self.assertEqual("ann", self.codes.redeem_code(code))
        self.assertIsNone(self.codes.redeem_code(code))

    def test_used_code_is_replaced_immediately(self) -> None:
        code = self.shown()
        self.codes.redeem_code(code)
        self.assertNotEqual(code, self.shown())
        self.assertEqual(["ann"], self.rotated)
        self.clock.advance(ROTATION_SECONDS)
        self.assertEqual(["ann", "ann"], self.rotated)

    def test_old_code_works_during_its_grace(self) -> None:
        code = self.shown()
        self.clock.advance(ROTATION_SECONDS)
        self.clock.advance(GRACE_SECONDS - 0.1)
        self.assertEqual("ann", self.codes.redeem_code(code))
        self.assertEqual(["ann"] * 2, self.rotated)  # none for the use of an old one
        self.assertIsNone(self.codes.redeem_code(code))

    def test_old_code_fails_after_its_grace(self) -> None:
        code = self.shown()
        self.clock.advance(ROTATION_SECONDS)
        self.clock.advance(GRACE_SECONDS)
        self.assertIsNone(self.codes.redeem_code(code))

    def test_renewing_voids_older_codes(self) -> None:
        first = self.shown()
        self.clock.advance(ROTATION_SECONDS)
        second = self.shown()
        self.codes.replace_codes("ann")
        self.assertEqual(
            [None, None], [self.codes.redeem_code(first), self.codes.redeem_code(second)]
        )
        self.assertEqual("ann", self.codes.redeem_code(self.shown()))

    def test_accounts_have_separate_codes(self) -> None:
        ann, bob = self.shown("ann"), self.shown("bob")
        self.codes.replace_codes("bob")
        self.assertIsNone(self.codes.redeem_code(bob))
        self.assertEqual("ann", self.codes.redeem_code(ann))
        self.codes.revoke_codes("ann")
        self.assertEqual(("bob",), self.codes.list_owners())

    def test_accounts_with_codes_are_bounded(self) -> None:
        first = self.shown("0")
        for number in range(1, MAX_OWNERS + 1):
            self.shown(str(number))
        self.assertEqual(MAX_OWNERS, len(self.codes.list_owners()))
        self.assertIsNone(self.codes.redeem_code(first))
        self.assertEqual(MAX_OWNERS, len(self.clock.getDelayedCalls()))

    def test_cleared_codes_are_void(self) -> None:
        code = self.shown()
        self.codes.revoke_all()
        self.assertIsNone(self.codes.redeem_code(code))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_two_codes_are_never_equal(self) -> None:
        drawn = iter([bytes(6), bytes(6), b"\x01" * 6])
        codes = QrCodeRegistry(self.clock, lambda size: next(drawn), self.rotated.append)
        self.addCleanup(codes.revoke_all)
        self.assertEqual(
            ("000000", "111111"),
            (
                codes.get_or_create_displayed_code("a")[0],
                codes.get_or_create_displayed_code("b")[0],
            ),
        )


class CodesMachine(RuleBasedStateMachine):
    """Against a model that keeps every code with its end."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.codes = QrCodeRegistry(self.clock, os.urandom, lambda owner: self.look())
        self.ends: dict[str, float] = {}
        self.order: list[str] = []
        self.look()

    def look(self) -> None:
        word, _ = self.codes.get_or_create_displayed_code("ann")
        if word in self.ends:
            return
        if self.order:
            self.ends[self.order[-1]] = min(
                self.ends[self.order[-1]], self.clock.seconds() + GRACE_SECONDS
            )
        self.order.append(word)
        self.ends[word] = float("inf")

    @rule(seconds=st.sampled_from([0.5, 30.0, 59.5]))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(back=st.integers(0, 4))
    def use(self, back: int) -> None:
        word = self.order[max(0, len(self.order) - 1 - back)]
        good = self.ends[word] > self.clock.seconds()
        self.ends[word] = 0.0
        assert (self.codes.redeem_code(word) == "ann") is good

    @rule()
    def renew(self) -> None:
        self.ends = dict.fromkeys(self.ends, 0.0)
        self.codes.replace_codes("ann")
        self.look()

    @invariant()
    def three_live_at_most_and_one_timer(self) -> None:
        assert len(self.clock.getDelayedCalls()) == 1
        assert len([1 for code in self.codes._live if code.expires_at is None]) == 1


CodesMachine.TestCase.settings = settings(
    max_examples=example_count(60), stateful_step_count=30, deadline=None
)
CodesMachineTests = CodesMachine.TestCase


class GuessesTests(SynchronousTestCase):
    def test_guesses_are_limited_to_thirty_a_minute(self) -> None:
        clock = Clock()
        guesses = WrongCodeLimit(clock)
        for _ in range(MAX_GUESSES):
            self.assertEqual(0, guesses.get_blocked_seconds())
            guesses.record_wrong_code()
            clock.advance(1)
        self.assertEqual(30, guesses.get_blocked_seconds())
        clock.advance(30)
        self.assertEqual(0, guesses.get_blocked_seconds())
        guesses.record_wrong_code()
        self.assertEqual(1, guesses.get_blocked_seconds())
