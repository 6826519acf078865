"""Decision of approval rules on the request of an agent (protocol-approval-rules).

Deny comes before ask, and ask before allow. A command that joins others is allowed only if each of
them is. Whatever is not understood asks a person. This module does no I/O.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tservice.agents.approvals.rules.command_parser import (
    SimpleCommand,
    UnreadableCommandError,
    parse_commands,
)
from tservice.agents.approvals.rules.fixed_limits import (
    find_command_limit,
    find_path_limit,
    is_inside,
)
from tservice.agents.approvals.rules.model import (
    FETCH_TOOLS,
    FILE_TOOLS,
    MCP_PREFIX,
    SHELL_TOOLS,
    ApprovalRule,
    RuleAction,
    RuleDecision,
    RuleMatch,
    ToolRequest,
)

INCOMPLETE = "the agent's hook did not report the complete request"
ELSEWHERE = "the agent works outside the session's folder"
NO_RULE = "no rule names it"

_ADDRESS = re.compile(
    r"https?://(?P<host>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::(?:80|443))?"
    r"(?:[/?#][!-~]*)?",
    re.IGNORECASE,
)
_RANK = {RuleAction.DENY: 0, RuleAction.ASK: 1, RuleAction.ALLOW: 2}


def decide_request(rules: Iterable[ApprovalRule], request: ToolRequest, now: int) -> RuleDecision:
    """Return the decision of an account's rules on a request.

    @param rules: rules of the request's account, in any order.
    @param now: time in Unix milliseconds.
    """
    able = [rule for rule in rules if is_applicable(rule, request, now)]
    if not able:
        return RuleDecision(action=RuleAction.ASK, reason=NO_RULE)
    if request.tool in SHELL_TOOLS:
        return _decide_command(able, request)
    found = [rule for rule in able if _matches_subject(rule, request)]
    decision = _choose(found)
    if decision.action is not RuleAction.ALLOW:
        return decision
    limit = _find_subject_limit(request)
    return decision if limit is None else RuleDecision(action=RuleAction.ASK, reason=limit)


def is_applicable(rule: ApprovalRule, request: ToolRequest, now: int) -> bool:
    """Return true if a rule is about the request's session and tool, and has not expired."""
    scope = rule.scope
    if rule.match.mcp is None:
        is_tool = rule.tool == request.tool
    else:
        is_tool = request.tool.startswith(MCP_PREFIX)
    return (
        rule.owner == request.owner
        and is_tool
        and rule.cli in (None, request.cli)
        and scope.session_id in (None, request.session_id)
        and scope.case_name in (None, request.case_name)
        and not is_expired(rule, now)
    )


def is_expired(rule: ApprovalRule, now: int) -> bool:
    """Return true if a rule no longer applies at C{now}, in Unix milliseconds."""
    return rule.expires_at is not None and rule.expires_at <= now


def rank_rule(rule: ApprovalRule) -> tuple[int, ...]:
    """Return a key that sorts rules by precedence: by action, then the most specific first."""
    match = rule.match
    kinds = (match.exact is not None, match.pattern is not None, not match.is_empty)
    return (
        _RANK[rule.action],
        -(rule.scope.session_id is not None),
        -(rule.scope.case_name is not None),
        *(-kind for kind in kinds),
        -len(match.prefix or match.pattern or match.path or match.host or match.mcp or ""),
        -(rule.cli is not None),
        -rule.created_at,
    )


def _choose(rules: Sequence[ApprovalRule]) -> RuleDecision:
    """Return the decision of rules that all match the same subject."""
    if not rules:
        return RuleDecision(action=RuleAction.ASK, reason=NO_RULE)
    first = min(rules, key=lambda rule: (*rank_rule(rule), rule.id))
    return RuleDecision(action=first.action, rules=(first,))


# -- commands


def _decide_command(rules: Sequence[ApprovalRule], request: ToolRequest) -> RuleDecision:
    text = request.subject
    whole = [rule for rule in rules if _covers_request(rule, request)]
    decision = _choose(whole)
    if text is None or not request.is_complete:
        asks = decision.action is RuleAction.DENY
        return decision if asks else RuleDecision(action=RuleAction.ASK, reason=INCOMPLETE)
    try:
        commands = _parse_cached(text)
    except UnreadableCommandError as error:
        return decision if decision.rules else _ask(str(error))
    parts = [_choose_for_command(rules, request, command) for command in commands]
    refusing = [part for part in (decision, *parts) if part.action is not RuleAction.ALLOW]
    decided = [part for part in refusing if part.rules]
    if decided:
        return min(decided, key=lambda part: rank_rule(part.rules[0]))
    if decision.action is RuleAction.ALLOW:
        return _allow_here(decision, request)
    if any(part.action is not RuleAction.ALLOW for part in parts):
        return next(part for part in parts if part.action is not RuleAction.ALLOW)
    used = tuple(dict.fromkeys(rule for part in parts for rule in part.rules))
    return _allow_here(RuleDecision(action=RuleAction.ALLOW, rules=used), request)


@lru_cache(maxsize=64)
def _parse_cached(text: str) -> tuple[SimpleCommand, ...]:
    return parse_commands(text)


