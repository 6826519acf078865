"""The doors to threads, for work that would hold up the reactor (architecture-doors).

There is one door for each kind of work, so that what hangs behind one holds up nobody at another:
a dead mount stops no sign-in.  A piece of work that takes too long is given up: its caller is told,
and its thread, which nothing can end, is replaced, up to a bound.  The threads are daemons: the end
of the program waits for none that hangs.

What hangs takes half of a share at most, so that whoever has a dead mount works on elsewhere.  Of
another mount than the service's own that is so from the first moment on.  One that is reached by a
link, or lies below the folder, shows only when work is given up.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from attrs import define, frozen
from twisted.application.service import MultiService, Service
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.interfaces import IDelayedCall
from twisted.python.failure import Failure
from zope.interface import Interface, implementer

from tservice.core.errors import ErrorCode, ServiceError, failed

SIZE = 2
"""Hashes at a time: they are bound by the processor, not by waiting."""
LATE_SECONDS = 5.0
"""When all that one share may have on a mount has been out for so long, nobody waits behind it."""

_T = TypeVar("_T")

Elsewhere = Callable[[str], str]
"""See L{tservice.core.doors.mounts.Mounts.elsewhere}."""


def _nowhere(path: str) -> str:
    return ""


class IThreads(Interface):
    """Runs work beside the reactor."""

    def run(work: Callable[[], Any], *, at: str = "", owner: str | None = None) -> Deferred[Any]:
        """The result of C{work}, which must touch nothing that the reactor's thread uses.

        The Deferred may fail with a L{ServiceError}: 429: too much waits; 422: it took too long,
        or C{at} does not answer.

        @param at: the folder of a user that it touches.  While work there is given up and hangs,
            no more is sent after it; and it has a share of its own.  Of each mount but the
            service's own, half a share is had at a time.
        @param owner: the account whose folder it is, among several: all of an account's folders
            have one share, or many that hang would take every thread.
        """


@frozen(kw_only=True)
class DoorBounds:
    """What one door lets in.

    @ivar threads: pieces of work at a time, not counting those that are slow or were given up.
    @ivar stuck: threads of these that are replaced; beyond, they count as busy.
    @ivar slow: seconds after which work that goes on is replaced; C{None}: once it is given up.
    @ivar share: threads that one place may have.  Those that hang at one folder count as half of
        it at most.
    @ivar queue: pieces that wait, of one place half of them, and half of these for one mount; one
        more is refused with 429.
    @ivar seconds: that a piece waits at most, and then runs at most; C{None}: for ever.
    """

    threads: int
    stuck: int = 0
    slow: float | None = None
    share: int | None = None
    queue: int = 256
    seconds: float | None = None

    @property
    def half(self) -> int:
        """Of a share: what one mount has at most, and what all that hangs at one folder counts."""
        return max(1, (self.share or 0) // 2)


@frozen(kw_only=True)
class State:
    """How a door stands.

    @ivar threads: alive.
    @ivar stuck: of them, those whose work was given up.
    @ivar oldest: seconds since the oldest work that runs was begun.
    """

    threads: int
    busy: int
    stuck: int
    queued: int
    oldest: float


@define(eq=False)
class _Job:
    """@ivar mount: whose it is, and where, on another mount than the service's own."""

    work: Callable[[], Any]
    place: str
    at: str
    mount: tuple[str, str] | None
    limit: float | None
    done: Deferred[Any]
    begun: float = 0.0
    slow: bool = False
    late: bool = False
    given_up: bool = False
    timer: IDelayedCall | None = None


