"""Tests for L{tservice.http.parked_calls}."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import make_caller
from tests.unit.http.sample_operations import sample_operation
from tservice.core.kernel.errors import make_not_found_error
from tservice.http.operations import OperationCall, ResponseStyle
from tservice.http.parked_calls import ParkedCalls


class ParkedTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.parked = ParkedCalls()
        self.lost: set[str] = set()

    def hold(self, name: str) -> tuple[Deferred[object], Deferred[object]]:
        """A call of C{name}: what fires its answer, and its answer."""
        inner: Deferred[object] = Deferred()

        async def handler(call: OperationCall) -> object:
            return await inner

        def again() -> None:
            if name in self.lost:
                raise make_not_found_error("Session")

        wanted: Any = {"path": {}, "query": None, "body": None, "address": "", "request": None}
        call = OperationCall(
            operation=sample_operation("GET", "/api/x", handler, style=ResponseStyle.LONG_POLL),
            caller=make_caller(again, username=name, admin=False),
            **wanted,
        )
        return inner, Deferred.fromCoroutine(self.parked.run_call(call))

    def test_only_calls_whose_right_ended_are_cancelled(self) -> None:
        held = {name: self.hold(name) for name in ("ann", "bob", "cid")}
        self.lost = {"ann", "bob"}
        self.parked.drop_connections(lambda identity: identity.username in ("ann", "cid"))
        self.failureResultOf(held["ann"][1], CancelledError)
        for name in ("bob", "cid"):
            self.assertNoResult(held[name][1])
            held[name][0].callback(name)
            self.assertEqual(name, self.successResultOf(held[name][1]))

    def test_finished_call_is_forgotten(self) -> None:
        good, answered = self.hold("ann")
        bad, failed = self.hold("ann")
        good.callback(1)
        bad.errback(ZeroDivisionError())
        self.successResultOf(answered)
        self.failureResultOf(failed, ZeroDivisionError)
        self.assertEqual({}, self.parked._held)

    def test_cancelled_call_may_cancel_another(self) -> None:
        """As a handler that lets go of what a second call waits for."""
        first, answered = self.hold("ann")
        second, other = self.hold("ann")
        answered.addErrback(lambda why: second.callback("freed"))
        self.lost = {"ann"}
        self.parked.drop_connections(lambda identity: True)
        self.assertEqual("freed", self.successResultOf(other))
        self.assertTrue(first.called)
