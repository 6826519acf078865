"""Audit log that writes entries to its table, and finds them by a filter."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Hashable, Mapping
from typing import Any, cast

from attrs import asdict, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from zope.interface import implementer

from tservice.audit.event_sums import EventSummarizer
from tservice.audit.export import AuditExport
from tservice.audit.interfaces import IAuditLog
from tservice.audit.model import BOUNDS, AuditEntry
from tservice.audit.store import AuditStore
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.clock import get_unix_ms
from tservice.store.database import Database

TYPING_SECONDS = 10.0
"""Period in seconds in which the typing of one caller in one session becomes one entry."""

REPEAT_SECONDS = 10.0
"""Period in seconds in which equal entries are combined.

The first is written at once; the number of repetitions is a second entry.
"""

MOST_WAITING = 1000
"""Maximum number of entries in each part that wait for a full disk, half of them for one actor.

Further entries are only counted.
"""

FAILURE_SECONDS = 600.0
"""Period in seconds in which failed authentications of one address are combined.

The first is written at once; the others become a second entry.
"""


@frozen(kw_only=True)
class AuditFilter:
    """Filter of audit entries.

    @ivar action: prefix of the action.
    @ivar path: prefix of an operation's path, for any method.
    @ivar since: earliest time in Unix milliseconds.
    @ivar until: latest time in Unix milliseconds.
    @ivar before: only entries with a lower number are returned, to get the next page.
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
    """Audit log in the database, an implementation of L{IAuditLog}.

    The log blocks no operation on a full disk.  The operation itself then fails if it changes data,
    and users who free space must not be refused.  Entries wait in memory, up to L{MOST_WAITING} of
    each part; the number of further ones becomes an entry too.
    """

    _log = Logger()

    def __init__(
        self,
        database: Database,
        clock: IReactorTime,
        export: AuditExport | None = None,
        bounds: Mapping[str, int] = BOUNDS,
    ) -> None:
        """@param export: gets each entry immediately, even while the disk is full.  C{None} for no
            export.
        @param bounds: maximum number of entries in each part of the log.
        """
        self._database, self._clock, self._export = database, clock, export
        self._store = AuditStore(database, bounds)
        self._waiting: deque[dict[str, Any]] = deque()
        self._dropped = 0
        database.deferred_writes.add_recovery_callback(self._write_queued)
        self._repeats = EventSummarizer(clock, REPEAT_SECONDS, self._queue_repetition_entry)
        self._typing = EventSummarizer(clock, TYPING_SECONDS, self._queue_typing_entry)
        self._failures = EventSummarizer(clock, FAILURE_SECONDS, self._queue_failures_entry)

    def record_entry(self, entry: AuditEntry) -> None:
        # If too many differ, all are written, so that no entry is lost in a sum of others.
        key = tuple(entry.column_values().items())
        if not self._repeats.has_room(key) or self._repeats.add(key):
            self._queue_entry(entry.column_values())

    def _queue_entry(self, columns: Mapping[str, Any]) -> None:
        row = {"at": get_unix_ms(self._clock), **columns}
        if self._export is not None:
            self._export.write_entry(row)
        waiting = Counter((each["part"], each["actor"]) for each in self._waiting)
        of_part = sum(many for (part, _), many in waiting.items() if part == row["part"])
        of_actor = waiting[row["part"], row["actor"]]
        if of_part >= MOST_WAITING or of_actor >= MOST_WAITING // 2:
            self._dropped += 1
            return
        self._waiting.append(row)
        self._write_queued()

    def _write_queued(self) -> None:
        """Write the waiting entries in order, until the disk refuses one."""
        while self._waiting:
            row = self._waiting[0]
            try:
                self._store.append_row(row)
            except DiskFull:
                return
            except Exception:
                self._log.failure("{action} was not written to the audit log", **row)
            self._waiting.popleft()
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            entry = AuditEntry(action="audit.dropped", detail={"entries": dropped})
            self._queue_entry(entry.column_values())

    def record_summed(self, entry: AuditEntry, amount: int) -> None:
        source = str(entry.detail.get("source", ""))
        words = (entry.actor, entry.method, entry.address, entry.action, entry.target, source)
        rest = (entry.actor, entry.method, "", "(others)", "", "")
        self._typing.add(words, amount, rest)

    def record_failure(self, bucket: str, address: str, username: str | None, locked: bool) -> None:
        """Record a wrong password, secret, token or code.

        @param bucket: the value of the
            L{FailureBucket<tservice.core.callers.authentication.FailureBucket>}.
        @param address: the address as it is counted; for IPv6 the host's network.
        @param locked: true if the failure was over the limit, so that the response was 429.
        """
        if not self._failures.add((bucket, address), int(locked)):
            return
        detail = {"bucket": bucket, "locked": locked}
        if username is not None:
            detail["username"] = username
        entry = AuditEntry(action="login.failed", address=address, detail=detail)
        self._queue_entry(entry.column_values())

    def find_entries(self, wanted: AuditFilter) -> list[dict[str, Any]]:
        """Return the matching entries, newest first."""
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
        rows = self._database.query_rows(
            f"SELECT * FROM audit_log {where} ORDER BY seq DESC LIMIT :limit",  # noqa: S608
            asdict(wanted),
        )
        return [{**dict(row), "detail": json.loads(row["detail"])} for row in rows]

    def list_sign_ins(self, since: int) -> list[tuple[str, str, int]]:
        """Return pairs of a user and an address that the user signed in from, by time.

        Each item is the user name, the address, and the time of the last sign-in in Unix
        milliseconds.

        @param since: earliest time in Unix milliseconds.
        """
        rows = self._database.query_rows(
            "SELECT actor, address, max(at) AS at FROM audit_log"
            " WHERE part = 'sign-ins' AND action = 'login' AND at >= ?"
            " GROUP BY actor, address ORDER BY max(at)",
            (since,),
        )
        return [(row["actor"], row["address"], row["at"]) for row in rows]

    def close(self) -> None:
        """Write the sums that are still open."""
        self._repeats.close()
        self._typing.close()
        self._failures.close()

    def _queue_repetition_entry(self, key: Hashable, times: int, amount: int) -> None:
        if times > 1 and isinstance(key, tuple):
            columns = dict(key)
            detail = {**json.loads(columns["detail"]), "times": times}
            self._queue_entry({**columns, "detail": json.dumps(detail, sort_keys=True)})

    def _queue_typing_entry(self, key: Hashable, times: int, amount: int) -> None:
        names = ("actor", "method", "address", "action", "target")
        words = cast("tuple[str, ...]", key)
        detail = {"source": words[-1], "times": times, "length": amount}
        entry = AuditEntry(**dict(zip(names, words, strict=False)), detail=detail)
        self._queue_entry(entry.column_values())

    def _queue_failures_entry(self, key: Hashable, times: int, locked: int) -> None:
        bucket, address = key if isinstance(key, tuple) else ("", "(others)")
        if times > 1 or not isinstance(key, tuple):
            detail = {"bucket": bucket, "times": times, "locked": locked}
            entry = AuditEntry(action="login.failed", address=address, detail=detail)
            self._queue_entry(entry.column_values())
