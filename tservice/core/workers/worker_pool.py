"""Thread pools for blocking work (architecture-doors).

There is one pool for each kind of work, so hanging work in one pool delays no other kind.  A dead
mount blocks no sign-in, for example.  Work that exceeds its time limit is given up: its caller gets
an error.  The thread cannot be stopped, so it is replaced by a new one, up to a limit.  The threads
are daemon threads, so hanging threads do not delay the end of the program.

Each folder or account has a share of the threads.  In the pool for files, a thread that works for
more than a second is replaced in its share too, up to a limit.  So the user of a dead mount can
continue in other folders.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from attrs import define, frozen
from twisted.application.service import MultiService, Service
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.interfaces import IDelayedCall
from twisted.python.failure import Failure
from zope.interface import Interface, implementer

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error

SIZE = 2
"""Number of hashes that are computed concurrently; hashing is bound by the processor."""

_T = TypeVar("_T")


class IThreads(Interface):
    """Runs work outside the reactor's thread."""

    def run(work: Callable[[], Any], *, at: str = "", owner: str | None = None) -> Deferred[Any]:
        """Run C{work} in a thread; it must not touch data that the reactor's thread uses.

        The Deferred fires with the result.  It may fail with a L{ServiceError}: 429: too many
        requests are waiting; 422: the work took too long, or C{at} does not answer.

        @param at: the user's folder that the work accesses.  The folder has a separate share of the
            threads.  No new work is started for it while given-up work still hangs there.
        @param owner: the account whose folder it is, if accounts share the pool.  All folders of an
            account then have one share; otherwise many hanging folders would use up all threads.
        """


@frozen(kw_only=True)
class PoolBounds:
    """Limits of one pool.

    @ivar threads: maximum number of work items that run concurrently.  Slow items and given-up
        items do not count.
    @ivar stuck: maximum number of slow and given-up items whose threads are replaced; further ones
        count as busy.
    @ivar slow: seconds after which a running thread is replaced.  C{None} to replace it only when
        its work is given up.
    @ivar share: maximum number of threads of one share, and of threads at one folder.
    @ivar hanging: maximum number of slow and given-up items that a share does not count.
    @ivar queue: maximum number of waiting items, beyond which items are refused with 429.  One
        share has half of them.
    @ivar seconds: maximum time in seconds for waiting and running together.  C{None} for no limit.
    """

    threads: int
    stuck: int = 0
    slow: float | None = None
    share: int | None = None
    hanging: int = 0
    queue: int = 256
    seconds: float | None = None


@frozen(kw_only=True)
class PoolUsage:
    """Usage figures of a pool.

    @ivar threads: number of live threads.
    @ivar stuck: number of live threads whose work was given up.
    @ivar oldest: seconds since the oldest running work was started.
    """

    threads: int
    busy: int
    stuck: int
    queued: int
    oldest: float


@define(eq=False)
class _PoolJob:
    """Work item of a pool."""

    work: Callable[[], Any]
    place: str
    at: str
    limit: float | None
    done: Deferred[Any]
    begun: float = 0.0
    slow: bool = False
    given_up: bool = False
    timer: IDelayedCall | None = None


