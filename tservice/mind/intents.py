"""The intents: read, set, and told of what is said to agents (protocol-intent)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.clock import now_ms
from tservice.core.doors.threads import IThreads
from tservice.core.errors import ServiceError
from tservice.core.events import Event, EventHub, EventName
from tservice.core.identity import Known
from tservice.core.places.places import Places
from tservice.core.tasks import spawn
from tservice.mind.interfaces import Conversation
from tservice.mind.model import Intent, PastPrompt, key_of, with_prompts
from tservice.mind.store import IntentStore
from tservice.sessions.interfaces import ISessions, Session
from tservice.settings.interfaces import ISettings

_TURNS = frozenset({EventName.HOOK_STOP, EventName.SESSION_IDLE})
"""What tells that a prompt may have been said."""


class Intents:
    """One for each owner and workspace."""

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        hub: EventHub,
        store: IntentStore,
        settings: ISettings,
        sessions: ISessions,
        threads: IThreads,
        places: Places,
        conversation: Conversation,
    ) -> None:
        self._clock, self._hub, self._store = clock, hub, store
        self._settings, self._sessions = settings, sessions
        self._threads, self._places = threads, places
        self._conversation = conversation
        self._reading: dict[str, Deferred[Any]] = {}
        self._known: Known = lambda owner: True
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin to hear."""
        self._unsubscribe = self._hub.subscribe(self._heard)

    def stop(self) -> None:
        """Hear nothing more; what is being read is dropped."""
        self._unsubscribe()
        for reading in tuple(self._reading.values()):
            reading.cancel()

    def forget(self, known: Known) -> None:
        """Keep nothing for owners who are not known, now and later."""
        self._known = known
        self._store.forget_strangers(known)

    async def read(self, session_id: str) -> Intent | None:
        """The intent of a session's owner in its workspace.

        @raise ServiceError: 404; 422: the workspace does not answer.
        """
        return self._store.load((await self._workspace(session_id))[0])

    async def set_goals(
        self, session_id: str, goals: str, again: Callable[[], object] = lambda: None
    ) -> Intent:
        """Replace the intent: C{goals} are all of it, what was collected goes.

        @param again: judges the caller once more, before it is kept.
        @raise ServiceError: as L{read}, and 422: it cannot be kept.
        """
        intent = evolve(await self._fresh(session_id), goals=goals)
        again()
        self._store.save(intent)
        return intent

    async def delete(self, session_id: str, again: Callable[[], object] = lambda: None) -> bool:
        """Forget it; whether there was one.

        @param again: as for L{set_goals}.
        @raise ServiceError: as L{set_goals}.
        """
        key, _ = await self._workspace(session_id)
        again()
        return self._store.delete(key)

    # -- inside

    async def _workspace(self, session_id: str) -> tuple[str, str]:
        """The key of an intent, and the real path of its workspace."""
        session = self._sessions.get(session_id)
        await self._places.ask(session.place)
        look = partial(os.path.realpath, session.working_dir)
        work = partial(self._places.recall(session.place).act, look)
        folder = await self._threads.run(work, at=session.working_dir, owner=session.owner)
        return key_of(session.owner, folder), folder

    async def _fresh(self, session_id: str) -> Intent:
        owner = self._sessions.get(session_id).owner
        key, folder = await self._workspace(session_id)
        return Intent(key=key, owner=owner, working_dir=folder, updated_at=now_ms(self._clock))

    def _heard(self, event: Event) -> None:
        session_id = event.session_id
        if event.name in _TURNS and session_id is not None and session_id not in self._reading:
            session = self._sessions.get(session_id)
            settings = self._settings.get()
            if settings.read_my_mind_enabled and session.mode in settings.read_my_mind_modes:
                self._collect_soon(session)

    def _collect_soon(self, session: Session) -> None:
        reading = spawn(self._collect(session), self._log, "collecting prompts")
        if not reading.called:
            self._reading[session.id] = reading
            reading.addBoth(lambda _: self._collected(session.id))

    def _collected(self, session_id: str) -> None:
        self._reading.pop(session_id, None)

    def _is_kept(self, session: Session, fresh: Intent) -> bool:
        """Whether its owner is the one whose prompts were read.

        A session may outlive its account, and one that is gone may have been a namesake's.
        """
        there = any(each.id == session.id for each in self._sessions.list())
        return there and (fresh.owner is None or self._known(fresh.owner))

    async def _collect(self, session: Session) -> None:
        try:
            said = await self._conversation(session.id)
            fresh = await self._fresh(session.id)
        except ServiceError as error:
            self._log.debug("{id}: no prompts: {error}", id=session.id, error=error)
            return
        if not self._settings.get().read_my_mind_enabled:
            return
        found = [
            PastPrompt(ts=each["timestamp"] or 0, session_id=session.id, text=each["text"])
            for each in said.get("messages") or ()
            if each["role"] == "user"
        ]
        if not self._is_kept(session, fresh):
            return
        before = self._store.load(fresh.key) or fresh
        after = with_prompts(before, found)
        if after is not before:
            self._store.note(evolve(after, updated_at=fresh.updated_at))
