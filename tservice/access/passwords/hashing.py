"""Slow password hashes, computed in a thread pool in a fair order.

Each hash costs tens of milliseconds and tens of megabytes, and any caller can cause one by trying a
password.  Therefore few run at a time, callers are served in turn, and each caller may only have a
few waiting.  A flood from one address delays others by one hash per turn, not by its length.
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

from tservice.access.passwords.failures import get_address_network
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.workers.worker_pool import SIZE, IThreads

MEMORY_KIB = 19 * 1024
PASSES = 2
LANES = 1
"""Parallelism of argon2id, as the OWASP password storage cheat sheet recommends."""

MAX_WAITING = 8
"""Maximum number of waiting checks of one address; a further one is refused."""

MAX_AROUND = 64
"""Maximum number of waiting checks of one network.

The owner of an IPv6 /48 network has an unlimited number of addresses.
"""

MAX_TOTAL = 256
"""Maximum number of all waiting checks, each of which holds a connection open.

A further check replaces a check of the network that has most of them.
"""

BUSY_SECONDS = 1.0
"""Seconds after which a refused caller should retry."""


def make_password_seal(password: str, salt: bytes) -> bytes:
    """Return a value that identifies a password even after a restart of the service.

    Guessing the password from this value is as costly as from its hash.

    @param salt: secret of this data folder, at least 16 bytes.
    """
    return hash_secret_raw(_encode_password(password), salt, PASSES, MEMORY_KIB, LANES, 32, Type.ID)


class TooManyChecks(Exception):
    """Error: too many checks are waiting."""


class FairPasswordHasher:
    """Argon2id hasher that quickly accepts a password that was verified recently."""

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

    def hash_in_this_thread(self, password: str) -> str:
        """Return the hash of a new password, computed in the calling thread; only for the start."""
        return self._argon.hash(_encode_password(password))

    async def hash_password(self, place: str, password: str) -> str:
        """Return the hash of a new password.

        @param place: the caller's address, for the fair order.
        @raise TooManyChecks: see L{FairQueue.run_in_turn}.
        """
        found: str = await self._turns.run_in_turn(
            place, partial(self.hash_in_this_thread, password)
        )
        return found

    async def verify_password(self, place: str, password_hash: str | None, password: str) -> bool:
        """Return whether C{password} matches C{password_hash}.

        @param place: the caller's address; waiting checks are served round-robin by address.
        @param password_hash: C{None} for an unknown user.  The check then takes the same time, and
            never succeeds.
        @raise TooManyChecks: see L{FairQueue.run_in_turn}.
        """
        if password_hash is None:
            # Verification computes the hash again: this costs as much as a wrong password.
            await self.hash_password(place, password)
            return False
        work = partial(_verify_hash, self._argon, password_hash, _encode_password(password))
        right: bool = await self._turns.run_in_turn(place, work)
        return right

    def fingerprint_password(self, password_hash: str, password: str) -> bytes:
        """Return a value that identifies the pair of a password and its hash in this process.

        Programs send a password with every request, so verified passwords are recognized by this
        value.  Its key is in no file, so the stored values are useless without access to the
        process.
        """
        text = b"%d:%b%b" % (len(password_hash), password_hash.encode(), _encode_password(password))
        return hmac.digest(self._key, text, "sha256")


_Waiting = tuple[Callable[[], Any], Deferred[Any]]


class FairQueue:
    """Queue that runs at most L{SIZE} work items at a time.

    Networks are served round-robin, and within each network its addresses.
    """

    _log = Logger()

    def __init__(self, threads: IThreads) -> None:
        self._threads = threads
        self._running = 0
        self._waiting: dict[str, dict[str, deque[_Waiting]]] = {}

    async def run_in_turn(self, place: str, work: Callable[[], Any]) -> Any:
        """Wait for a turn, run C{work} in a thread, and return its result.

        @param place: the caller's address.
        @raise TooManyChecks: L{MAX_WAITING} checks of C{place}, or L{MAX_AROUND} of its network,
            are waiting.  Also if L{MAX_TOTAL} are waiting, and no other network has more of them.
        """
        around = get_address_network(place.partition("/")[0]) or place
        many = self._count_waiting(around)
        queue = self._waiting.get(around, {}).get(place, ())
        if len(queue) >= MAX_WAITING or many >= MAX_AROUND or not self._has_room(many):
            raise TooManyChecks
        done: Deferred[Any] = Deferred()
        self._waiting.setdefault(around, {}).setdefault(place, deque()).append((work, done))
        self._start_next()
        return await done

    def _count_waiting(self, around: str) -> int:
        return sum(map(len, self._waiting.get(around, {}).values()))

    def _has_room(self, many: int) -> bool:
        """Return whether a network with C{many} waiting checks may add one.

        If the queue is full, drop a check of a network that has more.
        """
        counts = {around: self._count_waiting(around) for around in self._waiting}
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
            done.errback(TooManyChecks())
        return True

    def _start_next(self) -> None:
        while self._waiting and self._running < SIZE:
            work, done = self._pop_next_work()
            if not done.called:
                self._running += 1
                spawn_logged(self._run_work(work, done), self._log, "a password check")

    def _pop_next_work(self) -> _Waiting:
        """Return the next work item, and move its network and address to the end of the order.

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

    async def _run_work(self, work: Callable[[], Any], done: Deferred[Any]) -> None:
        try:
            result = await self._threads.run(work)
        except Exception as error:
            done.errback(error)
        else:
            done.callback(result)
        finally:
            self._running -= 1
            self._start_next()


def _verify_hash(argon: PasswordHasher, password_hash: str, password: bytes) -> bool:
    try:
        return argon.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


def _encode_password(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
