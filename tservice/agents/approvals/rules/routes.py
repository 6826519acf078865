"""Routes of approval rules (protocol-approval-rules)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.agents.approvals.rules.model import RuleAction, RuleMatch, RuleScope
from tservice.agents.approvals.rules.responses import (
    AnsweredRequestsResponse,
    ApprovalRuleEnvelope,
    ApprovalRuleListResponse,
    RuleDeletedResponse,
    RulePreviewResponse,
    make_answer_response,
    make_listed_response,
    make_previewed_response,
    make_rule_response,
    make_suggestion_response,
)
from tservice.agents.approvals.rules.service import ApprovalRuleService, RuleDraft
from tservice.core.kernel.errors import ErrorCode, make_field_error
from tservice.core.values.failfast import FAIL_FAST
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.http.validation.models import ENUM_MEMBER, RequestBody

MOST_WORDS = 50
TEXT_LENGTH = 4000
NAME_LENGTH = 200
NOTE_LENGTH = 80

Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_LENGTH)]
Word = Annotated[str, StringConstraints(max_length=NAME_LENGTH)]
Words = Annotated[
    tuple[Word, ...], Field(strict=False, min_length=1, max_length=MOST_WORDS), FAIL_FAST
]
Text = Annotated[str, StringConstraints(min_length=1, max_length=TEXT_LENGTH)]


class RuleScopeBody(RequestBody):
    """Sessions to which the rule applies: one, those of a case, or all."""

    session_id: Name | None = None
    case_name: Name | None = None
    all: bool = False

    def to_scope(self) -> RuleScope:
        """Return the scope.

        @raise ServiceError: 400 unless exactly one field is given.
        """
        given = [self.session_id is not None, self.case_name is not None, self.all]
        if given.count(True) != 1:
            raise make_field_error("scope", "must be one of sessionId, caseName and all")
        return RuleScope(session_id=self.session_id, case_name=self.case_name)


class CommandMatchBody(RequestBody):
    """Commands of a shell: by their first words, by all words with C{*}, or by the exact text."""

    prefix: Words | None = None
    pattern: Words | None = None
    exact: Text | None = None


class RuleMatchBody(RequestBody):
    """Subject of the rule; without a field, every use of the tool."""

    command: CommandMatchBody | None = None
    path: Text | None = None
    url: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = None
    mcp: Name | None = None

    def to_match(self) -> RuleMatch:
        """Return the match.

        @raise ServiceError: 400 if several fields are given.
        """
        command = self.command or CommandMatchBody()
        given = [self.path, self.url, self.mcp, command.prefix, command.pattern, command.exact]
        count = sum(each is not None for each in given)
        if count > 1 or (self.command is not None and count == 0):
            raise make_field_error(
                "match",
                "must be one of command.prefix, command.pattern, command.exact, path, url and mcp",
            )
        return RuleMatch(
            prefix=command.prefix, pattern=command.pattern, exact=command.exact,
            path=self.path, host=self.url, mcp=self.mcp,
        )  # fmt: skip


class ApprovalRuleBody(RequestBody):
    """Rule; C{expiresAt} is in Unix milliseconds, and C{note} is its name in texts."""

    scope: RuleScopeBody
    cli: Name | None = None
    tool: Name
    match: RuleMatchBody = RuleMatchBody()
    action: Annotated[RuleAction, Field(strict=False), ENUM_MEMBER]
    expires_at: Annotated[int, Field(ge=0, le=10**15)] | None = None
    note: Annotated[str, StringConstraints(max_length=NOTE_LENGTH)] = ""

    def to_draft(self) -> RuleDraft:
        """Return the rule that the body describes.

        @raise ServiceError: 400 naming the field.
        """
        if not self.note.isprintable():
            raise make_field_error("note", "must not contain invisible characters")
        return RuleDraft(
            scope=self.scope.to_scope(), cli=self.cli, tool=self.tool, match=self.match.to_match(),
            action=self.action, expires_at=self.expires_at, note=self.note.strip(),
        )  # fmt: skip


class RulePreviewBody(RequestBody):
    """Rule that is not saved."""

    rule: ApprovalRuleBody


_RULES = OperationFields(
    tag="Approvals",
    access=AccessRule.USER,
    scope=Scope.APPROVALS,
    scope_reason="Rules answer agents in the name of an account, also later.",
    errors=(ErrorCode.FORBIDDEN,),
)
_CHANGES = (ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED)


class ApprovalRuleRoutes:
    """Operations below C{/api/approval-rules}; the checks are in L{ApprovalRuleService}."""

    def __init__(self, rules: ApprovalRuleService) -> None:
        self._rules = rules

    @operation("GET", "/api/approval-rules", _RULES)
    async def list_rules(self, call: OperationCall) -> ApprovalRuleListResponse:
        """List your approval rules, and suggestions."""
        return ApprovalRuleListResponse(
            rules=[make_listed_response(each) for each in self._rules.list_rules(call.caller)],
            suggestions=[
                make_suggestion_response(each) for each in self._rules.list_suggestions(call.caller)
            ],
        )

    @operation("GET", "/api/approval-rules/answers", _RULES)
    async def list_answers(self, call: OperationCall) -> AnsweredRequestsResponse:
        """List the last questions of your agents with their answers."""
        found = self._rules.list_answers(call.caller)
        return AnsweredRequestsResponse(answers=[make_answer_response(each) for each in found])

    @operation("POST", "/api/approval-rules", _RULES, errors=_CHANGES)
    async def create_rule(
        self, call: OperationCall, body: ApprovalRuleBody
    ) -> ApprovalRuleEnvelope:
        """Create a rule that answers agents."""
        stored = await self._rules.create_rule(body.to_draft(), call.caller)
        return ApprovalRuleEnvelope(rule=make_rule_response(stored))

    @operation("PUT", "/api/approval-rules/{rule}", _RULES, errors=_CHANGES)
    async def replace_rule(
        self, call: OperationCall, body: ApprovalRuleBody
    ) -> ApprovalRuleEnvelope:
        """Replace an approval rule; it keeps its id and its hits."""
        stored = await self._rules.replace_rule(call.path["rule"], body.to_draft(), call.caller)
        return ApprovalRuleEnvelope(rule=make_rule_response(stored))

    @operation("DELETE", "/api/approval-rules/{rule}", _RULES, errors=_CHANGES)
    async def delete_rule(self, call: OperationCall) -> RuleDeletedResponse:
        """Delete an approval rule."""
        return RuleDeletedResponse(id=self._rules.delete_rule(call.path["rule"], call.caller).id)

    @operation("POST", "/api/approval-rules/preview", _RULES)
    async def preview_rule(self, call: OperationCall, body: RulePreviewBody) -> RulePreviewResponse:
        """Show which of the last 500 questions a rule would have answered, and how."""
        found = self._rules.preview_rule(body.rule.to_draft(), call.caller)
        return RulePreviewResponse(
            requests=len(self._rules.list_answers(call.caller)),
            decided=[make_previewed_response(each) for each in found],
        )