def _ask(reason: str) -> RuleDecision:
    return RuleDecision(action=RuleAction.ASK, reason=reason)


def _allow_here(decision: RuleDecision, request: ToolRequest) -> RuleDecision:
    """Return an allowing decision, unless the agent left the session's folder."""
    here = request.cwd is not None and is_inside(request.cwd, request.working_dir)
    return decision if here else _ask(ELSEWHERE)


def _covers_request(rule: ApprovalRule, request: ToolRequest) -> bool:
    """Return true if a rule is about the complete text of a command, whatever it joins."""
    if rule.match.is_empty:
        return rule.action is not RuleAction.ALLOW
    return rule.match.exact is not None and rule.match.exact == request.subject


def _choose_for_command(
    rules: Sequence[ApprovalRule], request: ToolRequest, command: SimpleCommand
) -> RuleDecision:
    """Return the decision on one of the commands of a request."""
    found, limit = [], NO_RULE
    for rule in rules:
        if rule.action is not RuleAction.ALLOW:
            if _matches_refusing(rule.match, command.words):
                found.append(rule)
            continue
        named = find_named_words(rule.match, command.words)
        if named is None:
            continue
        trouble = find_command_limit(command.words, named, request.working_dir, request.cwd)
        if trouble is None:
            found.append(rule)
        else:
            limit = trouble
    return _choose(found) if found else _ask(limit)


def find_named_words(match: RuleMatch, words: Sequence[str]) -> tuple[bool, ...] | None:
    """Return for each word of a command if the rule names it literally; C{None} if the rule does
    not match.
    """
    if match.prefix is not None:
        named = len(match.prefix)
        if not named or tuple(words[:named]) != match.prefix:
            return None
        return tuple(at < named for at in range(len(words)))
    if not match.pattern or len(match.pattern) != len(words):
        return None
    pairs = list(zip(match.pattern, words, strict=True))
    if not all(_fits_word(glob, word) for glob, word in pairs):
        return None
    return tuple(glob == word for glob, word in pairs)


def _fits_word(glob: str, word: str) -> bool:
    pattern = ".*".join(map(re.escape, glob.split("*")))
    return re.fullmatch(pattern, word, re.DOTALL) is not None


def _matches_refusing(match: RuleMatch, words: Sequence[str]) -> bool:
    """Return true if a rule that denies or asks is about a command, by whichever path."""
    if find_named_words(match, words) is not None:
        return True
    bare = (words[0].rpartition("/")[2], *words[1:])
    return find_named_words(match, bare) is not None


# -- files, addresses and MCP tools


def _matches_subject(rule: ApprovalRule, request: ToolRequest) -> bool:
    match, subject = rule.match, request.subject
    if match.is_empty:
        return rule.action is not RuleAction.ALLOW
    if match.mcp is not None:
        return _matches_mcp(match.mcp, request.tool)
    if subject is None or match.is_about_command:
        return False
    if match.path is not None and request.tool in FILE_TOOLS:
        return _matches_path(match.path, subject, request)
    if match.host is not None and request.tool in FETCH_TOOLS:
        return _matches_host(match.host, subject)
    return False


def _matches_mcp(name: str, tool: str) -> bool:
    server, _, wanted = name.partition("/")
    if wanted != "*":
        return tool == f"{MCP_PREFIX}{server}__{wanted}"
    start = f"{MCP_PREFIX}{server}__"
    rest = tool.removeprefix(start)
    return tool.startswith(start) and rest != "" and "__" not in rest


def _matches_path(glob: str, path: str, request: ToolRequest) -> bool:
    if ".." in path.split("/") or not path.isprintable() or "\ufffd" in path:
        return False
    given = posixpath.normpath(posixpath.join(request.cwd or request.working_dir, path))
    return compile_glob(posixpath.join(request.working_dir, glob)).fullmatch(given) is not None


@lru_cache(maxsize=256)
def compile_glob(glob: str) -> re.Pattern[str]:
    """Return the regular expression of a glob: C{*} and C{?} stay within a folder, C{**} does
    not.
    """
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", posixpath.normpath(glob))
    known = {"**/": r"(?:[^/]+/)*", "**": r".+", "*": r"[^/]*", "?": r"[^/]"}
    return re.compile("".join(known.get(part, re.escape(part)) for part in parts))


def find_host(address: str) -> str | None:
    """Return the host of a plain address in lower case; C{None} if the address is not plain."""
    found = _ADDRESS.fullmatch(address)
    return None if found is None else found["host"].lower()


def _matches_host(wanted: str, address: str) -> bool:
    host = find_host(address)
    if host is None:
        return False
    if wanted.startswith("*."):
        return host.endswith(wanted[1:].lower())
    return host == wanted.lower()


def _find_subject_limit(request: ToolRequest) -> str | None:
    """Return why no rule may allow a request that is not a command; C{None} if one may."""
    if request.tool in FILE_TOOLS and request.subject is not None:
        path = posixpath.join(request.cwd or request.working_dir, request.subject)
        return find_path_limit(path, request.working_dir, reads=request.tool == "Read")
    if request.tool in FETCH_TOOLS and not request.is_complete:
        return INCOMPLETE
    return None
