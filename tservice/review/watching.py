"""Counts of changes for everybody who watches a session, and the base at its start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define
from twisted.internet.defer import DeferredSemaphore
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.callers.identity import Identity
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import (
    ChangeTotalsPayload,
    CommentCountsPayload,
    SessionChangesPayload,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.git.interfaces import IWorkingCopies
from tservice.review.comment_model import CommentState
from tservice.review.comparison.bases import read_head_commit
from tservice.review.model import ChangeTotals
from tservice.review.service import ReviewService, SessionChanges
from tservice.review.store import ReviewStore
from tservice.sessions.interfaces import ISessions

WATCHED_SECONDS = 60.0
"""Seconds for which a session is watched after a client read its changes."""
LEAST_SECONDS = 1.0
"""Least seconds between two readings of a watched session."""
WORK_SHARE = 10.0
"""A watched session is read again after this many times the duration of a reading, at least."""
MAX_WATCHED = 20
"""Maximum number of sessions that are watched at the same time."""
MAX_READINGS = 2
"""Maximum number of sessions whose changes are read at the same time without a request."""
MAX_KNOWN = 2000
"""Maximum number of sessions whose counts are remembered."""

_STARTS = frozenset({EventName.SESSION_CREATED, EventName.SESSION_INTERACTIVE})
_NOTHING = ChangeTotals()


@define
class _Watch:
    """Session at which a client looks.

    @ivar until: time of the reactor at which the watch ends.
    """

    until: float
    timer: IDelayedCall | None = None


class ChangesWatcher:
    """Publishes C{session:changes}, and records where sessions began.

    A session is read at the end of each turn, and about once a second while a client looks at it.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        sessions: ISessions,
        copies: IWorkingCopies,
        review: ReviewService,
        store: ReviewStore,
    ) -> None:
        self._clock, self._hub, self._sessions = clock, hub, sessions
        self._copies, self._review, self._store = copies, review, store
        self._turns = DeferredSemaphore(MAX_READINGS)
        self._watched: dict[str, _Watch] = {}
        self._reading: set[str] = set()
        self._again: set[str] = set()
        self._totals: dict[str, ChangeTotals] = {}
        self._told: dict[str, SessionChangesPayload] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin to follow the sessions."""
        self._unsubscribe = self._hub.subscribe(self._handle_event)

    def stop(self) -> None:
        """Stop following the sessions."""
        self._unsubscribe()
        for session_id in tuple(self._watched):
            self._end_watch(session_id)

    def describe_known(self, caller: Identity) -> list[SessionChangesPayload]:
        """Return the counts of the caller's sessions, as far as they are known."""
        visible = {session.id for session in self._sessions.list(caller)}
        return [told for session_id, told in self._told.items() if session_id in visible]

    def watch(self, session_id: str) -> None:
        """Read a session about once a second, because a client looks at it."""
        until = self._clock.seconds() + WATCHED_SECONDS
        known = self._watched.pop(session_id, None)
        if known is None and len(self._watched) >= MAX_WATCHED:
            self._end_watch(next(iter(self._watched)))
        self._watched[session_id] = watch = known or _Watch(until)
        watch.until = until
        if watch.timer is None and session_id not in self._reading:
            self._schedule(session_id, watch, LEAST_SECONDS)

    def report_changes(self, session_id: str, changes: SessionChanges) -> None:
        """Publish the counts if they differ from those published before."""
        self._totals[session_id] = changes.totals
        while len(self._totals) > MAX_KNOWN:
            self._forget(next(iter(self._totals)))
        self.report_comments(session_id)

    def report_comments(self, session_id: str) -> None:
        """Publish the counts if the numbers of comments changed."""
        states = [comment.state for comment in self._store.list_comments(session_id)]
        totals = self._totals.get(session_id, _NOTHING)
        told = SessionChangesPayload(
            id=session_id,
            totals=ChangeTotalsPayload(
                files=totals.files, added=totals.added, removed=totals.removed
            ),
            comments=CommentCountsPayload(
                open=states.count(CommentState.OPEN), sent=states.count(CommentState.SENT)
            ),
        )
        before = self._told.get(session_id)
        if before == told or (before is None and not states and totals == _NOTHING):
            return
        try:
            owner = self._sessions.get_owner(session_id)
        except ServiceError:
            return  # it was removed
        self._told[session_id] = told
        event = Event(
            name=EventName.SESSION_CHANGES, payload=told, session_id=session_id, owner=owner
        )
        self._hub.publish(event)

    # -- events

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is None:
            return
        if event.name is EventName.SESSION_DELETED:
            self._end_watch(session_id)
            self._forget(session_id)
        elif event.name in _STARTS:
            if not self._store.has_start(session_id):
                self._spawn(self._record_start(session_id), "recording the base of a session")
        elif event.name is EventName.SESSION_STOP:
            self._read_soon(session_id)

    def _forget(self, session_id: str) -> None:
        self._totals.pop(session_id, None)
        self._told.pop(session_id, None)

    async def _record_start(self, session_id: str) -> None:
        await self._turns.acquire()
        try:
            for copy in await self._copies.open_working_copies(session_id):
                commit = await read_head_commit(copy)
                if commit is not None:
                    at = get_unix_ms(self._clock)
                    self._store.save_start(session_id, copy.path, commit, at)
        except ServiceError as error:
            self._log.debug("{id}: no base: {error}", id=session_id, error=error)
        finally:
            self._turns.release()

    # -- readings

    def _schedule(self, session_id: str, watch: _Watch, seconds: float) -> None:
        watch.timer = self._clock.callLater(seconds, self._read_watched, session_id)

    def _read_watched(self, session_id: str) -> None:
        watch = self._watched[session_id]
        watch.timer = None
        if self._clock.seconds() >= watch.until:
            self._end_watch(session_id)
            return
        self._read_soon(session_id)

    def _read_soon(self, session_id: str) -> None:
        if session_id in self._reading:
            self._again.add(session_id)
            return
        self._reading.add(session_id)
        self._spawn(self._read(session_id), "reading the changes of a session")

    async def _read(self, session_id: str) -> None:
        await self._turns.acquire()
        begun = self._clock.seconds()
        self._again.discard(session_id)
        try:
            await self._review.read_changes(session_id)
        except ServiceError as error:
            self._log.debug("{id}: no changes: {error}", id=session_id, error=error)
        finally:
            self._reading.discard(session_id)
            self._turns.release()
        watch = self._watched.get(session_id)
        if watch is not None and watch.timer is None:
            duration = self._clock.seconds() - begun
            self._schedule(session_id, watch, max(LEAST_SECONDS, duration * WORK_SHARE))
        elif session_id in self._again:
            self._read_soon(session_id)

    def _end_watch(self, session_id: str) -> None:
        watch = self._watched.pop(session_id, None)
        if watch is not None and watch.timer is not None:
            cancel_call(watch.timer)

    def _spawn(self, work: Any, what: str) -> None:
        spawn_logged(work, self._log, what)
