"""The audit log: entries into the chain, and out of it by filters."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from attrs import asdict, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.audit.interfaces import IAuditLog
from tservice.audit.model import HEAD_FILE, KEY_FILE, MAX_ROWS, AuditEntry
from tservice.audit.summing import Summing
from tservice.core.clock import now_ms
from tservice.core.disk import NotKept
from tservice.core.errors import StartError
from tservice.core.files import remove_leftovers
from tservice.core.keyfile import kept_text
from tservice.store.chain import Chain
from tservice.store.database import Database

TYPING_SECONDS = 10.0
"""What one caller types into one session within this time is one entry."""

MOST_WAITING = 1000
"""Entries that wait for a full disk; what comes beyond is counted."""

FAILURE_SECONDS = 600.0
"""The first failure of one address is an entry at once, what follows within this time another."""

_KEY = re.compile(r"[0-9a-f]{64}")


@frozen(kw_only=True)
class AuditFilter:
    """Which entries are asked for, the newest first.

    @ivar action: how it begins.
    @ivar path: how the path of an operation begins, whatever its method.
    @ivar since: Unix milliseconds, as C{until}.
    @ivar before: only entries with a lower number: the way to the next page.
    """

    limit: int
    actor: str | None = None
    action: str | None = None
    path: str | None = None
    target: str | None = None
    since: int | None = None
    until: int | None = None
    before: int | None = None


@implementer(IAuditLog)
class AuditLog:
    """See L{IAuditLog}.

    A full disk stops nobody by way of the log: what changes something is refused by itself then,
    and who makes room must not be.  Entries wait in memory, L{MOST_WAITING} of them, and how many
    more there were is an entry too.
    """

    _log = Logger()

    def __init__(
        self, database: Database, clock: IReactorTime, key: bytes, head: Path, most: int = MAX_ROWS
    ) -> None:
        self._database, self._clock = database, clock
        self._chain = Chain(database, key, head, most)
        self._waiting: deque[dict[str, Any]] = deque()
        self._dropped = 0
        database.debts.when_recovered(self._write)
        self._typing = Summing(clock, TYPING_SECONDS, self._typed)
        self._failures = Summing(clock, FAILURE_SECONDS, self._failed)
        if self._chain.fault is not None:
            self._log.critical(
                "the audit log was changed from outside: {fault}", fault=self._chain.fault
            )
            self.record(AuditEntry(action="audit.broken", detail={"fault": self._chain.fault}))

    def record(self, entry: AuditEntry) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._dropped += 1
            return
        self._waiting.append({"at": now_ms(self._clock), **entry.columns()})
        self._write()

    def _write(self) -> None:
        """Write what waits, in order, as far as the disk takes it."""
        while self._waiting:
            columns = self._waiting[0]
            try:
                self._chain.append(**columns)
            except NotKept:
                return
            except Exception:
                self._log.failure("{action} was not put into the audit log", **columns)
            self._waiting.popleft()
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            self.record(AuditEntry(action="audit.dropped", detail={"entries": dropped}))

    def summed(self, entry: AuditEntry, amount: int) -> None:
        words = (entry.actor, entry.method, entry.address, entry.action, entry.target)
        self._typing.add((*words, str(entry.detail.get("source", ""))), amount)

    def failed(self, bucket: str, address: str, username: str | None, locked: bool) -> None:
        """A wrong password, secret, token or code.

        @param address: as it is counted: the network of an IPv6 address.
        @param locked: over the cap, so that it was answered with 429.
        """
        if not self._failures.add((bucket, address), int(locked)):
            return
        detail = {"bucket": bucket, "locked": locked}
        if username is not None:
            detail["username"] = username
        self.record(AuditEntry(action="login.failed", address=address, detail=detail))

    def find(self, wanted: AuditFilter) -> list[dict[str, Any]]:
        """Entries, the newest first."""
        conditions = {
            "actor = :actor": wanted.actor,
            "substr(action, 1, length(:action)) = :action": wanted.action,
            "substr(action, instr(action, ' ') + 1, length(:path)) = :path": wanted.path,
            "target = :target": wanted.target,
            "at >= :since": wanted.since,
            "at <= :until": wanted.until,
            "seq < :before": wanted.before,
        }
        parts = [text for text, value in conditions.items() if value is not None]
        where = f"WHERE {' AND '.join(parts)}" if parts else ""
        rows = self._database.query(
            f"SELECT * FROM audit_log {where} ORDER BY seq DESC LIMIT :limit",  # noqa: S608
            asdict(wanted),
        )
        return [{**dict(row), "detail": json.loads(row["detail"])} for row in rows]

    def sign_ins(self, since: int) -> list[tuple[str, str, int]]:
        """Return users, the addresses of their sign-ins and the time of the last, in its order.

        @param since: Unix milliseconds.
        """
        rows = self._database.query(
            "SELECT actor, address, max(at) AS at FROM audit_log"
            " WHERE action = 'login' AND at >= ? GROUP BY actor, address ORDER BY max(at)",
            (since,),
        )
        return [(row["actor"], row["address"], row["at"]) for row in rows]

    def close(self) -> None:
        """Write what is being added up."""
        self._typing.close()
        self._failures.close()

    def _typed(self, key: Hashable, times: int, amount: int) -> None:
        names = ("actor", "method", "address", "action", "target")
        words = key if isinstance(key, tuple) else ("", "none", "", "(others)", "", "")
        detail = {"source": words[5], "times": times, "length": amount}
        self.record(AuditEntry(**dict(zip(names, words, strict=False)), detail=detail))

    def _failed(self, key: Hashable, times: int, locked: int) -> None:
        bucket, address = key if isinstance(key, tuple) else ("", "(others)")
        if times > 1 or not isinstance(key, tuple):
            detail = {"bucket": bucket, "times": times, "locked": locked}
            self.record(AuditEntry(action="login.failed", address=address, detail=detail))


def audit_key(data_dir: Path, random: Callable[[int], bytes]) -> bytes:
    """The key of this data folder's audit log, made at the first start.

    @raise StartError: the file is not one of ours, open to others, or cannot be written.
    """
    found = kept_text(data_dir / KEY_FILE, lambda: random(32).hex())
    if not _KEY.fullmatch(found):
        raise StartError(f"{KEY_FILE}: must hold 64 hex digits")
    return bytes.fromhex(found)


def open_audit_log(
    data_dir: Path, database: Database, clock: IReactorTime, random: Callable[[int], bytes]
) -> AuditLog:
    """The audit log of a data folder.

    @raise StartError: see L{audit_key}.
    """
    head = data_dir / HEAD_FILE
    remove_leftovers(head)
    return AuditLog(database, clock, audit_key(data_dir, random), head)
