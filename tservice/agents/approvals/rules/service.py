"""Registry of approval rules, and of the last questions with their answers
(protocol-approval-rules).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.approvals.rules.matching import decide_request, is_expired, rank_rule
from tservice.agents.approvals.rules.model import (
    AnsweredRequest,
    ApprovalRule,
    RequestAnswer,
    RuleAction,
    RuleDecision,
    RuleMatch,
    RuleScope,
    RuleSuggestion,
    StoredRule,
    ToolRequest,
)
from tservice.agents.approvals.rules.rule_validation import check_rule, needs_bypass
from tservice.agents.approvals.rules.store import ApprovalRuleStore
from tservice.agents.approvals.rules.suggestions import suggest_rules
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_not_found_error,
)
from tservice.core.kernel.event_payloads import CaseRemovedPayload
from tservice.core.kernel.events import Event, EventName
from tservice.sessions.interfaces import ISessions

MAX_RULES = 200
"""Maximum number of rules of one account."""
SHOWN_ANSWERS = 5
"""Number of answers of each rule that are listed with it."""


@frozen(kw_only=True)
class RuleDraft:
    """Rule as a client wants it."""

    tool: str
    action: RuleAction
    scope: RuleScope
    match: RuleMatch
    cli: str | None = None
    expires_at: int | None = None
    note: str = ""


@frozen(kw_only=True)
class ListedRule:
    """Rule with its last answers, newest first."""

    stored: StoredRule
    answers: Sequence[AnsweredRequest]


@frozen(kw_only=True)
class PreviewedRequest:
    """Past request with the decision that a rule would have made.

    @ivar reason: why a person would still be asked.
    """

    answered: AnsweredRequest
    decision: RuleDecision


def _ignore_change(owner: str) -> None:
    """Ignore the change: the default of C{on_new_rule}."""


class ApprovalRuleService:
    """Rules of all accounts, held in memory; a change is on disk before it takes effect.

    Every method with a caller raises a L{ServiceError} 403 for an agent's own token.

    @ivar on_new_rule: called with the account after a rule was created or replaced.
    @param get_owner: returns the account that owns what a caller creates; C{None} without accounts.
    @param check_case: fails with 404 if the caller may not see the case.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        store: ApprovalRuleStore,
        sessions: ISessions,
        make_id: Callable[[], str],
        get_owner: Callable[[Identity], str | None],
        check_case: Callable[[str, Identity], Awaitable[None]],
    ) -> None:
        self._clock, self._store, self._sessions = clock, store, sessions
        self._make_id, self._get_owner, self._check_case = make_id, get_owner, check_case
        self._rules: dict[str, StoredRule] = {}
        self.on_new_rule: Callable[[str], None] = _ignore_change

    def load_rules(self) -> None:
        """Load the stored rules; call this once the sessions are loaded."""
        alive = {session.id for session in self._sessions.list()}
        for stored in self._store.load_rules():
            self._rules[stored.rule.id] = stored
        self._drop_rules(
            lambda rule: rule.scope.session_id is not None and rule.scope.session_id not in alive
        )

    def forget_accounts(self, known: Callable[[str], bool]) -> None:
        """Delete what belongs to accounts that no longer exist."""
        self._store.delete_unknown_rules(known)
        self._store.delete_unknown_answers(known)
        for stored in list(self._rules.values()):
            if stored.rule.owner and not known(stored.rule.owner):
                del self._rules[stored.rule.id]

    def handle_event(self, event: Event) -> None:
        """Delete the rules of sessions and cases that are gone."""
        if event.name is EventName.SESSION_DELETED:
            self._drop_rules(lambda rule: rule.scope.session_id == event.session_id)
        elif event.name is EventName.CASE_DELETED and isinstance(event.payload, CaseRemovedPayload):
            name, owner = event.payload.name, event.owner or ""
            self._drop_rules(lambda rule: (rule.owner, rule.scope.case_name) == (owner, name))

    # -- the rules of an account

    def list_rules(self, caller: Identity) -> list[ListedRule]:
        """Return the caller's rules that have not expired, in the order of precedence."""
        owner, now = self._require_owner(caller), get_unix_ms(self._clock)
        answers: dict[str, list[AnsweredRequest]] = {}
        for each in self._store.list_answers(owner):
            if each.rule_id is not None:
                answers.setdefault(each.rule_id, []).append(each)
        found = [each for each in self._list_stored(owner) if not is_expired(each.rule, now)]
        return [
            ListedRule(stored=each, answers=answers.get(each.rule.id, [])[:SHOWN_ANSWERS])
            for each in sorted(found, key=lambda each: (*rank_rule(each.rule), each.rule.id))
        ]

    def list_answers(self, caller: Identity) -> list[AnsweredRequest]:
        """Return the last questions of the caller's agents with their answers, newest first."""
        return self._store.list_answers(self._require_owner(caller))

    def list_suggestions(self, caller: Identity) -> list[RuleSuggestion]:
        """Return rules that would answer what the caller allows again and again."""
        owner = self._require_owner(caller)
        rules = [each.rule for each in self._list_stored(owner)]
        return suggest_rules(self._store.list_answers(owner), rules, get_unix_ms(self._clock))

    async def create_rule(self, draft: RuleDraft, caller: Caller) -> StoredRule:
        """Create a rule of the caller's account.

        @raise ServiceError: 400, 403: see L{check_rule}; 404: no such session or case; 422: there
            are L{MAX_RULES} already.
        """
        owner, now = self._require_owner(caller), get_unix_ms(self._clock)
        rule = _make_rule(draft, self._make_id(), owner, now)
        check_rule(rule, can_bypass=caller.can_bypass_permissions, now=now)
        await self._check_scope(rule.scope, caller)
        caller.reauthorize()
        self._drop_rules(lambda each: each.owner == owner and is_expired(each, now))
        if len(self._list_stored(owner)) >= MAX_RULES:
            raise make_failure_error(f"there are {MAX_RULES} rules already")
        self._store.save_rule(rule)
        self._rules[rule.id] = StoredRule(rule=rule)
        self.on_new_rule(owner)
        return self._rules[rule.id]

    async def replace_rule(self, rule_id: str, draft: RuleDraft, caller: Caller) -> StoredRule:
        """Replace everything in a rule but its id, its age and its hits.

        @raise ServiceError: 404: no such rule of the caller; others: see L{create_rule}.
        """
        before, now = self._get_own_rule(rule_id, caller), get_unix_ms(self._clock)
        rule = _make_rule(draft, rule_id, before.rule.owner, before.rule.created_at)
        check_rule(rule, can_bypass=caller.can_bypass_permissions, now=now)
        await self._check_scope(rule.scope, caller)
        caller.reauthorize()
        before = self._get_own_rule(rule_id, caller)
        self._store.save_rule(rule)
        self._rules[rule_id] = evolve(before, rule=rule)
        self.on_new_rule(rule.owner)
        return self._rules[rule_id]

    def delete_rule(self, rule_id: str, caller: Identity) -> ApprovalRule:
        """Delete a rule of the caller.

        @raise ServiceError: 404: no such rule of the caller.
        """
        rule = self._get_own_rule(rule_id, caller).rule
        self._store.delete_rule(rule_id)
        del self._rules[rule_id]
        return rule

    def preview_rule(self, draft: RuleDraft, caller: Identity) -> list[PreviewedRequest]:
        """Return the last requests that a rule is about, each with the decision it would have made.

        @raise ServiceError: 400, 403: see L{check_rule}.
        """
        owner, now = self._require_owner(caller), get_unix_ms(self._clock)
        rule = _make_rule(draft, "preview", owner, now)
        check_rule(rule, can_bypass=caller.can_bypass_permissions, now=now)
        others = [each.rule for each in self._list_stored(owner)]
        found = []
        for answered in self._store.list_answers(owner):
            decision = decide_request([*others, rule], answered.request, now)
            if rule in decision.rules:
                found.append(PreviewedRequest(answered=answered, decision=decision))
        return found

    # -- applying

    def decide(self, request: ToolRequest, account: Identity) -> RuleDecision:
        """Return the decision of the rules of the request's account.

        @param account: the account with its present rights. A rule that allows more than these is
            ignored.
        """
        able = [
            each.rule
            for each in self._list_stored(request.owner)
            if account.can_bypass_permissions or not needs_bypass(each.rule)
        ]
        return decide_request(able, request, get_unix_ms(self._clock))

    def record_answer(
        self,
        item_id: str,
        request: ToolRequest,
        answer: RequestAnswer,
        rules: Sequence[ApprovalRule] = (),
    ) -> None:
        """Record the answer of a request, and count it for the rules that gave it."""
        now = get_unix_ms(self._clock)
        first = rules[0] if rules else None
        answered = AnsweredRequest(
            at=now, item_id=item_id, request=request, answer=answer,
            rule_id=None if first is None else first.id,
            rule_name=None if first is None else first.name,
        )  # fmt: skip
        try:
            for rule in rules:
                self._count_hit(rule.id, now)
            self._store.save_answer(answered)
        except DiskFull as error:
            # The agent has its answer, so there is nothing to refuse.
            self._log.warn("an answer is missing in the history: {error}", error=error)

    # -- internal

    def _count_hit(self, rule_id: str, now: int) -> None:
        before = self._rules.get(rule_id)
        if before is not None:
            self._rules[rule_id] = evolve(before, hits=before.hits + 1, last_hit_at=now)
            self._store.save_hit(rule_id, before.hits + 1, now)

    def _require_owner(self, caller: Identity) -> str:
        if caller.parent is not None or caller.sessions is not None:
            raise ServiceError(ErrorCode.FORBIDDEN, "approval rules are closed to agents' tokens")
        return self._get_owner(caller) or ""

    def _list_stored(self, owner: str) -> list[StoredRule]:
        return [each for each in self._rules.values() if each.rule.owner == owner]

    def _get_own_rule(self, rule_id: str, caller: Identity) -> StoredRule:
        owner = self._require_owner(caller)
        found = self._rules.get(rule_id)
        if found is None or found.rule.owner != owner:
            raise make_not_found_error(f"Approval rule {rule_id}")
        return found

    async def _check_scope(self, scope: RuleScope, caller: Identity) -> None:
        if scope.session_id is not None:
            self._sessions.get(scope.session_id, caller)
        if scope.case_name is not None:
            await self._check_case(scope.case_name, caller)

    def _drop_rules(self, is_stale: Callable[[ApprovalRule], bool]) -> None:
        stale: Iterable[str] = [
            each.rule.id for each in self._rules.values() if is_stale(each.rule)
        ]
        for rule_id in stale:
            del self._rules[rule_id]
            self._store.delete_stale_rule(rule_id)


def _make_rule(draft: RuleDraft, rule_id: str, owner: str, created_at: int) -> ApprovalRule:
    return ApprovalRule(
        id=rule_id, owner=owner, created_at=created_at, tool=draft.tool, action=draft.action,
        scope=draft.scope, match=draft.match, cli=draft.cli, expires_at=draft.expires_at,
        note=draft.note,
    )  # fmt: skip
