"""Accounts on fakes, for tests."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.os_user_harness import OsUserWorld
from tservice.access.accounts.account_store import AccountStore
from tservice.access.accounts.accounts import AccountsDependencies, AccountService
from tservice.access.passwords.hashing import FairPasswordHasher
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventHub
from tservice.core.workers.worker_pool import IThreads, SynchronousThreads
from tservice.store.database import Database

_T = TypeVar("_T")
PASSWORD = "correct horse"


def cheap_hasher(threads: IThreads | None = None) -> FairPasswordHasher:
    """A hasher that costs next to nothing."""
    return FairPasswordHasher(
        threads or SynchronousThreads(), lambda size: b"k" * size, memory_kib=8, passes=1
    )


class AccountCase(SynchronousTestCase):
    """A store, and accounts in it: C{ann} is an admin, C{bob} is not."""

    threads: IThreads | None = None

    def setUp(self) -> None:
        self.clock = Clock()
        self.numbers = 0
        self.database = Database.open_in_memory(clock=self.clock)
        self.addCleanup(self.database.close)
        self.revoked: list[str] = []
        self.forgotten: list[str] = []
        self.owners: set[str] = set()
        self.os_users = OsUserWorld(Path(self.mktemp()))
        self.events: list[Event] = []
        self.hub = EventHub()
        self.hub.subscribe(self.events.append)
        self.hasher = cheap_hasher(self.threads)
        self.accounts = self.start()
        self.accounts.create_first_admin("ann", PASSWORD)

    def start(self) -> AccountService:
        """The accounts of a new process."""
        deps = AccountsDependencies(
            clock=self.clock,
            random=self.random,
            hasher=self.hasher,
            hub=self.hub,
            revoke=self.revoke,
            forget=self.forgotten.append,
            tokens_of=lambda name: 0 if name in self.forgotten else 2,
            owns=self.owners.__contains__,
            os_users=self.os_users.users,
        )
        return AccountService(AccountStore(self.database), deps)

    def revoke(self, username: str) -> int:
        self.revoked.append(username)
        return 3

    def random(self, size: int) -> bytes:
        self.numbers += 1
        return bytes((self.numbers * 7 + n) % 256 for n in range(size))

    def now(self, work: Awaitable[_T]) -> _T:
        result: _T = self.successResultOf(_begin(work))
        return result

    def refused(self, code: ErrorCode, work: Awaitable[Any]) -> str:
        error: ServiceError = self.failureResultOf(_begin(work), ServiceError).value
        self.assertEqual(code, error.code)
        return error.message

    def check(self, username: str, password: str = PASSWORD) -> Identity | None:
        return self.now(self.accounts.check_password(username, password, "::1"))


def _begin(work: Awaitable[_T]) -> Deferred[_T]:
    return Deferred.fromCoroutine(work)  # type: ignore[arg-type]
