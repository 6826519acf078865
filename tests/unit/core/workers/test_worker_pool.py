"""The doors: real threads, time by a Clock, files that never answer."""

from __future__ import annotations

import os
import select
import threading
from pathlib import Path
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.core.workers.held_work import PATIENCE, HeldWork, ThreadClock
from tests.waiting import wait_until
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.workers.worker_pool import (
    FILES,
    HASHING,
    NAMES,
    PoolBounds,
    SynchronousThreads,
    WorkerPool,
    WorkerPools,
)

SMALL = PoolBounds(threads=2, stuck=2, share=2, queue=3, seconds=5.0)


class DoorCase(SynchronousTestCase):
    bounds = SMALL

    def setUp(self) -> None:
        self.clock = ThreadClock()
        self.door = WorkerPool(self.clock, "small", "the cupboard", self.bounds)
        self.held: list[HeldWork] = []
        self.dones: list[Deferred[str]] = []
        self.addCleanup(self.let_all_go)

    def let_all_go(self) -> None:
        for each in self.held:
            each.free.set()
        while self.door.usage.threads:
            self.clock.hear()
        for done in self.dones:
            done.addErrback(lambda why: why.trap(ServiceError, CancelledError))
        for call in self.clock.getDelayedCalls():
            call.cancel()

    def hold(
        self, place: str = "", *, at: str = "", owner: str | None = None
    ) -> tuple[HeldWork, Deferred[str]]:
        held = HeldWork()
        self.held.append(held)
        self.dones.append(self.door.run(held, place, at=at, owner=owner))
        return held, self.dones[-1]

    def refusal(self, done: Deferred[Any]) -> ErrorCode:
        error: ServiceError = self.failureResultOf(done, ServiceError).value
        self.assertIn("the cupboard", error.message)
        return error.code


