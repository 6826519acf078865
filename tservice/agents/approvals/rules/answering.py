"""Answers of approval rules to agents (protocol-approval-rules).

A rule answers the hook of a request directly if the hook waits for a decision. The decision reaches
only the process that reported the request, so no screen has to prove it. Otherwise a rule answers
the item of the inbox through the same operation as a person. So it presses a key only on the dialog
that the item was made from, and a person who is faster wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from tservice.agents.approvals.answer_steps import DialogAnswer
from tservice.agents.approvals.model import ApprovalItem, ApprovalResolution
from tservice.agents.approvals.rules.model import (
    ApprovalRule,
    RequestAnswer,
    RuleAction,
    RuleDecision,
    ToolRequest,
)
from tservice.agents.approvals.rules.requests import (
    classify_answer,
    make_hook_request,
    make_rule_answer,
    make_tool_request,
    shows_request,
)
from tservice.agents.approvals.rules.service import ApprovalRuleService
from tservice.agents.approvals.service import AnswerGiven, ApprovalService
from tservice.audit.interfaces import RULE_ANSWER, AuditEntry, IAuditLog
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError, make_conflict_error
from tservice.core.kernel.event_payloads import ApprovalResolvedPayload, RuleAnswerPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.sessions.interfaces import ISessions, Session

MOST_TRIES = 3
"""Maximum number of attempts to answer one item; later it is left to a person."""

_ITEM_EVENTS = {EventName.APPROVAL_PENDING, EventName.APPROVAL_UPDATED}
_TAKEN = {ApprovalResolution.IN_TERMINAL.value, ApprovalResolution.DISMISSED.value}


@frozen(kw_only=True)
class _Attempt:
    """Attempts to answer one item.

    @ivar frame: the item's dialog at the last attempt.
    """

    item_id: str
    frame: str
    count: int


class RuleAnswerer:
    """Answers hooks and items by the rules of the accounts that own their sessions.

    @param find_account: returns the account with its present rights, by name; C{None} if it is gone
        or disabled.
    """

    _log = Logger()

    def __init__(
        self,
        approvals: ApprovalService,
        rules: ApprovalRuleService,
        sessions: ISessions,
        audit: IAuditLog,
        hub: EventHub,
        find_account: Callable[[str | None], Identity | None],
    ) -> None:
        self._approvals, self._rules, self._sessions, self._hub = approvals, rules, sessions, hub
        self._audit, self._find_account = audit, find_account
        self._tried: dict[str, _Attempt] = {}
        self._known: dict[str, tuple[str, ToolRequest]] = {}
        self._works: set[Deferred[None]] = set()
        self._end: Callable[[], None] | None = None

    def start(self) -> None:
        """Subscribe to events."""
        self._rules.load_rules()
        self._end = self._hub.subscribe(self._handle_event)
        self._approvals.on_answer = self._record_answer
        self._rules.on_new_rule = self._consider_pending_items

    def stop(self) -> None:
        """Unsubscribe from events, and leave the remaining items to people."""
        if self._end is not None:
            self._end()
            self._end = None
        for work in list(self._works):
            work.cancel()

    def answer_hook(self, session_id: str, data: Mapping[str, Any]) -> RuleAction:
        """Return the decision of the rules on the request of a hook that waits for it.

        The decision is recorded unless it is to ask.

        @param data: the reduced data of the hook.
        """
        session = self._sessions.get(session_id)
        request = make_hook_request(session, data)
        account = None if request is None else self._find_account(request.owner or None)
        if request is None or account is None:
            return RuleAction.ASK
        decision = self._rules.decide(request, account)
        if decision.action is RuleAction.ASK:
            return RuleAction.ASK
        rule = decision.rules[0]
        allows = decision.action is RuleAction.ALLOW
        told = RequestAnswer.ALLOWED if allows else RequestAnswer.DENIED
        self._rules.record_answer("", request, told, decision.rules)
        self._write_audit_entry(request, told, decision.rules, {"digest": data["tool_digest"]})
        if not self._approvals.record_hook_answer(session_id, data, rule.name):
            # The end of an item is an event that names the rule.
            self._publish_answer(session, request, told, rule)
        return decision.action

    # -- internal

    def _publish_answer(
        self, session: Session, request: ToolRequest, told: RequestAnswer, rule: ApprovalRule
    ) -> None:
        payload = RuleAnswerPayload(
            session_id=session.id, tool=request.tool, answer=told.value, rule=rule.name
        )
        self._hub.publish(
            Event(
                name=EventName.APPROVAL_BY_RULE,
                payload=payload,
                session_id=session.id,
                owner=session.owner,
            )
        )

    def _handle_event(self, event: Event) -> None:
        self._rules.handle_event(event)
        session_id = event.session_id
        if session_id is None:
            return
        if event.name in _ITEM_EVENTS:
            self._consider_item(session_id)
        elif event.name is EventName.SESSION_DELETED:
            self._tried.pop(session_id, None)
            self._known.pop(session_id, None)
        elif isinstance(event.payload, ApprovalResolvedPayload):
            self._handle_resolved(session_id, event.payload)

    def _handle_resolved(self, session_id: str, resolved: ApprovalResolvedPayload) -> None:
        known = self._known.get(session_id)
        if known is None or known[0] != resolved.id:
            return
        del self._known[session_id]
        if resolved.resolution in _TAKEN:
            self._rules.record_answer(resolved.id, known[1], RequestAnswer.OTHER)

    def _consider_pending_items(self, owner: str) -> None:
        """Let a new rule answer what its account's agents ask already."""
        for session in self._sessions.list():
            if (session.owner or "") == owner:
                self._tried.pop(session.id, None)
                self._consider_item(session.id)

    def _consider_item(self, session_id: str) -> None:
        """Let the rules answer the session's item if they decide it."""
        item = self._approvals.get_pending_item(session_id)
        request = None if item is None else self._make_request(item)
        if item is None or request is None:
            return
        self._known[session_id] = (item.id, request)
        account = self._find_account(request.owner or None)
        if account is None or not shows_request(item) or not self._may_try(item):
            return
        decision = self._rules.decide(request, account)
        answer = make_rule_answer(item, decision.action)
        if decision.action is RuleAction.ASK or answer is None:
            return
        before = self._tried.get(session_id)
        count = before.count if before is not None and before.item_id == item.id else 0
        self._tried[session_id] = _Attempt(item_id=item.id, frame=item.shown_frame, count=count + 1)
        work = spawn_logged(
            self._answer_item(item, request, decision, answer, account),
            self._log,
            "answering by a rule",
        )
        if not work.called:
            self._works.add(work)
            work.addBoth(lambda _: self._works.discard(work))

    def _make_request(self, item: ApprovalItem) -> ToolRequest | None:
        try:
            return make_tool_request(item, self._sessions.get(item.session_id))
        except ServiceError:
            return None  # the session is gone

    def _may_try(self, item: ApprovalItem) -> bool:
        before = self._tried.get(item.session_id)
        if before is None or before.item_id != item.id:
            return True
        return before.frame != item.shown_frame and before.count < MOST_TRIES

    async def _answer_item(
        self,
        item: ApprovalItem,
        request: ToolRequest,
        decision: RuleDecision,
        answer: DialogAnswer,
        account: Identity,
    ) -> None:
        def check_still_decided() -> None:
            now = self._find_account(request.owner or None)
            if now is None or not now.keeps_rights_of(account):
                raise make_conflict_error("the account lost a right")
            if self._rules.decide(request, now) != decision:
                raise make_conflict_error("the rule changed")

        caller = Caller.from_identity(account, check_still_decided)
        try:
            check_still_decided()
            await self._approvals.answer_item(item.id, answer, caller, decision.rules)
        except ServiceError as error:
            # A person was faster, or the dialog changed: the item is left to a person.
            self._log.info("{id} is left to a person: {error}", id=item.id, error=error)

    def _record_answer(self, given: AnswerGiven) -> None:
        """Record an answer, of a person or of rules, once its dialog is gone."""
        request = self._make_request(given.item)
        if request is None:
            return
        self._known.pop(given.item.session_id, None)
        told = classify_answer(given.item, given.answer)
        self._rules.record_answer(given.item.id, request, told, given.rules)
        if given.rules:
            source = {"item": given.item.id, "digest": given.item.tool_digest}
            self._write_audit_entry(request, told, given.rules, source)

    def _write_audit_entry(
        self,
        request: ToolRequest,
        told: RequestAnswer,
        rules: Sequence[ApprovalRule],
        source: Mapping[str, str | None],
    ) -> None:
        """Record an answer in the audit log.

        @param source: the item, if there was one, and the digest of the tool's inputs.
        """
        detail = {
            **source,
            "answer": told.value,
            "tool": request.tool,
            "rule": rules[0].id,
            "name": rules[0].name,
        }
        if len(rules) > 1:
            detail["rules"] = " ".join(each.id for each in rules[:10])
        self._audit.record_entry(
            AuditEntry(
                action=RULE_ANSWER, actor=request.owner, target=request.session_id, detail=detail
            )
        )