@implementer(IThreads)
class Door(Service):
    """Threads for one kind of work, each piece in one of its own."""

    def __init__(
        self,
        reactor: Any,
        name: str,
        what: str,
        bounds: DoorBounds,
        elsewhere: Elsewhere = _nowhere,
    ) -> None:
        """
        @param reactor: provides IReactorTime and IReactorFromThreads.
        @param what: what does not answer, as callers are told it.
        """
        self.setName(f"door {name}")
        self.label = name
        self.refused = 0
        self.what = what
        self.elsewhere = elsewhere
        self._reactor, self._bounds = reactor, bounds
        self._waiting: list[_Job] = []
        self._begun: list[_Job] = []
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
        """See L{IThreads}.

        @param place: who asks; none has more than its share of the threads.  C{owner}, else C{at}
            where it is left out.
        @param seconds: in place of the door's own bound.
        """
        if self._closed:
            return fail(failed("the service is stopping"))
        whose = place or owner or ""
        where = self.elsewhere(at) if at else ""
        job = _Job(
            work=work,
            place=whose or at,
            at=at,
            mount=(whose, where) if where else None,
            limit=seconds or self._bounds.seconds,
            done=Deferred(lambda _: self._drop(job)),
        )
        refused = self._refusal(job)
        if refused is not None:
            self.refused += 1
            return fail(refused)
        if job.limit is not None:
            job.timer = self._reactor.callLater(job.limit, self._give_up, job)
        self._waiting.append(job)
        self._next()
        return job.done

    @property
    def state(self) -> State:
        """How it stands now."""
        now = self._reactor.seconds()
        stuck = sum(job.given_up for job in self._begun)
        return State(
            threads=len(self._begun),
            busy=len(self._begun) - stuck,
            stuck=stuck,
            queued=len(self._waiting),
            oldest=max((now - job.begun for job in self._begun), default=0.0),
        )

    def stopService(self) -> Deferred[None]:
        """Begin nothing more; fires once nothing runs but what was given up."""
        super().stopService()
        self._closed = True
        for job in tuple(self._waiting):
            self._end(job, Failure(failed("the service is stopping")))
        self._waiting.clear()
        self._empty = Deferred()
        self._look_empty()
        return self._empty

    # -- inside

    def _next(self) -> None:
        for job in tuple(self._waiting):
            if not self._has_room:
                return
            if self._may(job):
                self._waiting.remove(job)
                self._begin(job)

    @property
    def _has_room(self) -> bool:
        slow = sum(job.slow for job in self._begun)
        replaced = min(slow, self._bounds.stuck)
        return len(self._begun) - replaced < self._bounds.threads

    def _refusal(self, job: _Job) -> ServiceError | None:
        if self._hangs(job):
            return silent(job.at)
        return self._crowded() if self._is_crowded(job) else None

    def _hangs(self, job: _Job) -> bool:
        """Whether it would be sent after others that hang."""
        if job.at and any(each.given_up and each.at == job.at for each in self._begun):
            return True
        return self._fills(job, [each for each in self._begun if each.late])

    def _is_crowded(self, job: _Job) -> bool:
        most = self._bounds.queue
        if len(self._waiting) >= most:
            return True
        if self._bounds.share is None:
            return False
        beside = sum(each.place == job.place for each in self._waiting)
        there = sum(each.mount == job.mount for each in self._waiting)
        return beside >= most // 2 or (job.mount is not None and there >= most // 4)

    def _may(self, job: _Job) -> bool:
        share = self._bounds.share
        if share is None:
            return True
        return not self._fills(job, self._begun) and self._taken(job.place) < share

    def _fills(self, job: _Job, those: list[_Job]) -> bool:
        """Whether they have all that one may have on the mount of C{job}."""
        if self._bounds.share is None or job.mount is None:
            return False
        return sum(each.mount == job.mount for each in those) >= self._bounds.half

    def _taken(self, place: str) -> int:
        """Threads of C{place}, as far as they count."""
        own = [job for job in self._begun if job.place == place]
        hanging = Counter(job.at for job in own if job.given_up and job.at)
        counted = sum(min(count, self._bounds.half) for count in hanging.values())
        return len(own) - hanging.total() + counted

    def _begin(self, job: _Job) -> None:
        job.begun = self._reactor.seconds()
        self._begun.append(job)
        self._set_timer(job)
        name = f"tservice-{self.label}"
        threading.Thread(target=self._work, args=(job,), name=name, daemon=True).start()

    def _work(self, job: _Job) -> None:
        """In the thread."""
        result: Any
        try:
            result = job.work()
        except BaseException:
            result = Failure()
        self._reactor.callFromThread(self._over, job, result)

    def _over(self, job: _Job, result: Any) -> None:
        self._begun.remove(job)
        self._end(job, result)
        self._next()
        self._look_empty()

    def _give_up(self, job: _Job) -> None:
        job.timer = None
        self.refused += 1
        if job in self._waiting:
            self._waiting.remove(job)
            away = self._fills(job, self._begun)
            self._end(job, Failure(silent(job.at) if away else self._crowded()))
            return
        job.slow = job.late = job.given_up = True
        self._shut()
        why = silent(job.at) if job.at else failed(f"{self.what} does not answer")
        self._end(job, Failure(why))
        self._next()
        self._look_empty()

    def _be_slow(self, job: _Job) -> None:
        job.timer, job.slow = None, True
        self._set_timer(job)
        self._next()

    def _be_late(self, job: _Job) -> None:
        job.timer, job.late = None, True
        self._set_timer(job)
        self._shut()

    def _shut(self) -> None:
        """Who waits to be sent after those that hang would only hang as well."""
        for job in tuple(self._waiting):
            # Who was told before may have had it dropped.
            if job in self._waiting and self._hangs(job):
                self.refused += 1
                self._waiting.remove(job)
                self._end(job, Failure(silent(job.at)))

    def _drop(self, job: _Job) -> None:
        """Its caller left; what has begun goes on."""
        if job in self._waiting:
            self._waiting.remove(job)
            self._stop_timer(job)

    def _end(self, job: _Job, result: Any) -> None:
        self._stop_timer(job)
        if not job.done.called:
            job.done.callback(result)

    def _set_timer(self, job: _Job) -> None:
        """For what has begun: be back when it has been out too long once more."""
        self._stop_timer(job)
        stages = self._stages(job)
        if stages:
            after, step = min(stages, key=lambda stage: stage[0])
            left = max(0.0, job.begun + after - self._reactor.seconds())
            job.timer = self._reactor.callLater(left, step, job)

    def _stages(self, job: _Job) -> list[tuple[float, Callable[[_Job], None]]]:
        """What is to come of it, and after how many seconds; of two at a time the first."""
        found: list[tuple[float, Callable[[_Job], None]]] = []
        if job.limit is not None:
            found.append((job.limit, self._give_up))
        if job.mount is not None and not job.late:
            found.append((LATE_SECONDS, self._be_late))
        if self._bounds.slow is not None and not job.slow:
            found.append((self._bounds.slow, self._be_slow))
        return found

    def _stop_timer(self, job: _Job) -> None:
        if job.timer is not None:
            job.timer.cancel()
            job.timer = None

    def _look_empty(self) -> None:
        if self._empty is None or self._empty.called:
            return
        if all(job.given_up for job in self._begun):
            self._empty.callback(None)

    def _crowded(self) -> ServiceError:
        text = f"too many requests wait for {self.what} already; try again"
        return ServiceError(ErrorCode.RATE_LIMITED, text)


