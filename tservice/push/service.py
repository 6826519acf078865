"""Service that sends messages to browsers whose page is closed, when a session needs its user."""

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

from tservice.core.kernel.clock import get_unix_ms, get_unix_seconds
from tservice.core.kernel.events import Event, EventHub
from tservice.core.kernel.notice_gate import NoticeGate
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.net.outbound import (
    OutboundError,
    OutboundFault,
    OutboundRequest,
    OutboundResponse,
)
from tservice.core.workers.worker_pool import IThreads
from tservice.push.keys import PushKey
from tservice.push.model import (
    PushNote,
    Subscription,
    choose_session_name,
    find_preference_key,
    make_subscription,
    parse_endpoint,
)
from tservice.push.store import PushSubscriptionStore
from tservice.settings.interfaces import ISettings

QUEUE = 200
"""Maximum number of waiting messages.

Beyond it the oldest message of the owner with the most messages is dropped.  New messages matter
more, and a flood of one owner must not displace the messages of others.
"""
IN_FLIGHT = 4
"""Maximum number of messages that are encrypted or sent at the same time."""

TELL_SECONDS = 60.0
"""Minimum seconds between two log entries on failures for browsers of one user."""

_GONE = (404, 410)
"""HTTP statuses by which a push service reports an expired subscription (RFC 8030, 7.3)."""

Send = Callable[[OutboundRequest], Awaitable[OutboundResponse]]
NameOf = Callable[[str], str | None]


@frozen(kw_only=True, eq=False)
class _PushJob:
    subscription: Subscription
    note: PushNote