@implementer(IThreads)
class WorkerPool(Service):
    """Thread pool for one kind of work; each work item runs in a separate thread."""

    def __init__(self, reactor: Any, name: str, what: str, bounds: PoolBounds) -> None:
        """@param reactor: provides IReactorTime and IReactorFromThreads.
        @param what: name of the resource in the error text for a full queue.
        """
        self.setName(f"door {name}")
        self.label = name
        self.refused = 0
        self.what = what
        self._reactor, self._bounds = reactor, bounds
        self._waiting: list[_PoolJob] = []
        self._begun: list[_PoolJob] = []
        self._closed = False
        self._empty: Deferred[None] | None = None

    def run(
        self,
        work: Callable[[], _T],
        place: str = "",
        seconds: float | None = None,
        *,
        at: str = "",
        owner: str | None = None,
    ) -> Deferred[_T]:
        """See L{IThreads.run}.

        @param place: the name of the share to use; by default C{owner}, else C{at}.
        @param seconds: time limit that replaces the pool's limit.
        """
        if self._closed:
            return fail(make_failure_error("the service is stopping"))
        job = _PoolJob(
            work=work,
            place=place or owner or at,
            at=at,
            limit=seconds or self._bounds.seconds,
            done=Deferred(lambda _: self._drop_queued(job)),
        )
        refused = self._find_refusal(job)
        if refused is not None:
            self.refused += 1
            return fail(refused)
        if job.limit is not None:
            job.timer = self._reactor.callLater(job.limit, self._give_up_job, job)
        self._waiting.append(job)
        self._start_queued()
        return job.done

    @property
    def usage(self) -> PoolUsage:
        """Current usage figures."""
        now = self._reactor.seconds()
        stuck = sum(job.given_up for job in self._begun)
        return PoolUsage(
            threads=len(self._begun),
            busy=len(self._begun) - stuck,
            stuck=stuck,
            queued=len(self._waiting),
            oldest=max((now - job.begun for job in self._begun), default=0.0),
        )

    def stopService(self) -> Deferred[None]:
        """Stop starting work; the Deferred fires when no work is running except work that was given
        up.
        """
        super().stopService()
        self._closed = True
        for job in tuple(self._waiting):
            self._finish_job(job, Failure(make_failure_error("the service is stopping")))
        self._waiting.clear()
        self._empty = Deferred()
        self._report_if_drained()
        return self._empty

    # -- internals

    def _start_queued(self) -> None:
        for job in tuple(self._waiting):
            if not self._has_free_thread:
                return
            if self._has_share_for(job):
                self._waiting.remove(job)
                self._start_job(job)

    @property
    def _has_free_thread(self) -> bool:
        slow = sum(job.slow for job in self._begun)
        replaced = min(slow, self._bounds.stuck)
        return len(self._begun) - replaced < self._bounds.threads

    def _find_refusal(self, job: _PoolJob) -> ServiceError | None:
        if self._would_hang(job):
            return make_unresponsive_error(job.at)
        return self._overload_error() if self._is_queue_full_for(job) else None

    def _would_hang(self, job: _PoolJob) -> bool:
        """Return whether work that was given up still hangs at the folder of C{job}."""
        return bool(job.at) and any(each.given_up and each.at == job.at for each in self._begun)

    def _is_queue_full_for(self, job: _PoolJob) -> bool:
        most = self._bounds.queue
        if self._bounds.share is None:
            return len(self._waiting) >= most
        beside = sum(each.place == job.place for each in self._waiting)
        return len(self._waiting) >= most or beside >= most // 2

    def _has_share_for(self, job: _PoolJob) -> bool:
        if self._bounds.share is None:
            return True
        if job.at and sum(each.at == job.at for each in self._begun) >= self._bounds.share:
            return False
        own = [each.slow for each in self._begun if each.place == job.place]
        return len(own) - min(sum(own), self._bounds.hanging) < self._bounds.share

    def _start_job(self, job: _PoolJob) -> None:
        job.begun = self._reactor.seconds()
        self._begun.append(job)
        self._set_timer(job)
        name = f"tservice-{self.label}"
        threading.Thread(target=self._run_job, args=(job,), name=name, daemon=True).start()

    def _run_job(self, job: _PoolJob) -> None:
        """Run the work in its thread and pass the result to the reactor."""
        result: Any
        try:
            result = job.work()
        except BaseException:
            result = Failure()
        self._reactor.callFromThread(self._handle_result, job, result)

    def _handle_result(self, job: _PoolJob, result: Any) -> None:
        self._begun.remove(job)
        self._finish_job(job, result)
        self._start_queued()
        self._report_if_drained()

    def _give_up_job(self, job: _PoolJob) -> None:
        job.timer = None
        self.refused += 1
        if job in self._waiting:
            self._waiting.remove(job)
            hangs = job.at and any(each.slow and each.at == job.at for each in self._begun)
            why = make_unresponsive_error(job.at) if hangs else self._overload_error()
            self._finish_job(job, Failure(why))
            return
        job.slow = job.given_up = True
        self._refuse_hanging()
        why = (
            make_unresponsive_error(job.at)
            if job.at
            else make_failure_error(f"{self.what} does not answer")
        )
        self._finish_job(job, Failure(why))
        self._start_queued()
        self._report_if_drained()

    def _mark_slow(self, job: _PoolJob) -> None:
        job.timer, job.slow = None, True
        self._set_timer(job)
        self._start_queued()

    def _refuse_hanging(self) -> None:
        """Refuse queued work that could only wait for other work that hangs."""
        for job in tuple(self._waiting):
            # A caller that was notified earlier in this loop may have cancelled the job.
            if job in self._waiting and self._would_hang(job):
                self.refused += 1
                self._waiting.remove(job)
                self._finish_job(job, Failure(make_unresponsive_error(job.at)))

    def _drop_queued(self, job: _PoolJob) -> None:
        """Remove a cancelled job from the queue; a running job continues."""
        if job in self._waiting:
            self._waiting.remove(job)
            self._stop_timer(job)

    def _finish_job(self, job: _PoolJob, result: Any) -> None:
        self._stop_timer(job)
        if not job.done.called:
            job.done.callback(result)

    def _set_timer(self, job: _PoolJob) -> None:
        """Set the timer of a running job to its next limit, in seconds after its start."""
        self._stop_timer(job)
        after, step = job.limit, self._give_up_job
        slow = self._bounds.slow
        if slow is not None and not job.slow and (after is None or slow < after):
            after, step = slow, self._mark_slow
        if after is not None:
            left = max(0.0, job.begun + after - self._reactor.seconds())
            job.timer = self._reactor.callLater(left, step, job)

    def _stop_timer(self, job: _PoolJob) -> None:
        if job.timer is not None:
            job.timer.cancel()
            job.timer = None

    def _report_if_drained(self) -> None:
        if self._empty is None or self._empty.called:
            return
        if all(job.given_up for job in self._begun):
            self._empty.callback(None)

    def _overload_error(self) -> ServiceError:
        text = f"too many requests are waiting for {self.what}; try again later"
        return ServiceError(ErrorCode.RATE_LIMITED, text)


