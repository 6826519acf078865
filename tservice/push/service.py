"""Tells browsers whose pages are closed that a session needs its person."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from attrs import frozen
from twisted.application.service import Service
from twisted.internet.defer import Deferred, DeferredList
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms, unix_seconds
from tservice.core.doors.threads import IThreads
from tservice.core.events import Event, EventHub, EventName
from tservice.core.net.outbound import OutboundError, OutboundFault, OutboundReply, OutboundRequest
from tservice.core.tasks import spawn
from tservice.push.keys import PushKey
from tservice.push.model import (
    Note,
    Subscription,
    kind_of,
    session_name,
    subscription,
    target_of,
)
from tservice.push.store import PushStore
from tservice.settings.interfaces import ISettings

QUEUE = 200
"""Messages that wait; at the bound the oldest of whoever has most of them is given up, for what is
new matters more, and nobody's flood is another's loss."""
IN_FLIGHT = 4
"""Messages that are sealed or sent at a time."""

TELL_SECONDS = 60.0
"""The log hears so often of the failures of one user's browsers."""

_GONE = (404, 410)
"""The push service knows the browser no more (RFC 8030, 7.3)."""

Send = Callable[[OutboundRequest], Awaitable[OutboundReply]]
NameOf = Callable[[str], str | None]


@frozen(kw_only=True, eq=False)
class _Job:
    subscription: Subscription
    note: Note


