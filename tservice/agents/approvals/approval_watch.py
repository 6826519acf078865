"""Watch that updates the inbox from hooks and captures of the screen (protocol-approvals)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.approvals.dialog_comparison import (
    Named,
    get_tool_identity,
    is_item_dialog,
    is_item_view,
    may_answer,
    shows_summary,
    still_shows_item,
)
from tservice.agents.approvals.hook_reports import DialogHookReports
from tservice.agents.approvals.inbox import ApprovalInbox, ItemSession
from tservice.agents.approvals.model import (
    ApprovalItem,
    ApprovalResolution,
    ItemKind,
    makes_item,
)
from tservice.agents.interfaces import AgentScreen, IAgents
from tservice.core.kernel.clock import get_unix_ms, wait_seconds
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.event_payloads import HookEventPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.sessions.interfaces import ISessions, Session
from tservice.settings.interfaces import ISettings, Settings
from tservice.terminal.dialogs.dialog_kinds import DialogKind
from tservice.terminal.dialogs.dialogs import AgentDialog
from tservice.terminal.screen_status import ScreenReading

PATIENCE = (0.0, 0.15, 0.5, 1.5)
"""Seconds before each capture that searches for the dialog of a hook, which comes before the
screen.
"""

_LOOK_AGAIN = {EventName.HOOK_STOP, EventName.HOOK_PROMPT_SUBMITTED}
_ANSWERED = {EventName.HOOK_ELICITATION_COMPLETE, EventName.HOOK_ELICITATION_RESPONSE}
_ASKING = {EventName.HOOK_PERMISSION_PROMPT, EventName.HOOK_ELICITATION_DIALOG}
_ENDS = {EventName.SESSION_EXIT, EventName.SESSION_DELETED}
_DONE = {EventName.HOOK_TOOL_ENDED, EventName.HOOK_PERMISSION_DENIED}

REST_MS = 400
"""Milliseconds after which a second capture must confirm an unclear screen: a program that draws
for another size may show anything for a moment.
"""
CLOSING_MS = 2000
"""Milliseconds that an agent has to close the dialog of a hook that a rule answered. A dialog that
stands longer becomes an item.
"""
LOOK_AGAIN = 0.5
"""Seconds from an unclear capture to the next one."""


@frozen(kw_only=True)
class _UnconfirmedCapture:
    """Capture that a second one must confirm.

    @ivar at: time of the capture, in Unix milliseconds.
    @ivar frame: hash of the dialog that it showed; C{None} if it showed none.
    """

    at: int
    frame: str | None


class ApprovalWatch:
    """Observer of events and screens that keeps the inbox up to date.

    @param makes_items: returns true if the dialogs of a mode become items.
    @param answering: returns true while an answer is given in the session with that id. The answer
        then determines the resolution of the item.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        inbox: ApprovalInbox,
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
        self._told = DialogHookReports()
        self._doubts: dict[str, _UnconfirmedCapture] = {}
        self._closing: dict[str, int] = {}
        self._searches: dict[str, Deferred[None]] = {}
        self._second_looks: dict[str, Deferred[None]] = {}
        self._awaited: dict[str, Deferred[None]] = {}

    def start(self, hub: EventHub) -> None:
        """Subscribe to events."""
        self._ends = [
            hub.subscribe(self.handle_event),
            self._agents.add_observer(self.handle_screen),
            self._settings.add_observer(self._handle_settings_change),
        ]
        self._agents.set_item_search(self.wait_for_item)

    def stop(self) -> None:
        """Unsubscribe from events."""
        for end in self._ends:
            end()
        self._ends = []
        self._awaited.clear()
        for work in (*self._searches.values(), *self._second_looks.values()):
            work.cancel()

    # -- events

    def handle_event(self, event: Event) -> None:
        """Handle an event from the event hub."""
        session_id = event.session_id
        if session_id is None:
            return
        if event.name in _ENDS:
            self._handle_session_end(session_id)
        elif event.name is EventName.APPROVAL_PENDING:
            if self._has_dialog_item(session_id):
                self._finish_wait(session_id)
        elif isinstance(event.payload, HookEventPayload):
            self._handle_hook(event.name, session_id, event.payload.data)

    def _handle_hook(self, name: EventName, session_id: str, data: Mapping[str, Any]) -> None:
        if name in _LOOK_AGAIN:
            self._told.forget_session(session_id)
        elif name in _DONE:
            self._told.remove_reports(session_id, get_tool_identity(data))
        if name in _ASKING:
            if get_tool_identity(data)[0] is not None:
                self._told.add_report(session_id, data)
            self._start_search(session_id, data)
        elif name is EventName.HOOK_IDLE_PROMPT:
            self._spawn_background_work(self._put_idle_item(session_id, data), "an idle prompt")
        elif name in _ANSWERED:
            self._resolve_answered_question(session_id)
        elif name in _LOOK_AGAIN and self._inbox.get_item(session_id) is not None:
            self._spawn_background_work(self.capture_session(session_id), "checking a dialog again")

    def handle_screen(self, look: AgentScreen) -> None:
        """Handle a capture of a session's screen."""
        session = self._get_watched_session(look.session_id)
        if session is None or self._answering(session.id):
            return
        item = self._inbox.get_item(session.id)
        if item is None or item.kind is ItemKind.IDLE:
            self._handle_new_dialog(session, look.reading, item)
            return
        dialog = look.reading.dialog
        if dialog is None:
            self._handle_no_dialog(item, look)
        elif is_item_dialog(item, dialog):
            at_rest = self._is_confirmed(look, doubtful=item.frame != dialog.frame_hash)
            self._inbox.put_dialog_item(_make_item_session(session), dialog, {}, at_rest=at_rest)
        elif self._is_confirmed(look):
            self._replace_dialog(session, item, dialog)

    def handle_hook_answer(self, session_id: str, data: Mapping[str, Any], rule: str) -> bool:
        """Handle a hook that a rule answered: its dialog closes by itself.

        @param rule: name of the rule.
        @return: true if the dialog was an item, which is resolved now.
        """
        tool = get_tool_identity(data)
        self._told.add_report(session_id, data)
        self._closing[session_id] = get_unix_ms(self._clock)
        item = self._inbox.get_item(session_id)
        if item is None or item.kind is ItemKind.IDLE or not _is_item_of(item, tool):
            return False
        self._inbox.resolve_item(item, ApprovalResolution.ANSWERED, rule)
        return True

    def end_item(
        self, item: ApprovalItem, resolution: ApprovalResolution, rule: str | None = None
    ) -> None:
        """Resolve an item whose dialog is over, and drop the hooks about it.

        @param rule: name of the rule that answered it; C{None} if none did.
        """
        self._doubts.pop(item.session_id, None)
        self._told.remove_reports(item.session_id, item.tool_identity)
        self._inbox.resolve_item(item, resolution, rule)

    def handle_other_dialog(self, item: ApprovalItem, dialog: AgentDialog) -> None:
        """Handle another dialog that an answer found instead of the item's dialog.

        @param dialog: the dialog on the screen, which was captured while it did not change.
        """
        session = self._get_watched_session(item.session_id)
        if session is None or self._inbox.get_item(item.session_id) != item:
            return
        if is_item_dialog(item, dialog):
            self._inbox.put_dialog_item(_make_item_session(session), dialog, {}, at_rest=True)
        now = self._inbox.get_item(item.session_id)
        if now is not None and not may_answer(now, dialog):
            self._replace_dialog(session, now, dialog)

    async def capture_session(self, session_id: str) -> AgentScreen | None:
        """Capture the session's screen, which updates its item; return C{None} if that fails."""
        try:
            return await self._agents.capture_screen(session_id)
        except ServiceError as error:
            self._log.debug("no look at {id}: {error}", id=session_id, error=error)
            return None

    def wait_for_item(self, session_id: str) -> Deferred[None] | None:
        """Return a Deferred that fires when the session has a new item, or when its screen showed
        no other dialog; C{None} if no dialog is searched there.
        """
        if not self._is_searching(session_id):
            return None
        return self._awaited.setdefault(session_id, Deferred())

    # -- internal

    def _is_searching(self, session_id: str) -> bool:
        return session_id in self._searches or session_id in self._second_looks

    def _has_dialog_item(self, session_id: str) -> bool:
        item = self._inbox.get_item(session_id)
        return item is not None and item.kind is not ItemKind.IDLE

    def _finish_wait(self, session_id: str) -> None:
        waiting = self._awaited.pop(session_id, None)
        if waiting is not None:
            waiting.callback(None)

    def _handle_new_dialog(
        self, session: Session, reading: ScreenReading, idle: ApprovalItem | None
    ) -> None:
        """Handle a capture of a session that has no item for a dialog.

        @param idle: the session's idle item, if it has one.
        """
        self._doubts.pop(session.id, None)
        dialog = reading.dialog
        if dialog is not None and self._is_closing(session.id):
            self._schedule_second_capture(session.id)
        elif dialog is not None and self._asks_person(session.id, dialog):
            told = self._told.find_report(session.id, dialog, None)
            self._inbox.put_dialog_item(_make_item_session(session), dialog, told)
        elif idle is not None and reading.working:
            self._inbox.resolve_item(idle, ApprovalResolution.IN_TERMINAL)

    def _is_closing(self, session_id: str) -> bool:
        """Return true if a dialog may be that of a hook that a rule answered a moment ago."""
        answered = self._closing.get(session_id)
        if answered is not None and 0 <= get_unix_ms(self._clock) - answered < CLOSING_MS:
            return True
        self._closing.pop(session_id, None)
        return False

    def _asks_person(self, session_id: str, dialog: AgentDialog) -> bool:
        """Return true if the dialog makes an item, and the service does not answer it itself."""
        answered = dialog.kind is DialogKind.TRUST and self._agents.is_answering_trust(session_id)
        return makes_item(dialog) and not answered

    def _handle_no_dialog(self, item: ApprovalItem, look: AgentScreen) -> None:
        """Handle a capture without a dialog.

        The dialog is over immediately only if the screen shows a composer and no row of the dialog.
        """
        reading = look.reading
        left = not still_shows_item(item, look.frame.rows)
        over = reading.composer_ready or (left and reading.working)
        if over and ((left and reading.composer_ready) or self._is_confirmed(look)):
            self.end_item(item, ApprovalResolution.IN_TERMINAL)

    def _replace_dialog(self, session: Session, item: ApprovalItem, dialog: AgentDialog) -> None:
        """Handle a dialog that is on the screen instead of the item's dialog."""
        if not makes_item(dialog):
            self.end_item(item, ApprovalResolution.IN_TERMINAL)
            return
        told = self._told.find_report(session.id, dialog, item)
        self._told.remove_reports(session.id, item.tool_identity)
        self._inbox.replace_item(_make_item_session(session), dialog, told)

    def _is_confirmed(self, look: AgentScreen, *, doubtful: bool = True) -> bool:
        """Return true if an earlier capture showed the same dialog; otherwise schedule another
        capture.
        """
        dialog = look.reading.dialog
        seen = _UnconfirmedCapture(at=look.at, frame=None if dialog is None else dialog.frame_hash)
        before = self._doubts.pop(look.session_id, None)
        if not doubtful:
            return False
        same = before is not None and before.frame == seen.frame
        if same and before is not None and look.at - before.at >= REST_MS:
            return True
        self._doubts[look.session_id] = before if same and before is not None else seen
        self._schedule_second_capture(look.session_id)
        return False

    def _schedule_second_capture(self, session_id: str) -> None:
        """Schedule a second capture, unless one is already scheduled."""
        if session_id in self._second_looks:
            return
        work = spawn_logged(
            self._capture_again_after_delay(session_id),
            self._log,
            "checking a dialog a second time",
        )
        if not work.called:
            self._second_looks[session_id] = work
            work.addBoth(lambda _: self._finish_second_look(session_id, work))

    def _finish_second_look(self, session_id: str, work: Deferred[None]) -> None:
        if self._second_looks.get(session_id) is work:
            del self._second_looks[session_id]
        if not self._is_searching(session_id):
            self._finish_wait(session_id)

    async def _capture_again_after_delay(self, session_id: str) -> None:
        await wait_seconds(self._clock, LOOK_AGAIN)
        self._second_looks.pop(session_id, None)
        await self.capture_session(session_id)

    def _start_search(self, session_id: str, data: Mapping[str, Any]) -> None:
        """Search the screen for the dialog of a hook; this replaces an unfinished search of an
        older hook.
        """
        before = self._searches.pop(session_id, None)
        search = spawn_logged(
            self._search_dialog_of_hook(session_id, data), self._log, "looking for a dialog"
        )
        if not search.called:
            self._searches[session_id] = search
            search.addBoth(lambda _: self._finish_search(session_id, search))
        if before is not None:
            before.cancel()

    def _finish_search(self, session_id: str, search: Deferred[None]) -> None:
        if self._searches.get(session_id) is search:
            del self._searches[session_id]
        if not self._is_searching(session_id):
            self._finish_wait(session_id)

    async def _search_dialog_of_hook(self, session_id: str, data: Mapping[str, Any]) -> None:
        for pause in PATIENCE:
            if pause:
                await wait_seconds(self._clock, pause)
            session = self._get_watched_session(session_id)
            if session is None or self._answering(session_id):
                return
            look = await self.capture_session(session_id)
            dialog = None if look is None else look.reading.dialog
            if dialog is not None and makes_item(dialog):
                if self._belongs_to_other_hook(session_id, dialog, data):
                    continue
                if not self._answering(session_id):
                    self._inbox.put_dialog_item(_make_item_session(session), dialog, data)
                return
        self._log.info("{id}: a hook reported a dialog that is not on the screen", id=session_id)

    def _belongs_to_other_hook(
        self, session_id: str, dialog: AgentDialog, data: Mapping[str, Any]
    ) -> bool:
        """Return true if another tool call than that of the hook raised the dialog on the screen.

        @param data: the payload of the hook event.
        """
        tool = get_tool_identity(data)
        if tool[0] is None:
            return False
        told = self._told.find_visible_report(session_id, dialog)
        if told is not None:
            return get_tool_identity(told) != tool
        item = self._inbox.get_item(session_id)
        if item is None or item.tool_name is None or not is_item_view(item, dialog):
            return False
        known = item.tool_identity
        shown = known[1] is not None and shows_summary(dialog.context, known[1])
        return known != tool and (shown or self._told.has_unfinished_report(session_id, known))

    async def _put_idle_item(self, session_id: str, data: Mapping[str, Any]) -> None:
        session = self._get_watched_session(session_id)
        if session is None:
            return
        look = await self.capture_session(session_id)
        if look is None or look.reading.dialog is not None or look.reading.working:
            return
        rows = list(look.frame.rows[: look.frame.last_row + 1])
        self._inbox.put_idle_item(_make_item_session(session), rows, data)

    def _resolve_answered_question(self, session_id: str) -> None:
        item = self._inbox.get_item(session_id)
        if item is not None and item.kind is ItemKind.QUESTION and not self._answering(session_id):
            self.end_item(item, ApprovalResolution.IN_TERMINAL)

    def _handle_session_end(self, session_id: str) -> None:
        self._told.forget_session(session_id)
        self._closing.pop(session_id, None)
        item = self._inbox.get_item(session_id)
        if item is not None:
            self.end_item(item, ApprovalResolution.SESSION_ENDED)

    def _handle_settings_change(self, before: Settings, after: Settings) -> None:
        """Dismiss the items of sessions whose approvals were switched off."""
        for session in self._sessions.list():
            item = self._inbox.get_item(session.id)
            if item is None or (item.folder_digest and after.approvals_inbox_enabled):
                continue
            if not self._makes_approval_items(session):
                self._inbox.resolve_item(item, ApprovalResolution.DISMISSED)

    def _makes_approval_items(self, session: Session) -> bool:
        return self._settings.get().approvals_inbox_enabled and self._makes_items(session.mode)

    def _get_watched_session(self, session_id: str) -> Session | None:
        """Return the session if it runs and its dialogs become items; otherwise C{None}."""
        try:
            session = self._sessions.get(session_id)
        except ServiceError:
            return None
        return session if session.pid is not None and self._makes_approval_items(session) else None

    def _spawn_background_work(self, work: Any, what: str) -> None:
        spawn_logged(work, self._log, what)


def _is_item_of(item: ApprovalItem, tool: Named) -> bool:
    """Return true if an item, perhaps made before its hook came, is about a tool."""
    if item.tool_name is not None:
        return item.tool_identity == tool
    return tool[1] is not None and shows_summary((item.context or "").split("\n"), tool[1])


def _make_item_session(session: Session) -> ItemSession:
    return ItemSession(id=session.id, name=session.name, owner=session.owner)
