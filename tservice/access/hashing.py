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

from tservice.core.tasks import spawn
from tservice.core.threads import SIZE, IThreads

MEMORY_KIB = 19 * 1024
PASSES = 2
LANES = 1
"""argon2id as the OWASP password storage cheat sheet has it."""

MAX_WAITING = 8
"""Checks of one place that wait; one more is refused."""

MAX_PLACES = 1000
"""Places with waiting checks; for one more there is no room."""

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
        self._turns = Turns(threads)
        self._argon = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=LANES)
        self._key = random(32)
        self._dummy = self._argon.hash(random(16).hex())

    def hash_now(self, password: str) -> str:
        """The hash of a new password, in this thread: for the start only."""
        return self._argon.hash(_bytes(password))

    async def hash(self, place: str, password: str) -> str:
        """The hash of a new password.

        @raise Crowded: see L{Turns}.
        """
        found: str = await self._turns.run(place, partial(self.hash_now, password))
        return found

    async def verify(self, place: str, password_hash: str | None, password: str) -> bool:
        """Whether C{password} is the one of C{password_hash}.

        @param place: who is asking; places take turns.
        @param password_hash: C{None} for nobody's: takes as long, and is never right.
        @raise Crowded: see L{Turns}.
        """
        against = self._dummy if password_hash is None else password_hash
        work = partial(_matches, self._argon, against, _bytes(password))
        right: bool = await self._turns.run(place, work)
        return right and password_hash is not None

    def fingerprint(self, password_hash: str, password: str) -> bytes:
        """Tells this password of this hash again, for as long as this process runs.

        Programs send a password with every request.  The key is in no file, so what is kept in
        memory is of no use to anybody who does not hold the process itself.
        """
        text = b"%d:%b%b" % (len(password_hash), password_hash.encode(), _bytes(password))
        return hmac.digest(self._key, text, "sha256")


class Turns:
    """Lets L{SIZE} pieces of work run at a time; the places take turns."""

    _log = Logger()

    def __init__(self, threads: IThreads) -> None:
        self._threads = threads
        self._running = 0
        self._waiting: dict[str, deque[tuple[Callable[[], Any], Deferred[Any]]]] = {}

    async def run(self, place: str, work: Callable[[], Any]) -> Any:
        """The result of C{work}.

        @raise Crowded: C{place} has L{MAX_WAITING} waiting, or there are L{MAX_PLACES}.
        """
        queue = self._waiting.get(place)
        if queue is None:
            if len(self._waiting) >= MAX_PLACES:
                raise Crowded
            queue = self._waiting[place] = deque()
        if len(queue) >= MAX_WAITING:
            raise Crowded
        done: Deferred[Any] = Deferred()
        queue.append((work, done))
        self._next()
        return await done

    def _next(self) -> None:
        while self._waiting and self._running < SIZE:
            place = next(iter(self._waiting))
            queue = self._waiting.pop(place)
            work, done = queue.popleft()
            if queue:
                # Behind everybody else: the order of the dict is the order of turns.
                self._waiting[place] = queue
            if not done.called:
                self._running += 1
                spawn(self._run(work, done), self._log, "a password check")

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
