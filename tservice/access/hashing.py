"""Slow password hashes, worked off beside the reactor in a fair order.

Each hash costs tens of milliseconds and tens of megabytes, and anybody may ask for one by
trying a password.  So few run at a time, callers take turns, and one caller may have but a
few waiting: a flood from one place delays the others by one hash each turn, not by its length.
"""

from __future__ import annotations

import hmac
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type, hash_secret_raw
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from tservice.access.failures import network
from tservice.core.doors.threads import SIZE, IThreads
from tservice.core.tasks import spawn

MEMORY_KIB = 19 * 1024
PASSES = 2
LANES = 1
"""argon2id as the OWASP password storage cheat sheet has it."""

MAX_WAITING = 8
"""Checks of one place that wait; one more is refused."""

MAX_AROUND = 64
"""Checks of one network that wait: who has a /48 has places without end."""

MAX_TOTAL = 256
"""Checks that wait in all, each of which holds a connection open.

For one more the network that has most of them makes room.
"""

BUSY_SECONDS = 1.0
"""After so long it is worth trying again."""


def password_seal(password: str, salt: bytes) -> bytes:
    """Tells a password from others after a restart, and costs who guesses it as much as its hash.

    @param salt: secret and of this instance, at least 16 bytes.
    """
    return hash_secret_raw(_bytes(password), salt, PASSES, MEMORY_KIB, LANES, 32, Type.ID)


class Crowded(Exception):
    """Too many checks wait already."""


class Hasher:
    """Argon2id, and a quick way for a password that was right a moment ago."""

    def __init__(
        self,
        threads: IThreads,
        random: Callable[[int], bytes],
        memory_kib: int = MEMORY_KIB,
        passes: int = PASSES,
    ) -> None:
        self._turns = FairQueue(threads)
        self._argon = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=LANES)
        self._key = random(32)

    def hash_now(self, password: str) -> str:
        """The hash of a new password, in this thread: for the start only."""
        return self._argon.hash(_bytes(password))

    async def hash(self, place: str, password: str) -> str:
        """The hash of a new password.

        @raise Crowded: see L{FairQueue}.
        """
        found: str = await self._turns.run(place, partial(self.hash_now, password))
        return found

    async def verify(self, place: str, password_hash: str | None, password: str) -> bool:
        """Whether C{password} is the one of C{password_hash}.

        @param place: who is asking; places take turns.
        @param password_hash: C{None} for nobody's: takes as long, and is never right.
        @raise Crowded: see L{FairQueue}.
        """
        if password_hash is None:
            # Checking one is making it again: this costs what a wrong password does.
            await self.hash(place, password)
            return False
        work = partial(_matches, self._argon, password_hash, _bytes(password))
        right: bool = await self._turns.run(place, work)
        return right

    def fingerprint(self, password_hash: str, password: str) -> bytes:
        """Tells this password of this hash again, for as long as this process runs.

        Programs send a password with every request.  The key is in no file, so what is kept in
        memory is of no use to anybody who does not hold the process itself.
        """
        text = b"%d:%b%b" % (len(password_hash), password_hash.encode(), _bytes(password))
        return hmac.digest(self._key, text, "sha256")


_Waiting = tuple[Callable[[], Any], Deferred[Any]]


class FairQueue:
    """Lets L{SIZE} pieces of work run at a time; networks take turns, and in each its places."""

    _log = Logger()

    def __init__(self, threads: IThreads) -> None:
        self._threads = threads
        self._running = 0
        self._waiting: dict[str, dict[str, deque[_Waiting]]] = {}

    async def run(self, place: str, work: Callable[[], Any]) -> Any:
        """The result of C{work}.

        @raise Crowded: L{MAX_WAITING} of C{place}, or L{MAX_AROUND} of the network around it, wait
            already; or there are L{MAX_TOTAL}, and no network has more than this one would.
        """
        around = network(place.partition("/")[0]) or place
        many = self._count(around)
        queue = self._waiting.get(around, {}).get(place, ())
        if len(queue) >= MAX_WAITING or many >= MAX_AROUND or not self._has_room(many):
            raise Crowded
        done: Deferred[Any] = Deferred()
        self._waiting.setdefault(around, {}).setdefault(place, deque()).append((work, done))
        self._next()
        return await done

    def _count(self, around: str) -> int:
        return sum(map(len, self._waiting.get(around, {}).values()))

    def _has_room(self, many: int) -> bool:
        """Whether one more may wait of a network that has C{many}; makes room if that is fair."""
        counts = {around: self._count(around) for around in self._waiting}
        if sum(counts.values()) < MAX_TOTAL:
            return True
        most = max(counts, key=lambda around: counts[around])
        if counts[most] <= many + 1:
            return False
        places = self._waiting[most]
        place = max(places, key=lambda place: len(places[place]))
        _, done = places[place].pop()
        if not places[place]:
            del places[place]
        if not done.called:
            done.errback(Crowded())
        return True

    def _next(self) -> None:
        while self._waiting and self._running < SIZE:
            work, done = self._take()
            if not done.called:
                self._running += 1
                spawn(self._run(work, done), self._log, "a password check")

    def _take(self) -> _Waiting:
        """The next in line; those left go behind everybody else.

        The order of the dicts is the order of turns.
        """
        around = next(iter(self._waiting))
        places = self._waiting.pop(around)
        place = next(iter(places))
        queue = places.pop(place)
        taken = queue.popleft()
        if queue:
            places[place] = queue
        if places:
            self._waiting[around] = places
        return taken

    async def _run(self, work: Callable[[], Any], done: Deferred[Any]) -> None:
        try:
            result = await self._threads.run(work)
        except Exception as error:
            done.errback(error)
        else:
            done.callback(result)
        finally:
            self._running -= 1
            self._next()


def _matches(argon: PasswordHasher, password_hash: str, password: bytes) -> bool:
    try:
        return argon.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
