"""Service that reads, replaces and deletes intents and adds submitted prompts (protocol-intent)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import AccountExists
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.interfaces import ISessions, Session
from tservice.settings.interfaces import ISettings, Settings
from tservice.suggestions.interfaces import PromptReader
from tservice.suggestions.model import Intent, PastPrompt, add_prompts, intent_key
from tservice.suggestions.store import IntentStore

_TURNS = frozenset({EventName.HOOK_STOP, EventName.SESSION_IDLE})
"""Events after which the session's transcript may contain new prompts."""


class IntentService:
    """Service for the intents of every owner and workspace."""

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
        places: LocationRegistry,
        prompts: PromptReader,
    ) -> None:
        self._clock, self._hub, self._store = clock, hub, store
        self._settings, self._sessions = settings, sessions
        self._threads, self._places = threads, places
        self._prompts = prompts
        self._since: dict[str, int] = {}
        self._reading: dict[str, Deferred[Any]] = {}
        self._known: AccountExists = lambda owner: True
        self._unsubscribe: Callable[[], None] = lambda: None
        self._unobserve: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin to collect submitted prompts in the modes for which the settings enable this."""
        self._since = self._store.list_collected_modes()
        self._update_collected_modes(self._settings.get())
        self._unobserve = self._settings.add_observer(
            lambda before, after: self._update_collected_modes(after)
        )
        self._unsubscribe = self._hub.subscribe(self._handle_event)

    def stop(self) -> None:
        """Stop collecting prompts and cancel running reads of transcripts."""
        self._unsubscribe()
        self._unobserve()
        for reading in tuple(self._reading.values()):
            reading.cancel()

    def delete_unknown_owners(self, known: AccountExists) -> None:
        """Delete the intents of owners without an account, and save no later prompts of such
        owners.

        @param known: returns true if an account of that name exists.
        """
        self._known = known
        self._store.delete_unknown_owners(known)

    async def find_intent(self, session_id: str) -> Intent | None:
        """Return the intent of the session's owner for the session's workspace; C{None} if none is
        stored.

        @raise ServiceError: 404: the session does not exist; 422: the workspace folder is not
            reachable.
        """
        return self._store.find_intent((await self._resolve_workspace(session_id))[0])

    async def replace_goals(self, session_id: str, goals: str, caller: Caller) -> Intent:
        """Replace the stored intent by one with C{goals} only. Prompts collected so far are
        deleted.

        @param caller: authorized again just before the intent is saved.
        @raise ServiceError: as L{find_intent}, and 422 if the intent cannot be saved.
        """
        intent = evolve(await self._make_intent(session_id), goals=goals)
        caller.reauthorize()
        self._store.replace_intent(intent)
        return intent

    async def delete_intent(self, session_id: str, caller: Caller) -> bool:
        """Delete the stored intent. Return true if one was stored.

        @param caller: authorized again just before the intent is deleted.
        @raise ServiceError: as L{replace_goals}.
        """
        key, _ = await self._resolve_workspace(session_id)
        caller.reauthorize()
        return self._store.delete_intent(key, get_unix_ms(self._clock))

    # -- internals

    async def _resolve_workspace(self, session_id: str) -> tuple[str, str]:
        """Return the key of the session's intent, and the real path of the session's workspace."""
        session = self._sessions.get(session_id)
        await self._places.refresh_location(session.location_id)
        look = partial(os.path.realpath, session.working_dir)
        work = partial(self._places.find_earlier_location(session.location_id).run_file_work, look)
        folder = await self._threads.run(work, at=session.working_dir, owner=session.owner)
        return intent_key(session.owner, folder), folder

    async def _make_intent(self, session_id: str) -> Intent:
        owner = self._sessions.get(session_id).owner
        key, folder = await self._resolve_workspace(session_id)
        return Intent(key=key, owner=owner, working_dir=folder, updated_at=get_unix_ms(self._clock))

    def _update_collected_modes(self, settings: Settings) -> None:
        """Start or stop collecting prompts in each mode, as the settings say.

        Prompts from before the start of the collection are never collected.
        """
        wanted = set(settings.read_my_mind_modes) if settings.read_my_mind_enabled else set()
        for mode in wanted - self._since.keys():
            self._since[mode] = get_unix_ms(self._clock)
            self._store.record_collection_start(mode, self._since[mode])
        for mode in self._since.keys() - wanted:
            del self._since[mode]
            self._store.record_collection_end(mode)

    def _handle_event(self, event: Event) -> None:
        session_id = event.session_id
        if event.name in _TURNS and session_id is not None and session_id not in self._reading:
            session = self._sessions.get(session_id)
            if session.mode in self._since:
                self._collect_soon(session)

    def _collect_soon(self, session: Session) -> None:
        reading = spawn_logged(self._collect_prompts(session), self._log, "collecting prompts")
        if not reading.called:
            self._reading[session.id] = reading
            reading.addBoth(lambda _: self._handle_collected(session.id))

    def _handle_collected(self, session_id: str) -> None:
        self._reading.pop(session_id, None)

    def _is_owner_unchanged(self, session: Session, fresh: Intent) -> bool:
        """Return true if the session still exists and still belongs to the owner whose prompts were
        read.

        A session may outlive its account, and a deleted session may have belonged to an earlier
        account of the same name.
        """
        there = any(each.id == session.id for each in self._sessions.list())
        return there and (fresh.owner is None or self._known(fresh.owner))

    async def _collect_prompts(self, session: Session) -> None:
        try:
            said = await self._prompts(session.id, self._since.get(session.mode, 0))
            fresh = await self._make_intent(session.id)
        except ServiceError as error:
            self._log.debug("{id}: no prompts: {error}", id=session.id, error=error)
            return
        # The mode may have been disabled and enabled again while the transcript was read.
        begun = self._since.get(session.mode)
        if begun is None or not self._is_owner_unchanged(session, fresh):
            return
        since = max(begun, self._store.get_replacement_time(fresh.key))
        found = [
            PastPrompt(ts=at, session_id=session.id, text=text) for at, text in said if at >= since
        ]
        before = self._store.find_intent(fresh.key) or fresh
        after = add_prompts(before, found)
        if after is not before:
            self._store.save_collected_prompts(evolve(after, updated_at=fresh.updated_at))
