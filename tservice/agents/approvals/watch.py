"""What hooks tell and screens show, put into the inbox (protocol-approvals)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.approvals.inbox import Inbox, ItemSession
from tservice.agents.approvals.model import ItemKind, Resolution, is_asking
from tservice.agents.interfaces import IAgents, Look
from tservice.core.clock import sleep
from tservice.core.errors import ServiceError
from tservice.core.events import Event, EventHub, EventName
from tservice.core.payloads import HookTold
from tservice.core.tasks import spawn
from tservice.sessions.interfaces import ISessions, Session
from tservice.settings.interfaces import ISettings, Settings

PATIENCE = (0.0, 0.15, 0.5, 1.5)
"""Seconds before each look for a dialog that a hook spoke of: the hook comes before the screen."""

_LOOK_AGAIN = {EventName.HOOK_STOP, EventName.HOOK_PROMPT_SUBMITTED}
_ANSWERED = {EventName.HOOK_ELICITATION_COMPLETE, EventName.HOOK_ELICITATION_RESPONSE}
_ASKING = {EventName.HOOK_PERMISSION_PROMPT, EventName.HOOK_ELICITATION_DIALOG}
_ENDS = {EventName.SESSION_EXIT, EventName.SESSION_DELETED}


class ApprovalWatch:
    """Hears of dialogs and keeps the inbox true to the screens.

    @param makes_items: whether the dialogs of a mode do.
    @param answering: whether an answer is being given in that session just now; then whoever gives
        it says what became of the item.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        inbox: Inbox,
        sessions: ISessions,
        agents: IAgents,
        makes_items: Callable[[str], bool],
        settings: ISettings,
        answering: Callable[[str], bool],
    ) -> None:
        self._clock = clock
        self._inbox = inbox
        self._sessions = sessions
        self._agents = agents
        self._makes_items = makes_items
        self._settings = settings
        self._answering = answering
        self._ends: list[Callable[[], None]] = []
        self._searches: dict[str, Deferred[None]] = {}

    def start(self, hub: EventHub) -> None:
        """Begin to hear."""
        self._ends = [
            hub.subscribe(self.heard),
            self._agents.observe(self.looked),
            self._settings.observe(self._switched),
        ]

    def stop(self) -> None:
        """Hear nothing more."""
        for end in self._ends:
            end()
        self._ends = []
        for search in tuple(self._searches.values()):
            search.cancel()

    # -- events

    def heard(self, event: Event) -> None:
        """An event of the hub."""
        session_id = event.session_id
        if session_id is None:
            return
        if event.name in _ENDS:
            self._ended(session_id)
        elif isinstance(event.payload, HookTold):
            self._hooked(event.name, session_id, event.payload.data)

    def _hooked(self, name: EventName, session_id: str, data: Mapping[str, Any]) -> None:
        if name in _ASKING:
            self._search(session_id, data)
        elif name is EventName.HOOK_IDLE_PROMPT:
            self._go(self._idle(session_id, data), "an idle prompt")
        elif name in _ANSWERED:
            self._answered(session_id)
        elif name in _LOOK_AGAIN and self._inbox.of_session(session_id) is not None:
            self._go(self.look(session_id), "looking at a dialog again")

    def looked(self, look: Look) -> None:
        """A look at a session's screen."""
        session = self._asking(look.session_id)
        if session is None or self._answering(session.id):
            return
        dialog = look.reading.dialog
        item = self._inbox.of_session(session.id)
        if dialog is not None and is_asking(dialog):
            self._inbox.asked(_about(session), dialog, {})
        elif item is None:
            return
        elif item.kind is ItemKind.IDLE:
            if look.reading.working:
                self._inbox.resolve(item, Resolution.IN_TERMINAL)
        elif dialog is not None or look.reading.composer_ready or look.reading.working:
            # Otherwise nobody can tell what the screen shows, and nothing changes.
            self._inbox.resolve(item, Resolution.IN_TERMINAL)

    async def look(self, session_id: str) -> Look | None:
        """Look at the session, which brings its item up to date; C{None}: nobody can."""
        try:
            return await self._agents.look(session_id)
        except ServiceError as error:
            self._log.debug("no look at {id}: {error}", id=session_id, error=error)
            return None

    # -- inside

    def _search(self, session_id: str, data: Mapping[str, Any]) -> None:
        """A newer word about a dialog takes the place of an older one that found nothing yet."""
        before = self._searches.pop(session_id, None)
        if before is not None:
            before.cancel()
        search = spawn(self._find(session_id, data), self._log, "looking for a dialog")
        if not search.called:
            self._searches[session_id] = search
            search.addBoth(lambda _: self._found(session_id, search))

    def _found(self, session_id: str, search: Deferred[None]) -> None:
        if self._searches.get(session_id) is search:
            del self._searches[session_id]

    async def _find(self, session_id: str, data: Mapping[str, Any]) -> None:
        for pause in PATIENCE:
            if pause:
                await sleep(self._clock, pause)
            session = self._asking(session_id)
            if session is None or self._answering(session_id):
                return
            look = await self.look(session_id)
            dialog = None if look is None else look.reading.dialog
            if dialog is not None and is_asking(dialog):
                if not self._answering(session_id):
                    self._inbox.asked(_about(session), dialog, data)
                return
        self._log.info("{id}: a hook told of a dialog that is not there", id=session_id)

    async def _idle(self, session_id: str, data: Mapping[str, Any]) -> None:
        session = self._asking(session_id)
        if session is None:
            return
        look = await self.look(session_id)
        if look is None or look.reading.dialog is not None or look.reading.working:
            return
        rows = list(look.frame.rows[: look.frame.bottom + 1])
        self._inbox.idle(_about(session), rows, data)

    def _answered(self, session_id: str) -> None:
        item = self._inbox.of_session(session_id)
        if item is not None and item.kind is ItemKind.QUESTION and not self._answering(session_id):
            self._inbox.resolve(item, Resolution.IN_TERMINAL)

    def _ended(self, session_id: str) -> None:
        item = self._inbox.of_session(session_id)
        if item is not None:
            self._inbox.resolve(item, Resolution.SESSION_ENDED)

    def _switched(self, before: Settings, after: Settings) -> None:
        """What was switched off leaves nothing behind that nobody would look after."""
        for session in self._sessions.list():
            item = self._inbox.of_session(session.id)
            if item is not None and not self._tells_items_of(session):
                self._inbox.resolve(item, Resolution.DISMISSED)

    def _tells_items_of(self, session: Session) -> bool:
        return self._settings.get().approvals_inbox_enabled and self._makes_items(session.mode)

    def _asking(self, session_id: str) -> Session | None:
        """The session, if its dialogs make items and it runs."""
        try:
            session = self._sessions.get(session_id)
        except ServiceError:
            return None
        return session if session.pid is not None and self._tells_items_of(session) else None

    def _go(self, work: Any, what: str) -> None:
        spawn(work, self._log, what)


def _about(session: Session) -> ItemSession:
    return ItemSession(id=session.id, name=session.name, owner=session.owner)
