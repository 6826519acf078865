"""Tests for L{tservice.access.passwords.failures}."""

from __future__ import annotations

import pytest
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tservice.access.passwords.failures import (
    CAP,
    MAX_COUNTED,
    NETWORK_CAP,
    WINDOW_SECONDS,
    FailureCounter,
    get_address_network,
    get_failure_count_address,
)
from tservice.core.callers.authentication import FailureBucket


class FailuresTests(SynchronousTestCase):
    """Windows, caps, and what is counted together."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.failures = FailureCounter(self.clock)

    def miss(self, times: int = 1, address: str = "1.1.1.1", name: str | None = None) -> float:
        return [
            self.failures.record_failure(FailureBucket.BASIC, address, name) for _ in range(times)
        ][-1]

    def test_failures_up_to_the_cap_are_allowed(self) -> None:
        self.assertEqual(0, self.miss(CAP))
        self.assertEqual(WINDOW_SECONDS, self.miss())

    def test_window_begins_with_the_first_failure(self) -> None:
        self.miss()
        self.clock.advance(WINDOW_SECONDS - 1)
        self.miss(CAP - 1)
        self.assertEqual(1, self.miss())
        self.clock.advance(1)
        self.assertEqual(0, self.miss(CAP))
        self.assertEqual(WINDOW_SECONDS, self.miss())

    def test_checking_does_not_count(self) -> None:
        for _ in range(2 * CAP):
            self.assertEqual(
                0, self.failures.get_block_seconds(FailureBucket.BASIC, "1.1.1.1", None)
            )
        self.assertEqual(0, self.miss(CAP))

    def test_buckets_and_addresses_are_separate(self) -> None:
        self.miss(CAP + 1)
        self.assertEqual(0, self.failures.get_block_seconds(FailureBucket.HOOK, "1.1.1.1", None))
        self.assertEqual(0, self.failures.get_block_seconds(FailureBucket.QR, "1.1.1.1", None))
        self.assertEqual(0, self.failures.get_block_seconds(FailureBucket.BASIC, "1.1.1.2", None))

    def test_name_has_its_own_count(self) -> None:
        for number in range(CAP):
            self.miss(1, f"1.1.1.{number}", "ann")
        self.assertTrue(self.miss(1, "2.2.2.2", "ann"))
        self.assertFalse(self.miss(1, "2.2.2.2", "bob"))

    def test_capped_address_does_not_count_for_a_name(self) -> None:
        self.miss(CAP)
        self.miss(CAP, name="ann")
        self.assertFalse(self.miss(1, "2.2.2.2", "ann"))

    def test_name_that_looks_like_an_address_is_a_name(self) -> None:
        self.miss(CAP, "::9", "1.1.1.1")
        self.assertFalse(self.miss())

    def test_ipv6_addresses_are_grouped_by_64_bits(self) -> None:
        for address, want in (
            ("1.2.3.4", "1.2.3.4"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("::1", "::1"),
            ("unix", "unix"),
        ):
            self.assertEqual(want, get_failure_count_address(address))

    @pytest.mark.long
    def test_remembered_failures_are_bounded(self) -> None:
        for number in range(MAX_COUNTED + 10):
            self.miss(1, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
            self.miss(1, f"2001:db8:{number:x}::1", f"name{number}")
        for windows in require_items(self.failures._windows.values()):
            self.assertEqual(MAX_COUNTED, len(windows))

    def test_network_has_its_own_cap(self) -> None:
        """Whoever has a /48, or a /24, has as many addresses as guesses."""
        for pattern in ("2001:db8:7:{:x}::1", "9.9.9.{}"):
            for number in range(NETWORK_CAP):
                self.assertEqual(0, self.miss(1, pattern.format(number)))
            self.assertEqual(WINDOW_SECONDS, self.miss(1, pattern.format(NETWORK_CAP)))
        self.assertEqual(0, self.miss(1, "2001:db8:8::1"))
        self.assertEqual(0, self.miss(1, "9.9.8.1"))
        self.clock.advance(WINDOW_SECONDS)
        self.assertEqual(0, self.miss(1, "9.9.9.200"))

    def test_many_addresses_evict_no_network(self) -> None:
        for number in range(NETWORK_CAP):
            self.miss(1, f"9.9.9.{number}")
        for number in range(MAX_COUNTED):
            self.miss(1, f"10.{number // 50 >> 8}.{number // 50 & 255}.{number % 50}", f"n{number}")
        self.assertTrue(self.failures.get_block_seconds(FailureBucket.BASIC, "9.9.9.250", None))

    def test_loopback_is_no_network(self) -> None:
        for number in range(NETWORK_CAP + 1):
            self.assertEqual(0, self.miss(1, f"127.0.0.{number + 1}"))
        for address, want in (
            ("1.2.3.4", "1.2.3.0/24"),
            ("2001:db8:1:2::3", "2001:db8:1::/48"),
            ("::1", None),
            ("unix", None),
        ):
            self.assertEqual(want, get_address_network(address))
