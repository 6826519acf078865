"""Tests for L{tservice.files.quotas}."""

from __future__ import annotations

from collections.abc import Iterable

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import ServiceError
from tservice.files.quotas import DAY, WINDOW, DailyUploadQuota, MinuteRateLimit


class RateTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.rate = MinuteRateLimit(self.clock, 2, "things")

    def take(self, session: str = "a") -> None:
        with self.rate.count_operation(session):
            pass

    def test_rate_is_limited_within_a_minute(self) -> None:
        self.take()
        self.clock.advance(WINDOW / 2)
        self.take()
        self.assertRaises(ServiceError, self.take)
        self.take("b")
        self.clock.advance(WINDOW / 2)
        self.take()
        self.assertRaises(ServiceError, self.take)

    def test_failed_request_does_not_count(self) -> None:
        for _ in range(5):
            with self.assertRaises(ZeroDivisionError), self.rate.count_operation("a"):
                raise ZeroDivisionError
        self.take()
        self.take()

    def test_running_request_counts(self) -> None:
        with self.rate.count_operation("a"), self.rate.count_operation("a"):
            self.assertRaises(ServiceError, self.take)

    def test_sessions_are_forgotten_after_the_window(self) -> None:
        for number in range(50):
            self.take(str(number))
        self.clock.advance(WINDOW)
        self.take()
        self.assertEqual(["a"], list(self.rate._known))


class DailyBytesTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(DAY * 20_000)
        self.bytes = DailyUploadQuota(self.clock, 10)

    def begin(
        self, account: str, pieces: Iterable[bytes], *, fails: bool = False
    ) -> Deferred[bytes]:
        """Read a body of these pieces to its end."""
        waiting = iter(pieces)

        async def read() -> bytes:
            return next(waiting, b"")

        async def read_all() -> bytes:
            kept = b""
            with self.bytes.count_bytes(account, read) as counted:
                while piece := await counted():
                    kept += piece
                if fails:
                    raise ZeroDivisionError
            return kept

        return Deferred.fromCoroutine(read_all())

    def upload(self, account: str, pieces: Iterable[bytes]) -> bytes:
        return self.successResultOf(self.begin(account, pieces))

    def refused(self, account: str, pieces: Iterable[bytes]) -> None:
        error = self.failureResultOf(self.begin(account, pieces), ServiceError).value
        self.assertEqual("OPERATION_FAILED", error.code.value)
        self.assertIn("midnight UTC", error.message)

    def test_bytes_are_counted_per_account_and_day(self) -> None:
        self.assertEqual(b"x" * 6, self.upload("ann", [b"xxx", b"xxx"]))
        self.refused("ann", [b"xxx", b"xxx"])
        self.upload("ann", [b"xxxx"])
        self.refused("ann", [b"x"])
        self.upload("ben", [b"x" * 10])
        self.clock.advance(DAY - 1)
        self.refused("ann", [b"x"])
        self.clock.advance(1)
        self.upload("ann", [b"x" * 10])

    def test_refused_upload_is_not_read_further(self) -> None:
        def pieces() -> Iterable[bytes]:
            yield b"x" * 11
            raise AssertionError("it was read on")

        self.refused("ann", pieces())

    def test_failed_upload_does_not_count(self) -> None:
        for _ in range(3):
            failed = self.begin("ann", [b"x" * 10], fails=True)
            self.failureResultOf(failed, ZeroDivisionError)
        self.upload("ann", [b"x" * 10])

    def test_simultaneous_uploads_share_the_quota(self) -> None:
        others: list[Deferred[bytes]] = []

        def pieces() -> Iterable[bytes]:
            yield b"x" * 6
            others.append(self.begin("ann", [b"x" * 5]))
            yield b"x" * 4

        self.upload("ann", pieces())
        self.failureResultOf(others[0], ServiceError)

    def test_upload_over_midnight_refunds_nothing_of_the_new_day(self) -> None:
        def pieces() -> Iterable[bytes]:
            yield b"x" * 6
            self.clock.advance(DAY)
            self.upload("ann", [b"x" * 9])
            yield b"x"

        self.failureResultOf(self.begin("ann", pieces(), fails=True), ZeroDivisionError)
        self.refused("ann", [b"xx"])
        self.upload("ann", [b"x"])

    def test_accounts_are_forgotten_after_the_day(self) -> None:
        for number in range(50):
            self.upload(str(number), [b"x"])
        self.clock.advance(DAY)
        self.upload("ann", [b"x"])
        self.assertEqual(["ann"], list(self.bytes._used))