def silent(at: str) -> ServiceError:
    """What is said of a folder that does not answer."""
    return failed(f"{at} does not answer; is it on a mount whose server is gone?")


HASHING = DoorBounds(threads=SIZE, queue=1024)
"""Who waits for a hash is bounded where hashes are asked for, place by place."""
NAMES = DoorBounds(threads=10, stuck=6, share=4, queue=128, seconds=10.0)
FILES = DoorBounds(threads=6, stuck=60, slow=1.0, share=4, queue=256, seconds=30.0)
"""An account has six threads that hang at most: four in one folder, which count as two, and two in
another.  So ten of them leave all threads to others, each of theirs after a second.
"""


class Doors(MultiService):
    """Every door.

    @ivar hashing: for what the processor works on: passwords, seals of messages.
    @ivar names: for the system's word on hosts and users, which may come over a network.
    @ivar files: for folders and files that users named.
    """

    def __init__(self, reactor: Any, elsewhere: Elsewhere = _nowhere) -> None:
        """
        @param elsewhere: tells the mounts of folders that users named.
        """
        super().__init__()
        self.hashing = Door(reactor, "hashing", "the processor", HASHING)
        self.names = Door(reactor, "names", "the system's directory of names", NAMES)
        self.files = Door(reactor, "files", "the file system", FILES, elsewhere)
        for door in self.all:
            door.setServiceParent(self)

    @property
    def all(self) -> tuple[Door, ...]:
        """In a fixed order."""
        return (self.hashing, self.names, self.files)


@implementer(IThreads)
class NoThreads:
    """Runs everything at once, in the caller's thread: for tests and for the start."""

    def run(
        self,
        work: Callable[[], _T],
        place: str = "",
        seconds: float | None = None,
        *,
        at: str = "",
        owner: str | None = None,
    ) -> Deferred[_T]:
        """See L{IThreads}."""
        return succeed(work())
