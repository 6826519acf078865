"""Questions about folders in the inbox, and their answers (protocol-trust)."""

from __future__ import annotations

from tservice.agents.approvals.answer_steps import AnswerAction, DialogAnswer
from tservice.agents.approvals.inbox import ApprovalInbox, ItemSession
from tservice.agents.approvals.model import ApprovalItem, ApprovalResolution
from tservice.agents.foldertrust.counted import FolderFinding
from tservice.agents.foldertrust.service import FolderQuestionCallbacks, FolderTrust
from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_field_error,
)
from tservice.sessions.interfaces import FolderApprovalRequired, ISessions, Session

_CHOICES = {
    (AnswerAction.APPROVE, ()): True,
    (AnswerAction.OPTION, (1,)): True,
    (AnswerAction.DENY, ()): False,
    (AnswerAction.OPTION, (2,)): False,
}


class FolderQuestionAnswerer:
    """Asks people if they trust the folders of sessions, and starts sessions in trusted folders."""

    def __init__(self, inbox: ApprovalInbox, sessions: ISessions, trust: FolderTrust) -> None:
        self._inbox, self._sessions, self._trust = inbox, sessions, trust
        self.questions = FolderQuestionCallbacks(
            ask=self._ask_about_folder, withdraw=self._dismiss_folder_question
        )

    async def answer_question(
        self, item: ApprovalItem, answer: DialogAnswer, caller: Caller
    ) -> None:
        """Start the session if the person trusts its folder; otherwise leave it stopped.

        @param caller: authorized again before the start.
        @raise ServiceError: 400: no such answer; 403: an agent answers for itself, or the caller
            lacks the grant for a folder whose files can run something; 409: these files have
            changed; others: the session cannot be started.
        """
        if caller.parent is not None:
            raise ServiceError(ErrorCode.FORBIDDEN, "a person has to answer for a folder")
        trusted = _CHOICES.get((answer.action, answer.options))
        if trusted is None:
            raise make_field_error("action", "must be approve, deny, or option 1 or 2")
        if trusted and item.risk_hint is not None and not caller.can_bypass_permissions:
            text = "action: trusting what a folder runs needs the grant to bypass permissions"
            raise ServiceError(ErrorCode.FORBIDDEN, text)
        session = self._sessions.get(item.session_id)
        caller.reauthorize()
        if trusted:
            self._trust.record_trust(session, item.folder_digest or "", lasting=item.folder_lasting)
        self._inbox.resolve_item(item, ApprovalResolution.ANSWERED)
        if not trusted:
            self._sessions.update_record(session.id, status_reason="its folder is not trusted")
            return
        try:
            await self._sessions.start(session.id, caller)
        except FolderApprovalRequired as held:
            raise make_conflict_error("the folder changed: look at the new question") from held

    def _ask_about_folder(self, session: Session, found: FolderFinding) -> None:
        before = self._inbox.get_item(session.id)
        if before is None or before.folder_digest != found.digest:
            about = ItemSession(id=session.id, name=session.name, owner=session.owner)
            self._inbox.put_folder_item(about, session.working_dir, found)

    def _dismiss_folder_question(self, session_id: str) -> None:
        item = self._inbox.get_item(session_id)
        if item is not None and item.folder_digest is not None:
            self._inbox.resolve_item(item, ApprovalResolution.DISMISSED)
