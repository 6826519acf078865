"""Restore offer after a reboot, and its execution (protocol-restore)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial

from attrs import define
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from tservice.core.errors import ServiceError, state_conflict
from tservice.core.event_payloads import RestoreOfferPayload, RestoreProgressPayload, SessionExited
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Identity
from tservice.core.payload import Payload
from tservice.core.shared_work import SharedWork
from tservice.core.timers import cancel_call
from tservice.restore.model import Rebuilt, RestoreOutcome, is_lost
from tservice.restore.offer import Offer, Offered, belongs_to
from tservice.restore.rebuild import Rebuilder
from tservice.restore.recollection import Recollection
from tservice.restore.saver import ScrollbackSaver
from tservice.restore.shown import ReportAnswer, report
from tservice.sessions.interfaces import IConversations, ISessions, Reauthorize, Session
from tservice.settings.interfaces import ISettings

AUTOMATIC_AFTER = 2.0
"""Seconds after the start, while listeners open, before an automatic restore begins."""

SPENT = frozenset({RestoreOutcome.RESTORED, RestoreOutcome.ALREADY_LIVE})
"""Outcomes after which a session is no longer offered."""

Owner = str | None


@define(eq=False)
class _Run:
    """A restore in progress.

    @ivar ids: the sessions still to restore, in order.
    @ivar current: the session that is being started.
    @ivar stopped: no more sessions are started.
    """

    ids: list[str]
    current: str | None = None
    stopped: bool = False
    flight: SharedWork[ReportAnswer] | None = None


class RestoreService:
    """Restores sessions on request, one at a time for each owner.

    @param identity: returns the current account of an owner; C{None} if it is gone or disabled.
    @param multiuser: sessions have owners.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        settings: ISettings,
        sessions: ISessions,
        recollection: Recollection,
        rebuilder: Rebuilder,
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
        self._runs: dict[Owner, _Run] = {}
        self._timer: IDelayedCall | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    # -- start and stop

    async def start(self) -> None:
        """Offer the sessions that do not run; call it after running processes were adopted."""
        for session in self._sessions.list():
            if session.pid is not None:
                self._recollection.spend(session.id)
        self._unsubscribe = self._hub.subscribe(self._heard)
        owners = {session.owner for session in self._open(self._sessions.list())}
        for owner in owners:
            self._tell_offer(owner)
        if owners and self._settings.get().auto_restore_enabled:
            self._timer = self._clock.callLater(AUTOMATIC_AFTER, self._automatically, owners)
        await self._saver.start()

    async def stop(self) -> None:
        """Start no more sessions; call it while the panes are still held."""
        cancel_call(self._timer)
        runs = [*self._runs.values()]
        for run in runs:
            run.stopped = True
        await gatherResults([run.flight.finished for run in runs if run.flight is not None])
        await self._saver.stop()
        self._unsubscribe()
        self._recollection.stopped()

    # -- operations of callers

    async def offer(self, caller: Identity) -> Offer:
        """Return the sessions that C{caller} can restore."""
        mine = self._open(self._of(caller))
        kept = await self._recollection.kept_of(session.id for session in mine)
        resuming = {
            each.id
            for each in mine
            if await self._conversations.find_last_conversation(each) is not None
        }
        return Offer(
            sessions=tuple(
                Offered(session=each, resumes=each.id in resuming, scrollback=each.id in kept)
                for each in mine
            ),
            expires_at=min((self._recollection.expires_at(it.id) for it in mine), default=None),
            restoring=self._key(caller) in self._runs,
        )

    async def restore(
        self, caller: Identity, session_ids: Collection[str] | None, again: Reauthorize
    ) -> ReportAnswer:
        """Restore sessions; a disconnected caller does not end the restore.

        @param session_ids: a selection of the offered sessions; C{None}: all.
        @raise ServiceError: 409 while the same owner restores.
        """
        if self._key(caller) in self._runs:
            raise state_conflict("a restore is running already")
        return await self._begin(caller, session_ids, again)

    def dismiss(self, caller: Identity) -> int:
        """Remove what is offered to C{caller} and return the number of sessions.

        A restore in progress starts no more sessions.

        @raise ServiceError: 422: the disk is full.
        """
        mine = [session.id for session in self._of(caller)]
        offered = [each for each in mine if self._recollection.is_offered(each)]
        self._recollection.dismiss(offered)
        if offered:
            self._tell_offer(self._key(caller))
        return len(offered)

    # -- restoring

    def _begin(
        self, caller: Identity, session_ids: Collection[str] | None, again: Reauthorize
    ) -> Deferred[ReportAnswer]:
        key = self._key(caller)
        mine = [each.id for each in self._of(caller) if self._recollection.is_offered(each.id)]
        run = _Run([each for each in mine if session_ids is None or each in session_ids])
        self._runs[key] = run
        run.flight = SharedWork(self._restore(run, caller, again))
        return run.flight.wait_for_result()

    async def _restore(self, run: _Run, caller: Identity, again: Reauthorize) -> ReportAnswer:
        key, done = self._key(caller), list[Rebuilt]()
        wanted = len(run.ids)
        try:
            while run.ids and not run.stopped:
                again()
                session_id = run.ids.pop(0)
                if self._recollection.is_offered(session_id):
                    run.current = session_id
                    self._publish(
                        EventName.RESTORE_PROGRESS,
                        key,
                        RestoreProgressPayload(session_id=session_id, done=len(done), total=wanted),
                    )
                    done.append(await self._rebuild(session_id, caller, again))
                    run.current = None
        finally:
            del self._runs[key]
            told = report(done)
            self._publish(EventName.RESTORE_FINISHED, key, told)
        return told

    async def _rebuild(self, session_id: str, caller: Identity, again: Reauthorize) -> Rebuilt:
        try:
            outcome = await self._rebuilder.rebuild(session_id, caller, again)
        except ServiceError as error:
            # The session was deleted, or its record could not be written.
            self._log.info("{id} was not restored: {error}", id=session_id, error=error)
            outcome = RestoreOutcome.AGENT_FAILED
        if outcome in SPENT:
            self._recollection.spend(session_id)
        shown = outcome is RestoreOutcome.RESTORED and self._recollection.was_shown(session_id)
        return Rebuilt(session_id=session_id, outcome=outcome, scrollback=shown)

    def _automatically(self, owners: Iterable[Owner]) -> None:
        for owner in owners:
            who = self._identity(owner)
            if who is not None and self._key(who) not in self._runs:
                again = partial(self._may_still, owner, who)
                self._begin(who, None, again).addErrback(self._refused, owner)

    def _may_still(self, owner: Owner, who: Identity) -> None:
        now = self._identity(owner)
        if now is None or not now.keeps_rights_of(who):
            raise state_conflict(
                "the account was deleted or disabled, or its permissions were reduced"
            )

    def _refused(self, why: Failure, owner: Owner) -> None:
        if why.check(ServiceError) is None:
            self._log.failure("the sessions of {owner} were not restored", why, owner=owner)
            return
        text = "the remaining sessions of {owner} were not restored: {error}"
        self._log.warn(text, owner=owner, error=str(why.value))

    # -- the offer

    def _key(self, caller: Identity) -> Owner:
        return caller.username if self._multiuser else None

    def _of(self, caller: Identity) -> list[Session]:
        return [each for each in self._sessions.list(caller) if belongs_to(each, caller)]

    def _open(self, sessions: Iterable[Session]) -> list[Session]:
        offered = [each for each in sessions if self._recollection.is_offered(each.id)]
        return [each for each in offered if not self._rebuilder.is_live(each)]

    def _heard(self, event: Event) -> None:
        session_id = event.session_id
        if session_id is None:
            return
        match event.name, event.payload:
            case EventName.SESSION_INTERACTIVE, _:
                self._started(session_id)
            case EventName.SESSION_EXIT, SessionExited() as ending if is_lost(ending):
                self._recollection.lost(session_id)
            case EventName.SESSION_DELETED, _:
                self._recollection.forget(session_id)

    def _started(self, session_id: str) -> None:
        """Handle the start of a session. A session in a restore must first prove that it keeps
        running.
        """
        self._recollection.found(session_id)
        restoring = any(run.current == session_id for run in self._runs.values())
        if not restoring and self._recollection.is_offered(session_id):
            self._recollection.spend(session_id)
            self._tell_offer(self._sessions.get(session_id).owner)

    def _tell_offer(self, owner: Owner) -> None:
        offered = self._open(it for it in self._sessions.list() if it.owner == owner)
        self._publish(EventName.RESTORE_OFFERED, owner, RestoreOfferPayload(sessions=len(offered)))

    def _publish(self, name: EventName, owner: Owner, payload: Payload) -> None:
        self._hub.publish(Event(name=name, payload=payload, owner=owner))
