"""Suggestions of rules from what a person allowed again and again.

This module does no I/O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tservice.agents.approvals.risk import find_risk
from tservice.agents.approvals.rules.command_parser import UnreadableCommandError, parse_commands
from tservice.agents.approvals.rules.fixed_limits import find_command_limit
from tservice.agents.approvals.rules.matching import decide_request, find_host
from tservice.agents.approvals.rules.model import (
    FETCH_TOOLS,
    FILE_TOOLS,
    MCP_PREFIX,
    SHELL_TOOLS,
    AnsweredRequest,
    ApprovalRule,
    RequestAnswer,
    RuleAction,
    RuleMatch,
    RuleSuggestion,
    ToolRequest,
)

LEAST = 3
"""Number of equal commands that a person allowed before a rule is suggested."""
MOST = 10
"""Maximum number of suggestions."""


def suggest_rules(
    answers: Iterable[AnsweredRequest], rules: Sequence[ApprovalRule], now: int
) -> list[RuleSuggestion]:
    """Return rules for commands that a person allowed at least L{LEAST} times, the most first.

    A command that was declined once, or that an existing rule decides, is not suggested.

    @param now: time in Unix milliseconds.
    """
    allowed: Counter[tuple[str, str | None, tuple[str, ...]]] = Counter()
    declined = set()
    for each in answers:
        words = find_single_command(each.request)
        if words is None:
            continue
        key = (each.request.tool, each.request.case_name, words)
        if each.answer is RequestAnswer.DENIED:
            declined.add(key)
        if each.answer is not RequestAnswer.ALLOWED or each.rule_id is not None:
            continue
        if decide_request(rules, each.request, now).action is RuleAction.ASK:
            allowed[key] += 1
    return [
        RuleSuggestion(tool=tool, case_name=case, words=words, count=count)
        for (tool, case, words), count in allowed.most_common()
        if count >= LEAST and (tool, case, words) not in declined
    ][:MOST]


def offer_match(request: ToolRequest) -> RuleMatch | None:
    """Return the match of a rule for exactly what a person is asked now; C{None} if there is none
    that should be offered.
    """
    subject = request.subject
    if request.tool.startswith(MCP_PREFIX):
        server, _, tool = request.tool.removeprefix(MCP_PREFIX).partition("__")
        return RuleMatch(mcp=f"{server}/{tool}") if server and tool and "__" not in tool else None
    if subject is None or not request.is_complete or find_risk(subject) is not None:
        return None
    if request.tool in SHELL_TOOLS:
        words = find_single_command(request)
        # No more than the person saw: a prefix would allow further arguments.
        offered = RuleMatch(exact=subject) if words is None else RuleMatch(pattern=words)
    elif request.tool in FILE_TOOLS and not set("*?") & set(subject):
        offered = RuleMatch(path=subject)
    elif request.tool in FETCH_TOOLS:
        offered = RuleMatch(host=find_host(subject))
    else:
        return None
    # An offer that would not answer the question itself would mislead.
    rule = ApprovalRule(
        id="", owner=request.owner, tool=request.tool, action=RuleAction.ALLOW, created_at=0,
        match=offered,
    )  # fmt: skip
    return offered if decide_request([rule], request, 0).action is RuleAction.ALLOW else None


def find_single_command(request: ToolRequest) -> tuple[str, ...] | None:
    """Return the words of a request that is one command which a pattern may name; else C{None}."""
    if request.tool not in SHELL_TOOLS or request.subject is None or not request.is_complete:
        return None
    try:
        commands = parse_commands(request.subject)
    except UnreadableCommandError:
        return None
    words = commands[0].words
    limit = find_command_limit(words, [True] * len(words), request.working_dir, request.cwd)
    if len(commands) != 1 or limit is not None or any("*" in word for word in words):
        return None
    return words
