"""Service of the approval inbox for its routes and for other features (protocol-approvals)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import evolve, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.approvals.answer_delivery import (
    GONE,
    AnswerChannel,
    AnswerOutcome,
    DialogAnswerer,
    DialogChangedError,
    KeyIgnoredError,
    reject_other_dialog,
)
from tservice.agents.approvals.answer_screen import AnswerScreen
from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.agents.approvals.approval_watch import ApprovalWatch
from tservice.agents.approvals.dialog_comparison import may_answer
from tservice.agents.approvals.folders import FolderQuestionAnswerer
from tservice.agents.approvals.inbox import ApprovalInbox
from tservice.agents.approvals.model import (
    ApprovalItem,
    ApprovalResolution,
    ItemKind,
    makes_item,
)
from tservice.agents.approvals.responses import ApprovalItemResponse
from tservice.agents.approvals.rules.model import ApprovalRule
from tservice.agents.interfaces import IAgents
from tservice.clis.interfaces import AnswerKeys, ICliRegistry
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import raise_unsaved_change_on_disk_error
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_field_error,
)
from tservice.core.kernel.events import EventHub
from tservice.core.kernel.tasks import spawn_logged
from tservice.mux.interface import IPane
from tservice.sessions.interfaces import ISessions
from tservice.settings.interfaces import ISettings

CHECK_LIMIT = 2.0
"""Maximum seconds that a listing waits for panes; an item stays unchanged if its pane is later."""


@frozen(kw_only=True)
class AnswerGiven:
    """Answer that closed an item's dialog.

    @ivar rules: the rules that gave it, the deciding one first; empty if a person did.
    """

    item: ApprovalItem
    answer: DialogAnswer
    rules: Sequence[ApprovalRule] = ()


def _ignore_answer(given: AnswerGiven) -> None:
    """Ignore the answer: the default of C{on_answer}."""


class ApprovalService:
    """Service for pending items and their answers.

    Every method with the id of an item raises a L{ServiceError}: 403 while the inbox is switched
    off, 404 if the item is unknown or not visible to the caller.

    @ivar on_answer: called with every answer after which an item's dialog is gone.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        inbox: ApprovalInbox,
        sessions: ISessions,
        agents: IAgents,
        clis: ICliRegistry,
        settings: ISettings,
        folders: FolderQuestionAnswerer,
        channel: AnswerChannel,
    ) -> None:
        self._clock = clock
        self._folders = folders
        self._channel = channel
        self._inbox = inbox
        self._sessions = sessions
        self._agents = agents
        self._clis = clis
        self._settings = settings
        self.on_answer: Callable[[AnswerGiven], None] = _ignore_answer
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
        """Load the stored items and subscribe to events; call this once the sessions are loaded."""
        self._inbox.load_items()
        self._watch.start(hub)

    def stop(self) -> None:
        """Unsubscribe from events; items stay on disk."""
        self._watch.stop()
        self._inbox.close()

    # -- queries

    def is_blocked(self, session_id: str) -> bool:
        """Return true if a dialog of that session waits for an answer (protocol-signals)."""
        item = self._inbox.get_item(session_id) if self._is_enabled else None
        return item is not None and item.kind is not ItemKind.IDLE

    def get_pending_item(self, session_id: str) -> ApprovalItem | None:
        """Return the pending item of a session in its last known state; C{None} if it has none."""
        return self._inbox.get_item(session_id) if self._is_enabled else None

    def list_known(self, caller: Identity) -> list[ApprovalItemResponse]:
        """Return the items that C{caller} may see in their last known state, oldest first."""
        return (
            [self._inbox.describe_item(item) for item in self._inbox.list_visible(caller)]
            if self._is_enabled
            else []
        )

    async def list_checked(self, caller: Identity) -> list[ApprovalItemResponse]:
        """Return the items of L{list_known} after checking them against the screens.

        Items whose panes do not answer within L{CHECK_LIMIT} seconds stay unchanged.
        """
        if self._is_enabled:
            looks = [
                self._watch.capture_session(item.session_id)
                for item in self._inbox.list_visible(caller)
            ]
            await self._wait_at_most(CHECK_LIMIT, looks)
        return self.list_known(caller)

    # -- actions

    async def answer_item(
        self,
        item_id: str,
        answer: DialogAnswer,
        caller: Caller,
        rules: Sequence[ApprovalRule] = (),
    ) -> ApprovalItem:
        """Give an answer to an item's dialog, and resolve the item once the dialog is gone.

        @param caller: authorized again before each key.
        @param rules: the rules that answer instead of the caller; empty for a person's answer.
        @raise ServiceError: 400: not an answer to this item; 403: C{caller} may not drive the
            program there; 409: the dialog is gone or changed, or another user answers it; 422: it
            could not be typed.
        """
        item = self._get_pending(item_id, caller)
        self._sessions.check_sender(item.session_id, caller)
        if item.session_id in self._busy:
            raise make_conflict_error("another user is answering")
        if answer.expect_frame is not None:
            if answer.expect_frame != item.shown_frame:
                raise make_conflict_error("the dialog changed since expectFrame")
            answer = evolve(answer, expect_frame=item.frame)
        self._busy.add(item.session_id)
        given = AnswerGiven(item=item, answer=answer, rules=rules)
        try:
            if item.folder_digest is not None:
                _check_no_reason(answer)
                await self._folders.answer_question(item, answer, caller)
            elif item.kind is ItemKind.IDLE:
                await self._answer_idle_item(item, answer, caller)
            else:
                await self._answer_dialog(given, caller)
        finally:
            self._busy.discard(item.session_id)
            # Events during the answer were left for this check.
            spawn_logged(
                self._watch.capture_session(item.session_id),
                self._log,
                "checking an approval after an answer",
            )
        return item

    def dismiss_item(self, item_id: str, caller: Identity) -> ApprovalItem:
        """Remove the item; its dialog stays on the screen.

        @raise ServiceError: 422: the item was removed, but the removal is not on disk yet.
        """
        item = self._get_pending(item_id, caller)
        self._inbox.resolve_item(item, ApprovalResolution.DISMISSED)
        with raise_unsaved_change_on_disk_error("dismissed", "bring it back"):
            self._inbox.check_saved(item.session_id)
        return item

    def mark_viewed(self, session_id: str, caller: Identity) -> str | None:
        """Record that a user viewed the session, and return the id of its idle item, or C{None}.

        @raise ServiceError: 422: the view was recorded, but the record is not on disk yet.
        """
        self._check_enabled()
        self._sessions.get(session_id, caller)
        item = self._inbox.acknowledge_idle(session_id)
        if item is None:
            return None
        with raise_unsaved_change_on_disk_error("viewed"):
            self._inbox.check_saved(session_id)
        return item.id

    def record_hook_answer(self, session_id: str, data: Mapping[str, Any], rule: str) -> bool:
        """Record that a rule answered a hook directly, so that its dialog becomes no item.

        @param data: the reduced data of the hook.
        @return: true if the dialog was an item already, which is resolved now.
        """
        return self._watch.handle_hook_answer(session_id, data, rule)

    # -- internal

    @property
    def _is_enabled(self) -> bool:
        return self._settings.get().approvals_inbox_enabled

    def _check_enabled(self) -> None:
        if not self._is_enabled:
            raise ServiceError(ErrorCode.FORBIDDEN, "the approval inbox is switched off")

    def _get_pending(self, item_id: str, caller: Identity) -> ApprovalItem:
        self._check_enabled()
        return self._inbox.get_pending(item_id, caller)

    async def _answer_idle_item(
        self, item: ApprovalItem, answer: DialogAnswer, caller: Identity
    ) -> None:
        if answer.action is not AnswerAction.TEXT:
            raise make_field_error("action", "an idle session needs a text")
        look = await self._agents.capture_screen(item.session_id)
        if look.reading.dialog is not None or look.reading.working:
            raise make_conflict_error("the session is no longer idle")
        await self._sessions.send_prompt(item.session_id, answer.text, caller)
        self._inbox.resolve_item(item, ApprovalResolution.ANSWERED)

    async def _answer_dialog(self, given: AnswerGiven, caller: Caller) -> None:
        item, answer = given.item, given.answer

        def check_permission() -> None:
            caller.reauthorize()
            self._sessions.check_sender(item.session_id, caller)

        pane = self._get_pane(item)
        mode = self._sessions.get(item.session_id).mode
        screen = AnswerScreen(self._clock, pane, self._agents.get_screen_rules(mode))
        taken = await self._channel.give_answer(item, answer, pane, screen, check_permission)
        if taken is not None:
            self._apply_outcome(given, taken)
            return
        _check_no_reason(answer)
        keys = self._get_answer_keys(mode)
        answerer = DialogAnswerer(self._clock, screen, check_permission, keys)
        epoch, stuck_at = self._stuck.pop(item.session_id, ("", 0))
        stuck = stuck_at if epoch == pane.log.epoch else None
        try:
            # A person saw the item; a rule knows no more than the dialog that it was decided for.
            is_meant = partial(may_answer, item) if not given.rules else reject_other_dialog
            outcome = await answerer.give_answer(answer, item.frame, stuck, is_meant)
        except DialogChangedError as changed:
            self._handle_changed_dialog(item, changed)
            raise make_conflict_error("the dialog changed") from changed
        except KeyIgnoredError as untaken:
            self._stuck[item.session_id] = (pane.log.epoch, pane.log.end)
            raise untaken.error from untaken
        self._apply_outcome(given, outcome)

    def _get_answer_keys(self, mode: str) -> AnswerKeys | None:
        entry = self._clis.get_entry(mode)
        return None if entry is None else entry.capabilities.answers

    def _get_pane(self, item: ApprovalItem) -> IPane:
        pane = self._sessions.get_pane(item.session_id)
        if pane is None:
            raise make_conflict_error(f"{GONE}: the session has no process")
        return pane

    def _apply_outcome(self, given: AnswerGiven, outcome: AnswerOutcome) -> None:
        item = given.item
        if outcome.closed:
            rule = given.rules[0].name if given.rules else None
            self._watch.end_item(item, ApprovalResolution.ANSWERED, rule)
            self.on_answer(given)
        elif outcome.dialog is not None:
            self._inbox.update_item_from_dialog(item, outcome.dialog)

    def _handle_changed_dialog(self, item: ApprovalItem, changed: DialogChangedError) -> None:
        """Update the inbox after an answer found a changed dialog.

        Another page of the same question keeps the item. Any other dialog gets a new item.
        """
        dialog = changed.dialog
        if dialog is not None and makes_item(dialog):
            self._watch.handle_other_dialog(item, dialog)

    async def _wait_at_most(
        self, seconds: float, works: Sequence[Coroutine[Any, Any, object]]
    ) -> None:
        """Wait until all of C{works} have finished, for at most C{seconds}.

        Those that have not finished continue to run.
        """
        enough: Deferred[None] = Deferred()
        left = len(works)

        def handle_done(_: object) -> None:
            nonlocal left
            left -= 1
            if left == 0 and timer.active():
                timer.cancel()
                enough.callback(None)

        if not works:
            return
        timer = self._clock.callLater(seconds, enough.callback, None)
        for work in works:
            spawn_logged(work, self._log, "checking an approval").addBoth(handle_done)
        await enough


def _check_no_reason(answer: DialogAnswer) -> None:
    """Check that the answer can be given by keys, which carry no reason.

    @raise ServiceError: 409: the answer has a reason.
    """
    if answer.reason is not None:
        raise make_conflict_error(
            "the agent takes no reason for this dialog: deny it without one, then send a prompt"
        )