def make_unresponsive_error(at: str) -> ServiceError:
    """Return the 422 error for the folder C{at}, which does not answer."""
    return make_failure_error(f"{at} does not answer; is it on a mount whose server is gone?")


HASHING = PoolBounds(threads=SIZE, queue=1024)
"""Limits for password hashing; the callers limit their queues themselves."""
NAMES = PoolBounds(threads=10, stuck=6, share=4, queue=128, seconds=10.0)
FILES = PoolBounds(threads=6, stuck=60, slow=1.0, share=4, hanging=12, queue=256, seconds=30.0)
"""Limits for file access.

One account has at most 16 threads that hang, four at each folder.  While 12 of them hang, it still
has its share for other folders.
"""


class WorkerPools(MultiService):
    """Service that holds all thread pools.

    @ivar hashing: pool for processor-bound work: password hashes and message signatures.
    @ivar names: pool for lookups of hosts and users, which may use the network.
    @ivar files: pool for access to folders and files that users named.
    """

    def __init__(self, reactor: Any) -> None:
        super().__init__()
        self.hashing = WorkerPool(reactor, "hashing", "the processor", HASHING)
        self.names = WorkerPool(reactor, "names", "the system's directory of names", NAMES)
        self.files = WorkerPool(reactor, "files", "the file system", FILES)
        for door in self.all_pools:
            door.setServiceParent(self)

    @property
    def all_pools(self) -> tuple[WorkerPool, ...]:
        """Every pool in a fixed order."""
        return (self.hashing, self.names, self.files)


@implementer(IThreads)
class SynchronousThreads:
    """Implementation of L{IThreads} that runs work in the caller's thread, for tests and the
    start.
    """

    def run(
        self,
        work: Callable[[], _T],
        place: str = "",
        seconds: float | None = None,
        *,
        at: str = "",
        owner: str | None = None,
    ) -> Deferred[_T]:
        """See L{IThreads.run}."""
        return succeed(work())