class PushService(Service):
    """Service that stores subscriptions and sends messages to them.

    A failed message is not retried, because it only points to the approval inbox, which is durable.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub | NoticeGate,
        settings: ISettings,
        store: PushSubscriptionStore,
        threads: IThreads,
        send: Send,
        key: PushKey,
        name_of: NameOf,
        active: Callable[[str], bool] | None,
        is_admin: Callable[[str], bool] = lambda owner: False,
        may_announce: Callable[[Event], bool] = lambda event: True,
    ) -> None:
        """@param send: sends HTTP requests, to public addresses only.
        @param name_of: returns a session's name by its id; C{None} for a deleted session.
        @param active: returns true if an account exists and is enabled; C{None} in single-user
            mode.
        @param may_announce: returns false for an event whose session is snoozed.
        """
        self._may_announce = may_announce
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
        self._waiting: deque[_PushJob] = deque()
        self._running: dict[Deferred[None], str] = {}
        self._told_at: dict[str | None, float] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    @property
    def public_key(self) -> str:
        """Public key with which a page subscribes."""
        return self._key.public_point

    def startService(self) -> None:
        super().startService()
        self._unsubscribe = self._hub.subscribe(self.handle_event)

    def stopService(self) -> Deferred[Any]:
        """Drop waiting messages and cancel running requests."""
        super().stopService()
        self._unsubscribe()
        self._waiting.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        return DeferredList(running)

    def add_subscription(
        self, endpoint: str, p256dh: str, auth: str, *, owner: str, origin: str | None
    ) -> None:
        """Save the subscription of a browser of C{owner}.

        @raise ServiceError: 400 for the field that is not valid.
        """
        now = get_unix_ms(self._clock)
        self._store.save_subscription(
            make_subscription(endpoint, p256dh, auth, owner=owner, origin=origin, at=now)
        )

    def delete_subscription(self, endpoint: str, owner: str) -> bool:
        """Delete the subscription of a browser of C{owner}; return true if there was one."""
        return self._store.delete_subscription(endpoint, owner)

    def delete_inactive_owners(self) -> None:
        """Delete the browsers of removed or disabled accounts, so that later users of the same name
        do not get them.
        """
        if self._active is None:
            return
        for owner in self._store.list_owners():
            if not self._active(owner):
                self._store.delete_owner(owner)
        waiting = [job for job in self._waiting if self._active(job.subscription.owner)]
        self._waiting = deque(waiting)

    def handle_event(self, event: Event) -> None:
        """Send the message that C{event} causes, if it causes one."""
        kind = find_preference_key(event)
        if kind is None or event.session_id is None or not self._is_wanted(kind):
            return
        if not self._may_announce(event):
            return
        name = choose_session_name(event, self._name_of(event.session_id))
        note = PushNote(kind=kind, session_id=event.session_id, session_name=name)
        for one in self._find_subscriptions(event.owner):
            self._enqueue_job(_PushJob(subscription=one, note=note))

    def send_note(self, owner: str | None, note: PushNote) -> None:
        """Send a message to the browsers of an account, as its own rules decided.

        @param owner: the account; C{None} in single-user mode.
        """
        if self.running:
            for one in self._find_subscriptions(owner):
                self._enqueue_job(_PushJob(subscription=one, note=note))

    def send_lockout(self, username: str | None) -> None:
        """Send a message about blocked sign-ins to admins, and to the user whose name was tried.

        Each browser has at most one waiting message of this kind, so that a flood displaces no
        others.
        """
        if not (self.running and self._settings.get().notification_preferences.enabled):
            return
        note = PushNote(kind="lockout", session_id="", session_name="")
        told = {job.subscription.endpoint for job in self._waiting if job.note == note}
        for one in self._store.list_subscriptions():
            if one.endpoint not in told and self._is_lockout_receiver(one.owner, username):
                self._enqueue_job(_PushJob(subscription=one, note=note))

    def _is_lockout_receiver(self, owner: str, username: str | None) -> bool:
        if self._active is None:
            return True
        return self._active(owner) and (owner == username or self._is_admin(owner))

    def _is_wanted(self, kind: str) -> bool:
        preferences = self._settings.get().notification_preferences
        return preferences.enabled and kind in preferences.events

    def _find_subscriptions(self, owner: str | None) -> list[Subscription]:
        """Return the subscriptions of an owner; in single-user mode all subscriptions."""
        if self._active is None:
            return self._store.list_subscriptions()
        # On a full disk the browsers of deleted accounts may still be stored.
        return (
            []
            if owner is None or not self._active(owner)
            else self._store.list_subscriptions(owner)
        )

    def _enqueue_job(self, job: _PushJob) -> None:
        if len(self._waiting) >= QUEUE:
            self._drop_oldest_job_of_busiest_owner()
            if self._may_log(None):
                self._log.warn(
                    "push: {limit} messages are waiting; the oldest was dropped", limit=QUEUE
                )
        self._waiting.append(job)
        self._start_jobs()

    def _drop_oldest_job_of_busiest_owner(self) -> None:
        counted = Counter(job.subscription.owner for job in self._waiting)
        [(most, _)] = counted.most_common(1)
        self._waiting.remove(next(j for j in self._waiting if j.subscription.owner == most))

    def _start_jobs(self) -> None:
        while self._waiting and len(self._running) < IN_FLIGHT:
            self._begin_job(self._take_next_job())

    def _take_next_job(self) -> _PushJob:
        """Remove and return the oldest message of the owner with the fewest messages in progress.

        Slow push services then delay only their own users.
        """
        under_way = Counter(self._running.values())
        job = min(self._waiting, key=lambda job: under_way[job.subscription.owner])
        self._waiting.remove(job)
        return job

    def _begin_job(self, job: _PushJob) -> None:
        task = spawn_logged(self._deliver_job(job), self._log, "a push message")
        self._running[task] = job.subscription.owner

        def handle_end(result: None) -> None:
            del self._running[task]
            if self.running:
                self._start_jobs()

        task.addCallback(handle_end)

    async def _deliver_job(self, job: _PushJob) -> None:
        seal = partial(
            self._key.encrypt_note, job.subscription, job.note, get_unix_seconds(self._clock)
        )
        try:
            sealed = await self._threads.run(seal)
        except ValueError:
            # Its key is no point of the curve; an earlier release accepted such keys.
            self._store.delete_subscription(job.subscription.endpoint)
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
            self._handle_failure(job.subscription, error.fault)
            return
        if reply.status in _GONE:
            self._store.delete_subscription(job.subscription.endpoint)
            self._log.info(
                "push: a subscription of {owner} has expired", owner=job.subscription.owner
            )
        elif reply.status >= 300:
            self._log_failure(job.subscription, f"HTTP {reply.status}")

    def _handle_failure(self, one: Subscription, fault: OutboundFault) -> None:
        self._log_failure(one, fault.value)
        if fault is OutboundFault.REFUSED:
            # Its name resolves to a forbidden address, so it is no push service.
            self._store.delete_subscription(one.endpoint)

    def _log_failure(self, one: Subscription, why: str) -> None:
        """Log a failed message with the push service's host only.

        The rest of the endpoint is a secret.
        """
        if self._may_log(one.owner):
            host = parse_endpoint(one.endpoint).host
            self._log.warn("push to {host} failed: {why}", host=host, why=why)

    def _may_log(self, owner: str | None) -> bool:
        """Return true if a failure may be logged now.

        A session can cause any number of messages.

        @param owner: owner of the browsers; C{None} means all owners.
        """
        now, before = self._clock.seconds(), self._told_at.get(owner)
        if before is not None and 0 <= now - before < TELL_SECONDS:
            return False
        self._told_at[owner] = now
        return True