class PushService(Service):
    """Subscriptions, and what is sent to them.  A message that fails is not tried again: the
    approval inbox is what lasts, a push only points to it."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        settings: ISettings,
        store: PushStore,
        threads: IThreads,
        send: Send,
        key: PushKey,
        name_of: NameOf,
        active: Callable[[str], bool] | None,
        is_admin: Callable[[str], bool] = lambda owner: False,
    ) -> None:
        """
        @param send: under rules that let nothing but public addresses through.
        @param name_of: a session's name; C{None} for one that is gone.
        @param active: whether an account is there and enabled; C{None} in single-user mode.
        """
        self._clock = clock
        self._hub = hub
        self._settings = settings
        self._store = store
        self._threads = threads
        self._send = send
        self._key = key
        self._name_of = name_of
        self._active = active
        self._is_admin = is_admin
        self._waiting: deque[_Job] = deque()
        self._running: dict[Deferred[None], str] = {}
        self._told_at: dict[str | None, float] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    @property
    def public_key(self) -> str:
        """What a page subscribes with."""
        return self._key.public

    def startService(self) -> None:
        super().startService()
        self._unsubscribe = self._hub.subscribe(self._heard)
        self._forget_strangers()

    def stopService(self) -> Deferred[Any]:
        """What waits is given up, and so is what is on its way."""
        super().stopService()
        self._unsubscribe()
        self._waiting.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        return DeferredList(running)

    def subscribe(
        self, endpoint: str, p256dh: str, auth: str, *, owner: str, origin: str | None
    ) -> None:
        """Keep a browser of C{owner}.

        @raise ServiceError: 400 naming the field.
        """
        now = now_ms(self._clock)
        self._store.save(subscription(endpoint, p256dh, auth, owner=owner, origin=origin, at=now))

    def forget(self, endpoint: str, owner: str) -> bool:
        """Forget a browser of C{owner}; whether there was one."""
        return self._store.delete(endpoint, owner)

    def _forget_strangers(self) -> None:
        """A user who is gone or locked out hears nothing more; nor does a namesake's browser."""
        if self._active is None:
            return
        for owner in self._store.owners():
            if not self._active(owner):
                self._store.delete_all_of(owner)
        waiting = [job for job in self._waiting if self._active(job.subscription.owner)]
        self._waiting = deque(waiting)

    def _heard(self, event: Event) -> None:
        if event.name is EventName.ADMIN_USERS_CHANGED:
            self._forget_strangers()
        kind = kind_of(event)
        if kind is None or event.session_id is None or not self._wanted(kind):
            return
        name = session_name(event, self._name_of(event.session_id))
        note = Note(kind=kind, session_id=event.session_id, session_name=name)
        for one in self._audience(event.owner):
            self._put(_Job(subscription=one, note=note))

    def tell_lockout(self, username: str | None) -> None:
        """Tell admins, and the user whose name was guessed at, that sign-ins are held up.

        A browser has one such message waiting at a time, so that a flood displaces nothing.
        """
        if not (self.running and self._settings.get().notification_preferences.enabled):
            return
        note = Note(kind="lockout", session_id="", session_name="")
        told = {job.subscription.endpoint for job in self._waiting if job.note == note}
        for one in self._store.every():
            if one.endpoint not in told and self._hears_lockout(one.owner, username):
                self._put(_Job(subscription=one, note=note))

    def _hears_lockout(self, owner: str, username: str | None) -> bool:
        if self._active is None:
            return True
        return self._active(owner) and (owner == username or self._is_admin(owner))

    def _wanted(self, kind: str) -> bool:
        preferences = self._settings.get().notification_preferences
        return preferences.enabled and kind in preferences.events

    def _audience(self, owner: str | None) -> list[Subscription]:
        """The owner's browsers; with one user, all of them are."""
        if self._active is None:
            return self._store.every()
        # A full disk still has those of accounts that are gone.
        return [] if owner is None or not self._active(owner) else self._store.every(owner)

    def _put(self, job: _Job) -> None:
        if len(self._waiting) >= QUEUE:
            self._make_room()
            if self._tells_of(None):
                self._log.warn("push: {limit} messages wait, the oldest is given up", limit=QUEUE)
        self._waiting.append(job)
        self._pump()

    def _make_room(self) -> None:
        counted = Counter(job.subscription.owner for job in self._waiting)
        [(most, _)] = counted.most_common(1)
        self._waiting.remove(next(j for j in self._waiting if j.subscription.owner == most))

    def _pump(self) -> None:
        while self._waiting and len(self._running) < IN_FLIGHT:
            self._begin(self._next())

    def _next(self) -> _Job:
        """The oldest of whoever has fewest under way: slow push services hold up their own."""
        under_way = Counter(self._running.values())
        job = min(self._waiting, key=lambda job: under_way[job.subscription.owner])
        self._waiting.remove(job)
        return job

    def _begin(self, job: _Job) -> None:
        task = spawn(self._deliver(job), self._log, "a push message")
        self._running[task] = job.subscription.owner

        def ended(result: None) -> None:
            del self._running[task]
            if self.running:
                self._pump()

        task.addCallback(ended)

    async def _deliver(self, job: _Job) -> None:
        seal = partial(self._key.seal, job.subscription, job.note, unix_seconds(self._clock))
        try:
            sealed = await self._threads.run(seal)
        except ValueError:
            # Its key is no point of the curve; an earlier release took such a one.
            self._store.delete(job.subscription.endpoint)
            return
        request = OutboundRequest(
            url=job.subscription.endpoint,
            method="POST",
            headers=sealed.headers,
            body=sealed.body,
            asker=job.subscription.owner or None,
        )
        try:
            reply = await self._send(request)
        except OutboundError as error:
            self._failed(job.subscription, error.fault)
            return
        if reply.status in _GONE:
            self._store.delete(job.subscription.endpoint)
            self._log.info("push: a browser of {owner} is gone", owner=job.subscription.owner)
        elif reply.status >= 300:
            self._told(job.subscription, f"HTTP {reply.status}")

    def _failed(self, one: Subscription, fault: OutboundFault) -> None:
        self._told(one, fault.value)
        if fault is OutboundFault.REFUSED:
            # Its name leads to an address out of bounds, as no push service's does.
            self._store.delete(one.endpoint)

    def _told(self, one: Subscription, why: str) -> None:
        """The host alone: the rest of the endpoint is a secret."""
        if self._tells_of(one.owner):
            host = target_of(one.endpoint).host
            self._log.warn("push to {host} failed: {why}", host=host, why=why)

    def _tells_of(self, owner: str | None) -> bool:
        """Whether the log shall hear of it: a session can give as many messages as it likes.

        @param owner: whose browsers it is about; C{None}: everybody's.
        """
        now, before = self._clock.seconds(), self._told_at.get(owner)
        if before is not None and 0 <= now - before < TELL_SECONDS:
            return False
        self._told_at[owner] = now
        return True
