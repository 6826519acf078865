"""Arguments of the tools (protocol-mcp-tools).

The models define the published schema, and validate calls.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from tservice.client.wait_limits import LONGEST_MS, Signal
from tservice.core.values.failfast import FAIL_FAST

SessionId = Annotated[str, Field(min_length=1, max_length=64, description="Id of a session")]
Milliseconds = Annotated[
    int, Field(ge=1000, le=LONGEST_MS, description="Give up after so many milliseconds")
]
Signals = Annotated[
    list[Signal],
    Field(
        min_length=1,
        max_length=5,
        description="stop: the agent's turn is over; blocked: it asks something; idle: it waits"
        " for input; exit: its process ended; working: it began to work",
    ),
    FAIL_FAST,
]


class ToolArguments(BaseModel):
    """Arguments of a tool; unknown arguments are refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        validate_by_name=False,
        defer_build=True,
    )


class NoArguments(ToolArguments):
    """Arguments of a tool without any."""


class NewSession(ToolArguments):
    """Arguments of a new session."""

    mode: Annotated[
        str | None,
        Field(max_length=24, description="What runs in it: primary (Claude Code), shell, codex..."),
    ] = None
    working_dir: Annotated[
        str | None, Field(max_length=4096, description="Absolute path of its folder")
    ] = None
    case_name: Annotated[str | None, Field(max_length=128, description="The case it is in")] = None
    name: Annotated[str | None, Field(max_length=128)] = None
    prompt: Annotated[
        str | None, Field(min_length=1, max_length=65536, description="Typed once it has started")
    ] = None


class SessionArguments(ToolArguments):
    """Arguments of a tool for one session."""

    session_id: SessionId


class ChangesArguments(SessionArguments):
    """Arguments of a tool for the changes of a session."""

    base: Annotated[
        str | None,
        Field(max_length=250, description="Branch, tag, commit, session:ID or turn:AT"),
    ] = None
    target: Annotated[
        str | None,
        Field(max_length=250, description="Compared with the base; default: the working tree"),
    ] = None


class CreatePullRequest(SessionArguments):
    """Arguments of a new pull request."""

    title: Annotated[str, Field(min_length=1, max_length=250)]
    body: Annotated[str, Field(max_length=60_000)] = ""
    base: Annotated[
        str | None, Field(max_length=250, description="Default: the project's default branch")
    ] = None
    draft: bool = False
    reviewers: Annotated[list[Annotated[str, Field(max_length=201)]], Field(max_length=15)] = []


class CheckLogArguments(SessionArguments):
    """Arguments of a tool for the log of a failed check."""

    job: Annotated[str, Field(pattern=r"^[0-9]{1,20}$", description="As get_pull_request lists it")]


class ReplyToComment(SessionArguments):
    """Arguments of an answer to a review comment."""

    comment_id: Annotated[
        str,
        Field(min_length=1, max_length=64, description="As the prompt with the comments has it"),
    ]
    state: Annotated[
        Literal["done", "question", "declined"], Field(description="What you did about it")
    ]
    text: Annotated[str, Field(max_length=8000)] = ""


class SendInput(SessionArguments):
    """Arguments with text to type."""

    text: Annotated[str, Field(max_length=65536, description="Enter is added")]
    wait: Signals | None = None
    timeout_ms: Milliseconds = 60_000


class SendKey(SessionArguments):
    """Arguments with a key to press."""

    key: Annotated[
        str,
        Field(max_length=16, description="Enter, Escape, Tab, S-Tab, Up, Down, C-c, PageUp..."),
    ]


class WaitArguments(ToolArguments):
    """Arguments with signals to wait for."""

    session_ids: Annotated[list[SessionId], Field(min_length=1, max_length=100), FAIL_FAST]
    until: Signals | None = None
    timeout_ms: Milliseconds = 60_000
    mode: Annotated[
        Literal["any", "all"], Field(description="Until the first session gives one, or all")
    ] = "any"


class WaitOutput(SessionArguments):
    """Arguments with output to wait for."""

    match: Annotated[str, Field(min_length=1, max_length=200, description="Taken literally")]
    timeout_ms: Milliseconds = 60_000


class ReadScreen(SessionArguments):
    """Arguments with the part of a terminal to read."""

    lines: Annotated[
        int | None,
        Field(ge=1, le=10_000, description="So many last lines of the history; else the screen"),
    ] = None


class ReadConversation(SessionArguments):
    """Arguments with the part of a conversation to read."""

    limit: Annotated[int, Field(ge=1, le=500, description="So many newest items")] = 50
    after: Annotated[
        str | None,
        Field(max_length=200, description="cursor of an earlier result: what changed since then"),
    ] = None
    before: Annotated[
        int | None, Field(ge=0, description="before of an earlier result: older items")
    ] = None
    branch: Annotated[
        str | None, Field(max_length=100, description="branch of a call: its sub-agent's items")
    ] = None


class RuleScopeArguments(ToolArguments):
    """Sessions to which a rule applies; exactly one field."""

    session_id: SessionId | None = None
    case_name: Annotated[str | None, Field(min_length=1, max_length=128)] = None
    all: Literal[True] | None = None


RuleWords = Annotated[
    list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=50), FAIL_FAST
]


class CommandMatchArguments(ToolArguments):
    """Commands that a rule is about; exactly one field."""

    prefix: Annotated[RuleWords | None, Field(description="First words of the command")] = None
    pattern: Annotated[RuleWords | None, Field(description="All words; * is any text")] = None
    exact: Annotated[str | None, Field(min_length=1, max_length=4000)] = None


class RuleMatchArguments(ToolArguments):
    """Subject of a rule; exactly one field."""

    command: CommandMatchArguments | None = None
    path: Annotated[str | None, Field(min_length=1, max_length=4000)] = None
    url: Annotated[str | None, Field(min_length=1, max_length=253, description="Host")] = None
    mcp: Annotated[str | None, Field(min_length=1, max_length=200)] = None


class AddApprovalRule(ToolArguments):
    """Arguments of a new approval rule."""

    scope: RuleScopeArguments
    tool: Annotated[str, Field(min_length=1, max_length=200, description="Bash, Edit, WebFetch")]
    match: RuleMatchArguments
    action: Literal["allow", "deny", "ask"]
    expires_at: Annotated[int | None, Field(ge=0, le=10**15, description="Unix milliseconds")] = (
        None
    )
    note: Annotated[str | None, Field(max_length=80)] = None


class ApprovalRuleId(ToolArguments):
    """Arguments that name an approval rule."""

    rule_id: Annotated[str, Field(min_length=1, max_length=64)]


class AnswerApproval(ToolArguments):
    """Arguments with the answer to a dialog."""

    approval_id: Annotated[str | None, Field(max_length=128)] = None
    session_id: SessionId | None = None
    action: Literal["approve", "deny", "option", "text"]
    option: Annotated[int | None, Field(ge=1, le=9)] = None
    text: Annotated[str | None, Field(min_length=1, max_length=4000)] = None
    expect_frame: Annotated[
        str | None, Field(max_length=128, description="frame of the item that was looked at")
    ] = None

    @model_validator(mode="after")
    def _require_one_id(self) -> AnswerApproval:
        if (self.approval_id is None) == (self.session_id is None):
            raise ValueError("give approvalId or sessionId")
        return self
