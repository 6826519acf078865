"""Service that offers to restore sessions after a reboot, and restores them (protocol-restore)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial

from attrs import define
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError, make_conflict_error
from tservice.core.kernel.event_payloads import (
    RestoreOfferPayload,
    RestoreProgressPayload,
    SessionExited,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.shared_work import SharedWork
from tservice.core.kernel.timers import cancel_call
from tservice.core.values.payload import Payload
from tservice.restore.model import RestoredSession, RestoreOutcome, is_abnormal_exit
from tservice.restore.offer import RestorableSession, RestoreOffer, is_offered_to
from tservice.restore.rebuilder import SessionRestorer
from tservice.restore.recollection import RestoreOfferRegistry
from tservice.restore.responses import RestoreReportResponse, make_report
from tservice.restore.scrollback_saver import ScrollbackSaver
from tservice.sessions.interfaces import IConversations, ISessions, Session
from tservice.settings.interfaces import ISettings

AUTOMATIC_AFTER = 2.0
"""Seconds between the service's start and an automatic restore.

The listeners open in this time.
"""

SPENT = frozenset({RestoreOutcome.RESTORED, RestoreOutcome.ALREADY_LIVE})
"""Results after which a session is no longer offered."""

Owner = str | None


@define(eq=False)
class _RestoreRun:
    """Restore in progress.

    @ivar ids: ids of the sessions that are still to be restored, in order.
    @ivar current: id of the session that is being started.
    @ivar stopped: true if no more sessions are to be started.
    """

    ids: list[str]
    current: str | None = None
    stopped: bool = False
    flight: SharedWork[RestoreReportResponse] | None = None


class RestoreService:
    """Restores sessions on request, one at a time for each owner.

    @param identity: returns the current account of an owner; C{None} if the account is gone or
        disabled.
    @param multiuser: true if sessions have owners.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        settings: ISettings,
        sessions: ISessions,
        recollection: RestoreOfferRegistry,
        rebuilder: SessionRestorer,
        saver: ScrollbackSaver,
        conversations: IConversations,
        identity: Callable[[Owner], Identity | None],
        multiuser: bool,
    ) -> None:
        self._clock, self._hub, self._settings = clock, hub, settings
        self._sessions, self._recollection = sessions, recollection
        self._rebuilder, self._saver = rebuilder, saver
        self._conversations, self._identity = conversations, identity
        self._multiuser = multiuser
        self._runs: dict[Owner, _RestoreRun] = {}
        self._timer: IDelayedCall | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    # -- start and stop

    async def start(self) -> None:
        """Offer the sessions that have no process.

        Call this after running processes were adopted.
        """
        for session in self._sessions.list():
            if session.pid is not None:
                self._recollection.remove_offer(session.id)
        self._unsubscribe = self._hub.subscribe(self._handle_event)
        owners = {session.owner for session in self._select_restorable(self._sessions.list())}
        for owner in owners:
            self._publish_offer(owner)
        if owners and self._settings.get().auto_restore_enabled:
            self._timer = self._clock.callLater(
                AUTOMATIC_AFTER, self._restore_automatically, owners
            )
        await self._saver.start()

    async def stop(self) -> None:
        """Stop starting sessions.  Call this while the panes still exist."""
        cancel_call(self._timer)
        runs = [*self._runs.values()]
        for run in runs:
            run.stopped = True
        await gatherResults([run.flight.finished for run in runs if run.flight is not None])
        await self._saver.stop()
        self._unsubscribe()
        self._recollection.record_stop()

    # -- operations of callers

    async def get_offer(self, caller: Identity) -> RestoreOffer:
        """Return the sessions that are offered to C{caller}."""
        mine = self._select_restorable(self._list_own_sessions(caller))
        kept = await self._recollection.filter_with_scrollback(session.id for session in mine)
        resuming = {
            each.id
            for each in mine
            if await self._conversations.find_last_conversation(each) is not None
        }
        return RestoreOffer(
            sessions=tuple(
                RestorableSession(
                    session=each, resumes=each.id in resuming, scrollback=each.id in kept
                )
                for each in mine
            ),
            expires_at=min(
                (self._recollection.get_offer_expiry(it.id) for it in mine), default=None
            ),
            restoring=self._owner_key(caller) in self._runs,
        )

    async def restore_sessions(
        self, caller: Caller, session_ids: Collection[str] | None
    ) -> RestoreReportResponse:
        """Restore sessions.  The restore continues if the caller disconnects.

        @param session_ids: ids of offered sessions; C{None} means all offered sessions.
        @param caller: authorized again before each start.
        @raise ServiceError: 409: a restore for the same owner is in progress.
        """
        if self._owner_key(caller) in self._runs:
            raise make_conflict_error("a restore is running already")
        return await self._start_restore(caller, session_ids)

    def dismiss_offer(self, caller: Identity) -> int:
        """Remove all offers to C{caller}, and return their number.

        A restore in progress starts no more sessions.

        @raise ServiceError: 422: the disk is full.
        """
        mine = [session.id for session in self._list_own_sessions(caller)]
        offered = [each for each in mine if self._recollection.is_offered(each)]
        self._recollection.dismiss_offers(offered)
        if offered:
            self._publish_offer(self._owner_key(caller))
        return len(offered)

    # -- restoring

    def _start_restore(
        self, caller: Caller, session_ids: Collection[str] | None
    ) -> Deferred[RestoreReportResponse]:
        key = self._owner_key(caller)
        mine = [
            each.id
            for each in self._list_own_sessions(caller)
            if self._recollection.is_offered(each.id)
        ]
        run = _RestoreRun([each for each in mine if session_ids is None or each in session_ids])
        self._runs[key] = run
        run.flight = SharedWork(self._run_restore(run, caller))
        return run.flight.wait_for_result()

    async def _run_restore(self, run: _RestoreRun, caller: Caller) -> RestoreReportResponse:
        key, done = self._owner_key(caller), list[RestoredSession]()
        wanted = len(run.ids)
        try:
            while run.ids and not run.stopped:
                caller.reauthorize()
                session_id = run.ids.pop(0)
                if self._recollection.is_offered(session_id):
                    run.current = session_id
                    self._publish_event(
                        EventName.RESTORE_PROGRESS,
                        key,
                        RestoreProgressPayload(session_id=session_id, done=len(done), total=wanted),
                    )
                    done.append(await self._restore_session(session_id, caller))
                    run.current = None
        finally:
            del self._runs[key]
            told = make_report(done)
            self._publish_event(EventName.RESTORE_FINISHED, key, told)
        return told

    async def _restore_session(self, session_id: str, caller: Caller) -> RestoredSession:
        try:
            outcome = await self._rebuilder.restore_session(session_id, caller)
        except ServiceError as error:
            # The session was deleted, or its record could not be written.
            self._log.info("{id} was not restored: {error}", id=session_id, error=error)
            outcome = RestoreOutcome.AGENT_FAILED
        if outcome in SPENT:
            self._recollection.remove_offer(session_id)
        shown = outcome is RestoreOutcome.RESTORED and self._recollection.was_scrollback_shown(
            session_id
        )
        return RestoredSession(session_id=session_id, outcome=outcome, scrollback=shown)

    def _restore_automatically(self, owners: Iterable[Owner]) -> None:
        for owner in owners:
            who = self._identity(owner)
            if who is not None and self._owner_key(who) not in self._runs:
                check = partial(self._check_owner_rights_kept, owner, who)
                work = self._start_restore(Caller.from_identity(who, check), None)
                work.addErrback(self._log_failed_restore, owner)

    def _check_owner_rights_kept(self, owner: Owner, who: Identity) -> None:
        now = self._identity(owner)
        if now is None or not now.keeps_rights_of(who):
            raise make_conflict_error(
                "the account was deleted or disabled, or its permissions were reduced"
            )

    def _log_failed_restore(self, why: Failure, owner: Owner) -> None:
        if why.check(ServiceError) is None:
            self._log.failure("the sessions of {owner} were not restored", why, owner=owner)
            return
        text = "the remaining sessions of {owner} were not restored: {error}"
        self._log.warn(text, owner=owner, error=str(why.value))

    # -- the offer

    def _owner_key(self, caller: Identity) -> Owner:
        return caller.username if self._multiuser else None

    def _list_own_sessions(self, caller: Identity) -> list[Session]:
        return [each for each in self._sessions.list(caller) if is_offered_to(each, caller)]

    def _select_restorable(self, sessions: Iterable[Session]) -> list[Session]:
        offered = [each for each in sessions if self._recollection.is_offered(each.id)]
        return [each for each in offered if not self._rebuilder.is_live(each)]

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is None:
            return
        match event.name, event.payload:
            case EventName.SESSION_INTERACTIVE, _:
                self._remove_offer_of_started(session_id)
            case EventName.SESSION_EXIT, SessionExited() as ending if is_abnormal_exit(ending):
                self._recollection.record_loss(session_id)
            case EventName.SESSION_DELETED, _:
                self._recollection.delete_session_records(session_id)

    def _remove_offer_of_started(self, session_id: str) -> None:
        """Remove the offer of a session that was started.

        If a restore started it, the offer is kept until the agent has run for some seconds.
        """
        self._recollection.clear_loss(session_id)
        restoring = any(run.current == session_id for run in self._runs.values())
        if not restoring and self._recollection.is_offered(session_id):
            self._recollection.remove_offer(session_id)
            self._publish_offer(self._sessions.get(session_id).owner)

    def _publish_offer(self, owner: Owner) -> None:
        offered = self._select_restorable(it for it in self._sessions.list() if it.owner == owner)
        self._publish_event(
            EventName.RESTORE_OFFERED, owner, RestoreOfferPayload(sessions=len(offered))
        )

    def _publish_event(self, name: EventName, owner: Owner, payload: Payload) -> None:
        self._hub.publish(Event(name=name, payload=payload, owner=owner))
