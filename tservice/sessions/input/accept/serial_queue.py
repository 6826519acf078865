"""Bounded queue that runs coroutines one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from attrs import define
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from tservice.core.kernel.errors import ErrorCode, ServiceError

_T = TypeVar("_T")
Work = Callable[[Deferred[_T]], Coroutine[Any, Any, _T]]
"""Work of one job. It gets the Deferred of the job, and may fire it early."""

WAITING = 64
"""Maximum number of waiting jobs. A further job is refused with 429 RATE_LIMITED."""


@define(eq=False)
class _SerialJob:
    work: Work[Any]
    answer: Deferred[Any]


class SerialQueue:
    """Runs jobs strictly one by one, in order.

    A waiting job is dropped if its caller cancels. A job that has begun is finished, because half
    of it would do more harm.
    """

    def __init__(self, waiting: int = WAITING) -> None:
        self._limit = waiting
        self._jobs: deque[_SerialJob] = deque()
        self._running: Deferred[Any] | None = None
        self._busy = False
        self._looping = False
        self._closed = False

    @property
    def is_idle(self) -> bool:
        """True while no job runs or waits."""
        return not self._busy and not self._jobs

    def put(self, work: Work[_T], *, bounded: bool = True) -> Deferred[_T]:
        """Run C{work} when its turn comes. The Deferred fires with its outcome.

        @param bounded: false for jobs that do not count against L{WAITING}. The queue's owner has
            at most one such job at a time.
        @raise ServiceError: 429 if L{WAITING} jobs wait already.
        """
        if self._closed:
            raise ServiceError(ErrorCode.OPERATION_FAILED, "the service is stopping")
        if bounded and len(self._jobs) >= self._limit:
            raise ServiceError(ErrorCode.RATE_LIMITED, "too many inputs wait for this session")
        job = _SerialJob(work, Deferred(lambda _: self._drop_job(job)))
        self._jobs.append(job)
        self._start_next()
        return job.answer

    def close(self) -> None:
        """Cancel the running job at its current step and drop the waiting jobs."""
        self._closed = True
        for job in tuple(self._jobs):
            job.answer.cancel()
        if self._running is not None:
            self._running.cancel()

    def _drop_job(self, job: _SerialJob) -> None:
        if job in self._jobs:
            self._jobs.remove(job)

    def _start_next(self) -> None:
        # A loop instead of recursion: a long queue of short jobs would exhaust the stack.
        if self._looping:
            return
        self._looping = True
        try:
            while self._jobs and not self._busy:
                self._begin_job(self._jobs.popleft())
        finally:
            self._looping = False

    def _begin_job(self, job: _SerialJob) -> None:
        # The queue is busy from the first step on, also for calls made by the job itself.
        self._busy = True
        self._running = Deferred.fromCoroutine(job.work(job.answer))
        self._running.addBoth(self._finish_job, job)

    def _finish_job(self, result: Any, job: _SerialJob) -> None:
        self._running, self._busy = None, False
        if not job.answer.called:
            _fire_answer(job.answer, result)
        self._start_next()


def _fire_answer(answer: Deferred[Any], result: Any) -> None:
    if isinstance(result, Failure):
        if result.check(CancelledError):
            result = Failure(ServiceError(ErrorCode.OPERATION_FAILED, "the service is stopping"))
        answer.errback(result)
    else:
        answer.callback(result)
