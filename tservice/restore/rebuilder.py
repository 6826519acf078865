"""Restart of one session after a reboot (protocol-restore)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import evolve, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.clis.interfaces import CliKind, ICliRegistry
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.timers import cancel_call
from tservice.core.workers.reachability import ReachabilityCheck
from tservice.mux.interface import MuxError
from tservice.restore.model import RestoreOutcome
from tservice.restore.offer import has_process_capacity, is_open_elsewhere
from tservice.sessions.interfaces import ISessions, Session

SETTLED = 3.0
"""Seconds that an agent must run before its start counts as successful."""

_OVER = frozenset({EventName.SESSION_EXIT, EventName.SESSION_DELETED})


@frozen(kw_only=True)
class ProcessCaps:
    """Maximum number of processes (C{SERVICE_MAX_SESSIONS}, C{_PER_USER})."""

    total: int
    per_user: int


class SessionRestorer:
    """Restarts sessions that a reboot ended.

    @param folder: checks that the owner may use a working directory; raises L{ServiceError}.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        sessions: ISessions,
        clis: ICliRegistry,
        hub: EventHub,
        reach: ReachabilityCheck,
        folder: Callable[[str, Identity], Awaitable[object]],
        caps: ProcessCaps,
    ) -> None:
        self._clock, self._hub = clock, hub
        self._sessions, self._clis = sessions, clis
        self._reach, self._folder, self._caps = reach, folder, caps

    def is_live(self, session: Session) -> bool:
        """Return true if the session has a process, or its conversation runs in another session."""
        return session.pid is not None or is_open_elsewhere(session, self._sessions.list())

    async def restore_session(self, session_id: str, owner: Caller) -> RestoreOutcome:
        """Restart one session in its location and with its conversation.

        @param owner: the session's owner, whose permissions apply to its folder and parameters.
            It is authorized again when the location is ready.
        @raise ServiceError: 404: the session was deleted.
        """
        session = self._sessions.get(session_id)
        if self.is_live(session):
            return RestoreOutcome.ALREADY_LIVE
        caps = self._caps
        if not has_process_capacity(
            self._sessions.list(), session.owner, caps.total, caps.per_user
        ):
            return RestoreOutcome.CAPACITY_REACHED
        refused = await self._check_workspace(session, owner)
        return refused or await self._start_session(session, owner)

    async def _check_workspace(self, session: Session, owner: Identity) -> RestoreOutcome | None:
        try:
            await self._reach.check_paths(owner.location_id, [session.working_dir], owner.username)
            await self._folder(session.working_dir, owner)
        except ServiceError as error:
            self._log.info("{id} was not restored: {error}", id=session.id, error=error)
            forbidden = error.code is ErrorCode.FORBIDDEN
            return (
                RestoreOutcome.WORKSPACE_FORBIDDEN
                if forbidden
                else RestoreOutcome.WORKSPACE_MISSING
            )
        return None

    async def _start_session(self, session: Session, owner: Caller) -> RestoreOutcome:
        # An earlier usage limit may have expired; only a new one arms the resume again.
        disarmed = evolve(session.auto_resume, resume_at=None)
        self._sessions.update_record(session.id, auto_resume=disarmed, limit_paused=False)
        try:
            await self._sessions.start(session.id, owner)
        except ServiceError as error:
            self._log.info("{id} was not restored: {error}", id=session.id, error=error)
            busy = error.code is ErrorCode.SESSION_BUSY
            return RestoreOutcome.ALREADY_LIVE if busy else RestoreOutcome.AGENT_FAILED
        if self._is_agent(session) and await self._has_failed(session.id):
            await self._remove_dead_pane(session.id)
            return RestoreOutcome.AGENT_FAILED
        return RestoreOutcome.RESTORED

    def _is_agent(self, session: Session) -> bool:
        entry = self._clis.get_entry(session.mode)
        return entry is not None and entry.kind is CliKind.AGENT

    async def _has_failed(self, session_id: str) -> bool:
        """Return true if the session ends with an error within L{SETTLED} seconds."""
        await self._wait_until_settled(session_id)
        session = self._sessions.get(session_id)
        ending = session.pane_exit
        return session.pid is None and (ending is None or ending.has_failed)

    async def _wait_until_settled(self, session_id: str) -> None:
        done: Deferred[None] = Deferred()

        def handle_event(event: Event) -> None:
            over = event.name in _OVER
            if over and event.session_id == session_id and not done.called:
                done.callback(None)

        end = self._hub.subscribe(handle_event)
        timer = self._clock.callLater(SETTLED, done.callback, None)
        try:
            if self._sessions.get(session_id).pid is not None:
                await done
        finally:
            end()
            cancel_call(timer)

    async def _remove_dead_pane(self, session_id: str) -> None:
        """Remove the pane of a failed start, so that the session can be offered again."""
        pane = self._sessions.get_pane(session_id)
        try:
            if pane is not None and pane.ending is not None:
                await pane.kill()
        except MuxError as error:
            self._log.info("{id}: could not remove its pane: {error}", id=session_id, error=error)