class PoolRunTests(DoorCase):
    def test_result_returns_to_the_reactor_thread(self) -> None:
        heard: list[int] = []
        done = self.door.run(threading.get_ident)
        done.addCallback(lambda there: heard.extend((there, threading.get_ident())))
        self.clock.hear()
        self.assertEqual(threading.get_ident(), heard[1])
        self.assertNotEqual(*heard)
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_error_reaches_the_caller(self) -> None:
        done = self.door.run(lambda: 1 // 0)
        self.clock.hear()
        self.failureResultOf(done, ZeroDivisionError)

    def test_threads_at_a_time_are_limited(self) -> None:
        first, second, third = (self.hold(name) for name in "abc")
        self.assertEqual((2, 1), (self.door.usage.busy, self.door.usage.queued))
        first[0].free.set()
        self.clock.hear()
        self.assertEqual("done", self.successResultOf(first[1]))
        self.assertTrue(third[0].begun.wait(PATIENCE))
        self.assertFalse(second[1].called)

    def test_full_queue_refuses_work(self) -> None:
        for name in "abcde":
            self.hold(name)
        self.assertEqual(ErrorCode.RATE_LIMITED, self.refusal(self.hold("f")[1]))
        self.assertEqual(
            (2, 3, 1), (self.door.usage.busy, self.door.usage.queued, self.door.refused)
        )

    def test_cancelled_waiting_task_is_not_run(self) -> None:
        for _ in range(2):
            self.hold()
        held, done = self.hold()
        done.cancel()
        self.failureResultOf(done, CancelledError)
        self.let_all_go()
        self.assertFalse(held.begun.is_set())

    def test_cancelled_running_task_keeps_its_thread_counted(self) -> None:
        _, done = self.hold()
        done.cancel()
        self.failureResultOf(done, CancelledError)
        self.assertEqual(1, self.door.usage.busy)


class SlowPoolTests(DoorCase):
    """Accounts whose folders hang."""

    bounds = FILES
    most = (FILES.share or 0) + FILES.hanging

    def hang(self, owner: str) -> None:
        """All that an account can take: it asks for more, in five folders, until it is refused."""
        for folder in "abcde":
            for _ in range(8):
                self.hold(at=f"/{owner}/{folder}", owner=owner)
            self.clock.advance(31)

    def answers(self, owner: str, within: float) -> None:
        held, done = self.hold(at=f"/{owner}", owner=owner)
        self.clock.advance(within)
        self.assertTrue(held.begun.wait(PATIENCE))
        held.free.set()
        self.clock.hear()
        self.assertEqual("done", self.successResultOf(done))

    def test_slow_threads_are_replaced(self) -> None:
        for owner in ("ann", "bob"):
            for _ in range(4):
                self.hold(at=f"/{owner}", owner=owner)
        self.assertEqual(6, self.door.usage.threads)
        self.answers("cid", 1.0)
        self.assertEqual((8, 0), (self.door.usage.busy, self.door.usage.stuck))

    def test_slow_threads_that_finish_are_free_again(self) -> None:
        work = [self.hold(at=f"/{owner}", owner=owner)[0] for owner in "abcdef"]
        self.clock.advance(1)
        for held in work:
            held.free.set()
            self.clock.hear()
        for owner in "abcdefg":
            self.hold(at=f"/{owner}", owner=owner)
        self.assertEqual((6, 1), (self.door.usage.threads, self.door.usage.queued))

    def test_folder_cannot_take_the_share_of_its_account(self) -> None:
        """Also before any work there is given up."""
        for _ in range(8):
            self.hold(at="/ann/dead", owner="ann")
        self.clock.advance(1)
        self.assertEqual((4, 4), (self.door.usage.threads, self.door.usage.queued))
        self.answers("ann", 0.0)

    def test_work_that_waits_for_a_hanging_folder_is_refused_with_its_name(self) -> None:
        for _ in range(4):
            self.hold(at="/dead", owner="ann")
        self.held.append(HeldWork())
        waits = self.door.run(self.held[-1], "ann", 5, at="/dead")
        self.clock.advance(1)
        self.clock.advance(4)
        error = self.failureResultOf(waits, ServiceError).value
        self.assertIn("/dead does not answer", error.message)

    def test_hanging_threads_of_an_account_are_bounded(self) -> None:
        for number in range(self.most + 4):
            self.hold(at=f"/ann/{number}", owner="ann")
            self.clock.advance(1)
        self.assertEqual((self.most, 4), (self.door.usage.threads, self.door.usage.queued))

    def test_three_accounts_that_hang_forever_leave_threads(self) -> None:
        for number in range(3):
            self.hang(f"u{number}")
            self.assertEqual(self.most * (number + 1), self.door.usage.stuck)
        self.answers("cid", 0.0)

    def test_threads_beyond_the_bound_count_as_busy(self) -> None:
        for number in range(5):
            self.hang(f"u{number}")
        self.assertEqual(FILES.threads + FILES.stuck, self.door.usage.threads)
        _, done = self.hold(at="/cid", owner="cid")
        self.clock.advance(30)
        error = self.failureResultOf(done, ServiceError).value
        self.assertEqual(ErrorCode.RATE_LIMITED, error.code)


class StuckTests(DoorCase):
    def test_hanging_task_is_given_up_and_its_thread_replaced(self) -> None:
        stuck = [self.hold(name) for name in "ab"]
        waits = self.hold("c")
        self.clock.advance(4)
        self.assertEqual(4, self.door.usage.oldest)
        self.clock.advance(1)
        for _, done in stuck:
            self.assertEqual(ErrorCode.OPERATION_FAILED, self.refusal(done))
        state = self.door.usage
        self.assertEqual((3, 1, 2, 0), (state.threads, state.busy, state.stuck, state.queued))
        waits[0].free.set()
        self.clock.hear()
        self.assertEqual("done", self.successResultOf(waits[1]))

    def test_single_location_cannot_take_every_thread(self) -> None:
        for _ in range(3):
            self.hold("dead mount")
            self.clock.advance(5)
        self.assertEqual((2, 2), (self.door.usage.threads, self.door.usage.stuck))
        _, done = self.hold("another")
        self.held[-1].free.set()
        self.clock.hear()
        self.assertEqual("done", self.successResultOf(done))

    def test_tasks_for_a_hanging_folder_are_refused(self) -> None:
        """Also who waits already; what is elsewhere has its own share, and goes on."""
        self.hold(at="/dead")
        self.hold(at="/dead")
        _, waiting = self.hold(at="/dead")
        self.clock.advance(5)
        _, late = self.hold(at="/dead")
        for done in (waiting, late):
            refused = self.failureResultOf(done, ServiceError).value
            self.assertIn("/dead does not answer", refused.message)
        self.assertEqual(2, self.door.usage.threads)
        held, done = self.hold(at="/well")
        held.free.set()
        self.clock.hear()
        self.assertEqual("done", self.successResultOf(done))

    def test_folders_of_an_account_share_one_limit(self) -> None:
        for number in range(4):
            self.hold(at=f"/dead{number}", owner="ann")
            self.clock.advance(5)
        self.assertEqual(SMALL.share, self.door.usage.threads)
        held, done = self.hold(at="/well", owner="bob")
        held.free.set()
        self.clock.hear()
        self.assertEqual("done", self.successResultOf(done))

    def test_single_account_cannot_take_the_whole_queue(self) -> None:
        for _ in range(SMALL.threads + SMALL.queue // 2):
            self.hold(at="/slow", owner="ann")
        _, refused = self.hold(at="/slow", owner="ann")
        self.assertEqual(ErrorCode.RATE_LIMITED, self.refusal(refused))
        _, waits = self.hold(at="/well", owner="bob")
        self.assertNoResult(waits)

    def test_folder_that_answers_again_is_used_again(self) -> None:
        held, _ = self.hold(at="/dead")
        self.clock.advance(5)
        held.free.set()
        self.clock.hear()
        held, done = self.hold(at="/dead")
        held.free.set()
        self.clock.hear()
        self.assertEqual("done", self.successResultOf(done))

    def test_replacement_threads_are_bounded(self) -> None:
        for name in "abcdefgh":
            self.hold(name)
            self.clock.advance(5)
        self.assertEqual(SMALL.threads + SMALL.stuck, self.door.usage.threads)
        _, done = self.hold("more")
        self.assertNoResult(done)
        self.clock.advance(5)
        self.assertEqual(ErrorCode.RATE_LIMITED, self.refusal(done))

    def test_given_up_task_that_ends_frees_its_thread(self) -> None:
        held, done = self.hold("a")
        self.clock.advance(5)
        self.refusal(done)
        held.free.set()
        self.clock.hear()
        self.assertEqual(0, self.door.usage.threads)

    def test_task_may_have_its_own_time_limit(self) -> None:
        held = HeldWork()
        self.held.append(held)
        done = self.door.run(held, seconds=1)
        self.clock.advance(1)
        self.refusal(done)

    def test_pipe_without_a_writer_is_given_up(self) -> None:
        """What the kernel holds for ever, as a dead mount would."""
        path = Path(self.mktemp())
        os.mkfifo(path)
        done = self.door.run(path.read_bytes)
        other = self.door.run(lambda: "answers", "other")
        self.clock.hear()
        self.assertEqual("answers", self.successResultOf(other))
        self.clock.advance(5)
        self.refusal(done)
        self.assertEqual(1, self.door.usage.stuck)
        # Its reader finds the end, which must not be over before it has come to open the pipe.
        writer = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        os.write(writer, b"x")
        wait_until("its reader", lambda: not select.select([writer], [], [], 0)[0])
        os.close(writer)


class PoolStopTests(DoorCase):
    def test_stop_waits_for_running_tasks_and_drops_waiting_ones(self) -> None:
        for _ in range(3):
            self.hold()
        stopped = self.door.stopService()
        self.assertIn("stopping", self.failureResultOf(self.door.run(str)).getErrorMessage())
        self.assertNoResult(stopped)
        self.let_all_go()
        self.successResultOf(stopped)
        self.assertFalse(self.held[2].begun.is_set())

    def test_stop_does_not_wait_for_given_up_tasks(self) -> None:
        self.hold()
        self.clock.advance(5)
        self.successResultOf(self.door.stopService())

    def test_no_thread_outlives_its_task(self) -> None:
        thread: list[threading.Thread] = []
        self.door.run(lambda: thread.append(threading.current_thread()))
        self.clock.hear()
        thread[0].join(PATIENCE)
        self.assertFalse(thread[0].is_alive())
        self.assertTrue(thread[0].daemon)


class DoorsTests(SynchronousTestCase):
    def test_busy_pool_does_not_block_another(self) -> None:
        clock = ThreadClock()
        doors = WorkerPools(clock)
        held = [HeldWork() for _ in range(FILES.threads + FILES.stuck)]
        for number, each in enumerate(held):
            doors.files.run(each, str(number)).addErrback(lambda why: why.trap(ServiceError))
            clock.advance(FILES.seconds or 0)
        self.assertEqual(len(held), doors.files.usage.threads)
        for door in (doors.hashing, doors.names):
            done = door.run(lambda: "answers")
            clock.hear()
            self.assertEqual("answers", self.successResultOf(done))
        for each in held:
            each.free.set()
        while doors.files.usage.threads:
            clock.hear()
        for call in clock.getDelayedCalls():
            call.cancel()

    def test_every_pool_is_bounded(self) -> None:
        for bounds in (HASHING, NAMES, FILES):
            self.assertLessEqual(bounds.threads, 10)
            # What hangs takes a stack, and no processor.
            self.assertLessEqual(bounds.threads + bounds.stuck, 66)
            self.assertLessEqual(bounds.queue, 1024)
        for bounds in (NAMES, FILES):
            self.assertIsNotNone(bounds.seconds)
            self.assertLess(bounds.share or 99, min(bounds.threads, bounds.stuck))
            self.assertLess(bounds.hanging, bounds.stuck)


class NoThreadsTests(SynchronousTestCase):
    def test_pool_without_threads_runs_tasks_directly(self) -> None:
        done = SynchronousThreads().run(threading.get_ident)
        self.assertEqual(threading.get_ident(), self.successResultOf(done))
