"""Records of approval rules, and of the requests that they answer (protocol-approval-rules).

This module does no I/O.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import field, frozen

SHELL_TOOLS = frozenset({"Bash"})
"""Tools whose summary is a shell command."""
FILE_TOOLS = frozenset({"Edit", "MultiEdit", "Read", "Write"})
"""Tools whose summary is the path of a file."""
FETCH_TOOLS = frozenset({"WebFetch"})
"""Tools whose summary is an address."""
MCP_PREFIX = "mcp__"
"""Beginning of the names of MCP tools, which continue with the server and the tool."""


class RuleAction(StrEnum):
    """Action of a rule on a request that it matches."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@frozen(kw_only=True)
class RuleScope:
    """Sessions of the rule's account to which it applies; all of them if both fields are C{None}.

    @ivar case_name: name of the case whose sessions are meant.
    """

    session_id: str | None = None
    case_name: str | None = None


@frozen(kw_only=True)
class RuleMatch:
    """Subject of a rule. At most one of C{prefix}, C{pattern}, C{exact}, C{path}, C{host} and
    C{mcp} is set; without any, the rule is about every use of its tool.

    @ivar prefix: first words of a command.
    @ivar pattern: all words of a command, in which C{*} stands for any characters of one word.
    @ivar exact: complete text of a command.
    @ivar path: glob of a file, relative to the session's folder unless it begins with a slash.
    @ivar host: host of an address; C{*.} at its start stands for any subdomain.
    @ivar mcp: C{server/tool}; the tool C{*} stands for every tool of the server.
    """

    prefix: tuple[str, ...] | None = None
    pattern: tuple[str, ...] | None = None
    exact: str | None = None
    path: str | None = None
    host: str | None = None
    mcp: str | None = None

    @property
    def is_about_command(self) -> bool:
        """True if the rule is about shell commands."""
        return not (self.prefix is None and self.pattern is None and self.exact is None)

    @property
    def is_empty(self) -> bool:
        """True if the rule is about every use of its tool."""
        return self == RuleMatch()


@frozen(kw_only=True)
class ApprovalRule:
    """Rule of an account.

    @ivar owner: the account; C{""} if there are no accounts.
    @ivar cli: mode of the sessions that are meant; C{None} for every mode.
    @ivar tool: name of the tool, as the agent reports it.
    @ivar expires_at: Unix milliseconds from which the rule no longer applies.
    @ivar note: name of the rule in texts; C{""} for one that is made from the match.
    """

    id: str
    owner: str
    tool: str
    action: RuleAction
    created_at: int
    scope: RuleScope = field(factory=RuleScope)
    match: RuleMatch = field(factory=RuleMatch)
    cli: str | None = None
    expires_at: int | None = None
    note: str = ""

    @property
    def name(self) -> str:
        """Short text by which people recognize the rule."""
        match = self.match
        words = match.prefix or match.pattern
        told = " ".join(words) if words else match.exact or match.path or match.host or match.mcp
        return self.note or f"{self.action} {told or self.tool}"[:80]


@frozen(kw_only=True)
class ToolRequest:
    """Request of an agent to use a tool, as its hook reported it.

    @ivar owner: account that owns the session; C{""} if there are no accounts.
    @ivar cli: the session's mode.
    @ivar subject: command, path or address; C{None} if the hook reported none.
    @ivar cwd: the agent's current folder; C{None} if it is unknown.
    @ivar is_complete: C{subject} is not cut, and nothing else decides what the tool does.
    """

    owner: str
    session_id: str
    case_name: str | None
    cli: str
    tool: str
    subject: str | None
    working_dir: str
    cwd: str | None
    is_complete: bool


@frozen(kw_only=True)
class RuleDecision:
    """Decision of the rules on a request.

    @ivar rules: the rules that decided, the most specific first; empty if no rule matched.
    @ivar reason: why a person is asked although a rule might apply.
    """

    action: RuleAction
    rules: tuple[ApprovalRule, ...] = ()
    reason: str = ""


class RequestAnswer(StrEnum):
    """Answer that a request got."""

    ALLOWED = "allowed"
    DENIED = "denied"
    OTHER = "other"
    """An answer that is neither, or one that was given in the terminal."""


@frozen(kw_only=True)
class AnsweredRequest:
    """Request with its answer.

    @ivar at: Unix milliseconds of the answer.
    @ivar rule_id: the rule that answered; C{None} if a person did.
    """

    at: int
    item_id: str
    request: ToolRequest
    answer: RequestAnswer
    rule_id: str | None = None
    rule_name: str | None = None


@frozen(kw_only=True)
class StoredRule:
    """Rule with the number of requests that it answered.

    @ivar last_hit_at: Unix milliseconds of the last one; C{None} before the first.
    """

    rule: ApprovalRule
    hits: int = 0
    last_hit_at: int | None = None


@frozen(kw_only=True)
class RuleSuggestion:
    """Rule that would answer what a person allows again and again.

    @ivar words: the command, which the rule would name completely.
    @ivar count: number of requests in the history that a person allowed and that it covers.
    """

    tool: str
    words: tuple[str, ...]
    case_name: str | None
    count: int
