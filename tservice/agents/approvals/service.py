"""Approval inbox, as its routes and other features call it (protocol-approvals)."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.approvals.answers import Action, Answer
from tservice.agents.approvals.folders import FolderAnswers
from tservice.agents.approvals.inbox import Inbox
from tservice.agents.approvals.keys import GONE, Answerer, AnswerOutcome, DialogChanged, Untaken
from tservice.agents.approvals.model import (
    Item,
    ItemKind,
    Resolution,
    is_asking,
)
from tservice.agents.approvals.same import may_answer
from tservice.agents.approvals.screen import AnswerScreen
from tservice.agents.approvals.shown import ItemAnswer, item_answer
from tservice.agents.approvals.watch import ApprovalWatch
from tservice.agents.interfaces import IAgents
from tservice.clis.interfaces import AnswerKeys, ICliRegistry
from tservice.core.disk_errors import report_unsaved_change
from tservice.core.errors import ErrorCode, ServiceError, invalid_field, state_conflict
from tservice.core.events import EventHub
from tservice.core.identity import Identity
from tservice.core.tasks import spawn_logged
from tservice.mux.interface import IPane
from tservice.sessions.interfaces import ISessions, Reauthorize, accept_always
from tservice.settings.interfaces import ISettings

CHECK_LIMIT = 2.0
"""Seconds that a listing waits for panes; an item stays unchanged if its pane does not answer."""


class Approvals:
    """Service for pending items and their answers.

    Every method that names an item raises a L{ServiceError}: 403 while the inbox is switched off,
    404 for an item that is unknown or not the caller's.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        inbox: Inbox,
        sessions: ISessions,
        agents: IAgents,
        clis: ICliRegistry,
        settings: ISettings,
        folders: FolderAnswers,
    ) -> None:
        self._clock = clock
        self._folders = folders
        self._inbox = inbox
        self._sessions = sessions
        self._agents = agents
        self._clis = clis
        self._settings = settings
        self._busy: set[str] = set()
        self._stuck: dict[str, tuple[str, int]] = {}
        self._watch = ApprovalWatch(
            clock,
            inbox,
            sessions,
            agents,
            clis.gives_signals,
            settings,
            self._busy.__contains__,
        )

    def start(self, hub: EventHub) -> None:
        """Load the stored items and subscribe to events; call this once the sessions are open."""
        self._inbox.open()
        self._watch.start(hub)

    def stop(self) -> None:
        """Unsubscribe from events; items stay on disk."""
        self._watch.stop()
        self._inbox.close()

    # -- queries

    def blocked(self, session_id: str) -> bool:
        """Return true if a dialog of that session waits for an answer (protocol-signals)."""
        item = self._inbox.of_session(session_id) if self._enabled else None
        return item is not None and item.kind is not ItemKind.IDLE

    def pending_of(self, session_id: str) -> Item | None:
        """Return the pending item of that session, as it was seen last."""
        return self._inbox.of_session(session_id) if self._enabled else None

    def known(self, caller: Identity) -> list[ItemAnswer]:
        """Return the items that C{caller} may see, oldest first, as they were seen last."""
        return [item_answer(item) for item in self._inbox.visible(caller)] if self._enabled else []

    async def list(self, caller: Identity) -> list[ItemAnswer]:
        """Return the items of L{known} after a check against their panes, as far as panes answer
        in time.
        """
        if self._enabled:
            looks = [self._watch.look(item.session_id) for item in self._inbox.visible(caller)]
            await self._within(CHECK_LIMIT, looks)
        return self.known(caller)

    # -- actions

    async def answer(
        self, item_id: str, answer: Answer, caller: Identity, again: Reauthorize = accept_always
    ) -> Item:
        """Give an answer; the item is resolved once its dialog is gone.

        @param again: checks C{caller}'s permission again before each key.
        @raise ServiceError: 400: not an answer to this item; 403: C{caller} may not drive the
            program there; 409: the dialog is gone or changed, or another user answers it; 422: it
            could not be typed.
        """
        item = self._pending(item_id, caller)
        self._sessions.check_sender(item.session_id, caller)
        if item.session_id in self._busy:
            raise state_conflict("another user is answering")
        if answer.expect_frame is not None:
            if answer.expect_frame != item.shown_frame:
                raise state_conflict("the dialog changed since expectFrame")
            answer = evolve(answer, expect_frame=item.frame)
        self._busy.add(item.session_id)
        try:
            if item.folder_digest is not None:
                await self._folders.answer(item, answer, caller, again)
            elif item.kind is ItemKind.IDLE:
                await self._prompt(item, answer, caller)
            else:
                await self._press(item, answer, caller, again)
        finally:
            self._busy.discard(item.session_id)
            # Events during the answer were left for this check.
            spawn_logged(
                self._watch.look(item.session_id), self._log, "checking an approval after an answer"
            )
        return item

    def dismiss(self, item_id: str, caller: Identity) -> Item:
        """Remove the item; the dialog stays as it is.

        @raise ServiceError: 422: it was removed, but the removal is not on disk yet.
        """
        item = self._pending(item_id, caller)
        self._inbox.resolve(item, Resolution.DISMISSED)
        with report_unsaved_change("dismissed", "bring it back"):
            self._inbox.check_kept(item.session_id)
        return item

    def viewed(self, session_id: str, caller: Identity) -> str | None:
        """Record that a user viewed the session; return the id of its idle item, if it has one.

        @raise ServiceError: 422: it was recorded, but the record is not on disk yet.
        """
        self._check_enabled()
        self._sessions.get(session_id, caller)
        item = self._inbox.acknowledge(session_id)
        if item is None:
            return None
        with report_unsaved_change("viewed"):
            self._inbox.check_kept(session_id)
        return item.id

    # -- internal

    @property
    def _enabled(self) -> bool:
        return self._settings.get().approvals_inbox_enabled

    def _check_enabled(self) -> None:
        if not self._enabled:
            raise ServiceError(ErrorCode.FORBIDDEN, "the approval inbox is switched off")

    def _pending(self, item_id: str, caller: Identity) -> Item:
        self._check_enabled()
        return self._inbox.pending(item_id, caller)

    async def _prompt(self, item: Item, answer: Answer, caller: Identity) -> None:
        if answer.action is not Action.TEXT:
            raise invalid_field("action", "an idle session needs a text")
        look = await self._agents.look(item.session_id)
        if look.reading.dialog is not None or look.reading.working:
            raise state_conflict("the session is no longer idle")
        await self._sessions.send_prompt(item.session_id, answer.text, caller)
        self._inbox.resolve(item, Resolution.ANSWERED)

    async def _press(
        self, item: Item, answer: Answer, caller: Identity, again: Reauthorize
    ) -> None:
        def judged() -> None:
            again()
            self._sessions.check_sender(item.session_id, caller)

        pane = self._pane(item)
        mode = self._sessions.get(item.session_id).mode
        screen = AnswerScreen(self._clock, pane, self._agents.rules_of(mode))
        answerer = Answerer(self._clock, screen, self._keys_of(mode), judged)
        epoch, stuck_at = self._stuck.pop(item.session_id, ("", 0))
        stuck = stuck_at if epoch == pane.log.epoch else None
        try:
            outcome = await answerer.give(answer, item.frame, stuck, partial(may_answer, item))
        except DialogChanged as changed:
            self._follow(item, changed)
            raise state_conflict("the dialog changed") from changed
        except Untaken as untaken:
            self._stuck[item.session_id] = (pane.log.epoch, pane.log.end)
            raise untaken.error from untaken
        self._settle(item, outcome)

    def _keys_of(self, mode: str) -> AnswerKeys | None:
        entry = self._clis.get_entry(mode)
        return None if entry is None else entry.capabilities.answers

    def _pane(self, item: Item) -> IPane:
        pane = self._sessions.get_pane(item.session_id)
        if pane is None:
            raise state_conflict(f"{GONE}: the session has no process")
        return pane

    def _settle(self, item: Item, outcome: AnswerOutcome) -> None:
        if outcome.closed:
            self._watch.end(item, Resolution.ANSWERED)
        elif outcome.dialog is not None:
            self._inbox.refresh(item, outcome.dialog)

    def _follow(self, item: Item, changed: DialogChanged) -> None:
        """Update the item after the dialog changed.

        Another page of the same question is the same item; any other dialog is another item.
        """
        dialog = changed.dialog
        if dialog is not None and is_asking(dialog):
            self._watch.found_another(item, dialog)

    async def _within(self, seconds: float, works: Sequence[Coroutine[Any, Any, object]]) -> None:
        """Wait for all of C{works}, at most for C{seconds}; late ones continue."""
        enough: Deferred[None] = Deferred()
        left = len(works)

        def one_done(_: object) -> None:
            nonlocal left
            left -= 1
            if left == 0 and timer.active():
                timer.cancel()
                enough.callback(None)

        if not works:
            return
        timer = self._clock.callLater(seconds, enough.callback, None)
        for work in works:
            spawn_logged(work, self._log, "checking an approval").addBoth(one_done)
        await enough
