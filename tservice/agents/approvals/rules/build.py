"""Factory of the feature of approval rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from tservice.agents.approvals.rules.answering import RuleAnswerer
from tservice.agents.approvals.rules.model import RuleAction
from tservice.agents.approvals.rules.routes import ApprovalRuleRoutes
from tservice.agents.approvals.rules.service import ApprovalRuleService
from tservice.agents.approvals.rules.store import ApprovalRuleStore
from tservice.agents.approvals.service import ApprovalService
from tservice.audit.interfaces import IAuditLog
from tservice.cases.interfaces import ICases
from tservice.core.callers.identity import Identity
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.sessions.interfaces import ISessions


class RuleDecisions(Protocol):
    """Handler of hooks that wait for a decision."""

    decide_by_rule: Callable[[str, Mapping[str, Any]], RuleAction]


def build_approval_rules(
    ground: Runtime,
    *,
    approvals: ApprovalService,
    sessions: ISessions,
    cases: ICases,
    audit: IAuditLog,
    identity: Callable[[str | None], Identity | None],
    decisions: RuleDecisions,
) -> FeatureRegistration[ApprovalRuleService]:
    """Return the feature of approval rules.

    @param approvals: the inbox, whose items the rules answer.
    @param identity: returns the account that owns a session, with its present rights.
    @param decisions: the hooks that wait for a decision, which the rules answer first.
    """
    rules = ApprovalRuleService(
        ground.reactor,
        ApprovalRuleStore(ground.database),
        sessions,
        lambda: ground.random(8).hex(),
        cases.get_owner_name,
        cases.check_visible,
    )
    answerer = RuleAnswerer(approvals, rules, sessions, audit, ground.hub, identity)
    decisions.decide_by_rule = answerer.answer_hook
    return FeatureRegistration(
        name="approval rules",
        service=rules,
        operations=collect_operations(ApprovalRuleRoutes(rules)),
        on_account_removed=rules.forget_accounts,
        start=answerer.start,
        close=answerer.stop,
    )
