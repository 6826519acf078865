"""Checks of new approval rules (protocol-approval-rules).

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tservice.agents.approvals.risk import find_risk
from tservice.agents.approvals.rules.command_parser import UnreadableCommandError, parse_commands
from tservice.agents.approvals.rules.fixed_limits import find_command_limit, needs_exact_rule
from tservice.agents.approvals.rules.model import (
    FETCH_TOOLS,
    FILE_TOOLS,
    SHELL_TOOLS,
    ApprovalRule,
    RuleAction,
)
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error

MCP_TOOL = "mcp"
"""Value of C{tool} of a rule about MCP tools."""

_HOST = re.compile(r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*", re.IGNORECASE)
_MCP = re.compile(r"[A-Za-z0-9_.-]+/(?:\*|[A-Za-z0-9_.-]+)")


def check_rule(rule: ApprovalRule, *, can_bypass: bool, now: int) -> None:
    """Check that an account may have a rule.

    @param can_bypass: the account may start agents that do not ask for permission.
    @param now: time in Unix milliseconds.
    @raise ServiceError: 400 naming the field; 403: the rule allows what only an account that may
        bypass permissions can allow.
    """
    match = rule.match
    if rule.expires_at is not None and rule.expires_at <= now:
        raise make_field_error("expiresAt", "must be in the future")
    if rule.scope.session_id is not None and rule.scope.case_name is not None:
        raise make_field_error("scope", "must name a session or a case, not both")
    if match.is_empty and rule.action is RuleAction.ALLOW:
        raise make_field_error("match", "is needed for a rule that allows")
    if match.is_about_command and rule.tool not in SHELL_TOOLS:
        raise make_field_error("match.command", f"needs tool {' or '.join(sorted(SHELL_TOOLS))}")
    if match.path is not None:
        _check_path(rule)
    if match.host is not None and (rule.tool not in FETCH_TOOLS or not _HOST.fullmatch(match.host)):
        raise make_field_error("match.url", "must be a host, with tool WebFetch")
    if match.mcp is not None and (rule.tool != MCP_TOOL or not _MCP.fullmatch(match.mcp)):
        raise make_field_error("match.mcp", f"must be server/tool, with tool {MCP_TOOL}")
    words = match.prefix or match.pattern
    if words is not None:
        _check_words(rule, words)
    if needs_bypass(rule) and not can_bypass:
        raise ServiceError(
            ErrorCode.FORBIDDEN,
            "match: allowing this needs the grant to bypass permissions",
        )


def _check_path(rule: ApprovalRule) -> None:
    path = rule.match.path or ""
    if rule.tool not in FILE_TOOLS:
        raise make_field_error("match.path", f"needs tool {' or '.join(sorted(FILE_TOOLS))}")
    if ".." in path.split("/") or not path.isprintable():
        raise make_field_error("match.path", "must not contain .. or invisible characters")


def _check_words(rule: ApprovalRule, words: Sequence[str]) -> None:
    field = "match.command.prefix" if rule.match.prefix is not None else "match.command.pattern"
    if not words or not words[0].strip():
        raise make_field_error(field, "must begin with a program")
    if any(not word.isprintable() for word in words):
        raise make_field_error(field, "must not contain invisible characters")
    if rule.match.pattern is not None and "*" in words[0]:
        raise make_field_error(field, "must name its program without *")
    if rule.action is not RuleAction.ALLOW:
        return
    named = words if rule.match.prefix is not None else _cut_at_glob(words)
    if needs_exact_rule(named):
        raise make_field_error(
            field, f"{' '.join(words)[:80]} can run any program: name the exact command"
        )


def _cut_at_glob(words: Sequence[str]) -> Sequence[str]:
    at = next((at for at, word in enumerate(words) if "*" in word), len(words))
    return words[:at]


def needs_bypass(rule: ApprovalRule) -> bool:
    """Return true if a rule allows what only an account that may bypass permissions can allow.

    These are commands of the fixed list, risky ones, and every tool of an MCP server.
    """
    match = rule.match
    if rule.action is not RuleAction.ALLOW:
        return False
    if match.mcp is not None:
        return match.mcp.endswith("/*")
    words = match.prefix or match.pattern
    if words is not None:
        return find_risk(" ".join(words)) is not None
    if match.exact is None:
        return False
    try:
        commands = parse_commands(match.exact)
    except UnreadableCommandError:
        return True
    limits = (
        find_command_limit(each.words, [True] * len(each.words), "/nowhere", None)
        for each in commands
    )
    return find_risk(match.exact) is not None or any(limit is not None for limit in limits)
