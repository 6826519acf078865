"""Answers of the routes of approval rules (protocol-approval-rules)."""

from __future__ import annotations

from tservice.agents.approvals.rules.model import (
    AnsweredRequest,
    RequestAnswer,
    RuleAction,
    RuleMatch,
    RuleScope,
    RuleSuggestion,
    StoredRule,
)
from tservice.agents.approvals.rules.service import ListedRule, PreviewedRequest
from tservice.core.values.payload import Payload, omit_if_false, omit_if_none


class RuleScopeResponse(Payload):
    """Sessions to which a rule applies."""

    session_id: str | None = omit_if_none()
    case_name: str | None = omit_if_none()
    all: bool = omit_if_false()


class CommandMatchResponse(Payload):
    """Commands that a rule is about."""

    prefix: tuple[str, ...] | None = omit_if_none()
    pattern: tuple[str, ...] | None = omit_if_none()
    exact: str | None = omit_if_none()


class RuleMatchResponse(Payload):
    """Subject of a rule; empty for every use of its tool."""

    command: CommandMatchResponse | None = omit_if_none()
    path: str | None = omit_if_none()
    url: str | None = omit_if_none()
    mcp: str | None = omit_if_none()


class AnsweredRequestResponse(Payload):
    """Question of an agent that was answered; C{rule} names the rule that did."""

    at: int
    session_id: str
    case_name: str | None = omit_if_none()
    tool: str
    subject: str | None = omit_if_none()
    answer: RequestAnswer
    rule_id: str | None = omit_if_none()
    rule: str | None = omit_if_none()


class ApprovalRuleResponse(Payload):
    """Rule, how often it answered, and what it answered lately."""

    id: str
    name: str
    scope: RuleScopeResponse
    cli: str | None = omit_if_none()
    tool: str
    match: RuleMatchResponse
    action: RuleAction
    expires_at: int | None = omit_if_none()
    created_by: str | None = omit_if_none(description="Absent without accounts")
    created_at: int
    note: str | None = omit_if_none()
    hits: int
    last_hit_at: int | None = omit_if_none()
    answers: list[AnsweredRequestResponse] | None = omit_if_none()


class RuleSuggestionResponse(Payload):
    """Command, as C{words} of a pattern, that a person allowed C{count} times."""

    tool: str
    words: tuple[str, ...]
    case_name: str | None = omit_if_none()
    count: int


class ApprovalRuleListResponse(Payload):
    """Rules in the order of precedence, and suggestions."""

    rules: list[ApprovalRuleResponse]
    suggestions: list[RuleSuggestionResponse]


class ApprovalRuleEnvelope(Payload):
    """Rule after a change."""

    rule: ApprovalRuleResponse


class RuleDeletedResponse(Payload):
    """Rule that was deleted."""

    id: str


class PreviewedRequestResponse(AnsweredRequestResponse):
    """Past question that the rule is about, and the action it would have had."""

    action: RuleAction


class RulePreviewResponse(Payload):
    """Past questions that the rule would have decided, newest first; C{requests} is the number of
    questions that were looked at.
    """

    requests: int
    decided: list[PreviewedRequestResponse]


class AnsweredRequestsResponse(Payload):
    """Last questions with their answers, newest first."""

    answers: list[AnsweredRequestResponse]


def make_rule_response(
    stored: StoredRule, answers: list[AnsweredRequestResponse] | None = None
) -> ApprovalRuleResponse:
    """Return a rule as clients see it."""
    rule = stored.rule
    return ApprovalRuleResponse(
        id=rule.id, name=rule.name, scope=_make_scope(rule.scope), cli=rule.cli, tool=rule.tool,
        match=make_match_response(rule.match), action=rule.action, expires_at=rule.expires_at,
        created_by=rule.owner or None, created_at=rule.created_at, note=rule.note or None,
        hits=stored.hits, last_hit_at=stored.last_hit_at, answers=answers,
    )  # fmt: skip


def make_listed_response(listed: ListedRule) -> ApprovalRuleResponse:
    """Return a rule with its last answers."""
    return make_rule_response(listed.stored, [make_answer_response(a) for a in listed.answers])


def make_suggestion_response(suggestion: RuleSuggestion) -> RuleSuggestionResponse:
    """Return a suggestion as clients see it."""
    return RuleSuggestionResponse.model_validate(suggestion, from_attributes=True)


def make_answer_response(answered: AnsweredRequest) -> AnsweredRequestResponse:
    """Return a question with its answer, as clients see it."""
    request = answered.request
    return AnsweredRequestResponse(
        at=answered.at, session_id=request.session_id, case_name=request.case_name,
        tool=request.tool, subject=request.subject, answer=answered.answer,
        rule_id=answered.rule_id, rule=answered.rule_name,
    )  # fmt: skip


def make_previewed_response(found: PreviewedRequest) -> PreviewedRequestResponse:
    """Return a past question with the decision of a rule."""
    shown = make_answer_response(found.answered)
    return PreviewedRequestResponse(**dict(shown), action=found.decision.action)


def _make_scope(scope: RuleScope) -> RuleScopeResponse:
    return RuleScopeResponse(
        session_id=scope.session_id, case_name=scope.case_name, all=scope == RuleScope()
    )


def make_match_response(match: RuleMatch) -> RuleMatchResponse:
    """Return the subject of a rule as clients see it."""
    command = CommandMatchResponse(prefix=match.prefix, pattern=match.pattern, exact=match.exact)
    return RuleMatchResponse(
        command=command if match.is_about_command else None,
        path=match.path,
        url=match.host,
        mcp=match.mcp,
    )
