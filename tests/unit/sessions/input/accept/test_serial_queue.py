"""One thing after another."""

from __future__ import annotations

import sys

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.input.accept.serial_queue import SerialQueue


class SerialTests(SynchronousTestCase):
    """L{SerialQueue}."""

    def setUp(self) -> None:
        self.queue = SerialQueue(waiting=3)
        self.begun: list[str] = []
        self.gates: dict[str, Deferred[str]] = {}

    def put(self, name: str) -> Deferred[str]:
        async def work(_: object) -> str:
            self.begun.append(name)
            self.gates[name] = Deferred()
            return await self.gates[name]

        return self.queue.put(work)

    def test_tasks_run_in_order_and_never_together(self) -> None:
        first, second = self.put("a"), self.put("b")
        self.assertEqual(["a"], self.begun)
        self.gates["a"].callback("A")
        self.assertEqual(["a", "b"], self.begun)
        self.assertEqual("A", self.successResultOf(first))
        self.assertNoResult(second)
        self.assertFalse(self.queue.is_idle)
        self.gates["b"].callback("B")
        self.assertTrue(self.queue.is_idle)
        self.successResultOf(second)

    def test_failure_reaches_only_its_caller(self) -> None:
        first, second = self.put("a"), self.put("b")
        self.gates["a"].errback(ZeroDivisionError())
        self.failureResultOf(first, ZeroDivisionError)
        self.gates["b"].callback("B")
        self.assertEqual("B", self.successResultOf(second))

    def test_waiting_tasks_are_bounded(self) -> None:
        answers = [self.put(name) for name in "abcd"]
        error = self.assertRaises(ServiceError, self.put, "e")
        self.assertEqual(ErrorCode.RATE_LIMITED, error.code)
        for name in "abcd":
            self.gates[name].callback(name)
        self.assertEqual(list("abcd"), [self.successResultOf(it) for it in answers])

    def test_task_may_enqueue_a_task(self) -> None:
        async def outer(_: object) -> None:
            inner.append(self.put("inner"))
            self.assertEqual([], self.begun)

        inner: list[Deferred[str]] = []
        self.successResultOf(self.queue.put(outer))
        self.assertEqual(["inner"], self.begun)
        self.gates["inner"].callback("x")
        self.successResultOf(inner[0])

    def test_long_queue_does_not_recurse(self) -> None:
        queue = SerialQueue(waiting=5000)
        gate: Deferred[int] = Deferred()

        async def wait(_: object) -> int:
            return await gate

        async def at_once(_: object) -> int:
            return 1

        answers = [queue.put(wait), *(queue.put(at_once) for _ in range(5000))]
        self.assertLess(sys.getrecursionlimit(), 5000)
        gate.callback(1)
        self.assertEqual(5001, sum(self.successResultOf(it) for it in answers))

    def test_task_may_answer_before_its_end(self) -> None:
        async def work(answer: Deferred[str]) -> str:
            answer.callback("early")
            return await self.gates["a"]

        self.gates["a"] = Deferred()
        self.assertEqual("early", self.successResultOf(self.queue.put(work)))
        second = self.put("b")
        self.assertEqual([], self.begun)
        self.gates["a"].errback(ZeroDivisionError())
        self.assertEqual(["b"], self.begun)
        self.gates["b"].callback("B")
        self.assertEqual("B", self.successResultOf(second))

    def test_cancelled_task_is_dropped_if_waiting_and_finished_if_running(self) -> None:
        first, second = self.put("a"), self.put("b")
        for answer in (first, second):
            answer.addErrback(lambda _: None)
            answer.cancel()
        self.assertFalse(self.queue.is_idle)
        self.gates["a"].callback("A")
        self.assertEqual(["a"], self.begun)
        self.assertTrue(self.queue.is_idle)

    def test_closed_queue_fails_waiting_and_new_tasks(self) -> None:
        first, second = self.put("a"), self.put("b")
        self.queue.close()
        self.assertEqual(
            ErrorCode.OPERATION_FAILED, self.failureResultOf(first, ServiceError).value.code
        )
        self.failureResultOf(second)
        self.assertRaises(ServiceError, self.put, "c")
        self.assertEqual(["a"], self.begun)
