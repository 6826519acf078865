"""GitHub by the program C{gh}.

Every command names its repository, so that C{gh} reads no folder and starts no git.  Seen with gh
2.23; the fields of C{gh pr list --json} and of the REST interface are stable.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from attrs import evolve
from pydantic import Field, TypeAdapter

from tservice.review.forge.model import (
    MAX_COMMENTS,
    MAX_FAILED_CHECKS,
    ChecksSummary,
    FailedCheck,
    ForgeBranch,
    ForgeCommand,
    ForgeComment,
    PullRequest,
    PullRequestDraft,
    PullRequestState,
    ReviewDecision,
    RunForge,
)
from tservice.review.forge.parsing import ForgeRecord, cut_text, keep_web_address, parse_output

_LISTED = 20
"""Maximum number of pull requests with a branch of the same name that are read."""
_FIELDS = (
    "number,title,url,state,isDraft,baseRefName,headRefOid,headRepositoryOwner,"
    "reviewDecision,statusCheckRollup"
)
_ENV = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_PAGER": "cat",
    "NO_COLOR": "1",
    "CLICOLOR_FORCE": "0",
    # The variables would send a token to any host that a repository names.
    "GH_ENTERPRISE_TOKEN": "",
    "GITHUB_ENTERPRISE_TOKEN": "",
}
_PASSED = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})
_FAILED = frozenset(
    {"ERROR", "FAILURE", "CANCELLED", "TIMED_OUT", "ACTION_REQUIRED", "STARTUP_FAILURE"}
)
_DECISIONS = {
    "APPROVED": ReviewDecision.APPROVED,
    "CHANGES_REQUESTED": ReviewDecision.CHANGES_REQUESTED,
    "REVIEW_REQUIRED": ReviewDecision.REQUIRED,
}


class _Owner(ForgeRecord):
    login: str = ""


class _Check(ForgeRecord):
    """Check run, or status of a commit, which has other names for the same."""

    name: str | None = None
    context: str | None = None
    status: str | None = None
    conclusion: str | None = None
    state: str | None = None
    details_url: str | None = Field(default=None, alias="detailsUrl")
    target_url: str | None = Field(default=None, alias="targetUrl")

    @property
    def outcome(self) -> str:
        return self.state or self.conclusion or self.status or ""


class _PullRequest(ForgeRecord):
    number: int
    title: str
    url: str
    state: str
    is_draft: bool = Field(alias="isDraft")
    base: str = Field(alias="baseRefName")
    commit: str = Field(alias="headRefOid")
    owner: _Owner | None = Field(alias="headRepositoryOwner")
    decision: str | None = Field(default=None, alias="reviewDecision")
    checks: list[_Check] | None = Field(default=None, alias="statusCheckRollup")


class _Comment(ForgeRecord):
    id: int
    user: _Owner | None = None
    body: str
    path: str
    line: int | None = None
    side: str | None = None
    html_url: str | None = None


class _Repository(ForgeRecord):
    default_branch: str


_PULL_REQUESTS: TypeAdapter[list[_PullRequest]] = TypeAdapter(list[_PullRequest])
_COMMENTS: TypeAdapter[list[_Comment]] = TypeAdapter(list[_Comment])
_REPOSITORY: TypeAdapter[_Repository] = TypeAdapter(_Repository)


class GitHubForge:
    """GitHub, and GitHub Enterprise; see L{tservice.review.forge.model.Forge}."""

    name = "github"
    program = "gh"

    async def read_pull_request(self, run: RunForge, branch: ForgeBranch) -> PullRequest | None:
        """See L{tservice.review.forge.model.Forge.read_pull_request}."""
        words = [
            "pr", "list", "--repo", f"{branch.host}/{branch.project}", f"--head={branch.branch}",
            "--state", "all", "--limit", str(_LISTED), "--json", _FIELDS,
        ]  # fmt: skip
        listed = parse_output(_PULL_REQUESTS, await run(_make_command(words)))
        found = _choose_pull_request(listed, branch)
        if found is None:
            return None
        path = f"repos/{branch.project}/pulls/{found.number}/comments?per_page={MAX_COMMENTS}"
        comments = parse_output(_COMMENTS, await run(_make_request(branch, path)))
        return evolve(
            _read_pull_request(found),
            comments=[_read_comment(each) for each in comments],
            has_more_comments=len(comments) >= MAX_COMMENTS,
        )

    async def create_pull_request(
        self, run: RunForge, branch: ForgeBranch, draft: PullRequestDraft
    ) -> None:
        """See L{tservice.review.forge.model.Forge.create_pull_request}."""
        base = draft.base
        if base is None:
            output = await run(_make_request(branch, f"repos/{branch.project}"))
            base = parse_output(_REPOSITORY, output).default_branch
        head = branch.branch
        if branch.source != branch.project:
            head = f"{_get_owner(branch.source)}:{head}"
        body = {
            "title": draft.title, "body": draft.body, "draft": draft.is_draft,
            "head": head, "base": base,
        }  # fmt: skip
        await run(_make_request(branch, f"repos/{branch.project}/pulls", body))


def _make_command(words: Sequence[str], stdin: bytes = b"") -> ForgeCommand:
    return ForgeCommand(words=words, stdin=stdin, env=_ENV)


def _make_request(
    branch: ForgeBranch, path: str, body: dict[str, object] | None = None
) -> ForgeCommand:
    words = ["api", "--hostname", branch.host, path]
    if body is None:
        return _make_command(words)
    return _make_command([*words, "--method", "POST", "--input", "-"], json.dumps(body).encode())


def _get_owner(project: str) -> str:
    return project.partition("/")[0]


def _choose_pull_request(
    listed: Iterable[_PullRequest], branch: ForgeBranch
) -> _PullRequest | None:
    """Return the open one of this branch, else the newest; other forks may have the same name."""
    owner = _get_owner(branch.source).casefold()
    own = [each for each in listed if each.owner is None or each.owner.login.casefold() == owner]
    newest = sorted(own, key=lambda each: (each.state == "OPEN", each.number), reverse=True)
    return newest[0] if newest else None


def _read_pull_request(found: _PullRequest) -> PullRequest:
    if found.state == "OPEN":
        state = PullRequestState.DRAFT if found.is_draft else PullRequestState.OPEN
    else:
        merged = found.state == "MERGED"
        state = PullRequestState.MERGED if merged else PullRequestState.CLOSED
    return PullRequest(
        number=found.number,
        title=found.title,
        url=keep_web_address(found.url),
        state=state,
        base=found.base,
        commit=found.commit,
        checks=_summarize_checks(found.checks or ()),
        review=_DECISIONS.get(found.decision or "", ReviewDecision.NONE),
    )


def _summarize_checks(checks: Sequence[_Check]) -> ChecksSummary:
    failed = [check for check in checks if check.outcome in _FAILED]
    passed = sum(check.outcome in _PASSED for check in checks)
    return ChecksSummary(
        passed=passed,
        failed=len(failed),
        running=len(checks) - passed - len(failed),
        failures=[
            FailedCheck(
                name=check.name or check.context or "check",
                url=keep_web_address(check.details_url or check.target_url),
            )
            for check in failed[:MAX_FAILED_CHECKS]
        ],
    )


def _read_comment(comment: _Comment) -> ForgeComment:
    return ForgeComment(
        id=str(comment.id),
        author=comment.user.login if comment.user is not None else "",
        text=cut_text(comment.body),
        path=comment.path,
        line=comment.line,
        is_old_side=comment.side == "LEFT",
        url=keep_web_address(comment.html_url),
    )
